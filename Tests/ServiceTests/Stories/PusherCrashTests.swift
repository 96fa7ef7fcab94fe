import Glibc
import HTTPServer
import JSON
import PushStandIn
import Synchronization
import Testing
import Whereabouts

@testable import Service

/// The process ends between a push and its record.
@Suite struct PusherCrashTests {
    @Test(arguments: [1, 2])
    func `a push whose record is lost is sent again under its id, and the query gets its one end`(
        crashes: Int
    ) throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let directory = here.house.directory
        var url = ""
        for crash in 1...crashes {
            // The push has arrived, nothing of it is on record: this is what a kill would leave.
            let kept = Mutex<Kept?>(nil)
            here.onPush { _ in kept.withLock { if $0 == nil { $0 = Kept(of: directory) } } }
            if crash == 1 { url = try here.ask(#","deadlineSeconds":600"#) } else { try here.house.restart() }
            here.until { kept.withLock { $0 != nil } }
            let left = try #require(kept.withLock { $0 })
            try here.house.restart { left.restore(to: directory) }
            here.until { here.standIn.acceptedCount >= 2 * crash }
        }
        #expect(Set(here.standIn.pushes.map(\.apnsID)).count == 1)
        // What was recorded of a push before may have outlived the crash after it.
        let pushes = Int64(here.standIn.acceptedCount)
        here.until { Self.attempts(here).contains { $0.attempt == pushes && $0.status == 200 } }
        let id = try #require(url.split(separator: "/").last)
        let fix = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.25,"longitude":16.5,"answering":"\#(id)"}"#)
        #expect(fix["new"]?.int == 1)
        #expect(try here.outcome(of: url)["location"]?["latitude"]?.double == 48.25)
        let events = try here.house.events().map(\.event)
        let ends = events.compactMap { if case .locationQueryEnded(_, let end, _) = $0 { end } else { nil } }
        #expect(ends == [.answered])
        // Every push is on record before it leaves, so that the budget counts it although its outcome was lost.
        let started = events.count { if case .locationPushStarted = $0 { true } else { false } }
        #expect(started == here.standIn.acceptedCount)
        // The tries are counted through, the lost ones too.
        let tries = Self.attempts(here).map(\.attempt)
        #expect(tries == tries.sorted() && Set(tries).count == tries.count)
        #expect(tries.last == Int64(here.standIn.acceptedCount))
        #expect(here.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `a push that was never tried has its end in the audit, and a stop of the service is none`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        // Nobody listens there any more.
        here.standIn.stop()
        let url = try here.ask(#","deadlineSeconds":600"#)
        here.until { Self.started(here) == 1 }
        try here.house.restart()
        here.until { Self.started(here) == 2 }
        #expect(Self.attempts(here).map(\.attempt) == [0])
        #expect(Self.attempts(here).map(\.reason) == ["not sent: the sender was stopped"])
        #expect(try here.client.send("DELETE", url, as: here.friend)["status"]?.string == "noAnswer")
        #expect(try here.audited().query?["end"]?.string == "cancelled")
        here.house.clock.advance(seconds: 61)
        // The deadline of the push is the question's.
        _ = try here.ask(#","deadlineSeconds":1"#)
        here.until { Self.attempts(here).contains { $0.reason?.hasPrefix("not sent: no connection") == true } }
        #expect(Self.attempts(here).allSatisfy { $0.attempt == 0 && $0.status == nil && $0.withheld == nil })
    }

    private static func started(_ here: Neighbourhood) -> Int {
        ((try? here.house.events()) ?? []).count { if case .locationPushStarted = $0.event { true } else { false } }
    }

    private static func attempts(_ here: Neighbourhood) -> [LocationPushAttempt] {
        ((try? here.house.events()) ?? []).compactMap {
            if case .locationPushAttempted(let attempt) = $0.event { attempt } else { nil }
        }
    }

    @Test func `a question that a crash left without a push is pushed by the next process`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let directory = here.house.directory
        // Kept when the question is durable and answered, which is before or after the pusher has seen it.
        let kept = Mutex<Kept?>(nil)
        let url = Mutex("")
        here.house.send(
            "POST", "/v1/people/walker/location-queries", as: here.friend, #"{"purpose":"late","deadlineSeconds":600}"#
        ) { response in
            url.withLock { $0 = Answer(response)["url"]?.string ?? "" }
            kept.withLock { $0 = Kept(of: directory) }
        }
        here.until { kept.withLock { $0 != nil } }
        let left = try #require(kept.withLock { $0 })
        here.until { here.standIn.acceptedCount == 1 }
        try here.house.restart { left.restore(to: directory) }
        here.until { here.standIn.acceptedCount == 2 }
        #expect(Set(here.standIn.pushes.map(\.apnsID)).count == 1)
        let address = url.withLock { $0 }
        #expect(try here.client.send("GET", address, as: here.friend)["status"]?.string == "pending")
        here.house.clock.advance(seconds: 601)
        #expect(try here.outcome(of: address)["status"]?.string == "noAnswer")
        #expect(try here.audited().query?["end"]?.string == "timedOut")
    }
}
