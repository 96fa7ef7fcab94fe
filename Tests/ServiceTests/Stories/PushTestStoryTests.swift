import Glibc
import JSON
import LocationPush
import Log
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// The operator tries out the way to the walker's phone.
@Suite struct PushTestStoryTests {
    private func test(_ here: Neighbourhood) -> Answer {
        here.house.send("POST", "/v1/devices/walker-phone/push-tests", as: here.house.operatorToken)
    }

    private func tests(_ here: Neighbourhood) throws -> [LocationPushAttempt] {
        try here.house.events().compactMap {
            if case .locationPushTested(let attempt) = $0.event { attempt } else { nil }
        }
    }

    @Test func `a test push leaves after its event, is answered with APNs' words and shown to the walker`() throws {
        let here = try Neighbourhood()
        _ = try here.registerSilentPhone()
        let house = here.house
        here.onPush { [house] _ in
            // On the stand-in's thread, while the sender waits: the event is in the file already.
            let events = (try? house.events()) ?? []
            let isLeaving = events.contains {
                if case .locationPushTested(let attempt) = $0.event { attempt.attempt == 0 } else { false }
            }
            #expect(isLeaving)
        }
        let answer = test(here)
        #expect(answer.status == 200, "\(answer.text)")
        let push = try #require(here.standIn.pushes.first)
        #expect(answer["status"]?.int == 200 && answer["apnsID"]?.string == push.apnsID)
        #expect(answer["apnsUniqueID"]?.string?.count == 36)
        #expect(push.priority == "10" && push.status == 200 && push.notes.isEmpty)
        #expect(try tests(here).map(\.attempt) == [0, 1])
        #expect(try tests(here).map(\.status) == [nil, 200])
        let audit = house.send("GET", "/v1/people/walker/audit?at-least=\(house.service.log.head)", as: here.walker)
        let shown = audit.items.filter { $0["event"]?.string == "LocationPushTested" }
        #expect(shown.map { $0["name"]?.string } == ["accepted 200", "leaving"])
        #expect(shown.last?["actor"]?.string == "operator")
    }

    @Test func `a second test within a minute is put off, and the first one keeps queries waiting too`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        #expect(test(here).status == 200)
        let second = test(here)
        #expect(second.status == 429, "\(second.text)")
        #expect((1...60).contains(Int(second.header("Retry-After") ?? "") ?? 0))
        _ = try here.ask()
        try eventually {
            ((try? here.house.events()) ?? []).contains {
                if case .locationPushAttempted(let attempt) = $0.event { attempt.withheld == .coalesced } else { false }
            }
        }
        #expect(here.standIn.acceptedCount == 1)
    }

    @Test func `a dead token is told, recorded and retired`() throws {
        let here = try Neighbourhood()
        let token = try here.registerSilentPhone()
        try here.standIn.unregisterPhone(token, atUnixMs: PushClock.system.now().unixMs)
        let answer = test(here)
        #expect(answer["status"]?.int == 410 && answer["reason"]?.string == "Unregistered", "\(answer.text)")
        #expect(try tests(here).last?.reason == "Unregistered")
        try eventually { !here.isTokenKnown }
        let after = test(here)
        #expect(after.status == 409, "\(after.text)")
    }

    @Test func `without an answer the test says why, and it is on record`() throws {
        let here = try Neighbourhood()
        _ = try here.registerSilentPhone()
        here.standIn.script([PushStandInRule(.answer(status: 403, reason: "InvalidProviderToken"), times: nil)])
        let answer = test(here)
        #expect(answer["status"]?.int == 403 && answer["reason"]?.string == "InvalidProviderToken")
        #expect(try tests(here).map(\.reason) == [nil, "InvalidProviderToken"])
    }

    @Test func `the same request for another tool is a read on record and holds no provider token`() throws {
        let here = try Neighbourhood()
        let token = try here.registerSilentPhone()
        let before = here.house.service.log.head
        let answer = here.house.manage("GET", "/v1/devices/walker-phone/push-request")
        #expect(answer["url"]?.string == "https://localhost:\(here.standIn.port)/3/device/\(hex(token))")
        #expect(answer["headers"]?["apns-topic"]?.string == "\(ServiceUnderTest.bundleID).location-query")
        #expect(answer["headers"]?["authorization"] == nil)
        let read = try #require(try here.house.events().first { $0.number > before })
        guard case .locationRead(let recorded) = read.event else {
            Issue.record("\(read.event)")
            return
        }
        #expect(recorded.question == .settings && recorded.reader == .operator)
        #expect(here.standIn.pushes.isEmpty)
        for stranger in [here.friend, here.walker, here.phoneKey] {
            #expect(here.house.send("GET", "/v1/devices/walker-phone/push-request", as: stranger).status == 404)
            #expect(here.house.send("POST", "/v1/devices/walker-phone/push-tests", as: stranger).status == 404)
        }
    }

    @Test func `the operator sees what is left of each phone's budget, the fewest first, and others see nothing`()
        throws
    {
        let here = try Neighbourhood()
        try here.addPhone("friend-phone", of: "friend")
        _ = try here.registerSilentPhone()
        func budgets() -> [JSONValue] { here.house.manage("GET", "/v1/push-budgets").items }
        let before = budgets()
        #expect(before.map { $0["left"]?.int } == [360, 360])
        #expect(before.allSatisfy { $0["full"] == nil && $0["last"] == nil && $0["capacity"]?.int == 360 })
        #expect(test(here).status == 200)
        let after = budgets()
        #expect(after.map { $0["device"]?.string } == ["walker-phone", "friend-phone"])
        let spent = try #require(after.first)
        #expect(spent["left"]?.int == 359 && spent["person"]?.string == "walker")
        let last = try #require(spent["last"]?.double)
        #expect(spent["full"]?.double == last + 240 && spent["next"]?.double == last + 60)
        #expect(spent["nextScheduled"]?.double == last + 60)
        for token in [here.walker, here.friend, here.phoneKey] {
            #expect(here.house.send("GET", "/v1/push-budgets", as: token).status == 404)
        }
        #expect(here.house.manage("GET", "/v1/push-budgets?limit=1").items.count == 1)
    }
}
