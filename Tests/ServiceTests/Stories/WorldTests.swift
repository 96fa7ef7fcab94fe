import CoreLocation
import Foundation
import JSON
import PushStandIn
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import DeviceAgent
@testable import Log
@testable import Projections
@testable import Reactors
@testable import Service
@testable import Tables

/// Worlds of simulated phones against a whole service, on simulated time, with real HTTP/2, HTTP and files in between.
@Suite struct WorldTests {
    /// A commuter's day in short: home, the way, the office, the way back.
    private static func scenario(count: Int, hours: Double, lossPercent: Double, more: String = "") -> String {
        """
        {"start": "2027-01-04T00:00:00Z", "hours": \(hours), "seed": 7,
         "network": {"lossPercent": \(lossPercent), "delaySeconds": 2},
         "phones": [{"person": "commuter", "count": \(count),
          "user": [{"prompt": "always", "choice": "whileUsing"}, {"prompt": "keepAlways", "choice": "always"}],
          "reports": ["visits", "regions", "updates"], "home": [48.2, 16.35], "spreadMeters": 3000,
          "everySeconds": 60, "sigmaMeters": 5, "driftMeters": 5,
          "agenda": [{"staySeconds": 2400}, {"moveMeters": [4000, 1500], "metersPerSecond": 9}, {"staySeconds": 3000},
                     {"moveMeters": [0, 0], "metersPerSecond": 9}, {"staySeconds": 1200}],
          "regions": [{"id": "home", "meters": 200}]}],
         "askers": [{"person": "friend", "asks": "commuter", "everySeconds": 900,
                     "expect": ["answered", "answeredFromLastKnown", "noAnswer"]}]\(more)}
        """
    }

    /// Plays a scenario on a temporary folder, and reads the log before the service ends.
    ///
    /// - Parameters:
    ///   - look: more requests to the service and the phones while they run.
    ///   - isAll: whether all expected events are recorded; the results of pushes arrive later.
    private func play(
        _ text: String, diary: Diary? = nil, look: (World) throws -> Void = { _ in },
        until isAll: ([RecordedEvent]) -> Bool = { _ in true }
    ) throws -> (logs: [String], summary: Summary, events: [RecordedEvent]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("world-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let root = try JSONDocument.parse(Array(text.utf8)).root
        let scenario = try WorldScenario(root, directory: "/", now: Date(timeIntervalSince1970: 0))
        let running = Mutex<Service?>(nil)
        let world = try World(
            scenario, folder: folder,
            start: { directory, pushes, bundleID, time in
                var configuration = ServiceConfiguration()
                configuration.push = [ServiceUnderTest.push(over: pushes, bundleIDs: [bundleID])]
                let clock = HouseClock.standing
                clock.set(time)
                let service = try Service(
                    directory: try DataDirectory(path: directory), configuration: configuration, gazetteerPath: nil,
                    clock: { clock.now })
                running.withLock { $0 = service }
                return WorldService(
                    port: try service.listen(host: "127.0.0.1", port: 0), adminToken: service.adminToken,
                    setTime: { clock.set($0) }, stop: { service.stop() })
            }, diary: diary)
        defer { world.stop() }
        try world.play { _ in }
        let service = try #require(running.withLock { $0 })
        #expect(
            service.host.wait(
                for: service.log.head, in: ProjectionKind.all.map(\.name), milliseconds: patienceMilliseconds))
        try look(world)
        let reader = try service.log.reader()
        var events: [RecordedEvent] = []
        try eventually("all events") {
            let page = try reader.events(after: events.last?.number ?? 0, limit: 1000).map(\.event)
            events += page
            return page.isEmpty && isAll(events)
        }
        return (world.callbackLogs.map(\.log.text), world.summary, events)
    }

    /// Every granted question has exactly one end.
    private func expectOneEndEach(_ events: [RecordedEvent], asked: Int) {
        var ends: [QueryID: Int] = [:]
        var queries = 0
        for event in events {
            switch event.event {
            case .locationQueried: queries += 1
            case .locationQueryEnded(let id, _, _): ends[id, default: 0] += 1
            default: break
            }
        }
        #expect(queries == asked && ends.count == asked && ends.values.allSatisfy { $0 == 1 })
    }

