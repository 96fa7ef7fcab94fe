import Glibc
import HTTPServer
import JSON
import PushStandIn
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// The process ends between a push and its record.
@Suite struct PusherCrashTests {
    @Test func `a push whose record is lost is unknown, and is repeated once however often the service is killed`()
        throws
    {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let directory = here.house.directory
        let url = Mutex("")
        for crash in 1...4 {
            // Pushes 1 and 2 have arrived without a record, as after a kill.
            let kept = Mutex<Kept?>(nil)
            here.onPush { _ in kept.withLock { if $0 == nil { $0 = Kept(of: directory) } } }
            if crash == 1 {
                let asked = try here.ask(#","deadlineSeconds":3000"#)
                url.withLock { $0 = asked }
            } else {
                here.house.clock.advance(seconds: 61)
            }
            if crash <= 2 {
                try eventually { kept.withLock { $0 != nil } }
                let left = try #require(kept.withLock { $0 })
                try here.house.restart { left.restore(to: directory) }
                try eventually { Self.attempts(here).count { $0.reason == "the service ended" } == crash }
            } else {
                try here.house.restart()
            }
        }
        // The pusher would send any further push for the first question before it takes this one.
        _ = try here.house.addDevice("friend-phone", of: "friend")
        here.house.clock.advance(seconds: 61)
        let own = here.house.send(
            "POST", "/v1/people/walker/location-queries", as: here.walker, #"{"purpose":"mine","deadlineSeconds":600}"#)
        #expect(own.status == 202)
        try eventually { Set(here.standIn.pushes.map(\.apnsID)).count == 2 }
        let first = here.standIn.pushes.first?.apnsID
        #expect(here.standIn.pushes.count { $0.apnsID == first } == 2)
        let asked = url.withLock { $0 }
        let id = try #require(QueryID(asked.split(separator: "/").last ?? ""))
        let tries = Self.attempts(here).filter { $0.query == id }
        #expect(tries.map(\.attempt) == [1, 2] && tries.allSatisfy { $0.outcome == .unknown })
        // Every push is recorded before it is sent, so the budget counts it although its outcome was lost.
        let fix = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.25,"longitude":16.5,"answering":"\#(id)"}"#)
        #expect(fix["new"]?.int == 1)
        #expect(try here.outcome(of: asked)["location"]?["latitude"]?.double == 48.25)
        #expect(here.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `an accepted push is not sent again, after a kill and after an orderly stop`() throws {
        let phones = 50
        let here = try Neighbourhood()
        let directory = here.house.directory
        for index in 0..<phones { try here.addPhone("phone-\(index)", of: "walker") }
        func ask() -> Answer {
            here.house.send(
                "POST", "/v1/people/walker/location-queries", as: here.walker,
                #"{"purpose":"mine","deadlineSeconds":3000}"#)
        }
        #expect(ask().status == 202)
        try eventually { Self.attempts(here).count { $0.outcome == .accepted } == phones }
        let ids = Set(here.standIn.pushes.map(\.apnsID))
        #expect(ids.count == phones && here.standIn.acceptedCount == phones)
        let killed = Kept(of: directory)
        try here.house.restart { killed.restore(to: directory) }
        here.house.clock.advance(seconds: 61)
        try here.house.restart()
        // A later question wakes each phone; all pushes for the first have been made by then.
        #expect(ask().status == 202)
        try eventually { here.standIn.acceptedCount >= 2 * phones }
        try eventually { Self.attempts(here).count { $0.outcome == .accepted } == 2 * phones }
        #expect(here.standIn.pushes.count { ids.contains($0.apnsID) } == phones)
        #expect(here.standIn.acceptedCount == 2 * phones)
    }

    @Test func `a push that was never tried has its end in the audit, and a stop of the service is none`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        // No server listens there any more.
        here.standIn.stop()
        let url = try here.ask(#","deadlineSeconds":600"#)
        try eventually { Self.started(here) == 1 }
        try here.house.restart()
        try eventually { Self.started(here) == 2 }
        #expect(Self.attempts(here).map(\.attempt) == [0])
        #expect(Self.attempts(here).map(\.reason) == ["not sent: the sender was stopped"])
        #expect(try here.client.send("DELETE", url, as: here.friend)["status"]?.string == "noAnswer")
        #expect(try here.audited().query?["end"]?.string == "cancelled")
        try eventually { Self.attempts(here).last?.outcome == .withdrawn }
        #expect(Self.attempts(here).last?.reason == "cancelled")
        here.house.clock.advance(seconds: 61)
        // The deadline of the push is the question's.
        _ = try here.ask(#","deadlineSeconds":1"#)
        try eventually { Self.attempts(here).contains { $0.reason?.hasPrefix("not sent: no connection") == true } }
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
        try eventually { kept.withLock { $0 != nil } }
        let left = try #require(kept.withLock { $0 })
        try eventually { here.standIn.acceptedCount == 1 }
        try here.house.restart { left.restore(to: directory) }
        // If its start was on record, a push may have arrived, and the phone has its minute.
        here.house.clock.advance(seconds: 61)
        try eventually { here.standIn.acceptedCount == 2 }
        #expect(Set(here.standIn.pushes.map(\.apnsID)).count == 1)
        let address = url.withLock { $0 }
        #expect(try here.client.send("GET", address, as: here.friend)["status"]?.string == "pending")
        here.house.clock.advance(seconds: 601)
        #expect(try here.outcome(of: address)["status"]?.string == "noAnswer")
        #expect(try here.audited().query?["end"]?.string == "timedOut")
    }
}
