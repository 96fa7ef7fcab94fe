import JSON
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// A phone whose owner does not let the app be woken.
@Suite struct AuthorizationStoryTests {
    private func report(_ here: Neighbourhood, _ status: String) throws -> Answer {
        try here.client.send(
            "POST", "/v1/reports", as: here.phoneKey,
            """
            {"reports":[{"type":"authorization","timestamp":\(here.house.clock.seconds),"status":"\(status)",
            "accuracy":"reduced"}]}
            """)
    }

    @Test func `a denied phone is left alone until its owner says Always, and the walker sees why`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let denied = try report(here, "denied")
        #expect(denied.status == 200 && denied["new"]?.int == 1)
        let again = here.house.number(try report(here, "denied")["number"])
        #expect(again ?? 0 >= here.house.number(denied["number"]) ?? .max)

        let url = try here.ask()
        let audit = try here.audited { $0["pushes"]?.array?.underestimatedCount == 1 }
        let push = try #require(audit.query?["pushes"]?.array?.first { _ in true })
        #expect(push["attempt"]?.int == 0 && push["reason"]?.string == "notAuthorized")
        #expect(here.standIn.pushes.isEmpty)
        // The friend learns nothing of it.
        #expect(try here.client.send("GET", url, as: here.friend)["status"]?.string == "pending")

        here.house.clock.advance(seconds: 1)
        #expect(try report(here, "authorizedAlways")["new"]?.int == 1)
        try eventually { here.standIn.acceptedCount == 1 }

        let devices = try here.client.send("GET", "/v1/people/walker/devices", as: here.walker)
        let authorization = try #require(devices.items.first?["authorization"])
        #expect(authorization["status"]?.string == "authorizedAlways")
        #expect(authorization["accuracy"]?.string == "reduced")
        let changes = try here.audited(where: { _ in true }).items.filter {
            $0["event"]?.string == "AuthorizationReported"
        }
        #expect(changes.first?["name"]?.string == "authorizedAlways, reduced accuracy")
        #expect(changes.first?["actor"]?.string == "walker-phone")
    }

    @Test func `reports that cannot be read are kept, and told one by one`() throws {
        let here = try Neighbourhood()
        let answer = try here.client.send(
            "POST", "/v1/reports", as: here.phoneKey,
            """
            {"reports":[{"type":"horoscope"},{"type":"authorization","timestamp":1,"status":"denied"},
            {"type":"authorization","timestamp":\(here.house.clock.seconds),"status":"restricted"}]}
            """)
        #expect(answer.status == 200 && answer["new"]?.int == 1)
        let rejected = answer["rejected"]?.array.map { Array($0) } ?? []
        #expect(rejected.map { $0["index"]?.int } == [0, 1])
        #expect(rejected.map { $0["reason"]?.string } == ["unknownType", "badTimestamp"])
        #expect(rejected.allSatisfy { $0["detail"]?.string?.hasSuffix(".") == true })
        let kept = try here.house.events().contains {
            if case .inputRejected(_, let reason, _, _) = $0.event { reason == .unknownType } else { false }
        }
        #expect(kept)
    }
}
