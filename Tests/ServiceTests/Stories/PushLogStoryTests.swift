import LocationPush
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// One question wakes thirty phones over a connection in trouble: the service's record agrees with the server's.
@Suite struct PushLogStoryTests {
    private static let phones = 30

    @Test func `the event log tells of each push and try what the server's own log tells`() throws {
        let here = try Neighbourhood()
        for index in 0..<Self.phones {
            let handle = "phone-\(index)"
            let key = try here.house.addDevice(handle, of: "walker")
            let token = hex(try here.standIn.registerPhone(bundleID: ServiceUnderTest.bundleID))
            let answer = here.house.send(
                "PUT", "/v1/devices/\(handle)/location-push-token", as: key,
                #"{"hex":"\#(token)","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#)
            #expect(answer.status == 200)
        }
        here.standIn.script([
            PushStandInRule(.goAwayBefore(reason: "Shutdown", unprocessed: 5), skip: 6),
            PushStandInRule(.reset(errorCode: 7), times: 4, share: 0.5),
            // Together no more than the three tries a push has after its first.
            PushStandInRule(.resetAfterAcceptance(errorCode: 2)),
            PushStandInRule(.answer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 1), times: 2),
        ])
        let asked = here.house.send(
            "POST", "/v1/people/walker/location-queries", as: here.walker,
            #"{"purpose":"mine","deadlineSeconds":600}"#)
        #expect(asked.status == 202)
        try eventually { ((try? attempts(here)) ?? []).count { $0.status == 200 } == Self.phones }

        let recorded = Dictionary(grouping: try attempts(here), by: { $0.apnsID.description })
        let arrived = Dictionary(grouping: here.standIn.pushes, by: { $0.apnsID ?? "none" })
        #expect(recorded.count == Self.phones && Set(recorded.keys) == Set(arrived.keys))
        for (id, tries) in recorded {
            #expect(tries.map(\.attempt) == (1...tries.count).map(Int64.init))
            let seen = arrived[id] ?? []
            #expect(seen.compactMap { $0.status == 0 ? nil : Int64($0.status) } == tries.compactMap(\.status))
            #expect(seen.compactMap(\.reason) == tries.filter { $0.status != nil }.compactMap(\.reason))
            // A push that the server left unanswered is a try without a status.
            #expect(seen.count { $0.status == 0 } <= tries.count { $0.status == nil })
        }
        let started = try here.house.events().count { if case .locationPushStarted = $0.event { true } else { false } }
        #expect(started == Self.phones)
        // Accepted without an answer, and so accepted twice, was exactly the one that was reset afterwards.
        #expect(here.standIn.acceptedCount == Self.phones + 1)
        #expect(here.standIn.resetsReceived == 0)
    }

    private func attempts(_ here: Neighbourhood) throws -> [LocationPushAttempt] {
        try here.house.events().compactMap {
            if case .locationPushAttempted(let attempt) = $0.event { attempt } else { nil }
        }
    }
}
