import Geodesy
import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// Data hidden by a coarse grant change no answer to the asker.
@Suite struct PrecisionTests {
    /// Every answer to a friend with a precision of a kilometer, in two worlds that differ only in the walker's place
    /// and movement inside one cell and in the moment within a quarter of an hour.
    @Test func `two worlds that differ inside one cell answer byte for byte alike`() throws {
        // The cell of Vienna's Karlsplatz reaches from 48.20 to 48.21 north; the second place is 600 m from the first.
        let one = try World(latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""horizontalAccuracy":5"#)
        let other = try World(
            latitude: 48.2058, longitude: 16.3712, secondsAgo: 40,
            more: #""horizontalAccuracy":48,"altitude":171.5,"verticalAccuracy":4,"speed":3.5,"course":210,"floor":2"#)
        let distance = Geodesic.distanceMeters(
            from: try Coordinate(latitude: 48.2006, longitude: 16.3698),
            to: try Coordinate(latitude: 48.2058, longitude: 16.3712))
        try #require(distance > 500)
        let answers = try answers(of: one, alike: other)
        // And the one thing that may be seen is seen.
        #expect(answers.contains { $0.contains(#""precision":"kilometer""#) })
        #expect(answers.allSatisfy { !$0.contains("48.2006") && !$0.contains("horizontalAccuracy") })
    }

    /// Everything the first world answers, which the other must answer too.
    private func answers(of one: World, alike other: World) throws -> [String] {
        let answers = try (one.everything(), other.everything())
        #expect(answers.0.count == answers.1.count)
        for (first, second) in zip(answers.0, answers.1) {
            let isSame = first == second
            #expect(isSame, "\(first)\n\(second)")
        }
        return answers.0
    }

    /// 3.6 km apart, both in Vienna; its coordinate is that of geonames.org/2761369.
    @Test func `two worlds that differ inside one city answer byte for byte alike`() throws {
        let one = try World(
            latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""horizontalAccuracy":5"#, precision: "city")
        let other = try World(
            latitude: 48.2318, longitude: 16.3829, secondsAgo: 40, more: #""altitude":171.5,"speed":3.5"#,
            precision: "city")
        let answers = try answers(of: one, alike: other)
        #expect(answers.contains { $0.contains(#""latitude":48.20849,"longitude":16.37208"#) })
        #expect(answers.contains { $0.contains(#""precision":"city""#) && $0.contains(#""name":"Wien""#) })
        #expect(answers.allSatisfy { !$0.contains("48.2006") && !$0.contains("horizontalAccuracy") })
    }

    /// A cell of which one part is in Mödling and one in Maria Enzersdorf: the city is the cell's, not the fix's.
    @Test func `two worlds in one cell and two towns answer a city asker byte for byte alike`() throws {
        let longitudes = [16.283, 16.292]
        let worlds = try longitudes.map {
            try World(latitude: 48.093, longitude: $0, secondsAgo: 125, more: #""speed":0"#, precision: "city")
        }
        let cells = try longitudes.map { KilometerCell.center(of: try Coordinate(latitude: 48.093, longitude: $0)) }
        try #require(cells[0] == cells[1])
        let towns = worlds.map { world in
            world.house.manage("GET", "/v1/people/walker/location")["location"]?["place"]?["locality"]?.string
        }
        try #require(towns == ["Maria Enzersdorf", "Mödling"])
        let answers = try answers(of: worlds[0], alike: worlds[1])
        #expect(answers.contains { $0.contains(#""precision":"city""#) })
    }

    // MARK: Names of places

    /// Without an own name, the district's and the city's: 1.3 km apart, both in Favoriten.
    @Test func `two worlds that differ inside one district answer byte for byte alike by its name`() throws {
        let one = try World(
            latitude: 48.1752, longitude: 16.3852, secondsAgo: 125, more: #""horizontalAccuracy":5"#,
            precision: "place")
        let other = try World(
            latitude: 48.1652, longitude: 16.3752, secondsAgo: 40, more: #""altitude":171.5,"speed":3.5"#,
            precision: "place")
        let cells = try [(48.1752, 16.3852), (48.1652, 16.3752)].map {
            KilometerCell.center(of: try Coordinate(latitude: $0.0, longitude: $0.1))
        }
        try #require(cells[0] != cells[1])
        let answers = try answers(of: one, alike: other)
        #expect(
            answers.contains {
                $0.contains(#""precision":"place""#) && $0.contains(#""name":"Favoriten, Wien""#)
                    && $0.contains(#""subLocality":"Favoriten""#)
            })
        #expect(answers.contains { $0.contains(#""geometry":null"#) })
        try Self.expectNoCoordinate(answers)
        let shown = try one.house.events().compactMap { recorded -> String? in
            guard case .locationDisclosed(let disclosure) = recorded.event else { return nil }
            return disclosure.content.content?.placeName
        }
        #expect(!shown.isEmpty && shown.allSatisfy { $0 == "Favoriten, Wien" })
    }

    /// The border of Meidling and Favoriten crosses this cell: the district is the cell's, not the fix's.
    @Test func `two worlds in one cell and two districts answer byte for byte alike by one name`() throws {
        let longitudes = [16.344, 16.352]
        let worlds = try longitudes.map {
            try World(latitude: 48.155, longitude: $0, secondsAgo: 125, more: #""speed":0"#, precision: "place")
        }
        let cells = try longitudes.map { KilometerCell.center(of: try Coordinate(latitude: 48.155, longitude: $0)) }
        try #require(cells[0] == cells[1])
        let districts = worlds.map { world in
            world.house.manage("GET", "/v1/people/walker/location")["location"]?["place"]?["subLocality"]?.string
        }
        try #require(districts == ["Meidling", "Favoriten"])
        let answers = try answers(of: worlds[0], alike: worlds[1])
        let names = ["Meidling, Wien", "Favoriten, Wien"].filter { name in answers.contains { $0.contains(name) } }
        #expect(names.count == 1)
    }

    /// The districts are those of the City of Vienna.
    @Test(arguments: [
        (48.215, 16.345, "Josefstadt, Wien", "Josefstadt"), (48.175, 16.385, "Favoriten, Wien", "Favoriten"),
    ])
    func `a name alone is that of the district`(
        latitude: Double, longitude: Double, name: String, district: String
    ) throws {
        let world = try World(
            latitude: latitude, longitude: longitude, secondsAgo: 125, more: #""speed":0"#, precision: "place")
        let answer = world.house.send("GET", "/v1/people/walker/location", as: world.friend)
        let place = try #require(answer["location"]?["place"])
        #expect(place["name"]?.string == name && place["locality"]?.string == "Wien")
        #expect(place["subLocality"]?.string == district)
        // The person's own name is shown alone.
        world.house.manage(
            "POST", "/v1/people/walker/corrections",
            #"{"type":"rename","latitude":\#(latitude),"longitude":\#(longitude),"name":"Home"}"#)
        _ = world.house.settled()
        let own = try #require(
            world.house.send("GET", "/v1/people/walker/location", as: world.friend)["location"]?["place"])
        #expect(own["name"]?.string == "Home" && own["subLocality"] == nil)
    }

    /// The person's own name is that of the cell that holds the fix, wherever in the cell the fix is.
    @Test func `two worlds in one cell with an own name answer byte for byte alike by that name`() throws {
        let (one, other) = try (
            World(
                latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""horizontalAccuracy":5"#,
                precision: "place"),
            World(
                latitude: 48.2058, longitude: 16.3712, secondsAgo: 40,
                more: #""altitude":171.5,"verticalAccuracy":4,"speed":3.5,"course":210,"floor":2"#, precision: "place")
        )
        for world in [one, other] {
            // Home is in the cell, work is not.
            for (name, latitude) in [("Home", 48.2051), ("Work", 48.2251)] {
                world.house.manage(
                    "POST", "/v1/people/walker/corrections",
                    #"{"type":"rename","latitude":\#(latitude),"longitude":16.3705,"name":"\#(name)"}"#)
            }
            _ = world.house.settled()
        }
        let answers = try answers(of: one, alike: other)
        #expect(answers.contains { $0.contains(#""name":"Home""#) && $0.contains(#""locality":"Wien""#) })
        #expect(answers.allSatisfy { !$0.contains("Work") })
        try Self.expectNoCoordinate(answers)
        // The record has the shown location.
        let shown = try one.house.events().compactMap { recorded -> Disclosure? in
            if case .locationDisclosed(let disclosure) = recorded.event { disclosure } else { nil }
        }
        #expect(!shown.isEmpty)
        for disclosure in shown {
            let content = try #require(disclosure.content.content)
            #expect(disclosure.precision == .place && content.placeName == "Home")
            #expect(content.latitude == nil && content.longitude == nil && content.horizontalAccuracy == nil)
        }
        let audit = one.house.manage("GET", "/v1/people/walker/audit?at-least=\(one.house.service.log.head)")
        #expect(audit.text.contains(#""place":"Home""#) && !audit.text.contains("latitude"), "\(audit.text)")
    }

    /// The cell is held over its border for ten minutes, and so is its name.
    @Test func `a name is not left at the border of its cell`() throws {
        let world = try World(
            latitude: 48.2095, longitude: 16.3698, secondsAgo: 125, more: #""speed":0"#, precision: "place")
        world.house.manage(
            "POST", "/v1/people/walker/corrections",
            #"{"type":"rename","latitude":48.2081,"longitude":16.3698,"name":"Home"}"#)
        func seen(by name: String) throws -> String? {
            world.house.send("GET", "/v1/people/walker/location", as: try world.makeFriend(name))["location"]?[
                "place"]?[
                    "name"]?.string
        }
        #expect(try seen(by: "first") == "Home")
        try world.report(latitude: 48.2105, secondsAgo: 60)
        #expect(try seen(by: "second") == "Home")
        try world.report(latitude: 48.2305, secondsAgo: 30)
        #expect(try seen(by: "third") == "Home")
        world.house.clock.advance(seconds: 600)
        try world.report(latitude: 48.2305, secondsAgo: 0)
        let away = try seen(by: "fourth")
        #expect(away?.hasSuffix("Wien") == true && away?.contains("Home") == false)
    }

    /// Times of the answers are whole seconds, so a decimal point would be a coordinate's or a distance's. The area of a
    /// requested reference system is the same for every person.
    private static func expectNoCoordinate(_ answers: [String]) throws {
        for answer in answers {
            let body = String(answer.split(separator: "\n\n", maxSplits: 1).last ?? "")
                .replacing(/"areaOfUse":\[[^\]]*\]/, with: "").replacing(".000Z", with: "Z")
            let words = ["latitude", "longitude", "distance", "\"lat\"", "\"x\"", "coordinates", "bbox"]
            #expect(!words.contains { body.contains($0) } && body.firstMatch(of: /\d\.\d/) == nil, "\(answer)")
        }
    }

    /// GeoNames has Hamburg's coordinate in its part Hamburg-Nord.
    @Test func `a city is named without its parts`() throws {
        let world = try World(
            latitude: 53.5503, longitude: 9.992, secondsAgo: 125, more: #""speed":0"#, precision: "city")
        let answer = world.house.send("GET", "/v1/people/walker/location", as: world.friend)
        let place = try #require(answer["location"]?["place"])
        #expect(place["locality"]?.string == "Hamburg" && place["name"]?.string == "Hamburg")
        #expect(!answer.text.contains("subLocality") && !answer.text.contains("Hamburg-Nord"))
    }

    /// The first age that is still too old would be the fix's own, to the second: the moment the phone last moved.
    @Test func `how old a fix is cannot be found by asking for younger and younger ones`() throws {
        let one = try World(latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""speed":0"#)
        let other = try World(latitude: 48.2006, longitude: 16.3698, secondsAgo: 40, more: #""speed":0"#)
        for maxAge: Int64 in [0, 39, 40, 41, 60, 124, 125, 126, 200, 299, 300, 301, 900, 3600] {
            let answers = (try one.asked(maxAge: maxAge), try other.asked(maxAge: maxAge))
            let isSame = answers.0 == answers.1
            #expect(isSame, "\(maxAge) s: \(answers)")
        }
    }

    /// In a small service the log grows when the phone reports: its length would reveal that a person is moving.
    @Test func `how often the phone reports cannot be found by watching the log grow`() throws {
        let one = try World(latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""speed":0"#)
        let other = try World(latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""speed":0"#)
        for second in 1...5 { try other.report(latitude: 48.2007, secondsAgo: 125 - Int64(second)) }
        let head = one.house.service.log.head
        #expect(other.house.service.log.head == head + 5)
        var targets = ["/v1/people/walker/location"]
        // A caller that can wait for a number of the log could find its head by bisection.
        targets += (head - 1...head + 6).map { "/v1/people/walker/location?at-least=\($0)" }
        for (number, target) in targets.enumerated() {
            let answers = try [one, other].map { world in
                world.house.send("GET", target, as: try world.makeFriend("watcher\(number)")).observable
            }
            #expect(answers[0] == answers[1])
        }
        let answers = (try one.asked(maxAge: 0), try other.asked(maxAge: 0))
        #expect(answers.0 == answers.1)
        // A stranger learns no more from it than a friend.
        let strangers = [one, other].map { world in
            (head - 1...head + 6).map { number in
                world.house.send("GET", "/v1/people/walker/location?at-least=\(number)", as: world.stranger).observable
            }
        }
        #expect(strangers[0] == strangers[1])
        #expect(Set(strangers[0]).count == 1)
    }

    private final class World {
        let house: ServiceUnderTest
        let friend: String
        let stranger: String
        private let phone: String
        private let precision: String

        init(
            latitude: Double, longitude: Double, secondsAgo: Int64, more: String, precision: String = "kilometer"
        ) throws {
            self.precision = precision
            house = try ServiceUnderTest()
            // 08:05: both moments are in one quarter of an hour.
            house.clock.advance(seconds: 300)
            _ = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            stranger = try house.addPerson("stranger")
            try house.grant("walker", to: "friend", precision: precision, history: true)
            let report = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds - secondsAgo),"latitude":\#(latitude),"longitude":\#(longitude),\#(more)}"#
            )
            try #require(report["new"]?.int == 1)
            _ = house.settled()
        }

        /// Adds a person with such a grant who has not asked yet.
        func makeFriend(_ name: String) throws -> String {
            let token = try house.addPerson(name)
            try house.grant("walker", to: name, precision: precision, history: true)
            return token
        }

        func report(latitude: Double, secondsAgo: Int64) throws {
            let report = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds - secondsAgo),"latitude":\#(latitude),"longitude":16.3698}"#)
            try #require(report["new"]?.int == 1)
            _ = house.settled()
        }

        /// Every answer to a new friend who asks for a fix of at most this age, without random names.
        func asked(maxAge: Int64) throws -> [String] {
            let asker = try makeFriend("friend-\(house.service.log.head)-\(maxAge)")
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: asker,
                #"{"purpose":"where","maxAgeSeconds":\#(maxAge)}"#)
            let url = try #require(asked["url"]?.string, "\(asked.text)")
            let id = try #require(asked["id"]?.string)
            return ["GET", "HEAD", "DELETE", "GET"].map { method in
                house.send(method, url, as: asker).observable
                    .split(separator: id, omittingEmptySubsequences: false).joined(separator: "ID")
            }
        }

        /// Each answer without the names that are random in every world.
        func everything() throws -> [String] {
            var answers: [String] = []
            for what in ["location", "track", "visits", "crossings", "audit", "regions", "grants", "devices", "tokens"]
            {
                answers.append(house.send("GET", "/v1/people/walker/\(what)", as: friend).observable)
            }
            for maxAge: Int64 in [0, 60, 300, 600, 3600] { answers += try asked(maxAge: maxAge) }
            for (number, target) in [
                "/v1/people/walker/location?format=geojson", "/v1/people/walker/location?crs=EPSG:3857",
                "/v1/people/walker/location?crs=EPSG:31256&format=geojson", "/api/0/last?user=walker", "/api/0/last",
                "/api/0/list", "/v1/shared-with-me", "/now?plain=true&person=walker",
            ].enumerated() {
                answers.append(house.send("GET", target, as: try makeFriend("reader\(number)")).observable)
            }
            let answer = house.send(
                "POST", "/owntracks", as: try house.addDevice("friend-phone", of: "friend"),
                #"{"_type":"location","tst":\#(house.clock.seconds),"lat":1,"lon":2}"#)
            answers.append(answer.observable)
            return answers
        }
    }
}

/// The border of a cell is no position.
@Suite struct CellBorderTests {
    private struct Scene {
        let house: ServiceUnderTest
        let phone: String
        let friends: [String]

        init() throws {
            house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
            friends = [try house.addPerson("anna"), try house.addPerson("bert")]
            for name in ["anna", "bert"] { try house.grant("walker", to: name, precision: "kilometer") }
        }

        func report(_ latitude: Double) {
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":\#(latitude),"longitude":16.3698,"horizontalAccuracy":5}"#
            )
            _ = house.settled()
        }

        func seen(by friend: Int) -> Double? {
            house.send("GET", "/v1/people/walker/location", as: friends[friend])["location"]?["latitude"]?.double
        }
    }

    /// 48.21 north is a border. Noise of 12 m to either side of it changed the cell with almost every fix.
    @Test func `a phone at rest on a border stays in one cell, whoever looks and however often`() throws {
        let scene = try Scene()
        var noise: UInt64 = 1
        var seen: Set<Double> = []
        for index in 0..<60 {
            noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            scene.report(48.21 + (Double(noise >> 40) / Double(1 << 24) - 0.5) * 0.0002)
            scene.house.clock.advance(seconds: 120)
            if let latitude = scene.seen(by: 0) { seen.insert(latitude) }
            // The other looks seldom, and sees the same.
            if index % 20 == 19 { #expect(scene.seen(by: 1) == scene.seen(by: 0)) }
        }
        #expect(seen.count == 1)
    }

    @Test func `the cell is left for what is well beyond its border, after ten minutes`() throws {
        let scene = try Scene()
        scene.report(48.205)
        let home = scene.seen(by: 0)
        for minute in 1...9 {
            scene.house.clock.advance(seconds: 60)
            scene.report(48.235)
            if minute % 4 == 0 { #expect(scene.seen(by: 0) == home) }
        }
        scene.house.clock.advance(seconds: 60)
        scene.report(48.235)
        let away = try #require(scene.seen(by: 0))
        #expect(abs(away - 48.235) < 0.0001)
        // Also after a restart, and for a friend who has not read before.
        try scene.house.restart()
        _ = scene.house.settled()
        #expect(scene.seen(by: 1) == away)
    }

    @Test func `after a long silence the first fix elsewhere shows at once`() throws {
        let scene = try Scene()
        scene.report(48.205)
        scene.house.clock.advance(seconds: 3600)
        scene.report(47.105)
        #expect(abs((scene.seen(by: 0) ?? 0) - 47.105) < 0.0001)
    }
}
