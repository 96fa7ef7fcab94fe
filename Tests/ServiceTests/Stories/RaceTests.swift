import Answers
import Cryptography
import Geodesy
import HTTPServer
import JSON
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log
@testable import Service

/// Invariants between two threads: the standing is ahead of the file, and rights end while answers are computed.
///
/// Each test counts the rounds in which the race was run, goes on until there are enough, and fails if there are too
/// few.
@Suite struct RaceTests {
    private static let rounds = 20
    /// Rounds that must have been races.
    private static let races = 3
    /// Rounds after which a race that is not run is a failure.
    private static let roundsMax = 300

    @Test func `an asker who looks while the fix is being committed waits for it`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let ballast = try Ballast(house)
        let log = house.service.log
        var round = 0
        // Rounds in which the fix had answered the question and was not in the file yet.
        var raced = 0
        while round < Self.rounds || raced < Self.races && round < Self.roundsMax {
            round += 1
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
            var wasAhead = false
            let answer = try eventually("the answer", pauseMilliseconds: 0) {
                let fix = log.withStanding { $0.queries.all.values.compactMap(\.fix).max() } ?? 0
                if fix > log.head { wasAhead = true }
                let answer = house.send("GET", url, as: walker)
                return answer["status"]?.string == "pending" ? nil : answer
            }
            if wasAhead { raced += 1 }
            try #require(answer["status"]?.string == "answered", "round \(round): \(answer.status)")
            #expect(answer["location"]?["latitude"]?.double == Double(round % 80))
        }
        #expect(raced >= Self.races, "Only in \(raced) of \(round) rounds was the fix decided before it was durable.")
    }

    /// A right to read that can be ended.
    enum Right: CaseIterable { case grant, link }

    @Test(arguments: Right.allCases)
    func `once a revocation is acknowledged, no reading begun after it succeeds`(right: Right) throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        house.send(
            "POST", "/v1/fixes", as: phone, #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.3}"#)
        let ways = ["location", "track", "visits", "crossings"].map { "/v1/people/walker/\($0)" }
        var round = 0
        // Rounds in which readings were under way when the revocation was acknowledged, and those that were served.
        var raced = 0
        var servedBefore = 0
        while round < 4 || (raced < Self.races || servedBefore == 0) && round < 30 {
            round += 1
            house.clock.advance(seconds: 300)
            let (token, targets, path): (String, [String], String)
            switch right {
            case .grant:
                let grant = try house.grant("walker", to: "friend", history: true)
                let asked = house.send(
                    "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"race","maxAgeSeconds":600}"#
                )
                (token, targets, path) = (friend, ways + [try #require(asked["url"]?.string)], "/v1/grants/\(grant)")
            case .link:
                let link = house.manage("POST", "/v1/people/walker/links", #"{"history":true,"live":true}"#)
                let opened = house.send(
                    "POST", "/v1/link-openings", as: nil, #"{"link":"\#(link["secret"]?.string ?? "")"}"#)
                let id = try #require(house.number(link["id"], .link))
                (token, targets, path) = (try #require(opened["token"]?.string), ways, "/v1/links/\(id)")
            }
            let early = Mutex((answered: 0, served: 0))
            let late = Monitor<(left: Int, served: Int)>((1000, 0))
            // Readings under way when the right ends may go either way.
            for index in 0..<200 {
                house.send("GET", targets[index % targets.count], as: token) { response in
                    early.withLock { $0 = ($0.answered + 1, $0.served + (response.status == 200 ? 1 : 0)) }
                }
            }
            house.manage("DELETE", path)
            if early.withLock({ $0.answered }) < 200 { raced += 1 }
            for index in 0..<1000 {
                house.send("GET", targets[index % targets.count], as: token) { response in
                    let isServed = String(decoding: response.body, as: UTF8.self).contains("48.2")
                    late.change { $0 = ($0.left - 1, $0.served + (isServed ? 1 : 0)) }
                }
            }
            #expect(try late.expected("the late answers") { $0.left == 0 ? $0.served : nil } == 0)
            servedBefore += early.withLock { $0.served }
        }
        #expect(raced >= Self.races, "Only in \(raced) of \(round) rounds were readings under way.")
        #expect(servedBefore > 0)
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
                // A separate reader sees only committed events.
                let committed = (try? service.log.reader().storedEvents(after: seen.place, limit: 1_000_000)) ?? []
                seen.place = committed.last?.header.number ?? seen.place
                seen.asked += committed.count { $0.header.kind == EventKind.locationQueried.rawValue }
                seen.pushes += 1
                if seen.asked < seen.pushes { seen.early += 1 }
            }
        }
        var round = 0
        // Rounds in which the question was decided and not in the file yet.
        var raced = 0
        while round < Self.rounds || raced < Self.races && round < Self.roundsMax {
            round += 1
            let before = service.log.withStanding { $0.queries.all.values.map(\.number).max() } ?? 0
            try ballast.send()
            here.house.send(
                "POST", "/v1/people/walker/location-queries", as: here.walker, #"{"purpose":"a round"}"#
            ) { _ in }
            try ballast.send()
            let asked = try eventually("the question", pauseMilliseconds: 0) {
                service.log.withStanding { $0.queries.all.values.map(\.number).max() }.flatMap {
                    $0 > before ? $0 : nil
                }
            }
            if asked > service.log.head { raced += 1 }
            // A phone is woken once a minute.
            try eventually { seen.withLock { $0.pushes } == round }
            here.house.clock.advance(seconds: Limits.secondsBetweenPushes + 1)
        }
        #expect(seen.withLock { $0.early } == 0)
        #expect(
            raced >= Self.races, "Only in \(raced) of \(round) rounds was the question decided before it was durable.")
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