    @Test func `P1 a question wakes the extension, whose fix ends it within seconds, under one correlation`() throws {
        let played = try play(
            """
            {"start": "2027-01-04T00:00:00Z", "hours": 1, "seed": 1,
             "phones": [{"person": "walker", "reports": [], "home": [48.2, 16.35], "everySeconds": 60}],
             "askers": [{"person": "friend", "asks": "walker", "everySeconds": 3000, "expect": ["answered"]}]}
            """,
            until: { $0.contains { if case .locationPushAttempted = $0.event { true } else { false } } })
        #expect(played.summary.unexpected == 0 && played.summary.asked.count == 1)
        let asked = try #require(played.summary.asked.first)
        // The receiver takes 2 s to find the place, and the world looks every second.
        #expect(asked.wasPushed && (2...4).contains(asked.seconds))
        let query = try #require(played.events.first { if case .locationQueried = $0.event { true } else { false } })
        let started = try #require(
            played.events.first { if case .locationPushStarted = $0.event { true } else { false } })
        let push = try #require(
            played.events.first { if case .locationPushAttempted = $0.event { true } else { false } })
        let fix = try #require(
            played.events.first { if case .fixReported(_, .some, _) = $0.event { true } else { false } })
        let end = try #require(
            played.events.first { if case .locationQueryEnded = $0.event { true } else { false } })
        guard case .fixReported(_, let answering, _) = fix.event, case .locationQueried(let asked) = query.event else {
            return
        }
        #expect(answering == asked.id && push.correlation == asked.id)
        #expect(fix.cause == query.number && query.number < started.number)
        // The phone may answer before APNs does.
        #expect(started.number < end.number && started.number < push.number)
        #expect(played.logs[0].contains(".location-push/1 launched") && played.logs[0].contains("/1 completed"))
        expectOneEndEach(played.events, asked: 1)
    }

    @Test func `P7 an old token is answered 410, the phone registers again, and the next question is answered`() throws
    {
        let played = try play(
            """
            {"start": "2027-01-04T00:00:00Z", "hours": 2, "seed": 1,
             "phones": [{"person": "walker", "reports": [], "home": [48.2, 16.35], "everySeconds": 60,
                         "newTokenEverySeconds": 3600, "opensEverySeconds": 5400}],
             "askers": [{"person": "friend", "asks": "walker", "everySeconds": 1500,
                         "expect": ["answered", "noAnswer"]}]}
            """)
        #expect(played.summary.asked.map(\.end) == ["answered", "answered", "noAnswer", "answered"])
        let refused = played.events.filter { event in
            if case .locationPushAttempted(let attempt) = event.event { attempt.status == 410 } else { false }
        }
        let retired = played.events.filter { event in
            if case .locationPushTokenRetired = event.event { true } else { false }
        }
        let registered = played.events.filter { event in
            if case .locationPushTokenRegistered = event.event { true } else { false }
        }
        #expect(refused.count == 1 && retired.count == 1 && registered.count == 2)
    }

    @Test func `two runs of a world with faults give the same callback logs, and each question ends once`() throws {
        let scenario = Self.scenario(count: 6, hours: 2.5, lossPercent: 10)
        let first = try play(scenario)
        let second = try play(scenario)
        #expect(first.logs == second.logs)
        #expect(first.logs.allSatisfy { $0.contains("didUpdateLocations") })
        #expect(first.summary.asked == second.summary.asked)
        #expect(first.summary.retried > 0 && first.summary.refused == 0)
        expectOneEndEach(first.events, asked: first.summary.asked.count)
        // Lost messages were sent again and stored no fix twice; the record is the same except for the order.
        #expect(expectNoFixTwice(first.events) == expectNoFixTwice(second.events))
    }

    @Test func `D1 a network that loses and repeats a third of everything makes no fix twice, and each question ends`()
        throws
    {
        let played = try play(
            """
            {"start": "2027-01-04T00:00:00Z", "hours": 2, "seed": 5, "network": {"lossPercent": 33, "delaySeconds": 2},
             "phones": [{"person": "walker", "count": 3, "reports": ["updates"], "home": [48.2, 16.35],
                         "everySeconds": 120, "sigmaMeters": 5}],
             "askers": [{"person": "friend", "asks": "walker", "everySeconds": 300, "expect": ["answered", "noAnswer"]}]}
            """)
        #expect(played.summary.retried > 0 && played.summary.asked.contains { $0.end == "answered" })
        expectOneEndEach(played.events, asked: played.summary.asked.count)
        expectNoFixTwice(played.events)
    }

    @Test func `what a phone hears of visits, crossings, beacons and headings is on record`() throws {
        let played = try play(
            """
            {"start": "2027-01-04T00:00:00Z", "hours": 2, "seed": 1,
             "phones": [{"person": "walker", "reports": ["updates", "visits", "regions", "beacons", "headings"],
                         "home": [48.2, 16.35], "everySeconds": 10, "regions": [{"id": "home", "meters": 200}],
                         "beacons": [{"id": "door", "uuid": "0a1b2c3d-0000-4000-8000-000000000001", "atMeters": [900, 0]}],
                         "agenda": [{"staySeconds": 1200}, {"moveMeters": [900, 0]}, {"staySeconds": 1800},
                                    {"moveMeters": [0, 0]}, {"staySeconds": 1800}]}]}
            """)
        var told: [String: Int] = [:]
        for case .sightingReported(_, let kind, _) in played.events.map(\.event) { told["\(kind)", default: 0] += 1 }
        // Home is left, the place of the beacon reached, its circle and home's crossed twice each.
        #expect(told["visit", default: 0] >= 2 && told["crossing"] == 4)
        #expect(told["beacon", default: 0] >= 3 && told["heading", default: 0] >= 1)
    }

    /// The phones' time is the scenario's, that of APNs the real one.
    @Test func `a world in the past is asked and answered like any other`() throws {
        let played = try play(
            """
            {"start": "2001-01-01T00:00:00Z", "hours": 0.5, "seed": 1,
             "phones": [{"person": "walker", "reports": [], "home": [48.2, 16.35], "everySeconds": 60}],
             "askers": [{"person": "friend", "asks": "walker", "everySeconds": 1000, "expect": ["answered"]}]}
            """)
        #expect(played.summary.asked.map(\.end) == ["answered"] && played.summary.asked.allSatisfy(\.wasPushed))
    }

    @Test func `P9 app and extension report the same fix at the same time, and it is one`() throws {
        let lines = Mutex<[String]>([])
        let played = try play(
            """
            {"start": "2027-01-04T00:00:00Z", "hours": 0.5, "seed": 1,
             "phones": [{"person": "walker", "reports": ["updates"], "home": [48.2, 16.35], "everySeconds": 300}],
             "askers": [{"person": "friend", "asks": "walker", "everySeconds": 1000, "expect": ["answered"]}]}
            """, diary: Diary { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
        #expect(played.summary.unexpected == 0)
        // Each process also sends the messages of the shared outbox, so the second message may arrive more than once.
        let reports = lines.withLock { $0.filter { $0.contains(#""time":1799021802,"#) && $0.contains("reported") } }
        #expect(reports.count { $0.contains(#""new":1,"duplicate":0"#) } == 1)
        #expect(reports.contains { $0.contains(#""query""#) } && reports.contains { !$0.contains(#""query""#) })
        expectOneEndEach(played.events, asked: 1)
        expectNoFixTwice(played.events)
    }

    /// The truth is the scenario's own: 2400 s at home, 4272 m at 9 m/s, 3000 s at the office, and back. Phone and
    /// service conclude from fixes a minute apart, each by its own rules; both may be three minutes off.
    @Test func `visits and crossings of the device, of the service and of the truth agree within three minutes`() throws
    {
        let start = 1_799_020_800.0
        let way = 4272.0 / 9
        let (arrival, departure) = (start + 2400 + way, start + 5400 + way)
        // The home circle of 200 m is left and entered 22 s from home.
        let crossings = [("exit", start + 2422), ("enter", start + 5400 + 2 * way - 22)]
        func near(_ time: Double?, _ truth: Double) -> Bool { time.map { abs($0 - truth) <= 180 } ?? false }
        _ = try play(Self.scenario(count: 2, hours: 2.5, lossPercent: 0)) { world in
            let http = try ServiceConnection(service: "http://127.0.0.1:\(world.service.port)")
            func items(_ path: String) throws -> [JSONValue] {
                let request = ServiceRequest(method: "GET", path: path, bearer: world.service.adminToken, body: [])
                guard case .answer(200, let body) = http.send(request) else { return [] }
                return try JSONDocument.parse(body).root["items"]?.array.map { Array($0) } ?? []
            }
            for (person, log) in world.callbackLogs {
                let visits = try items("/v1/people/\(person)/visits")
                #expect(
                    visits.contains {
                        near($0["arrival"]?.double, arrival) && near($0["departure"]?.double, departure)
                    }, "the service's visits of \(person)")
                let told = log.lines(containing: "didVisit").map { $0.split(separator: " ") }
                #expect(
                    told.contains { near(Double($0[3]), arrival) && near(Double($0[4]), departure) },
                    "the device's visits of \(person)")
                let crossed = try items("/v1/people/\(person)/crossings")
                let heard = log.lines.filter { $0.contains("didExitRegion") || $0.contains("didEnterRegion") }
                #expect(crossed.count == 2 && heard.count == 2)
                for (index, (type, truth)) in crossings.enumerated() where index < min(crossed.count, heard.count) {
                    #expect(crossed[index]["type"]?.string == type && near(crossed[index]["time"]?.double, truth))
                    #expect(near(Double(heard[index].prefix { $0 != " " }), truth))
                }
            }
        }
    }

    /// The fixes on record, none of them twice.
    @discardableResult
    private func expectNoFixTwice(_ events: [RecordedEvent]) -> Set<Fix.Identity> {
        var identities: Set<Fix.Identity> = []
        for case .fixReported(let device, _, .open(let fix)) in events.map(\.event) {
            #expect(identities.insert(fix.identity(device: device)).inserted)
        }
        return identities
    }

    @Test(
        .enabled(
            if: isLongForm,
            "A hundred phones take minutes: WHEREABOUTS_LONG=1."))
    func `a hundred phones with faults, twice, give the same callback logs, and each question ends once`() throws {
        let scenario = Self.scenario(count: 100, hours: 6, lossPercent: 10)
        let first = try play(scenario)
        let second = try play(scenario)
        #expect(first.logs == second.logs)
        #expect(first.summary.asked == second.summary.asked)
        #expect(expectNoFixTwice(first.events) == expectNoFixTwice(second.events))
        expectOneEndEach(first.events, asked: first.summary.asked.count)
        expectOneEndEach(second.events, asked: second.summary.asked.count)
    }
}
