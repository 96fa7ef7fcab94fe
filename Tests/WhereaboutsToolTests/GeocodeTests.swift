import Geodesy
import JSON
import Service
import Testing

@testable import WhereaboutsTool

@Suite(.enabled(if: GazetteerLocation.find() != nil, "There is no gazetteer beside the program."))
struct GeocodeTests {
    /// Names and coordinate as geonames.org/5128581 shows them; the code is ISO 3166-2.
    @Test func `a placemark says what the gazetteer knows and nothing else`() throws {
        let line = try Geocoder().line(for: try Coordinate(latitude: 40.71427, longitude: -74.00597))
        #expect(
            String(decoding: line, as: UTF8.self)
                == #"{"name":"New York City","locality":"New York City","administrativeArea":"New York","#
                + #""administrativeAreaCode":"US-NY","isoCountryCode":"US","country":"United States","#
                + #""timeZone":"America/New_York","latitude":40.71427,"longitude":-74.00597,"distance":0,"#
                + #""geonameId":5128581}"# + "\n")
    }

    @Test func `a coordinate on the command line is answered in one line`() throws {
        let (exitCode, results, _) = whereabouts("geocode", "reverse", "-33.86785, 151.20732")
        #expect(exitCode == 0)
        #expect(try json(results)["geonameId"]?.int == 2_147_714)
    }

    @Test(arguments: ["91,0", "1", "1,2,3", "a,b", ","])
    func `what is no coordinate is a usage error`(text: String) {
        #expect(whereabouts("geocode", "reverse", text).exitCode == 2)
    }

    /// Names, codes and coordinate as geonames.org/4250542 shows them.
    @Test func `a name on the command line is answered in one line with where the place is`() throws {
        let (exitCode, results, _) = whereabouts("geocode", "forward", "Springfield, IL")
        #expect(exitCode == 0)
        let line = try json(results)
        #expect(line["geonameId"]?.int == 4_250_542)
        #expect(line["name"]?.string == "Springfield")
        #expect(line["administrativeAreaCode"]?.string == "US-IL")
        #expect(line["isoCountryCode"]?.string == "US")
        #expect(line["latitude"]?.double == 39.80172)
        #expect(line["longitude"]?.double == -89.64371)
        #expect(line["match"]?.string == "exact")
    }

    @Test func `a name nobody bears is a data error that says so`() {
        let (exitCode, results, errors) = whereabouts("geocode", "forward", "Xyzzyqqq")
        #expect(exitCode == 3)
        #expect(results.isEmpty)
        #expect(errors.contains("No place of this name is known."))
    }

    @Test func `names and contested land are told as asked`() throws {
        let german = whereabouts("geocode", "reverse", "48.2085,16.3721", "--lang", "tlh,de")
        #expect(try json(german.results)["locality"]?.string == "Wien")
        let named = whereabouts("geocode", "forward", "Vienna", "--lang", "de")
        #expect(try json(named.results)["name"]?.string == "Wien")
        let plain = try json(whereabouts("geocode", "reverse", "48.203,16.345"))
        #expect(plain["subLocality"]?.string == "Neubau" && plain["locality"]?.string == "Wien")
        let country = try json(whereabouts("geocode", "forward", "Germany", "--lang", "en"))
        #expect(country["name"]?.string == "Germany" && country["isoCountryCode"]?.string == "DE")
        #expect(whereabouts("geocode", "forward", "my house").exitCode == 3)
        let governed = try json(whereabouts("geocode", "reverse", "34.08,74.8"))
        #expect(governed["isoCountryCode"]?.string == "IN")
        #expect(governed["claimants"]?.array?.map { $0.string } == ["IN", "PK"])
        let seen = try json(whereabouts("geocode", "reverse", "34.08,74.8", "--worldview", "PK"))
        #expect(seen["isoCountryCode"]?.string == "PK")
        #expect(whereabouts("geocode", "reverse", "0,0", "--worldview", "Pakistan").exitCode == 2)
    }
}
