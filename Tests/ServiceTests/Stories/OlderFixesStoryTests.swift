import FixRuns
import Glibc
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Projections
@testable import Service
@testable import Tables

/// Fixes older than the newest one of their device are taken in every state of the projections.
@Suite struct OlderFixesStoryTests {
    private static func body(_ seconds: some Sequence<Int>, speed: Int? = nil) -> String {
        let rest = speed.map { #","speed":\#($0)"# } ?? ""
        let fixes = seconds.map { (second: Int) -> String in
            #"{"timestamp":\#(1_767_225_600 + second),"latitude":52.5,"longitude":13.\#(1000 + second % 9000)\#(rest)}"#
        }
        return #"{"fixes":["# + fixes.joined(separator: ",") + "]}"
    }

    /// A house with a phone that has reported one fix a second.
    private static func house(seconds: Int) throws -> (house: ServiceUnderTest, key: String) {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("phone", of: "walker")
        for start in stride(from: 0, to: seconds, by: 500) {
            #expect(house.send("POST", "/v1/fixes", as: key, body(start..<start + 500))["new"]?.int == 500)
        }
        return (house, key)
    }

    @Test func `no report is sent away while the timeline is folded again`() throws {
        let (house, key) = try Self.house(seconds: 6000)
        var whileFolding = 0
        // Each round folds everything anew; once an answer came before the fold had ended, the race was run.
        for round in 0..<20 where whileFolding == 0 {
            try house.restart {
                TestSupport.remove("\(house.directory)/projections")
                for suffix in ["", "-wal", "-shm"] { unlink("\(house.directory)/catalog.sqlite\(suffix)") }
                // The index alone is made again from the log as well.
                if round % 2 == 1 { TestSupport.remove("\(house.directory)/fix-identities") }
            }
            let head = house.service.log.head
            for start in stride(from: 0, to: 6000, by: 500) {
                let again = house.send("POST", "/v1/fixes", as: key, Self.body(start..<start + 500))
                #expect(again.status == 200, "\(again.text)")
                #expect(again["duplicate"]?.int == 500 && again["new"]?.int == 0)
                if house.service.host.place(of: TimelineTable.name) < head { whileFolding += 1 }
            }
        }
        #expect(whileFolding > 0)
    }

    @Test func `no report is sent away while the timeline cannot be folded at all`() throws {
        let (house, key) = try Self.house(seconds: 1500)
        _ = house.settled()
        let path = try #require(house.service.host.activePath(of: TimelineTable.name))
        try house.restart {
            for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            #expect(mkdir(path, 0o700) == 0)
        }
        func isFolded() -> Bool { house.service.host.place(of: TimelineTable.name) >= house.service.log.head }
        #expect(!isFolded())
        let again = house.send("POST", "/v1/fixes", as: key, Self.body(0..<500))
        #expect(again.status == 200 && again["duplicate"]?.int == 500 && again["new"]?.int == 0, "\(again.text)")
        // A twin is new, and counted apart as well.
        let twins = house.send("POST", "/v1/fixes", as: key, Self.body(0..<10, speed: 3))
        #expect(twins["twins"]?.int == 10 && twins["new"]?.int == 10 && twins["duplicate"]?.int == 0)
        let between = #"{"fixes":[{"timestamp":1767225600.5,"latitude":52.5,"longitude":13.2}]}"#
        #expect(house.send("POST", "/v1/fixes", as: key, between)["new"]?.int == 1)
        let importing = house.manage(
            "POST", "/v1/imports/0d9a1f52-7c6d-4b5e-9d3a-5f1c2b3a4d5e/batches",
            #"{"device":"phone","fixes":[{"timestamp":1767225601.5,"latitude":52.5,"longitude":13.2}]}"#)
        #expect(importing.status == 200 && importing["new"]?.int == 1, "\(importing.text)")
        #expect(!isFolded())
        #expect(rmdir(path) == 0)
        let isThere = house.service.host.wait(
            for: house.service.log.head, in: [TimelineTable.name], milliseconds: patienceMilliseconds)
        #expect(isThere)
        let verified = house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool == true, "\(verified.text)")
        #expect(verified["fixes"]?["ok"]?.bool == true)
    }

    @Test func `no report is sent away while the index of fixes cannot be written`() throws {
        let (house, key) = try Self.house(seconds: 1500)
        let folder = "\(house.directory)/fix-identities"
        try house.restart {
            TestSupport.remove(folder)
            try DataDirectory.writePrivate([], to: folder)
        }
        #expect(house.send("POST", "/v1/fixes", as: key, Self.body(0..<500))["duplicate"]?.int == 500)
        #expect(house.send("POST", "/v1/fixes", as: key, Self.body(1500..<2000))["new"]?.int == 500)
        try house.restart()
        #expect(house.send("POST", "/v1/fixes", as: key, Self.body(1400..<1900))["duplicate"]?.int == 500)
        let verified = house.manage("GET", "/v1/verify")
        #expect(verified["fixes"]?["ok"]?.bool == true, "\(verified.text)")
    }

    @Test func `verify tells of an index that says something else than the log, which is then made again`() throws {
        let (house, _) = try Self.house(seconds: 1500)
        house.stop()
        let folder = "\(house.directory)/fix-identities"
        let names: [String] = (1000..<2000).map { (end: Int) -> String in "\(folder)/0-\(end).run" }
        let path = try #require(names.first { (name: String) -> Bool in access(name, F_OK) == 0 })
        var bytes = try #require(DataDirectory.read(path, atMost: 1 << 20))
        bytes[2 * FixRun.blockBytes + 8] ^= 1
        try DataDirectory.writePrivate(bytes, to: path)
        try house.start()
        let verified = house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool == false && verified["fixes"]?["ok"]?.bool == false)
        #expect(verified["fixes"]?["problem"]?.string?.contains("has changed since it was written") == true)
        let again = house.manage("GET", "/v1/verify")
        #expect(again["ok"]?.bool == true && again["fixes"]?["fixes"]?.int == 1500, "\(again.text)")
    }
}
