import JSON
import Testing
import Whereabouts

@testable import Service

/// Numbers of places are those of geonames.org.
@Suite struct GeocodeEndpointTests {
    private func ask(_ house: ServiceUnderTest, _ method: String, _ target: String, _ body: String = "") -> Answer {
        house.send(method, target, as: house.operatorToken, body)
    }

    @Test func `a coordinate and a batch of it have the same placemark, and nothing is recorded`() throws {
        let house = try ServiceUnderTest()
        let before = house.service.log.head
        let one = ask(house, "GET", "/v1/geocode/reverse?latitude=-33.86785&longitude=151.20732")
        #expect(one.status == 200)
        #expect(one["geonameId"]?.int == 2_147_714)
        #expect(one["isoCountryCode"]?.string == "AU")
        let many = ask(
            house, "POST", "/v1/geocode/reverse", #"{"coordinates":[[-33.86785,151.20732],[0,-30]]}"#)
        #expect(many.items.count == 2)
        #expect(many.items.first?["geonameId"]?.int == 2_147_714)
        #expect(many.items.last?["ocean"]?.string == "Atlantic Ocean")
        #expect(house.service.log.head == before)
    }

    @Test func `a name and a batch of names find places, and unknown ones are null`() throws {
        let house = try ServiceUnderTest()
        let one = ask(house, "GET", "/v1/geocode/forward?q=München, Bayern&limit=1")
        #expect(one.items.map { $0["geonameId"]?.int } == [2_867_714])
        let many = ask(house, "POST", "/v1/geocode/forward", #"{"texts":["Xyzzyqqq","Wien"]}"#)
        #expect(many.items.map { $0["geonameId"]?.int } == [nil, 2_761_369])
        #expect(ask(house, "GET", "/v1/geocode/forward?q=Xyzzyqqq").items.isEmpty)
    }

    @Test(arguments: [
        ("de", "Österreich"), ("fr;q=0.2, de;q=0.9", "Österreich"), ("tlh, it;q=0.5, *;q=0.1", "Austria"),
        ("hu", "Ausztria"), ("de;q=0, hu", "Ausztria"), ("de;q=2, hu", "Ausztria"), (",;=q", "Österreich"),
        (String(repeating: "x,", count: 2000), "Österreich"),
    ])
    func `names are in the language the request likes best`(header: String, country: String) throws {
        let house = try ServiceUnderTest()
        let answer = house.send(
            "GET", "/v1/geocode/reverse?latitude=48.2085&longitude=16.3721", as: house.operatorToken,
            headers: [("accept-language", header)])
        #expect(answer["country"]?.string == country)
    }

    @Test(arguments: [
        ("GET", "/v1/geocode/reverse?latitude=91&longitude=0", "", "between -90 and 90"),
        ("GET", "/v1/geocode/reverse?latitude=151&longitude=-33", "", "look swapped"),
        ("GET", "/v1/geocode/reverse?latitude=nan&longitude=0", "", "finite"),
        ("GET", "/v1/geocode/reverse?latitude=x", "", "numbers of degrees"),
        ("GET", "/v1/geocode/forward", "", "name of a place"),
        ("GET", "/v1/geocode/forward?q=Wien&limit=0", "", "from 1 to 50"),
        ("POST", "/v1/geocode/reverse", #"{"coordinates":[[1]]}"#, "pair"),
        ("POST", "/v1/geocode/reverse", #"{"coordinates":[[0,181]]}"#, "between -180 and 180"),
        ("POST", "/v1/geocode/forward", #"{"texts":[1]}"#, "names of places"),
    ])
    func `what cannot be asked is refused in a sentence`(
        method: String, target: String, body: String, sentence: String
    ) throws {
        let answer = ask(try ServiceUnderTest(), method, target, body)
        #expect(answer.status == 400)
        #expect(answer["detail"]?.string?.contains(sentence) == true)
    }
}
