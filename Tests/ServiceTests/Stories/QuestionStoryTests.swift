import Cryptography
import DeviceAgent
import JSON
import LocationPush
import Log
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// "Where is the walker?" from the question to the audit, over real sockets.
@Suite struct QuestionStoryTests {
    @Test func `a friend asks, the phone answers, and the walker sees all of it`() throws {
        let here = try Neighbourhood()
        let phone = try here.startPhone()
        defer { phone.stop() }
        try here.house.grant("walker", to: "friend")

        let url = try here.ask()
        let answer = try here.outcome(of: url)
        #expect(answer.status == 200)
        #expect(answer["status"]?.string == "answered")
        let location = try #require(answer["location"])
        #expect(location["latitude"]?.double == Neighbourhood.place.latitude)
        #expect(location["longitude"]?.double == Neighbourhood.place.longitude)
        #expect(location["horizontalAccuracy"]?.double == 8)
        #expect(location["precision"]?.string == "exact")
        // GeoNames' nearest populated place to Karlsplatz is a part of Vienna; zone and country are beyond doubt.
        #expect(location["place"]?["countryCode"]?.string == "AT")
        #expect(location["place"]?["timeZone"]?.string == "Europe/Vienna")
        #expect(location["place"]?["name"]?.string?.isEmpty == false)
        let distance = try #require(location["place"]?["distance"]?.double)
        #expect((0...2500).contains(distance))

        // The headers of the push to APNs.
        let push = try #require(here.standIn.pushes.last)
        #expect(push.status == 200)
        #expect(push.topic == "\(ServiceUnderTest.bundleID).location-query")
        #expect(push.priority == "10")
        #expect(Int64(push.expiration ?? "") ?? 0 > 0)
        #expect(push.collapseID?.isEmpty == false)
        #expect(push.apnsID?.count == 36)
        #expect(push.payloadBytes <= 5 * 1024)

        // The answer of APNs is recorded without a further request.
        let audit = try here.audited { $0["disclosed"]?.count == 1 && $0["pushes"]?.count == 1 }
        let query = try #require(audit.query)
        #expect(query["requester"]?.string == "friend")
        #expect(query["purpose"]?.string == "late for dinner")
        #expect(query["verdict"]?.string == "granted")
        #expect(query["end"]?.string == "answered")
        #expect(query["fix"]?["device"]?.string == "walker-phone")
        let pushes = query["pushes"]?.array.map { Array($0) } ?? []
        #expect(pushes.count == 1)
        #expect(pushes.first?["device"]?.string == "walker-phone")
        #expect(pushes.first?["status"]?.int == 200)
        #expect(pushes.first?["apnsID"]?.string == push.apnsID)
        let disclosed = query["disclosed"]?.array.map { Array($0) } ?? []
        #expect(disclosed.first?["latitude"]?.double == Neighbourhood.place.latitude)
        #expect(disclosed.first?["place"]?.string == location["place"]?["name"]?.string)

        // The record holds the SHA-256 of exactly the bytes the friend got.
        let disclosures = try here.house.events().compactMap { recorded -> Disclosure? in
            if case .locationDisclosed(let disclosure) = recorded.event { disclosure } else { nil }
        }
        #expect(disclosures.count == 1)
        #expect(disclosures.first?.content.content?.answerHash.bytes == SHA256().hash(answer.body).bytes)
    }

    /// To narrow a grant, a person gives a new one and revokes the old one.
    @Test func `an answer is shown under the grant that it was asked under, and under no later one`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let asked = try house.grant("walker", to: "friend")
        let fix = #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.37}"#
        #expect(house.send("POST", "/v1/fixes", as: phone, fix)["new"]?.int == 1)
        let url = try #require(
            house.send(
                "POST", "/v1/people/walker/location-queries", as: friend,
                #"{"purpose":"late","maxAgeSeconds":600,"deadlineSeconds":60}"#)["url"]?.string)
        house.manage("DELETE", "/v1/grants/\(asked)")
        try house.grant("walker", to: "friend", precision: "exact")
        let answer = house.send("GET", url, as: friend)
        #expect(answer["status"]?.string == "pending" && !answer.text.contains("48.2"))
        house.clock.advance(seconds: 61)
        let late = house.send("GET", url, as: friend)
        #expect(late["status"]?.string == "noAnswer" && !late.text.contains("48.2"))
    }

