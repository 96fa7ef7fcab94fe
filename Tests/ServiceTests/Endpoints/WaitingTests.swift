import HTTPServer
import JSON
import Log
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import PersonEndpoints
@testable import Service

/// Waiting callers must not keep others from being answered.
@Suite struct WaitingTests {
    @Test func `followers of the log leave threads for those who ask`() throws {
        let house = try ServiceUnderTest()
        let head = house.service.log.head
        let statuses = Monitor<[Int]>([])
        for _ in 0..<8 {
            house.send("GET", "/v1/events?after=\(head)&wait=30", as: house.operatorToken) { response in
                statuses.change { $0.append(response.status) }
            }
        }
        // Answered while they wait: all that comes before is the word that there are too many.
        #expect(house.send("GET", "/v1/projections", as: house.operatorToken).status == 200)
        #expect(statuses.wait(milliseconds: 60_000) { $0.count == 6 ? $0 : nil } == Array(repeating: 503, count: 6))
        house.manage("POST", "/v1/people", #"{"handle":"somebody"}"#)
        let all = statuses.wait(milliseconds: 60_000) { $0.count == 8 ? $0 : nil }
        #expect(all?.count { $0 == 200 } == 2)
    }

    @Test func `what the log does not have is not waited for`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let target = "/v1/people/walker/location?at-least=\(Int64.max)"
        #expect(house.send("GET", target, as: house.operatorToken).status == 422)
        // A person does not learn by it how long the log is.
        #expect(house.send("GET", target, as: walker).status == 200)
        #expect(
            house.send("GET", "/v1/people/walker/location?at-least=\(house.service.log.head)", as: walker).status == 200
        )
    }

    @Test func `two verifications at once do not get in each other's way`() throws {
        let village = try Village()
        let results = Monitor<[Bool]>([])
        for _ in 0..<3 {
            village.house.send("GET", "/v1/verify", as: village.house.operatorToken) { response in
                let isGood = Answer(response)["ok"]?.bool == true
                results.change { $0.append(isGood) }
            }
        }
        #expect(results.wait(milliseconds: 60_000) { $0.count == 3 ? $0 : nil } == [true, true, true])
    }
}

/// `GET /v1/location-queries/{id}?wait=S`.
@Suite struct QueryWaitingTests {
    /// A walker with a phone, a friend, and a query by the friend that is not answered yet.
    private struct Asked {
        let house: ServiceUnderTest
        let phone, friend, url: String
        let grant: Int64

        init(precision: String = "exact", more: String = "") throws {
            house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            grant = try house.grant("walker", to: "friend", precision: precision, more: more)
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"to test"}"#)
            url = try #require(asked["url"]?.string)
        }

        /// Begins to wait, and returns when the request is in the waiting room.
        func wait(_ count: Int = 1, seconds: Int = 30) -> Monitor<[Answer]> {
            let answers = Monitor<[Answer]>([])
            for _ in 0..<count {
                house.send("GET", "\(url)?wait=\(seconds)", as: friend) { response in
                    answers.change { $0.append(Answer(response)) }
                }
            }
            try? eventually("\(count) waiting requests", pauseMilliseconds: 1) {
                house.service.waitingRoom.count >= count || !answers.read { $0.isEmpty }
            }
            return answers
        }

        /// The only push for the query is refused.
        func failPush(of query: QueryID) throws {
            let token = house.send(
                "PUT", "/v1/devices/walker-phone/location-push-token", as: phone,
                #"{"hex":"01020304","environment":"development","bundleID":"\#(ServiceUnderTest.bundleID)"}"#)
            #expect(token.status == 200)
            let handle = try #require(Handle("walker-phone"))
            let device = try #require(house.service.log.withStanding { $0.device(handle) })
            let attempt = LocationPushAttempt(
                query: query, device: device, attempt: 1, apnsID: LocationPushAttempt.apnsID(query, device),
                status: 400, reason: "BadDeviceToken", durationMilliseconds: 1, outcome: .refused)
            for command in [
                Command.startPushes(query, to: [device]), .recordPushAttempt(attempt), .endFailedQuery(query),
            ] {
                _ = try house.service.log.appendAndWait(command, by: .house, correlation: .random())
            }
        }

        func report() {
            let answer = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":48.25,"longitude":16.5}"#)
            #expect(answer["new"]?.int == 1)
        }
    }

