import DeviceAgent
import JSON
import Log
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Consent to each question, pauses and sharing hours, and their effects that others can see.
@Suite struct ConsentStoryTests {
    // MARK: Answers that the asker cannot distinguish

    /// Every answer that the asker gets about one question, until after the deadline, without the members that differ
    /// by design.
    private static func transcript(
        _ house: ServiceUnderTest, as token: String, about person: String, afterAsking: () throws -> Void = {}
    ) throws -> [String] {
        let asked = house.send(
            "POST", "/v1/people/\(person)/location-queries", as: token, #"{"purpose":"late for dinner"}"#)
        let id = try #require(asked["id"]?.string)
        try afterAsking()
        var seen = [asked]
        for seconds in [0, 20, 39, 1, 30] as [Int64] {
            house.clock.advance(seconds: seconds)
            seen.append(house.send("GET", "/v1/location-queries/\(id)", as: token))
        }
        seen.append(house.send("GET", "/v1/people/\(person)/location?at-least=\(house.service.log.head)", as: token))
        return seen.map { answer in
            var text = answer.observable
            for own in [id, answer["asOf"]?.name ?? "", "Content-Length"] where !own.isEmpty {
                text = text.split(separator: own).joined(separator: "…")
            }
            return text
        }
    }

    /// A person who shared with the friend until now, whose phone was seen a quarter of an hour ago.
    private static func person(_ house: ServiceUnderTest, _ name: String, _ more: String = "") throws -> String {
        let token = try house.addPerson(name)
        let phone = try house.addDevice("\(name)-phone", of: name)
        house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(house.clock.seconds - 900),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":8}"#)
        try house.grant(name, to: "friend", more: more)
        return token
    }

    @Test func `the asker cannot tell a dead phone from a pause, nor a no from silence`() throws {
        let house = try ServiceUnderTest()
        let friend = try house.addPerson("friend")
        _ = try Self.person(house, "dead")
        let dead = try Self.transcript(house, as: friend, about: "dead")
        #expect(dead[1].contains("pending") && dead[3].contains("pending") && dead[4].contains("noAnswer"))

        let pausing = try Self.person(house, "pausing")
        #expect(house.send("POST", "/v1/people/pausing/pauses", as: pausing, "{}").status == 200)
        // The phone's reports during the pause appear nowhere.
        let phone = try house.addDevice("pausing-watch", of: "pausing")
        house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(house.clock.seconds),"latitude":48.9,"longitude":16.9,"horizontalAccuracy":8}"#)
        let paused = try Self.transcript(house, as: friend, about: "pausing")
        #expect(paused.dropLast() == dead.dropLast())
        // The last known place is the one from before, as a dead phone's is.
        #expect(paused.last?.contains("\"latitude\":48.2,") == true)

        let asking = try Self.person(house, "asking", #","asksEachTime":true"#)
        let ignored = try Self.transcript(house, as: friend, about: "asking")
        #expect(ignored.dropLast() == dead.dropLast())
        let refused = try Self.transcript(house, as: friend, about: "asking") {
            let request = house.send("GET", "/v1/people/asking/consent-requests", as: asking).items.first
            #expect(request?["requester"]?.string == "friend")
            #expect(request?["purpose"]?.string == "late for dinner")
            let id = request?["query"]?.string ?? ""
            let said = house.send(
                "POST", "/v1/people/asking/consent-requests/\(id)", as: asking, #"{"consent":"refused"}"#)
            #expect(said.status == 200, "\(said.text)")
        }
        #expect(refused == ignored)

        var told: [String] = []
        // The timekeeper ends overdue questions on its own thread.
        try eventually("the end of the ignored question") {
            let audit = house.send("GET", "/v1/people/asking/audit?at-least=\(house.service.log.head)", as: asking)
            told = audit.items.filter { $0["kind"]?.string == "query" }
                .map { "\($0["consent"]?.string ?? "") \($0["end"]?.string ?? "")" }
            return told.contains("asked timedOut")
        }
        #expect(told == ["refused refused", "asked timedOut"])
        let truth = house.send("GET", "/v1/people/pausing/audit?at-least=\(house.service.log.head)", as: pausing)
        #expect(truth.query?["end"]?.string == "refused")
        #expect(truth.items.contains { $0["event"]?.string == "SharingPaused" })
    }

    // MARK: Given

    @Test func `a push goes out after the yes and not before, and the answer is shown`() throws {
        let scene = try Neighbourhood()
        try scene.house.grant("walker", to: "friend", more: #","asksEachTime":true"#)
        let simulation = try scene.startPhone()
        defer { simulation.stop() }
        let pushes = Mutex(0)
        scene.onPush { _ in pushes.withLock { $0 += 1 } }
        let url = try scene.ask()
        // Another push goes the same way and arrives: the pusher has seen the question, and waits.
        let other = scene.house.send(
            "POST", "/v1/people/walker/location-queries", as: scene.walker,
            #"{"purpose":"to see that pushes go","maxAgeSeconds":0}"#)
        let own = try #require(other["url"]?.string)
        try eventually { scene.house.send("GET", own, as: scene.walker)["status"]?.string == "answered" }
        #expect(pushes.withLock { $0 } == 1)
        #expect(scene.house.send("GET", url, as: scene.friend)["status"]?.string == "pending")

        let asked = scene.house.send("GET", "/v1/people/walker/consent-requests", as: scene.phoneKey)
        let id = try #require(asked.items.first?["query"]?.string)
        let said = scene.house.send(
            "POST", "/v1/people/walker/consent-requests/\(id)", as: scene.phoneKey, #"{"consent":"given"}"#)
        #expect(said.status == 200, "\(said.text)")
        let outcome = try scene.outcome(of: url)
        #expect(outcome["status"]?.string == "answered", "\(outcome.text)")
        let events = try scene.house.events().filter { $0.correlation.description == id || $0.cause > 0 }.map(\.event)
        let given = events.firstIndex { if case .consentGiven = $0 { true } else { false } }
        let disclosed = events.lastIndex { if case .locationDisclosed = $0 { true } else { false } }
        #expect(try #require(given) < #require(disclosed))
    }

    // MARK: Revocation in flight

    @Test func `a revocation ends the question under way, and its answer never leaves`() throws {
        let scene = try Neighbourhood()
        let grant = try scene.house.grant("walker", to: "friend")
        _ = try scene.registerSilentPhone()
        let url = try scene.ask()
        try eventually {
            (try? scene.house.events())?.contains {
                if case .locationPushAttempted = $0.event { true } else { false }
            } == true
        }
        #expect(scene.house.send("DELETE", "/v1/grants/\(grant)", as: scene.walker).status == 200)
        let id = String(url.split(separator: "/").last ?? "")
        let fix = scene.house.send(
            "POST", "/v1/fixes", as: scene.phoneKey,
            #"{"timestamp":\#(scene.house.clock.seconds),"latitude":48.2,"longitude":16.4,"answering":"\#(id)"}"#)
        #expect(fix.status == 200)
        #expect(scene.house.send("GET", url, as: scene.friend)["status"]?.string == "pending")
        scene.house.clock.advance(seconds: 61)
        #expect(scene.house.send("GET", url, as: scene.friend)["status"]?.string == "noAnswer")
        let audit = try scene.audited()
        #expect(audit.query?["end"]?.string == "refused")
        #expect(audit.query?["disclosed"]?.count == 0)
    }

    // MARK: The past

    @Test func `of the past, a grant of some hours shows what was in them, and nothing shows a pause`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        // 8:00 in Greenwich, a Monday, is 10:00 in Vienna.
        try house.grant(
            "walker", to: "friend", history: true,
            more: #","hours":{"timeZone":"Europe/Vienna","weekly":"Mo 10:00-11:00,12:00-14:00"}"#)
        let start = house.clock.seconds
        func report() {
            let answer = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":8}"#)
            #expect(answer.status == 200)
        }
        for minute in 0..<180 {
            if minute == 130 { house.send("POST", "/v1/people/walker/pauses", as: walker, #"{"forSeconds":600}"#) }
            report()
            house.clock.advance(seconds: 60)
        }
        func minutes(_ limit: Int) -> [Int64] {
            var found: [Int64] = []
            var after = ""
            repeat {
                let page = house.send(
                    "GET", "/v1/people/walker/track?limit=\(limit)&at-least=\(house.service.log.head)\(after)",
                    as: friend)
                #expect(page.status == 200, "\(page.text)")
                #expect(page.items.count <= limit)
                found += page.items.compactMap { $0["timestamp"]?.int }.map { ($0 - start) / 60 }
                after = page["next"]?.string.map { "&after=\($0)" } ?? ""
            } while !after.isEmpty
            return found
        }
        let shown = Array(Int64(0)..<60) + Array(120..<130) + Array(140..<180)
        #expect(minutes(1000) == shown)
        #expect(minutes(7) == shown)
        // A stay of three hours has parts that are not shown: it is not shown at all.
        #expect(house.send("GET", "/v1/people/walker/visits", as: friend).items.isEmpty)
        #expect(house.send("GET", "/v1/people/walker/visits", as: walker).items.count == 1)
        house.clock.advance(seconds: 3600)
        #expect(house.send("GET", "/v1/people/walker/track", as: friend).status == 404)
    }

    // MARK: Invitations and the existence of people

    @Test func `an invitation's code gives what it says, once, and is nowhere in the house`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let stranger = try house.addPerson("stranger")
        let made = house.send(
            "POST", "/v1/people/walker/invitations", as: walker,
            #"{"precision":"kilometer","hours":{"timeZone":"Europe/Vienna","weekly":"Mo-Su 00:00-24:00"}}"#)
        #expect(made.status == 201, "\(made.text)")
        let code = try #require(made["code"]?.string)
        #expect(house.send("GET", "/v1/people/walker/invitations", as: walker).items.count == 1)
        // As a person types it.
        let typed = code.lowercased().split(separator: "-").joined(separator: " ")
        let taken = house.send("POST", "/v1/redemptions", as: friend, #"{"code":"\#(typed)"}"#)
        #expect(taken.status == 201, "\(taken.text)")
        #expect(taken["subject"]?.string == "walker")
        #expect(taken["precision"]?.string == "kilometer")
        #expect(taken["hours"]?["weekly"]?.string == "Mo-Su 00:00-24:00")
        #expect(house.send("GET", "/v1/people/walker/location", as: friend).status == 200)
        let used = house.send("POST", "/v1/redemptions", as: stranger, #"{"code":"\#(code)"}"#)
        let wrong = house.send("POST", "/v1/redemptions", as: stranger, #"{"code":"0000-0000-0000-0000-0000"}"#)
        let nonsense = house.send("POST", "/v1/redemptions", as: stranger, #"{"code":"no code at all"}"#)
        #expect(used.status == 404)
        #expect(used.observable == wrong.observable && wrong.observable == nonsense.observable)
        let log = house.manage("GET", "/v1/events?limit=1000")
        #expect(!log.text.contains(code) && !log.text.contains(code.split(separator: "-").joined()))
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `granting to somebody and to nobody is answered the same, byte for byte`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        _ = try house.addPerson("friend")
        func transcript(_ name: String) -> [String] {
            let given = house.send(
                "POST", "/v1/people/walker/grants", as: walker, #"{"requester":"\#(name)","precision":"exact"}"#)
            let id = given["id"]?.name ?? ""
            let listed = house.send("GET", "/v1/people/walker/grants", as: walker)
            let audit = house.send(
                "GET", "/v1/people/walker/audit?limit=2&at-least=\(house.service.log.head)", as: walker)
            let gone = house.send("DELETE", "/v1/grants/\(id)", as: walker)
            // The name is the asker's own word; references are of one length, and no two things' are the same.
            return [given, listed, audit, gone].map { answer in
                answer.observable.split(separator: name).joined(separator: "NAME")
                    .replacing(/"r[A-Za-z0-9_-]{22}"/, with: "\"REFERENCE\"")
            }
        }
        let someone = transcript("friend")
        let nobody = transcript("fraend")
        #expect(someone[0] == nobody[0])
        #expect(someone[1] == nobody[1])
        #expect(someone[2] == nobody[2])
        #expect(someone[3] == nobody[3])
    }
}