    @Test func `a fresh fix answers without a push`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        let token = try here.registerSilentPhone()
        #expect(!token.isEmpty)
        let report = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.2,"longitude":16.37,"horizontalAccuracy":5}"#)
        #expect(report.status == 200)
        let answer = try here.outcome(of: try here.ask())
        #expect(answer["status"]?.string == "answeredFromLastKnown")
        #expect(answer["location"]?["latitude"]?.double == 48.2)
        #expect(try here.audited().query?["end"]?.string == "answeredFromLastKnown")
        #expect(here.standIn.pushes.isEmpty)
    }

    @Test func `a dead token ends the query for the walker, and only the deadline ends it for the friend`()
        throws
    {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        let token = try here.registerSilentPhone()
        try here.standIn.unregisterPhone(token, atUnixMs: PushClock.system.now().unixMs + 1000)
        let url = try here.ask()
        let query = try #require(try here.audited().query)
        #expect(query["end"]?.string == "pushFailed")
        let pushes = query["pushes"]?.array.map { Array($0) } ?? []
        #expect(pushes.first?["status"]?.int == 410)
        try eventually { !here.isTokenKnown }
        // Until the deadline, the friend gets the same answer as for a phone that is switched off.
        #expect(try here.client.send("GET", url, as: here.friend)["status"]?.string == "pending")
        here.house.clock.advance(seconds: 61)
        let late = try here.client.send("GET", url, as: here.friend)
        #expect(late["status"]?.string == "noAnswer")
        #expect(late["location"] == nil)
    }

    @Test(arguments: [
        (400, "BadDeviceToken", nil), (400, "DeviceTokenNotForTopic", nil), (410, "Unregistered", nil),
        (410, "ExpiredToken", Int64(60_000)),
    ])
    func `D3 a token that APNs does not know is retired, and a registration after that counts again`(
        status: Int, reason: String, later: Int64?
    ) throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        let token = try here.registerSilentPhone()
        let time = later.map { PushClock.system.now().unixMs + $0 }
        here.standIn.script([.answer(status: status, reason: reason, timestampMs: time)])
        _ = try here.ask()
        #expect(try here.audited().query?["end"]?.string == "pushFailed")
        try eventually { !here.isTokenKnown }
        let retired = try here.house.events().compactMap {
            if case .locationPushTokenRetired(_, let reason) = $0.event { reason } else { nil }
        }
        #expect(retired == [reason])
        // The app registers the same token again: it is good until APNs says otherwise.
        here.register(token)
        #expect(here.isTokenKnown)
        here.house.clock.advance(seconds: 61)
        _ = try here.ask()
        try eventually { here.standIn.acceptedCount == 1 }
    }

    @Test func `a token registered again keeps what APNs says of the time before`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        let token = try here.registerSilentPhone()
        let between = PushClock.system.now().unixMs + 90_000
        here.house.clock.advance(seconds: 120)
        here.register(token)
        here.standIn.script([.answer(status: 410, reason: "Unregistered", timestampMs: between)])
        _ = try here.ask()
        #expect(try here.audited().query?["end"]?.string == "pushFailed")
        here.house.manage("POST", "/v1/people", #"{"handle":"later"}"#)
        #expect(here.isTokenKnown)
    }

    @Test func `APNs' word about an older registration does not end a newer one`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let hourAgo = PushClock.system.now().unixMs - 3_600_000
        here.standIn.script([.answer(status: 410, reason: "Unregistered", timestampMs: hourAgo)])
        _ = try here.ask()
        #expect(try here.audited().query?["end"]?.string == "pushFailed")
        // The retirement is decided after the attempt that caused it; a later event shows that both are done.
        here.house.manage("POST", "/v1/people", #"{"handle":"later"}"#)
        #expect(here.isTokenKnown)
    }

    @Test func `P2 a silent phone ends the query at its deadline`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let url = try here.ask(#","deadlineSeconds":30"#)
        try eventually { here.standIn.acceptedCount == 1 }
        #expect(try here.client.send("GET", url, as: here.friend)["status"]?.string == "pending")
        here.house.clock.advance(seconds: 31)
        #expect(try here.outcome(of: url)["status"]?.string == "noAnswer")
        #expect(try here.audited().query?["end"]?.string == "timedOut")
        // A fix that comes too late is kept, and answers nothing.
        let id = try #require(url.split(separator: "/").last)
        let fix = here.house.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":1,"longitude":2,"answering":"\#(id)"}"#)
        #expect(fix["new"]?.int == 1)
        #expect(try here.client.send("GET", url, as: here.friend)["status"]?.string == "noAnswer")
    }

    @Test func `a friend who thinks better of it ends the query`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let url = try here.ask()
        #expect(try here.client.send("DELETE", url, as: here.walker).status == 404)
        #expect(try here.client.send("DELETE", url, as: here.friend)["status"]?.string == "noAnswer")
        #expect(try here.client.send("GET", url, as: here.friend)["status"]?.string == "noAnswer")
        #expect(try here.audited().query?["end"]?.string == "cancelled")
    }

    @Test func `D2 a service that restarts between push and report loses nothing`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        let url = try here.ask()
        try eventually { here.standIn.acceptedCount >= 1 }
        try here.house.restart()
        #expect(here.standIn.acceptedCount == 1)
        let id = try #require(url.split(separator: "/").last)
        let fix = try here.client.send(
            "POST", "/v1/fixes", as: here.phoneKey,
            #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.21,"longitude":16.36,"answering":"\#(id)"}"#)
        #expect(fix["new"]?.int == 1)
        let answer = try here.outcome(of: url)
        #expect(answer["status"]?.string == "answered")
        #expect(answer["location"]?["latitude"]?.double == 48.21)
        #expect(try here.audited().query?["end"]?.string == "answered")
    }

    @Test func `no grant, a paused one, an ended one and nobody of that name are one answer`() throws {
        let here = try Neighbourhood()
        let house = here.house
        func ask(_ person: String) -> String {
            house.send(
                "POST", "/v1/people/\(person)/location-queries", as: here.friend, #"{"purpose":"curious"}"#
            ).observable
        }
        let nobody = ask("nobody")
        #expect(nobody.hasPrefix("404\n"))
        #expect(ask("walker") == nobody)
        let paused = try house.grant("walker", to: "friend", precision: "none")
        #expect(ask("walker") == nobody)
        house.manage("DELETE", "/v1/grants/\(paused)")
        let grant = try house.grant("walker", to: "friend")
        #expect(ask("walker").hasPrefix("202\n"))
        house.manage("DELETE", "/v1/grants/\(grant)")
        #expect(ask("walker") == nobody)
        let until = house.clock.seconds + 60
        try house.grant("walker", to: "friend", more: #","until":\#(until)"#)
        #expect(ask("walker").hasPrefix("202\n"))
        house.clock.advance(seconds: 61)
        #expect(ask("walker") == nobody)
        // The walker sees every attempt, with its true reason.
        let audit = house.send("GET", "/v1/people/walker/audit?at-least=\(house.service.log.head)", as: here.walker)
        let refused = audit.items.filter { $0["verdict"]?.string == "refused" }.compactMap { $0["reason"]?.string }
        #expect(refused == ["notInForce", "noGrant", "precisionNone", "noGrant"])
    }
}
