import HTTPServer
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Projections
@testable import Reactors
@testable import Service
@testable import Shards

/// What holds for every house with shards.
@Suite struct ShardLawTests {
    /// The answer without what differs by design: places and names of a log, and the times at which a fold came to know of
    /// something, which depend on what was folded at once.
    private static func text(_ answer: Answer) -> String {
        "\(answer.status) "
            + answer.text.replacing(
                #/"(asOf|next|number|id|grant|origin|item|firstReported|departureReported|reported)":("[^"]*"|[\d.]+)/#,
                with: "…")
    }

    /// A day of three people, by a house that takes requests.
    private static func live(
        _ clock: HouseClock, add: (String) throws -> String, device: (String, String) throws -> String,
        send: (String, String, String?, String) -> Answer
    ) throws -> [(who: String, token: String)] {
        let (anna, ben, cleo) = (try add("anna"), try add("ben"), try add("cleo"))
        let phones = [
            try device("annas-phone", "anna"), try device("bens-phone", "ben"), try device("cleos-phone", "cleo"),
        ]
        func expect(_ answer: Answer) { #expect(answer.status < 300, "\(answer.text)") }
        expect(
            send(
                "POST", "/v1/people/anna/regions", anna,
                #"{"id":"work","circle":{"latitude":48.3,"longitude":16.4,"radiusMeters":300}}"#))
        expect(
            send("POST", "/v1/people/anna/grants", anna, #"{"requester":"ben","precision":"exact","history":true}"#))
        expect(send("POST", "/v1/people/ben/grants", ben, #"{"requester":"cleo","precision":"kilometer"}"#))
        for minute in 0..<60 {
            clock.advance(seconds: 120)
            for (index, phone) in phones.enumerated() {
                let place = minute < 25 ? 48.2 : minute < 35 ? 48.2 + Double(minute - 24) / 100 : 48.3
                let fix =
                    #"{"timestamp":\#(clock.seconds),"latitude":\#(place),"longitude":\#(16.4 + Double(index)),"horizontalAccuracy":8}"#
                expect(send("POST", "/v1/fixes", phone, fix))
                // The same again makes no event.
                if minute % 10 == 0 { expect(send("POST", "/v1/fixes", phone, fix)) }
            }
        }
        let asked = send(
            "POST", "/v1/people/anna/location-queries", ben, #"{"purpose":"late","maxAgeSeconds":600}"#)
        #expect(asked.status == 202, "\(asked.text)")
        if let url = asked["url"]?.string { expect(send("GET", url, ben, "")) }
        #expect(send("POST", "/v1/people/anna/location-queries", cleo, #"{"purpose":"curious"}"#).status == 404)
        expect(send("POST", "/v1/people/cleo/pauses", cleo, "{}"))
        return [("anna", anna), ("ben", ben), ("cleo", cleo)]
    }

    private static let targets = [
        "location", "track", "visits", "crossings", "trips", "places", "grants", "regions", "pauses", "devices",
        "audit",
    ]

    @Test func `the same traffic gives the same answers in a house with shards and in one without`() throws {
        let (clock, other) = (HouseClock.standing, HouseClock.standing)
        let scene = try ShardScene(clock: clock)
        let single = try ServiceUnderTest(clock: other)
        var next = 0
        let many = try Self.live(clock) { handle in
            next += 1
            return try scene.addPerson(handle, in: 1 + next % 2)
        } device: {
            try scene.directory.addDevice($0, of: $1)
        } send: {
            scene.send($0, $1, as: $2, $3)
        }
        let one = try Self.live(other) {
            try single.addPerson($0)
        } device: {
            try single.addDevice($0, of: $1)
        } send: {
            single.send($0, $1, as: $2, $3)
        }
        for (index, person) in many.enumerated() {
            for subject in ["anna", "ben", "cleo"] {
                // Refusals beyond a rate are counted, in each shard by itself.
                clock.advance(seconds: 300)
                other.advance(seconds: 300)
                for target in Self.targets {
                    let path = "/v1/people/\(subject)/\(target)"
                    let (sharded, whole) = (
                        scene.send("GET", path, as: person.token), single.send("GET", path, as: one[index].token)
                    )
                    #expect(Self.text(sharded) == Self.text(whole), "\(person.who) \(path)")
                }
            }
            let path = "/v1/shared-with-me"
            #expect(
                Self.text(scene.send("GET", path, as: person.token))
                    == Self.text(single.send("GET", path, as: one[index].token)), "\(person.who)")
        }
        // A person's events are in one log only.
        for shard in 1...2 {
            let devices = Set(try scene.events(shard, .fixReported).compactMap(\.stream.person))
            let homes = devices.map { person in scene.directory.service.log.withStanding { $0.home(of: person) } }
            #expect(!devices.isEmpty)
            #expect(homes.allSatisfy { $0?.rawValue == Int64(shard) })
        }
    }

    @Test func `each log of the house verifies, and folded again gives the same tables and the same standing`() throws {
        let scene = try ShardScene()
        _ = try Self.live(scene.clock) { handle in
            scene.manage("POST", "/v1/people", #"{"handle":"\#(handle)"}"#)
            return try scene.directory.token(of: handle)
        } device: {
            try scene.directory.addDevice($0, of: $1)
        } send: {
            scene.send($0, $1, as: $2, $3)
        }
        try scene.settle()
        // Without a choice, people are spread evenly.
        let counts = scene.directory.service.log.withStanding { $0.peopleOfShards }
        #expect(counts.values.sorted() == [1, 2])
        for house in [scene.directory] + scene.shards {
            let before = house.fingerprints()
            let standing = house.service.log.standingCopy()
            var folded = Standing()
            for event in try house.events() { folded.fold(event) }
            #expect(folded.places == standing.places)
            #expect(folded.persons.all.map(\.value) == standing.persons.all.map(\.value))
            #expect(folded.tokens.next == standing.tokens.next && folded.persons.next == standing.persons.next)
            house.stop()
            let directory = house.directory
            for file in ["catalog.sqlite", "projections"] { remove(directory + "/" + file) }
            try house.start()
            #expect(house.fingerprints() == before)
            try house.listen()
        }
    }

    @Test func `the ids that shards and the directory give are all different`() throws {
        let scene = try ShardScene()
        for (handle, shard) in [("anna", 1), ("ben", 2), ("cleo", 1)] { _ = try scene.addPerson(handle, in: shard) }
        var ids: Set<Int64> = []
        for (subject, requester) in [("anna", "ben"), ("ben", "cleo"), ("cleo", "anna")] {
            let answer = scene.manage(
                "POST", "/v1/people/\(subject)/grants", #"{"requester":"\#(requester)","precision":"exact"}"#)
            ids.insert(try #require(answer["id"]?.int))
        }
        #expect(ids.count == 3)
        for (index, shard) in scene.shards.enumerated() {
            shard.service.log.withStanding { standing in
                let own = standing.tokens.all.filter { ShardNumber(ofID: $0.key.rawValue) != nil }
                // The shard's own operator's token is the only one that it made.
                #expect(own.count == 1)
                #expect(own.allSatisfy { ShardNumber(ofID: $0.key.rawValue)?.rawValue == Int64(index + 1) })
            }
        }
    }

    @Test func `every route has a home, and only the table gives a home to a path without a person or a device`() {
        let routes = RouteTable.all.operations.map(\.route)
        for route in routes { #expect(Home.of(route.method, route.path) != nil, "\(route.method) \(route.path)") }
        #expect(Home.of("GET", "/v1/unheard-of") == nil)
        let reports = routes.filter { route in if case .report = route.work { true } else { false } }
        for route in reports where route.path != "/v1/people/*/location-queries" && !route.path.hasPrefix("/v1/imports")
        {
            #expect([.caller, .device].contains(Home.of(route.method, route.path)), "\(route.path)")
        }
    }
}
