import Cryptography
import Geodesy
import HTTPServer
import JSON
import Synchronization
import Testing
import Whereabouts

@testable import Service

/// What must hold between two threads: the standing runs ahead of the file, and rights end while answers are computed.
@Suite struct RaceTests {
    @Test func `an asker who looks while the fix is being committed waits for it`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let ballast = try Ballast(house)
        for round in 1...20 {
            house.clock.advance(seconds: 1)
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: walker, #"{"purpose":"round","maxAgeSeconds":0}"#)
            let url = try #require(asked["url"]?.string)
            house.clock.advance(seconds: 1)
            let fix = #"{"timestamp":\#(house.clock.seconds),"latitude":\#(round % 80),"longitude":7}"#
            // While the first ballast is written, the fix and the second one gather for the next commit.
            try ballast.send()
            house.send("POST", "/v1/fixes", as: phone, fix) { _ in }
            try ballast.send()
            var answer = house.send("GET", url, as: walker)
            while answer["status"]?.string == "pending" { answer = house.send("GET", url, as: walker) }
            try #require(answer["status"]?.string == "answered", "round \(round): \(answer.status)")
            #expect(answer["location"]?["latitude"]?.double == Double(round % 80))
        }
    }

    @Test func `once a revocation is acknowledged, no reading begun after it succeeds`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        house.send(
            "POST", "/v1/fixes", as: phone, #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.3}"#)
        let ways = ["location", "track", "visits", "crossings"].map { "/v1/people/walker/\($0)" }
        for _ in 0..<4 {
            let grant = try house.grant("walker", to: "friend", history: true)
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"race","maxAgeSeconds":600}"#)
            let targets = ways + [try #require(asked["url"]?.string)]
            let served = Mutex(0)
            let late = Monitor<(left: Int, served: Int)>((1000, 0))
            // Readings under way when the grant ends may go either way.
            for index in 0..<200 {
                house.send("GET", targets[index % targets.count], as: friend) { response in
                    if response.status == 200 { served.withLock { $0 += 1 } }
                }
            }
            house.manage("DELETE", "/v1/grants/\(grant)")
            for index in 0..<1000 {
                house.send("GET", targets[index % targets.count], as: friend) { response in
                    let isServed = String(decoding: response.body, as: UTF8.self).contains("48.2")
                    late.change { $0 = ($0.left - 1, $0.served + (isServed ? 1 : 0)) }
                }
            }
            #expect(late.wait { $0.left == 0 ? $0.served : nil } == 0)
        }
    }

    @Test func `a push leaves only when the question is durable`() throws {
        let here = try Neighbourhood()
        _ = try here.registerSilentPhone()
        let ballast = try Ballast(here.house)
        let service = here.house.service
        // Numbers of pushes, and of questions found in the file when a push came.
        let seen = Mutex((place: Int64(0), asked: 0, pushes: 0, early: 0))
        here.onPush { _ in
            seen.withLock { seen in
                // A reader of its own sees what is committed.
                let committed = (try? service.log.reader().storedEvents(after: seen.place, limit: 1_000_000)) ?? []
                seen.place = committed.last?.header.number ?? seen.place
                seen.asked += committed.count { $0.header.kind == EventKind.locationQueried.rawValue }
                seen.pushes += 1
                if seen.asked < seen.pushes { seen.early += 1 }
            }
        }
        let rounds = 15
        for round in 1...rounds {
            try ballast.send()
            here.house.send(
                "POST", "/v1/people/walker/location-queries", as: here.walker, #"{"purpose":"a round"}"#
            ) { _ in }
            try ballast.send()
            // A phone is woken once a minute.
            here.until { seen.withLock { $0.pushes } == round }
            here.house.clock.advance(seconds: Limits.secondsBetweenPushes + 1)
        }
        #expect(seen.withLock { $0.early } == 0)
    }
}

/// Work for the commit in which something else is tried, so that it takes a while.
private final class Ballast {
    private let log: EventLog
    private let caller: Caller
    private let device: Handle
    private var time: Int64 = 1_000_000_000_000

    init(_ house: ServiceUnderTest) throws {
        _ = try house.addPerson("ballast")
        _ = try house.addDevice("ballast-phone", of: "ballast")
        log = house.service.log
        device = try #require(Handle("ballast-phone"))
        let hash = Hash256(SHA256().hash(Array(house.operatorToken.utf8)))
        caller = try #require(log.withStanding { $0.caller(tokenHash: hash, at: house.clock.now) })
    }

    func send() throws {
        let place = try Coordinate(latitude: 1, longitude: 2)
        let reports = (0..<500).map { _ in
            time += 1000
            return DeviceReport.fix(Fix(timestamp: Timestamp(milliseconds: time), coordinate: place), answering: nil)
        }
        log.submit(.reportFixes(device: .named(device), reports), by: caller, correlation: .random()) { _ in }
    }
}
