import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Log
@testable import Service

/// An answer as of an earlier moment is the answer that the house gave at that moment.
@Suite struct AsOfLawTests {
    private static let lists = ["visits", "trips", "crossings", "places", "audit"]

    /// A house in which random things happen to two people. The clock goes on after each of them.
    private final class History {
        let house: ServiceUnderTest
        let walker, friend: String
        private let phone, other: String
        private var dice: SplitMix
        private var time: Int64
        private var place = (48.202, 16.348)
        private var grants: [Int64] = []
        private var corrections: [Int64] = []
        private var reported: [Int64] = []

        init(seed: UInt64) throws {
            house = try ServiceUnderTest()
            dice = SplitMix(seed)
            time = house.clock.seconds
            walker = try house.addPerson("walker")
            friend = try house.addPerson("friend")
            phone = try house.addDevice("walker-phone", of: "walker")
            other = try house.addDevice("friend-phone", of: "friend")
        }

        /// What was answered at this number, about each list. Reading is an event, so each list has its own number.
        struct Shot {
            let list: String
            let number: Int64
            let moment: Timestamp
            let body: String
        }

        func shots(_ lists: [String]) -> [Shot] {
            lists.map { list in
                // An event of this moment, which is then the `now` of both answers.
                house.clock.advance(seconds: 1)
                house.manage("GET", "/v1/people/walker/pauses")
                _ = house.settled()
                let (number, moment) = (house.service.log.head, house.clock.now)
                let answer = house.manage("GET", "/v1/people/walker/\(list)")
                return Shot(list: list, number: number, moment: moment, body: answer.text)
            }
        }

