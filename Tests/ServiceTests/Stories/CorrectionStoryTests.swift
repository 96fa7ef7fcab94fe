import JSON
import Log
import Testing
import Whereabouts

@testable import Answers
@testable import Service

/// Corrections of visits, through the whole service.
@Suite struct CorrectionStoryTests {
    private struct Told: Equatable {
        let id: String
        let arrival: Double?
        let departure: Double?
        let place: String?
    }

    private static func visits(_ village: Village, as asker: Village.Asker = .subject, limit: Int = 100) -> [Told] {
        var told: [Told] = []
        var after = ""
        repeat {
            let page = village.house.send(
                "GET", "/v1/people/walker/visits?at-least=\(village.house.service.log.head)&limit=\(limit)\(after)",
                as: village.tokens[asker])
            told += page.items.map {
                Told(
                    id: $0["id"]?.string ?? "", arrival: $0["arrival"]?.double, departure: $0["departure"]?.double,
                    place: $0["place"]?.string)
            }
            after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        return told
    }

    @Test func `corrections hold across a refold, other rules and a restart, and can be withdrawn`() throws {
        let village = try Village(shortStop: 120)
        func post(_ body: String) throws -> Int64 {
            let made = village.house.send(
                "POST", "/v1/people/walker/corrections", as: village.tokens[.subject], body)
            try #require(made.status == 201)
            return try #require(village.house.number(made["id"], .correction))
        }
        let derived = Self.visits(village)
        try #require(derived.count >= 3)
        let (home, work) = (derived[0], derived[1])
        let (from, to) = (try #require(home.arrival), try #require(work.departure))

        // One visit from the one to the other, then cut in the middle of work, and a name for the first place.
        let merge = try post(#"{"type":"merge","from":\#(from - 60),"to":\#(to + 60)}"#)
        #expect(Self.visits(village).map(\.id) == [home.id] + derived[2...].map(\.id))
        #expect(Self.visits(village)[0].departure == to)
        let moment = to - 600
        let split = try post(#"{"type":"split","at":\#(moment)}"#)
        let last = try #require(derived.last?.arrival)
        _ = try post(#"{"type":"notVisit","from":\#(last - 5),"to":\#(last + 100000)}"#)
        let seen = village.house.send("GET", "/v1/people/walker/visits", as: village.tokens[.subject]).items[0]
        let (latitude, longitude) = (seen["latitude"]?.double ?? 0, seen["longitude"]?.double ?? 0)
        _ = try post(#"{"type":"rename","latitude":\#(latitude),"longitude":\#(longitude),"name":"Mum's"}"#)

        let corrected = Self.visits(village)
        #expect(corrected.count == derived.count - 1)
        #expect(corrected[0].arrival == from && corrected[0].departure == moment)
        #expect(corrected[1].arrival == moment && corrected[1].departure == to)
        #expect(corrected[0].place == "Mum's" && corrected[1].place != "Mum's")
        #expect(!corrected.contains { $0.id == work.id || $0.id == derived.last?.id })
        // Page by page it is the same, and each can be explained.
        #expect(Self.visits(village, limit: 1) == corrected)
        for visit in corrected {
            let why = village.house.send(
                "GET", "/v1/people/walker/visits/\(visit.id)", as: village.tokens[.subject])
            #expect(why["visit"]?["arrival"]?.double == visit.arrival)
            #expect(why["during"]?.count ?? 0 > 0)
        }
        // The id of a visit that was joined to another leads to that one.
        let gone = village.house.send("GET", "/v1/people/walker/visits/\(work.id)", as: village.tokens[.subject])
        #expect(gone["visit"]?.isNull == true && gone["successor"]?.string == home.id)
        let never = village.house.send("GET", "/v1/people/walker/visits/0123456789abcdef", as: village.tokens[.subject])
        #expect(never["visit"]?.isNull == true && never["successor"] == nil)
        // Places follow. Only the person can read their own names for places.
        let places = village.house.send("GET", "/v1/people/walker/places", as: village.tokens[.subject]).items
        #expect(places.contains { $0["place"]?.string == "Mum's" })
        let friends = Self.visits(village, as: .oldFriend)
        #expect(friends.map(\.arrival) == corrected.map(\.arrival) && !friends.contains { $0.place == "Mum's" })

        try village.house.restart()
        #expect(Self.visits(village) == corrected)
        village.rebuildTimeline()
        village.house.manage("POST", "/v1/projections/timeline/activate")
        let older = Self.visits(village)
        #expect(older.prefix(2).map(\.id) == corrected.prefix(2).map(\.id))
        #expect(older[0].departure == moment && older[1].arrival == moment)
        village.house.manage("POST", "/v1/projections/timeline/rollback")

        for id in [merge, split] {
            let gone = village.house.send(
                "DELETE", "/v1/people/walker/corrections/\(id)", as: village.tokens[.subject])
            #expect(gone.status == 200)
        }
        #expect(Self.visits(village).prefix(2).map(\.arrival) == derived.prefix(2).map(\.arrival))
        let listed = village.house.send("GET", "/v1/people/walker/corrections", as: village.tokens[.subject]).items
        #expect(listed.map { $0["type"]?.string } == ["notVisit", "rename"])
        let audit = village.house.send("GET", "/v1/people/walker/audit", as: village.tokens[.subject]).items
        #expect(audit.filter { $0["event"]?.string == "CorrectionMade" }.count == 4)
        #expect(audit.filter { $0["event"]?.string == "CorrectionWithdrawn" }.count == 2)
    }

    @Test(arguments: [
        "{}", #"{"type":"other"}"#, #"{"type":"merge","from":5,"to":5}"#, #"{"type":"split"}"#,
        #"{"type":"notVisit","to":5}"#, #"{"type":"rename","name":"x"}"#, #"{"type":"merge","from":1,"to":2,"id":3}"#,
        #"{"type":"rename","name":"x","latitude":91,"longitude":0}"#,
        #"{"type":"rename","name":"","latitude":1,"longitude":0}"#,
    ])
    func `what is no correction is refused with a sentence`(body: String) throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let answer = house.send("POST", "/v1/people/walker/corrections", as: token, body)
        #expect(answer.status == 400 || answer.status == 422)
        #expect(answer["detail"]?.string?.hasSuffix(".") == true)
    }
}
