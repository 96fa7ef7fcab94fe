import JSON
import Log
import Testing
import Whereabouts

@testable import Answers
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

    @Test func `who geocoded too much waits, and nobody else does`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("phone", of: "walker")
        let friend = try house.addPerson("friend")
        let asks: [(String, String, String)] = [
            ("GET", "/v1/geocode/reverse?latitude=48.2&longitude=16.4", ""),
            ("POST", "/v1/geocode/reverse", #"{"coordinates":[[48.2,16.4]]}"#),
            ("GET", "/v1/geocode/forward?q=Wien", ""), ("POST", "/v1/geocode/forward", #"{"texts":["Wien"]}"#),
        ]
        func statuses(_ token: String) -> [Int] {
            asks.map { house.send($0.0, $0.1, as: token, $0.2).status }
        }
        let person = try #require(house.service.log.withStanding { $0.person(Handle("walker")!) })
        // Half an hour of processor time: the person's budget recovers in five hours, the tree's in half of that.
        house.service.geocodingBudgets.take(1800, of: person, person)
        // The person's devices share the person's budget.
        for token in [walker, phone] {
            #expect(statuses(token) == [429, 429, 429, 429])
            let refused = house.send("GET", asks[2].1, as: token)
            let seconds = try #require(refused.header("Retry-After").flatMap(Int.init))
            #expect((17_000...18_000).contains(seconds) && refused.text.contains("You have geocoded too much"))
        }
        for token in [friend, house.operatorToken] { #expect(statuses(token) == [200, 200, 200, 200]) }
        // Other answers need no geocoding budget, also when places are named in them.
        let fix =
            #"{"timestamp":\#(house.clock.seconds),"latitude":48.2085,"longitude":16.3721,"horizontalAccuracy":5}"#
        #expect(house.send("POST", "/v1/fixes", as: phone, fix).status == 200)
        let place = house.send("GET", "/v1/people/walker/location?at-least=\(house.service.log.head)", as: walker)
        #expect(place.status == 200, "\(place.text)")
    }

    @Test func `the accounts that come from one invitation share a budget`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let code = try #require(house.send("POST", "/v1/account-invitations", as: walker, "{}")["code"]?.string)
        let opened = house.send("POST", "/v1/accounts", as: nil, #"{"code":"\#(code)","name":"new"}"#)
        let token = try #require(opened["token"]?.string), handle = try #require(opened["handle"]?.string)
        let (root, invited) = house.service.log.withStanding {
            ($0.person(Handle("walker")!), $0.person(Handle(handle)!))
        }
        let budgets = house.service.geocodingBudgets
        // One person's use does not reduce the other's budget.
        budgets.take(Limits.geocodingPerPerson.capacitySeconds + 1, of: try #require(invited), try #require(root))
        let target = "/v1/geocode/forward?q=Wien"
        #expect(house.send("GET", target, as: token).status == 429)
        #expect(house.send("GET", target, as: walker).status == 200)
        budgets.take(1800, of: try #require(invited), try #require(root))
        let refused = house.send("GET", target, as: walker)
        #expect(refused.status == 429 && refused.text.contains("from the same invitation"), "\(refused.text)")
    }

    @Test func `geocoding costs the time it takes`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let texts = (0..<50).map { #""Qzkristanopl\#($0 % 10)e""# }.joined(separator: ",")
        var statuses: [Int] = []
        for _ in 0..<100 where statuses.last != 429 {
            statuses.append(house.send("POST", "/v1/geocode/forward", as: walker, "{\"texts\":[\(texts)]}").status)
        }
        #expect(statuses.count > 1 && statuses.last == 429, "\(statuses)")
        #expect(statuses.dropLast().allSatisfy { $0 == 200 })
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
        ("GET", "/v1/geocode/reverse?latitude=91&longitude=0", "", "from -90 to 90"),
        ("GET", "/v1/geocode/reverse?latitude=151&longitude=-33", "", "look swapped"),
        ("GET", "/v1/geocode/reverse?latitude=nan&longitude=0", "", "finite"),
        ("GET", "/v1/geocode/reverse?latitude=x", "", "numbers in degrees"),
        ("GET", "/v1/geocode/forward", "", "name of a place"),
        ("GET", "/v1/geocode/forward?q=Wien&limit=0", "", "from 1 to 50"),
        ("POST", "/v1/geocode/reverse", #"{"coordinates":[[1]]}"#, "pair"),
        ("POST", "/v1/geocode/reverse", #"{"coordinates":[[0,181]]}"#, "from -180 to 180"),
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
