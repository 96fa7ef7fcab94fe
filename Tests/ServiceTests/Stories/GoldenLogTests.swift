import Cryptography
import JSON
import LogVerifying
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Service

/// Data directories of earlier versions, opened by today's code: `Tests/Golden`.
@Suite struct GoldenLogTests {
    /// A line of `Tests/Golden/stated.txt`.
    struct Stated: Sendable, CustomTestStringConvertible {
        let name: String
        let events: Int64
        let root: String
        /// `arrival-departure` in Unix seconds.
        let visits: [String]

        var testDescription: String { name }

        static let folder = Repository.root + "/Tests/Golden"

        static let all: [Stated] = {
            let text = String(decoding: (try? contents(ofFile: folder + "/stated.txt")) ?? [], as: UTF8.self)
            return text.split(separator: "\n").filter { $0.first != "#" }.compactMap { line in
                let words = line.split(separator: " ").map(String.init)
                guard words.count == 4, let events = Int64(words[1]) else { return nil }
                return Stated(
                    name: words[0], events: events, root: words[2],
                    visits: words[3].split(separator: ",").map(String.init))
            }
        }()

        /// A house in whose directory this one lies.
        func opened() throws -> ServiceUnderTest {
            let house = try ServiceUnderTest(clock: .running)
            house.stop()
            let unpack = "cd '\(house.directory)' && rm -r ./* && tar -xzf '\(Self.folder)/\(name).tar.gz'"
            try #require(Foreign.run(unpack).status == 0)
            let found = try LogVerifier.verify(try DataDirectory(path: house.directory)) { _, _ in }
            #expect(found.problem == nil && found.lostParts == 0)
            #expect(found.events == events && found.root.hex == root)
            try house.start()
            return house
        }
    }

    @Test func `there is a directory of each form that was left`() {
        let left = names(in: Stated.folder).filter { $0.hasSuffix(".tar.gz") }
        #expect(Set(left) == Set(Stated.all.map { "\($0.name).tar.gz" }))
    }

    @Test(arguments: Stated.all)
    func `what an earlier version left is read, folded and gone on with`(stated: Stated) throws {
        let house = try stated.opened()
        let verified = house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool == true, "\(verified.text)")
        #expect(verified["log"]?["events"]?.int == stated.events)
        _ = house.settled()

        let visits = house.manage("GET", "/v1/people/walker/visits").items.map { visit in
            let departure = visit["departure"]?.int.map { "\($0)" } ?? ""
            return "\(visit["arrival"]?.int ?? 0)-\(departure)"
        }
        #expect(visits == stated.visits)
        let audit = house.manage("GET", "/v1/people/walker/audit").items
        let refused = audit.filter { $0["requester"]?.string == "friend" || $0["reader"]?.string == "friend" }
        #expect(refused.count >= 2)
        let people = house.manage("GET", "/v1/people").items.compactMap { $0["handle"]?.string }
        #expect(Set(people) == ["walker", "friend"])
        #expect(house.send("GET", "/v1/people/gone/visits", as: house.operatorToken).status == 404)

        // It goes on: a new fix, seen in the answer, and all verifies.
        let key = house.manage("POST", "/v1/devices/walker-phone/tokens")
        let token = try #require((key["token"] ?? key["password"])?.string)
        let reported = house.send(
            "POST", "/v1/fixes", as: token,
            #"{"timestamp":\#(house.clock.seconds),"latitude":1.5,"longitude":2.5,"horizontalAccuracy":5}"#)
        #expect(reported.status == 200)
        let newest = house.manage("GET", "/v1/people/walker/location?at-least=\(house.service.log.head)")
        #expect(newest["location"]?["latitude"]?.double == 1.5)
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }
}
