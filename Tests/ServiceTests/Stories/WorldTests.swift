import CoreLocation
import Foundation
import JSON
import PushStandIn
import Synchronization
import Testing
import Whereabouts

@testable import DeviceAgent
@testable import Service

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

    /// Plays a scenario on a folder of its own, and reads the log before the service goes.
    private func play(
        _ text: String
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
            }, diary: nil)
        defer { world.stop() }
        try world.play { _ in }
        let service = try #require(running.withLock { $0 })
        let reader = try service.log.reader()
        var events: [RecordedEvent] = []
        while case let page = try reader.events(after: events.last?.number ?? 0, limit: 1000), !page.isEmpty {
            events += page.map(\.event)
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
            """)
        #expect(played.summary.unexpected == 0 && played.summary.asked.count == 1)
        let asked = try #require(played.summary.asked.first)
        // The receiver takes 2 s to find the place, and the world looks every second.
        #expect(asked.wasPushed && (2...4).contains(asked.seconds))
        let query = try #require(played.events.first { if case .locationQueried = $0.event { true } else { false } })
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
        #expect(fix.cause == query.number && query.number < push.number && push.number < end.number)
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
        // What the network lost was sent again, and made no fix twice.
        expectNoFixTwice(first.events)
    }

    private func expectNoFixTwice(_ events: [RecordedEvent]) {
        var identities: Set<Fix.Identity> = []
        for case .fixReported(let device, _, .open(let fix)) in events.map(\.event) {
            #expect(identities.insert(fix.identity(device: device)).inserted)
        }
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["WHEREABOUTS_LONG"] == "1",
            "A hundred phones take minutes: WHEREABOUTS_LONG=1."))
    func `a hundred phones with faults, twice, give the same callback logs, and each question ends once`() throws {
        let scenario = Self.scenario(count: 100, hours: 6, lossPercent: 10)
        let first = try play(scenario)
        let second = try play(scenario)
        #expect(first.logs == second.logs)
        #expect(first.summary.asked == second.summary.asked)
        expectOneEndEach(first.events, asked: first.summary.asked.count)
    }
}
