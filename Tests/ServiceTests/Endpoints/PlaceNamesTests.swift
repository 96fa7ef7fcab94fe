import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// The names of places in answers about persons. Countries, seas and names in other languages are an atlas's.
@Suite struct PlaceNamesTests {
    private let house: ServiceUnderTest
    private let walker: String
    private let phone: String

    init() throws {
        house = try ServiceUnderTest()
        walker = try house.addPerson("walker")
        phone = try house.addDevice("walker-phone", of: "walker")
    }

    private func report(_ latitude: Double, _ longitude: Double, accuracy: Double = 8, after seconds: Int64 = 60) {
        house.clock.advance(seconds: seconds)
        house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(house.clock.seconds),"latitude":\#(latitude),"longitude":\#(longitude),"#
                + #""horizontalAccuracy":\#(accuracy)}"#)
    }

    private func get(_ what: String, as token: String? = nil, in language: String? = nil) -> Answer {
        _ = house.settled()
        return house.send(
            "GET", "/v1/people/walker/\(what)", as: token ?? walker,
            headers: language.map { [("Accept-Language", $0)] } ?? [])
    }

    /// The nearest place to this point in Lake Constance's Swiss Kreuzlingen is in Germany; the Atlantic belongs to no
    /// country.
    @Test(arguments: [
        (47.6515, 9.1795, "CH", "Europe/Zurich"), (47.6655, 9.1745, "DE", "Europe/Berlin"),
        (30, -40, nil, "Etc/GMT+3"),
    ])
    func `the country of a location is that of the ground`(
        latitude: Double, longitude: Double, country: String?, timeZone: String
    ) throws {
        report(latitude, longitude)
        let place = try #require(get("location")["location"]?["place"])
        #expect(place["countryCode"]?.string == country)
        #expect(place["isoCountryCode"]?.string == country)
        #expect(place["timeZone"]?.string == timeZone)
        if country == nil { #expect(place["name"]?.string == "Atlantic Ocean") }
    }

    @Test func `a fix that may be across a border says so`() throws {
        // Basel's Dreiländereck, where three countries meet.
        report(47.5886, 7.5892, accuracy: 3000)
        let vague = try #require(get("location")["location"]?["place"])
        #expect(vague["otherCountryCodes"]?.array?.map { $0.string }.count == 2)
        report(47.5000, 7.6500)
        let sure = try #require(get("location")["location"]?["place"])
        #expect(sure["otherCountryCodes"] == nil)
        let asked = house.send(
            "GET", "/v1/geocode/reverse?latitude=47.5886&longitude=7.5892&horizontalAccuracy=3000", as: walker)
        #expect(asked["otherCountryCodes"]?.array?.map { $0.string }.count == 2)
        for wrong in ["-1", "nan", "x"] {
            let answer = house.send(
                "GET", "/v1/geocode/reverse?latitude=47&longitude=7&horizontalAccuracy=\(wrong)", as: walker)
            #expect(answer.status == 400)
        }
    }

    @Test func `a location, an answer and its record say the name that the asker reads`() throws {
        let friend = try house.addPerson("friend")
        try house.grant("walker", to: "friend", precision: "city", history: true)
        // Far out in Wien's 21st district.
        report(48.2760, 16.4000)
        #expect(get("location", as: friend)["location"]?["place"]?["name"]?.string == "Wien")
        #expect(get("location", as: friend, in: "en")["location"]?["place"]?["name"]?.string == "Vienna")
        #expect(get("location", as: friend, in: "hu")["location"]?["place"]?["name"]?.string == "Bécs")
        #expect(get("location", in: "fr")["location"]?["place"]?["country"]?.string == "Autriche")
        // The limit on questions refuses a second question for a while.
        house.clock.advance(seconds: 3600)
        // A report that was not asked for answers a coarse question in its last second, if it is of a later quarter of
        // an hour.
        house.clock.advance(seconds: 890 - house.clock.seconds % 900)
        let askedAt = house.clock.now
        let asked = house.send(
            "POST", "/v1/people/walker/location-queries", as: friend,
            #"{"purpose":"late for dinner","deadlineSeconds":60}"#)
        let id = try #require(asked["id"]?.string)
        // The clock must stay before the deadline, or the service may end the question before the next line.
        report(48.2760, 16.4000, after: 20)
        house.clock.set(Timestamp(milliseconds: askedAt.milliseconds + 59_500))
        let answer = house.send(
            "GET", "/v1/location-queries/\(id)?wait=30", as: friend, headers: [("Accept-Language", "de-AT, en;q=0.5")])
        #expect(answer["location"]?["place"]?["name"]?.string == "Wien")
        let disclosed = try house.events().compactMap { recorded -> String? in
            guard case .locationDisclosed(let disclosure) = recorded.event else { return nil }
            return disclosure.content.content?.placeName
        }
        #expect(disclosed == ["Wien"])
    }

    /// An hour in the center of Prague, then an hour in that of Munich.
    @Test func `visits, trips, places and summaries speak the language of whoever reads`() throws {
        let began = house.clock.seconds
        for (latitude, longitude) in [(50.0880, 14.4208), (48.1372, 11.5755)] {
            for _ in 0..<60 { report(latitude, longitude) }
            house.clock.advance(seconds: 3 * 3600)
        }
        func text(_ what: String, in language: String) -> String {
            let range = what == "summary" ? "&from=\(began)&to=\(house.clock.seconds)" : ""
            return house.send(
                "GET", "/v1/people/walker/\(what)?at-least=\(house.service.log.head)\(range)", as: walker,
                headers: [("Accept-Language", language)]
            ).text
        }
        for what in ["visits", "trips", "places", "summary"] {
            let (italian, polish) = (text(what, in: "it"), text(what, in: "pl"))
            #expect(italian.contains("Praga") || italian.contains("Monaco di Baviera"), "\(what): \(italian)")
            #expect(polish.contains("Praga") || polish.contains("Monachium"), "\(what): \(polish)")
            #expect(italian != polish, "\(what)")
        }
    }
}