    @Test func `whoever waits gets the answer when the phone reports, on record like any other`() throws {
        let asked = try Asked()
        let answers = asked.wait()
        #expect(answers.read { $0.isEmpty })
        asked.report()
        let answer = try #require(answers.wait(milliseconds: 60_000) { $0.first })
        #expect(answer["status"]?.string == "answered")
        #expect(answer["location"]?["latitude"]?.double == 48.25)
        let disclosed = try asked.house.events().count {
            if case .locationDisclosed = $0.event { true } else { false }
        }
        #expect(disclosed == 1)
        #expect(asked.house.service.waitingRoom.count == 0)
    }

    @Test func `a hundred who wait leave every thread to those who ask`() throws {
        let asked = try Asked()
        let answers = asked.wait(100)
        #expect(asked.house.service.waitingRoom.count == 100)
        for _ in 0..<20 { #expect(asked.house.manage("GET", "/v1/projections").status == 200) }
        #expect(answers.read { $0.isEmpty })
        asked.house.clock.advance(seconds: 61)
        let statuses = answers.wait(milliseconds: 60_000) { $0.count == 100 ? $0.map { $0["status"]?.string } : nil }
        #expect(Set(statuses ?? []) == ["noAnswer"])
    }

    /// An end that the asker may not see must not be heard either.
    @Test(arguments: ["revoked", "failed"]) func `an end behind the wall wakes nobody before the deadline`(why: String)
        throws
    {
        let asked = try Asked()
        let answers = asked.wait()
        let id = try #require(QueryID(asked.url.split(separator: "/").last ?? ""))
        if why == "revoked" {
            asked.house.manage("DELETE", "/v1/grants/\(asked.grant)")
            asked.report()
        } else {
            try asked.failPush(of: id)
        }
        #expect(asked.house.service.log.withStanding { $0.queries[id]?.end } != nil)
        // The waiting room has processed this end before it announces the next one.
        #expect(asked.house.service.waitingRoom.count == 1)
        #expect(answers.read { $0.isEmpty })
        asked.house.clock.advance(seconds: 61)
        #expect(answers.wait(milliseconds: 60_000) { $0.first?["status"]?.string } == "noAnswer")
    }

    @Test func `a wait that is over shows what there is, and so does a service that stops`() throws {
        let asked = try Asked()
        #expect(asked.wait(seconds: 1).wait(milliseconds: 60_000) { $0.first?["status"]?.string } == "pending")
        let answers = asked.wait(3)
        asked.house.stop()
        #expect(
            answers.wait(milliseconds: 60_000) { $0.count == 3 ? $0.map { $0["status"]?.string } : nil } == [
                "pending", "pending", "pending",
            ])
    }

    @Test func `the asker who gives up ends the waiting too`() throws {
        let asked = try Asked()
        let answers = asked.wait()
        #expect(asked.house.send("DELETE", asked.url, as: asked.friend)["status"]?.string == "noAnswer")
        #expect(answers.wait(milliseconds: 60_000) { $0.first?["status"]?.string } == "noAnswer")
    }

    @Test(arguments: ["-1", "31", "soon"]) func `a wait out of bounds is refused`(seconds: String) throws {
        let asked = try Asked()
        #expect(asked.house.send("GET", "\(asked.url)?wait=\(seconds)", as: asked.friend).status == 400)
    }

    @Test func `an answer that the grant hides is waited past, up to the deadline`() throws {
        // It is ten o'clock.
        let here = try Asked(more: #","hours":{"timeZone":"Europe/Vienna","weekly":"Mo 09:30-12:00"}"#)
        let answers = here.wait()
        // From nine: it ends the query, and the friend sees nothing of it.
        let old = here.house.clock.seconds - 3600
        let sent = here.house.send(
            "POST", "/v1/fixes", as: here.phone,
            #"{"timestamp":\#(old),"latitude":48.25,"longitude":16.5,"answering":"\#(here.url.suffix(36))"}"#)
        #expect(sent["new"]?.int == 1)
        #expect(
            try here.house.events().contains {
                if case .locationQueryEnded(_, .answered, _) = $0.event { true } else { false }
            })
        // A later request waits too, and is not answered at once repeatedly.
        let late = here.wait(2)
        while here.house.service.waitingRoom.count < 3, answers.read({ $0.isEmpty }), late.read({ $0.isEmpty }) {
            _ = here.house.service.log.waitForHead(after: here.house.service.log.head, milliseconds: 1)
        }
        #expect(answers.read { $0.isEmpty } && late.read { $0.isEmpty })
        here.house.clock.advance(seconds: Limits.queryDeadlineSeconds)
        let words = [answers, late].compactMap { waiting in
            waiting.wait(milliseconds: patienceMilliseconds) { $0.first.map { $0["status"]?.string ?? "" } }
        }
        #expect(words == ["noAnswer", "noAnswer"])
    }
}
