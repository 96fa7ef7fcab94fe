import Cryptography
import JSON
import LocationPush
import Log
import PushStandIn
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Ten pushes wait because APNs accepts no connection; then an event forbids them.
@Suite struct PushRecallStoryTests {
    enum Forbidding: String, CaseIterable, Sendable {
        case erased, revoked, paused, cancelled, removed, answered, replaced
    }

    private static let phones = 10

    @Test(arguments: Forbidding.allCases)
    func `no push is sent after the event that forbids it, and each is recorded as withdrawn`(what: Forbidding) throws {
        let here = try Neighbourhood()
        let grant = try here.house.grant("walker", to: "friend")
        var phones: [(key: String, token: [UInt8])] = []
        for index in 0..<Self.phones { phones.append(try here.addPhone("phone-\(index)", of: "walker")) }
        let control = try here.addPhone("friend-phone", of: "friend")
        here.standIn.script([PushStandInRule(.refuseConnection, times: nil)])
        let url = try here.ask(#","deadlineSeconds":600"#)
        try eventually { started(here) == Self.phones }
        let id = try #require(url.split(separator: "/").last)

        var reason = ""
        var newer: Set<String> = []
        switch what {
        case .erased:
            here.house.manage("DELETE", "/v1/people/walker")
            reason = "personErased"
        case .revoked:
            here.house.manage("DELETE", "/v1/grants/\(grant)")
            reason = "notGranted"
        case .paused:
            #expect(here.house.send("POST", "/v1/people/walker/pauses", as: here.walker, "{}").status < 300)
            reason = "paused"
        case .cancelled:
            #expect(here.house.send("DELETE", url, as: here.friend).status == 200)
            reason = "cancelled"
        case .removed:
            for index in 0..<Self.phones { here.house.manage("DELETE", "/v1/devices/phone-\(index)") }
            reason = "deviceRemoved"
        case .answered:
            let fix = here.house.send(
                "POST", "/v1/fixes", as: here.phoneKey,
                #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.2,"longitude":16.4,"answering":"\#(id)"}"#)
            #expect(fix["new"]?.int == 1)
            reason = "answered"
        case .replaced:
            for index in 0..<Self.phones {
                let token = hex(try here.standIn.registerPhone(bundleID: ServiceUnderTest.bundleID))
                newer.insert(String(token.suffix(8)))
                let answer = here.house.send(
                    "PUT", "/v1/devices/phone-\(index)/location-push-token", as: phones[index].key,
                    #"{"hex":"\#(token)","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#)
                #expect(answer.status == 200)
            }
            reason = "tokenReplaced"
        }
        // They are withdrawn at once, while APNs is still unreachable.
        try eventually { withdrawn(here).count >= Self.phones }
        let records = withdrawn(here)
        #expect(records.count == Self.phones)
        // An erasure is two events: the question is cancelled, then the person is erased. A push that is tried between
        // them is withdrawn for the first.
        let reasons: Set<String> = what == .erased ? [reason, "cancelled"] : [reason]
        let ends = records.map { "\($0.attempt.reason ?? "none") at try \($0.attempt.attempt)" }
        #expect(Set(ends).isSubset(of: reasons.map { "\($0) at try 0" }), "\(what): \(ends)")
        #expect(Set(records.map(\.attempt.device)).count == Self.phones)
        let device = try #require(records.first?.attempt.device)
        let walker = here.house.service.log.withStanding { $0.devices[device]?.person }
        #expect(records.allSatisfy { $0.stream == (what == .erased ? .house : walker.map(StreamID.audit)) })
        // The record identifies the token by a hash, which the records of an erased person do not have.
        let hashes = Set(records.compactMap { $0.attempt.tokenHash?.hex })
        let expected = Set(phones.map { String(hex(SHA256().hash($0.token).bytes).prefix(8)) })
        #expect(hashes == (what == .erased ? [] : expected))

        // APNs is back: a push that still waited would be sent now, before the push for another question.
        here.standIn.clearScript()
        let own = here.house.send(
            "POST", "/v1/people/friend/location-queries", as: here.friend, #"{"purpose":"control","maxAgeSeconds":0}"#)
        #expect(own.status == 202)
        try eventually { here.standIn.pushes.contains { $0.deviceTokenEnd == hex(control.token).suffix(8) } }
        let old = Set(phones.map { String(hex($0.token).suffix(8)) })
        #expect(here.standIn.pushes.allSatisfy { !old.contains($0.deviceTokenEnd) })
        if what == .replaced {
            // The question goes on with the newer tokens.
            func woken() -> Set<String> { Set(here.standIn.pushes.map(\.deviceTokenEnd)).intersection(newer) }
            try eventually { woken().count == Self.phones }
        } else {
            #expect(here.standIn.pushes.count == 1)
        }
        if what == .revoked || what == .paused || what == .cancelled {
            let recorded = try here.audited { pushes(of: $0).count == Self.phones }.query.map(pushes) ?? []
            #expect(recorded.count == Self.phones)
            #expect(recorded.allSatisfy { $0["outcome"]?.string == "withdrawn" && $0["reason"]?.string == reason })
        }
    }

    @Test func `the audit shows a push under way, and later its outcome instead`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        here.standIn.script([PushStandInRule(.refuseConnection, times: nil)])
        _ = try here.registerSilentPhone()
        _ = try here.ask(#","deadlineSeconds":600"#)
        try eventually { started(here) == 1 }
        let before = try here.audited { pushes(of: $0).count == 1 }.query.map(pushes)?.first
        #expect(before?["outcome"]?.string == "underWay" && before?["attempt"]?.int == 1)
        #expect(before?["device"]?.string == "walker-phone")
        here.standIn.clearScript()
        let after = try here.audited { pushes(of: $0).first?["outcome"]?.string == "accepted" }.query.map(pushes)
        #expect(after?.count == 1)
        let push = after?.first
        #expect(push?["status"]?.int == 200 && push?["priority"]?.int == 10)
        #expect(push?["environment"]?.string == "development")
        #expect(push?["apnsID"]?.string == before?["apnsID"]?.string)
        // The development service gives an id to each accepted push.
        #expect(push?["apnsUniqueID"]?.string != nil)
        let (start, end) = (push?["startedAt"]?.double ?? 0, push?["endedAt"]?.double ?? 0)
        #expect(start > 0 && end >= start && end - start < 60)
    }

    @Test func `the audit of a question without a phone to wake shows that`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.ask()
        let push = try here.audited { pushes(of: $0).count == 1 }.query.map(pushes)?.first
        #expect(push?["outcome"]?.string == "withheld" && push?["reason"]?.string == "noDevice")
        // A phone that comes meanwhile is woken.
        let token = try here.registerSilentPhone()
        try eventually { here.standIn.pushes.contains { $0.deviceTokenEnd == hex(token).suffix(8) } }
    }

    @Test func `a test push that waits is withdrawn too`() throws {
        let here = try Neighbourhood()
        _ = try here.registerSilentPhone()
        here.standIn.script([PushStandInRule(.refuseConnection, times: nil)])
        let answer = Mutex<Answer?>(nil)
        here.house.send("POST", "/v1/devices/walker-phone/push-tests", as: here.house.operatorToken, "{}") { response in
            answer.withLock { $0 = Answer(response) }
        }
        try eventually { tests(here).count == 1 }
        here.house.manage("DELETE", "/v1/devices/walker-phone")
        try eventually { tests(here).count == 2 && answer.withLock { $0 != nil } }
        #expect(tests(here).last?.outcome == .withdrawn && tests(here).last?.reason == "deviceRemoved")
        #expect(answer.withLock { $0?["outcome"]?.string } == "withdrawn")
        here.standIn.clearScript()
        #expect(here.standIn.pushes.isEmpty)
    }

    private func pushes(of query: JSONValue) -> [JSONValue] { query["pushes"]?.array.map { Array($0) } ?? [] }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func started(_ here: Neighbourhood) -> Int {
        ((try? here.house.events()) ?? []).count { if case .locationPushStarted = $0.event { true } else { false } }
    }

    private func withdrawn(_ here: Neighbourhood) -> [(stream: StreamID, attempt: LocationPushAttempt)] {
        ((try? here.house.events()) ?? []).compactMap {
            guard case .locationPushAttempted(let attempt) = $0.event, attempt.outcome == .withdrawn else { return nil }
            return ($0.stream, attempt)
        }
    }

    private func tests(_ here: Neighbourhood) -> [LocationPushAttempt] {
        ((try? here.house.events()) ?? []).compactMap {
            if case .locationPushTested(let attempt) = $0.event { attempt } else { nil }
        }
    }
}
