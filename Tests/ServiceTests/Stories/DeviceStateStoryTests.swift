import Cryptography
import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// A person who sets up a phone sees whether it reports, and if not, why.
@Suite struct DeviceStateStoryTests {
    private let house: ServiceUnderTest
    private let key: String
    private let walker: String

    init() throws {
        house = try ServiceUnderTest()
        walker = try house.addPerson("walker")
        key = try house.addDevice("phone", of: "walker")
    }

    private func device(as token: String? = nil) throws -> JSONValue {
        _ = house.settled()
        let answer = house.send("GET", "/v1/people/walker/devices", as: token ?? walker)
        #expect(answer.status == 200)
        return try #require(answer.items.first)
    }

    private func report(_ body: String) {
        let headers = [("User-Agent", "Owntracks-Android/gms/420412000")]
        #expect(house.send("POST", "/owntracks", as: key, body, headers: headers).status == 200)
    }

    @Test func `a phone that never spoke has no contact, and one that did has its newest`() throws {
        let silent = try device()
        for name in ["lastContact", "lastFix", "battery", "app", "wrongPasswords"] { #expect(silent[name] == nil) }
        #expect(silent["rejected"]?.array.map(Array.init)?.count == 0)

        let seen = house.clock.seconds - 100
        report(#"{"_type":"location","lat":46.5,"lon":9.25,"tst":\#(seen),"acc":5,"batt":87,"tid":"ab"}"#)
        let contact = house.clock.seconds
        let device = try device()
        #expect(device["lastContact"]?.int == contact && device["lastFix"]?.int == seen)
        #expect(device["battery"]?.double == 0.87)
        #expect(device["app"]?["address"]?.string == "/owntracks")
        #expect(device["app"]?["userAgent"]?.string == "Owntracks-Android/gms/420412000")
        // The same again brings nothing new, and is a contact all the same.
        house.clock.advance(seconds: 60)
        report(#"{"_type":"location","lat":46.5,"lon":9.25,"tst":\#(seen),"acc":5,"batt":87,"tid":"ab"}"#)
        #expect(try self.device()["lastContact"]?.int == contact + 60)
        // The state in the log is known after a restart.
        try house.restart()
        let known = try self.device()
        #expect(known["lastContact"]?.int == contact && known["lastFix"]?.int == seen && known["app"] == nil)
    }

    @Test func `what cannot be used is shown with the reason and as it came, for seven days`() throws {
        report("lat 46.5 lon 9.25")
        report(#"{"_type":"location","lat":"north","lon":9.25,"tst":1777881000}"#)
        let rejected = try #require(try device()["rejected"]?.array.map(Array.init))
        #expect(rejected.map { $0["reason"]?.string } == ["badCoordinate", "notJSON"])
        #expect(rejected.first?["text"]?.string == #"{"_type":"location","lat":"north","lon":9.25,"tst":1777881000}"#)
        #expect(rejected.first?["at"]?.int == house.clock.seconds)
        #expect(rejected.first?["detail"]?.string?.hasPrefix("Latitude must be") == true)
        #expect(rejected.last?["text"]?.string == "lat 46.5 lon 9.25")
        // The operator's look is on record, as any other at a person's data.
        let before = house.service.log.head
        _ = try device(as: house.operatorToken)
        #expect(try house.events(after: before).contains { if case .locationRead = $0.event { true } else { false } })
        house.clock.advance(seconds: Limits.rejectionsShownSeconds + 1)
        #expect(try device()["rejected"]?.array.map(Array.init)?.count == 0)
    }

    @Test func `of many the newest are shown, of each device its own`() throws {
        let other = try house.addDevice("tablet", of: "walker")
        for index in 0..<(Limits.rejectionsShown + 5) { report("nonsense \(index)") }
        _ = house.send("POST", "/owntracks", as: other, "of the tablet")
        let texts = try #require(try device()["rejected"]?.array.map(Array.init)).map { $0["text"]?.string }
        #expect(texts.count == Limits.rejectionsShown && texts.first == "nonsense \(Limits.rejectionsShown + 4)")
        let answer = house.send("GET", "/v1/people/walker/devices", as: walker)
        #expect(answer.items.last?["rejected"]?.array.map(Array.init)?.map { $0["text"]?.string } == ["of the tablet"])
    }

    @Test func `a wrong password at a device's name is counted, and nothing of it is kept`() throws {
        for password in ["hunter2", "hunter3"] {
            let headers = [("Authorization", "Basic " + Base64.encode(Array("phone:\(password)".utf8)))]
            #expect(house.send("POST", "/owntracks", as: nil, "{}", headers: headers).status == 401)
        }
        let answer = house.send("GET", "/v1/people/walker/devices", as: walker)
        let wrong = try #require(answer.items.first?["wrongPasswords"])
        #expect(wrong["count"]?.int == 2 && wrong["newest"]?.int == house.clock.seconds)
        #expect(!answer.text.contains("hunter"))
    }
}
