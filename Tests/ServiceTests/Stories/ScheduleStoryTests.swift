import JSON
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Service

/// The service asks by itself, over real sockets.
@Suite struct ScheduleStoryTests {
    private static func questions(_ here: Neighbourhood) throws -> [LocationQuery] {
        try here.house.events().compactMap {
            if case .locationQueried(let query) = $0.event { query } else { nil }
        }
    }

    @Test func `a schedule wakes the phone at low priority, once a period, also across a restart`() throws {
        let here = try Neighbourhood()
        _ = try here.registerSilentPhone()
        let set = try here.client.send(
            "POST", "/v1/people/walker/schedules", as: here.walker, #"{"everySeconds":900}"#)
        #expect(set.status == 201)
        let id = try #require(here.house.number(set["id"], .schedule))
        here.house.clock.advance(seconds: 900)
        try eventually { here.standIn.acceptedCount == 1 }
        #expect(here.standIn.pushes.first?.priority == "5")
        try eventually {
            let events = (try? here.house.events()) ?? []
            return events.contains {
                if case .locationPushAttempted(let attempt) = $0.event { attempt.status == 200 } else { false }
            }
        }
        // The restart finds the question asked and its push accepted, and asks and pushes nothing.
        try here.house.restart()
        #expect(try Self.questions(here).count == 1)
        // The phone answers; the next question comes in its own period, although the service was away when it began.
        let query = try #require(try Self.questions(here).first)
        let fix = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":1,"longitude":2,"answering":"\#(query.id)"}"#)
        #expect(fix["new"]?.int == 1)
        try here.house.restart { here.house.clock.advance(seconds: 1000) }
        try eventually { here.standIn.acceptedCount == 2 }
        #expect(Set(here.standIn.pushes.map(\.apnsID)).count == 2)
        #expect(try Self.questions(here).count == 2)

        let audit = try here.audited { _ in true }
        let ends = audit.items.filter { $0["kind"]?.string == "query" }.map { $0["end"]?.string }
        #expect(ends.last == "answered")
        #expect(audit.query?["requester"]?.string == "house" && audit.query?["initiation"]?.string == "server")
        let listed = try here.client.send("GET", "/v1/people/walker/schedules", as: here.walker)
        let next = try #require(listed.items.first?["next"]?.double)
        #expect((1...900).contains(next.rounded(.up) - Double(here.house.clock.seconds)))
        #expect(
            try here.client.send("DELETE", "/v1/people/walker/schedules/\(id)", as: here.friend).status == 404)
        #expect(
            try here.client.send(
                "DELETE", here.house.named("/v1/people/walker/schedules/\(id)", for: here.walker), as: here.walker
            ).status == 200)
        #expect(try here.client.send("GET", "/v1/people/walker/schedules", as: here.walker).items.isEmpty)
    }
}
