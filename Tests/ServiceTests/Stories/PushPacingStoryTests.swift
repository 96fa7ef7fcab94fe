import JSON
import Log
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Many ask for the walker, whose phone is woken no more often than is good for it.
@Suite struct PushPacingStoryTests {
    @Test func `P10 who asks within a minute shares one push, and each question is answered on its own record`() throws
    {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        var urls = [(try here.ask(), here.friend)]
        for _ in 0..<20 {
            let asked = here.house.send(
                "POST", "/v1/people/walker/location-queries", as: here.walker, #"{"purpose":"mine"}"#)
            urls.append((try #require(asked["url"]?.string), here.walker))
        }
        try eventually { here.standIn.acceptedCount == 1 && (try? withheld(here))?.count == urls.count - 1 }
        let id = try #require(urls[0].0.split(separator: "/").last)
        let fix = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.2,"longitude":16.4,"answering":"\#(id)"}"#)
        #expect(fix["new"]?.int == 1)
        for (url, asker) in urls {
            #expect(here.house.send("GET", url, as: asker)["status"]?.string == "answered")
        }
        #expect(here.standIn.acceptedCount == 1)
        let disclosures = try here.house.events().filter {
            if case .locationDisclosed = $0.event { true } else { false }
        }
        #expect(disclosures.count == urls.count)
        // The walker sees that nothing was sent for the later ones, and why.
        #expect(try withheld(here).allSatisfy { $0.reason == "coalesced" && $0.status == nil })
        #expect(here.standIn.acceptedCount == 1)
    }

    @Test func `whoever shared a push that nobody answered gets one of their own a minute later`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        _ = try here.ask(#","deadlineSeconds":30"#)
        try eventually { here.standIn.acceptedCount == 1 }
        let url = try here.ask(#","deadlineSeconds":600"#)
        try eventually { (try? withheld(here))?.count == 1 }
        here.house.clock.advance(seconds: 61)
        try eventually { here.standIn.acceptedCount == 2 }
        let query = try #require(QueryID(url.split(separator: "/").last ?? ""))
        let handle = try #require(Handle("walker-phone"))
        let device = try #require(here.house.service.log.withStanding { $0.device(handle) })
        #expect(here.standIn.pushes.last?.apnsID == LocationPushAttempt.apnsID(query, device).description)
    }

    /// A push that arrives later would wake the phone for no asker.
    @Test(arguments: [30, 60, 600, 3600] as [Int64]) func `a push expires with its question`(seconds: Int64) throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let earliest = here.house.clock.seconds + seconds
        _ = try here.ask(#","deadlineSeconds":\#(seconds)"#)
        let latest = here.house.clock.seconds + seconds + 1
        try eventually { !here.standIn.pushes.isEmpty }
        let expiration = try #require(here.standIn.pushes.first?.expiration.flatMap { Int64($0) })
        #expect((earliest...latest).contains(expiration), "\(expiration - earliest) s after the question")
    }

    private func withheld(_ here: Neighbourhood) throws -> [LocationPushAttempt] {
        try here.house.events().compactMap {
            if case .locationPushAttempted(let attempt) = $0.event, attempt.withheld != nil { attempt } else { nil }
        }
    }
}
