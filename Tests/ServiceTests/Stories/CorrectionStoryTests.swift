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

    @Test func `two places that are one have one row, one name and one sum, and are two again when that is withdrawn`()
        throws
    {
        let village = try Village(shortStop: 120)
        func read(_ what: String, as asker: Village.Asker = .subject) -> [JSONValue] {
            village.house.send(
                "GET", "/v1/people/walker/\(what)at-least=\(village.house.service.log.head)", as: village.tokens[asker]
            ).items
        }
        func places(as asker: Village.Asker = .subject) -> [JSONValue] { read("places?", as: asker) }
        let before = places()
        try #require(before.count >= 2)
        let (kept, other) = (before[0], before[1])
        func number(_ item: JSONValue, _ name: String) -> Double { item[name]?.double ?? .nan }
        func post(_ body: String) throws -> Int64 {
            let made = village.house.send(
                "POST", "/v1/people/walker/corrections", as: village.tokens[.subject], body)
            try #require(made.status == 201)
            return try #require(village.house.number(made["id"], .correction))
        }
        let id = try post(
            #"{"type":"samePlace","latitude":\#(number(kept, "latitude")),"longitude":\#(number(kept, "longitude")),"otherLatitude":\#(number(other, "latitude")),"otherLongitude":\#(number(other, "longitude"))}"#
        )
        _ = try post(
            #"{"type":"rename","latitude":\#(number(kept, "latitude")),"longitude":\#(number(kept, "longitude")),"name":"Both"}"#
        )
        let after = places()
        #expect(after.count == before.count - 1)
        let joined = try #require(after.first { $0["place"]?.string == "Both" })
        for name in ["visits", "totalSeconds"] {
            #expect(number(joined, name) == number(kept, name) + number(other, name), "\(name)")
        }
        #expect(number(joined, "latitude") == number(kept, "latitude"))
        #expect(number(joined, "firstArrival") == min(number(kept, "firstArrival"), number(other, "firstArrival")))
        // The visits of both have the name, and the sums of days have one place for them.
        let named = Self.visits(village).filter { $0.place == "Both" }
        #expect(Double(named.count) == number(joined, "visits"))
        let from = Int64(number(joined, "firstArrival")) - 86_400
        let stays = read("summary?from=\(from)&period=month&").flatMap {
            $0["places"]?.array.map(Array.init) ?? []
        }.filter { $0["place"]?.string == "Both" }
        #expect(stays.reduce(0) { $0 + number($1, "visits") } >= number(joined, "visits"))
        #expect(Set(stays.map { $0["id"]?.string }) == [joined["id"]?.string])
        // A friend sees one place too, and not its name.
        let friends = places(as: .oldFriend)
        #expect(!friends.contains { $0["place"]?.string == "Both" })
        // A visit to the other place has that place's name for the friend, as without the correction.
        let atOther = Self.visits(village, as: .oldFriend).map(\.place)

        // A refold and a restart change nothing.
        try village.house.restart()
        #expect(places().map { $0["id"]?.string } == after.map { $0["id"]?.string })
        let gone = village.house.send("DELETE", "/v1/people/walker/corrections/\(id)", as: village.tokens[.subject])
        #expect(gone.status == 200)
        #expect(Self.visits(village, as: .oldFriend).map(\.place) == atOther)
        let undone = places()
        #expect(undone.map { $0["id"]?.string } == before.map { $0["id"]?.string })
        #expect(undone.map { number($0, "totalSeconds") } == before.map { number($0, "totalSeconds") })
    }

    @Test(arguments: [
        "{}", #"{"type":"other"}"#, #"{"type":"merge","from":5,"to":5}"#, #"{"type":"split"}"#,
        #"{"type":"notVisit","to":5}"#, #"{"type":"rename","name":"x"}"#, #"{"type":"merge","from":1,"to":2,"id":3}"#,
        #"{"type":"rename","name":"x","latitude":91,"longitude":0}"#,
        #"{"type":"rename","name":"","latitude":1,"longitude":0}"#,
        #"{"type":"samePlace","latitude":1,"longitude":0}"#,
        #"{"type":"samePlace","latitude":1,"longitude":0,"otherLatitude":1}"#,
        #"{"type":"samePlace","latitude":1,"longitude":0,"otherLatitude":1,"otherLongitude":0}"#,
        #"{"type":"samePlace","latitude":1,"longitude":0,"otherLatitude":91,"otherLongitude":0}"#,
    ])
    func `what is no correction is refused with a sentence`(body: String) throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let answer = house.send("POST", "/v1/people/walker/corrections", as: token, body)
        #expect(answer.status == 400 || answer.status == 422)
        #expect(answer["detail"]?.string?.hasSuffix(".") == true)
    }
}