        private func fix(_ key: String, at seconds: Int64, _ latitude: Double, _ longitude: Double) {
            let answer = house.send(
                "POST", "/v1/fixes", as: key,
                #"{"timestamp":\#(seconds),"latitude":\#(latitude),"longitude":\#(longitude),"horizontalAccuracy":9}"#)
            #expect(answer.status == 200, "\(answer.text)")
            // Report times are those of the fix only if the projection does not fold several at once.
            _ = house.settled()
        }

        func step() throws {
            house.clock.advance(seconds: Int64.random(in: 1...40, using: &dice))
            switch Int.random(in: 0..<20, using: &dice) {
            case 0..<7:
                // A stay or a way of some fixes, two minutes apart.
                if dice.chance(0.4) {
                    place = (48.2 + Double(Int.random(in: 0...40, using: &dice)) / 1000, place.1)
                }
                for _ in 0..<12 {
                    house.clock.advance(seconds: 120)
                    reported.append(house.clock.seconds)
                    fix(phone, at: house.clock.seconds, place.0, place.1)
                }
            case 7: if let late = reported.first { fix(phone, at: late + 60, 48.21, 16.35) }
            case 8, 9: fix(other, at: house.clock.seconds, 47, 15)
            case 10:
                house.send(
                    "POST", "/v1/people/walker/regions", as: walker,
                    #"{"id":"r\#(house.clock.seconds)","circle":{"latitude":\#(place.0),"longitude":16.348,"radiusMeters":150}}"#
                )
            case 11, 12: grants.append(try house.grant("walker", to: "friend", history: true))
            case 13: if let grant = grants.popLast() { house.manage("DELETE", "/v1/grants/\(grant)") }
            case 14: house.send("GET", "/v1/people/walker/visits", as: friend)
            case 15:
                house.send(
                    "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"why","maxAgeSeconds":9999}"#
                )
            case 16:
                let answer = house.send(
                    "POST", "/v1/people/walker/corrections", as: walker,
                    #"{"type":"rename","latitude":\#(place.0),"longitude":\#(place.1),"name":"n\#(house.clock.seconds)"}"#
                )
                if let id = house.number(answer["id"], .correction) { corrections.append(id) }
            case 17:
                if let id = corrections.popLast() {
                    house.send("DELETE", "/v1/people/walker/corrections/\(id)", as: walker)
                }
            case 18:
                let from = house.clock.seconds - 3600
                house.send(
                    "POST", "/v1/people/walker/corrections", as: walker,
                    #"{"type":"notVisit","from":\#(from),"to":\#(from + 1200)}"#)
            default: house.send("GET", "/v1/people/friend/audit", as: friend)
            }
            // A region derives crossings too: it must not be folded together with the next fix.
            _ = house.settled()
        }
    }

    /// The answer without the place up to which it was read.
    private static func rows(_ text: String) -> String {
        text.replacing(/"(asOf|next)":("[^"]*"|null|[0-9]+)/, with: "")
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `as of a number is the answer of the house that stopped there`(seed: UInt64) throws {
        let history = try History(seed: seed)
        var shots: [History.Shot] = []
        for turn in 0..<60 {
            try history.step()
            if turn % 6 == 5 { shots += history.shots(Self.lists) }
        }
        #expect(shots.contains { $0.list == "visits" && $0.body.contains("arrival") })
        #expect(shots.contains { $0.list == "trips" && $0.body.contains("distanceMeters") })
        for shot in shots {
            let answer = history.house.manage(
                "GET", "/v1/people/walker/\(shot.list)?as-of-number=\(shot.number)")
            #expect(answer.text == shot.body, "\(shot.list) as of \(shot.number)")
        }
        // By time, for the person: the same rows, without numbers of the house.
        for shot in shots where shot.list != "audit" {
            let answer = history.house.send(
                "GET", "/v1/people/walker/\(shot.list)?as-of=\(Double(shot.moment.milliseconds) / 1000)",
                as: history.walker)
            #expect(Self.rows(answer.text) == Self.rows(shot.body), "\(shot.list) at \(shot.moment)")
        }
        // A restart changes nothing of it.
        try history.house.restart()
        for shot in shots.suffix(Self.lists.count) {
            let answer = history.house.manage(
                "GET", "/v1/people/walker/\(shot.list)?as-of-number=\(shot.number)")
            #expect(answer.text == shot.body, "\(shot.list) as of \(shot.number), after a restart")
        }
    }

    @Test func `who may ask as of an earlier moment, and what is on record`() throws {
        let history = try History(seed: 7)
        let house = history.house
        for _ in 0..<20 { try history.step() }
        try house.grant("walker", to: "friend", history: true)
        _ = house.settled()
        let number = house.service.log.head / 2
        let path = "/v1/people/walker/visits"
        #expect(house.manage("GET", "\(path)?as-of-number=\(number)")["asOf"]?.int == number)
        _ = house.settled()
        let read = try #require(house.manage("GET", "/v1/people/walker/audit").items.first)
        #expect(read["question"]?.string == "visits" && read["asOf"]?.int == number)

        // The friend may read again.
        house.clock.advance(seconds: 7200)
        let past = house.clock.seconds - 600
        #expect(house.send("GET", "\(path)?as-of=\(past)", as: history.walker).status == 200)
        #expect(house.send("GET", "\(path)?as-of-number=\(number)", as: history.walker).status == 422)
        #expect(house.send("GET", path, as: history.friend).status == 200)
        let refused = house.send("GET", "\(path)?as-of=\(past)", as: history.friend)
        #expect(refused.status == 422 && refused.text.contains("for the person"))
        let stranger = try house.addPerson("stranger")
        #expect(house.send("GET", "\(path)?as-of=\(past)", as: stranger).status == 404)
        for query in ["as-of-number=0", "as-of-number=\(house.service.log.head + 9)", "as-of=1&as-of-number=1"] {
            #expect(house.send("GET", "\(path)?\(query)", as: house.operatorToken).status == 422, "\(query)")
        }
        #expect(house.send("GET", "/v1/people/walker/track?as-of=\(past)", as: history.walker).status == 400)
    }

    @Test(.enabled(if: isLongForm, "50,000 fixes: WHEREABOUTS_LONG=1."))
    func `an answer takes 50,000 events, and one more is refused in words`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let start = house.clock.seconds - 60_000
        for batch in 0..<51 {
            let fixes = (0..<1000).map { index in
                #"{"timestamp":\#(start + Int64(batch * 1000 + index)),"latitude":48,"longitude":16,"horizontalAccuracy":5}"#
            }
            house.manage(
                "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a05/batches",
                #"{"devices":[{"person":"walker","device":"phone","fixes":[\#(fixes.joined(separator: ","))]}]}"#)
        }
        let person = try #require(
            Handle("walker").flatMap { handle in house.service.log.withStanding { $0.person(handle) } })
        let own = try house.events().filter { $0.stream == .track(person) || $0.stream == .audit(person) }
        try #require(own.count > PastTables.eventsMax)
        let most = own[PastTables.eventsMax - 1].number
        _ = house.settled()
        #expect(house.manage("GET", "/v1/people/walker/visits?as-of-number=\(most)").items.count == 1)
        let refused = house.send("GET", "/v1/people/walker/visits?as-of-number=\(most + 1)", as: house.operatorToken)
        #expect(refused.status == 413 && refused.text.contains("50000 events"))
    }

    @Test func `what a person withdrew or erased since then`() throws {
        let history = try History(seed: 9)
        let house = history.house
        for _ in 0..<20 { try history.step() }
        let shots = history.shots(["visits"])
        let fix = try #require(house.manage("GET", "/v1/people/walker/track").items.first?["number"]?.int)
        house.manage("DELETE", "/v1/people/walker/track/\(fix)?reason=test")
        #expect(
            house.service.log.withStanding { $0.persons.all.values.contains { $0.withdrawn.through > shots[0].number } }
        )
        house.manage("DELETE", "/v1/people/friend")
        let again = house.manage("GET", "/v1/people/walker/visits?as-of-number=\(shots[0].number)")
        #expect(again.text == shots[0].body)
        house.manage("DELETE", "/v1/people/walker")
        let gone = house.send(
            "GET", "/v1/people/walker/visits?as-of-number=\(shots[0].number)", as: house.operatorToken)
        #expect(gone.status == 404)
    }
}
