import Cryptography
import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// Programs for the OwnTracks Recorder work with this service: the requests of the OwnTracks frontend (`src/api.js`)
/// and of the Recorder's own documentation, by the same rights and on the same record as every other read.
@Suite struct RecorderStoryTests {
    private let house: ServiceUnderTest
    private let walker: String
    private let friend: String
    private let phone: String
    private var start: Int64 { house.clock.seconds - 7200 }

    init() throws {
        house = try ServiceUnderTest()
        walker = try house.addPerson("walker")
        friend = try house.addPerson("friend")
        phone = try house.addDevice("walker-phone", of: "walker")
        let tablet = try house.addDevice("tablet", of: "walker")
        for step in 0..<4 {
            let seconds = house.clock.seconds - 7200 + Int64(step) * 600
            report(
                phone,
                #"{"_type":"location","lat":46.5,"lon":9.2\#(step),"tst":\#(seconds),"acc":5,"batt":80,"vel":36}"#)
        }
        report(tablet, #"{"_type":"location","lat":47.5,"lon":8.5,"tst":\#(house.clock.seconds - 9000),"acc":9}"#)
        _ = house.settled()
    }

    private func report(_ key: String, _ body: String) {
        #expect(house.send("POST", "/pub?u=jane&d=nexus", as: key, body).status == 200)
    }

    private func read(_ target: String, as token: String? = nil) throws -> JSONValue {
        let answer = house.send("GET", target, as: token ?? walker)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.json)
    }

    private func texts(_ value: JSONValue?) -> [String] { value?.array?.compactMap(\.string) ?? [] }

    private func reads(after number: Int64) throws -> [LocationRead] {
        try house.events(after: number).compactMap { if case .locationRead(let read) = $0.event { read } else { nil } }
    }

    /// `getVersion`, `getUsers`, `getDevices`, `getLastLocations` and `getUserDeviceLocationHistory`, one after
    /// another.
    @Test func `the OwnTracks frontend shows what its person may see`() throws {
        #expect(try read("/api/0/version")["version"]?.string?.isEmpty == false)
        #expect(texts(try read("/api/0/list")["results"]) == ["walker"])
        #expect(texts(try read("/api/0/list?user=walker")["results"]) == ["walker-phone", "tablet"])
        #expect(texts(try read("/api/0/list?user=Walker&device=TABLET")["results"]) == ["tablet"])
        let last = try #require(try read("/api/0/last").array.map(Array.init))
        #expect(last.compactMap { $0["device"]?.string } == ["walker-phone", "tablet"])
        #expect(last[0]["username"]?.string == "walker" && last[0]["topic"]?.string == "owntracks/walker/walker-phone")
        #expect(last[0]["lat"]?.double == 46.5 && last[0]["lon"]?.double == 9.23 && last[0]["tst"]?.int == start + 1800)
        #expect(last[0]["vel"]?.int == 36 && last[0]["batt"]?.int == 80 && last[0]["_type"]?.string == "location")
        #expect(last[0]["isotst"]?.string == "2026-05-04T06:30:00Z" && last[0]["cc"]?.string == "CH")
        // As the frontend writes a range.
        let range = "from=2026-05-04T00:00:00&to=2026-05-04T06:20:00"
        let history = try read("/api/0/locations?\(range)&user=walker&device=walker-phone&format=json")
        #expect(history["count"]?.int == 3 && history["status"]?.int == 200)
        #expect(history["data"]?.array?.compactMap { $0["lon"]?.double } == [9.2, 9.21, 9.22])
        #expect(try read("/api/0/locations?\(range)&user=walker&device=tablet")["count"]?.int == 1)
        #expect(try read("/api/0/locations?\(range)&user=walker&device=nothing")["count"]?.int == 0)
    }

    /// The browser asks for name and password; the frontend sends no token.
    @Test func `a browser shows the token as the password of its person`() throws {
        func status(_ user: String, _ token: String) -> Int {
            let basic = "Basic " + Base64.encode(Array("\(user):\(token)".utf8))
            return house.send("GET", "/api/0/last", as: nil, headers: [("Authorization", basic)]).status
        }
        #expect(status("walker", walker) == 200 && status("friend", walker) == 401 && status("walker", "x") == 401)
        let refused = house.send("GET", "/api/0/last", as: nil)
        #expect(refused.status == 401 && refused.header("WWW-Authenticate")?.contains("Basic realm=") == true)
    }

    /// `GET /api/0/locations` of the Recorder's README: `limit`, `fields`, `format`, and a range that is cut short.
    @Test func `forms, limits and fields`() throws {
        let own = "/api/0/locations?user=walker&device=walker-phone"
        #expect(try read(own)["count"]?.int == 4)
        let newest = try #require(try read("\(own)&limit=2&fields=tst,lon")["data"]?.array.map(Array.init))
        #expect(newest.map { $0["lon"]?.double } == [9.23, 9.22])
        #expect(newest[0].members.map { Array($0).map(\.key) } == ["lon", "tst"])
        #expect(try read("\(own)&from=2026-05")["count"]?.int == 4)
        #expect(try read("\(own)&from=2026-05-04T06:10&to=2026-05-04T06:20")["count"]?.int == 2)
        #expect(try read("\(own)&to=2026-05-03")["count"]?.int == 0)
        let points = try read("\(own)&format=geojson")["features"]?.array.map(Array.init)
        #expect(points?.first?["geometry"]?["coordinates"]?.array?.compactMap(\.double) == [9.2, 46.5])
        let line = try read("\(own)&format=linestring")
        #expect(line["geometry"]?["coordinates"]?.array.map(Array.init)?.count == 4)
        // A line of the Recorder's files, which `ocat` reads: time, topic padded to 18, message.
        let raw = house.send("GET", "\(own)&format=raw&limit=1", as: walker).text
        let parts = raw.split(separator: "\t", omittingEmptySubsequences: false)
        #expect(parts.count == 3 && parts[0] == "2026-05-04T06:30:00Z" && parts[1] == "*                 ")
        #expect(try JSONDocument.parse(Array(parts[2].utf8)).root["_type"]?.string == "location")
        for wrong in ["&format=gpx", "&from=yesterday", "&limit=-1"] {
            #expect(house.send("GET", own + wrong, as: walker).status == 400)
        }
        #expect(house.send("GET", "/api/0/locations?user=walker", as: walker).status == 400)
    }

    @Test func `each person's part of an answer is a read on record`() throws {
        try house.grant("walker", to: "friend", history: true)
        let before = house.service.log.head
        #expect(texts(try read("/api/0/list", as: friend)["results"]) == ["friend", "walker"])
        #expect(try reads(after: before).isEmpty)
        let answer = house.send("GET", "/api/0/last?user=walker", as: friend)
        #expect(answer.json?.array.map(Array.init)?.count == 1)
        let read = try #require(try reads(after: before).first)
        #expect(read.question == .location && read.count == 1)
        #expect(read.content.content?.answerHash == Hash256(SHA256().hash(answer.body)))
        let all = house.service.log.head
        _ = try self.read("/api/0/last", as: friend)
        #expect(try reads(after: all).map(\.question) == [.location, .location])
        let track = house.service.log.head
        let history = house.send("GET", "/api/0/locations?user=walker&device=phone", as: friend)
        #expect(history["count"]?.int == 5)
        let recorded = try #require(try reads(after: track).first)
        #expect(recorded.question == .track && recorded.count == 5)
        #expect(recorded.content.content?.answerHash == Hash256(SHA256().hash(history.body)))
    }

    /// Grants are about persons: a friend does not see which devices a person has.
    @Test func `a grant's precision holds, and the devices of others are one`() throws {
        try house.grant("walker", to: "friend", precision: "kilometer")
        #expect(texts(try read("/api/0/list?user=walker", as: friend)["results"]) == ["phone"])
        let shown = try #require(try read("/api/0/last?user=walker", as: friend).array?.first { _ in true })
        let location = house.send("GET", "/v1/people/walker/location", as: friend)["location"]
        #expect(shown["lat"]?.double == location?["latitude"]?.double && shown["lat"]?.double != 46.5)
        #expect(shown["lon"]?.double == location?["longitude"]?.double && shown["device"]?.string == "phone")
        #expect(shown["tst"]?.int == location?["timestamp"]?.int && shown["batt"] == nil && shown["acc"] == nil)
        let history = house.send("GET", "/api/0/locations?user=walker&device=phone", as: friend)
        #expect(history.status == 404)
        // Without a grant, a person and an unknown handle give the same answers.
        let stranger = try house.addPerson("stranger")
        #expect(texts(try read("/api/0/list?user=walker", as: stranger)["results"]).isEmpty)
        #expect(texts(try read("/api/0/list?user=nobody", as: stranger)["results"]).isEmpty)
        for path in ["last?user=", "locations?device=phone&user="] {
            let answers = ["walker", "nobody"].map { house.send("GET", "/api/0/\(path)\($0)", as: stranger) }
            #expect(answers[0].status == 404 && answers[0].observable == answers[1].observable)
        }
        #expect(house.send("GET", "/api/0/list", as: phone).status == 404)
    }
}
