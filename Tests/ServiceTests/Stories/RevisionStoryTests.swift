import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// Withdrawing and restoring fixes, through the whole service.
@Suite struct RevisionStoryTests {
    /// The service's answer to a read that has seen everything so far; without the place up to which it was read.
    private static func seen(
        _ village: Village, _ what: String, as asker: Village.Asker = .subject
    ) -> Answer {
        _ = village.house.settled()
        return village.house.send("GET", "/v1/people/walker/\(what)", as: village.tokens[asker])
    }

    private static func times(_ answer: Answer) -> [Double] { answer.items.compactMap { $0["timestamp"]?.double } }

    @Test func `a withdrawn fix is gone from every answer, and a restored one is back`() throws {
        let village = try Village()
        let before = village.house.fingerprints()
        let track = Self.seen(village, "track").items
        let newest = try #require(track.last)
        let number = try #require(newest["number"]?.string)
        let time = try #require(newest["timestamp"]?.double)
        let askers: [Village.Asker] = [.subject, .oldFriend, .operator]
        for asker in askers { #expect(Self.times(Self.seen(village, "track", as: asker)).last == time) }

        let path = "/v1/people/walker/track/\(number)"
        let withdrawn = village.house.send(
            "DELETE", "\(path)?reason=wrong-clock", as: village.tokens[.subject])
        #expect(withdrawn.status == 200, "\(withdrawn.text)")
        // At once, without waiting: the answer has folded the withdrawal, or there is none.
        for asker in askers + [.liveFriend] {
            let location = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[asker])
            #expect(location.status == 200, "\(asker): \(location.text)")
            let shown = try #require(location["location"]?["timestamp"]?.double, "\(asker)")
            #expect(shown < time)
        }
        for asker in askers {
            #expect(!Self.times(Self.seen(village, "track", as: asker)).contains(time))
            let recorder = village.house.send(
                "GET", "/api/0/last?user=walker", as: village.tokens[asker])
            #expect(!recorder.text.contains("\"tst\":\(Int64(time))"), "\(recorder.text)")
        }
        #expect(village.house.fingerprints()["timeline"] != before["timeline"])

        // The person and the operator see it on the list, the others do not.
        #expect(Self.times(Self.seen(village, "withdrawn-fixes")) == [time])
        #expect(Self.times(Self.seen(village, "withdrawn-fixes", as: .operator)) == [time])
        #expect(Self.seen(village, "withdrawn-fixes", as: .oldFriend).status == 404)
        // The audit has who and why.
        let entry = Self.seen(village, "audit").items.first { $0["event"]?.string == "FixesWithdrawn" }
        #expect(
            entry?["actor"]?.string == "walker" && entry?["name"]?.string == "wrong-clock",
            "\(Self.seen(village, "audit").text)")

        let restored = village.house.send(
            "POST", path, as: village.tokens[.subject], #"{"reason":"the clock was right"}"#)
        #expect(restored.status == 200, "\(restored.text)")
        let after = village.house.fingerprints()
        for table in ["current", "timeline"] { #expect(after[table] == before[table]) }
        #expect(Self.times(Self.seen(village, "track")).last == time)
        #expect(Self.seen(village, "withdrawn-fixes").items.isEmpty)
        // A restart and a refold agree.
        try village.house.restart()
        #expect(village.house.fingerprints()["timeline"] == before["timeline"])
    }

    @Test func `an answered question shows nothing once its fix is withdrawn`() throws {
        let village = try Village()
        let newest = try #require(Self.seen(village, "track", as: .operator).items.last)
        let number = try #require(newest["number"]?.int)
        let asked = village.house.send(
            "POST", "/v1/people/walker/location-queries", as: village.tokens[.oldFriend],
            #"{"purpose":"to test","maxAgeSeconds":3600,"deadlineSeconds":60}"#)
        let url = try #require(asked["url"]?.string, "\(asked.text)")
        let first = village.house.send("GET", url, as: village.tokens[.oldFriend])
        try #require(first["status"]?.string == "answeredFromLastKnown", "\(first.text)")
        village.house.manage("DELETE", "/v1/people/walker/track/\(number)?reason=test")
        let again = village.house.send("GET", url, as: village.tokens[.oldFriend])
        #expect(again["status"]?.string == "pending" && again["location"] == nil, "\(again.text)")
        village.house.clock.advance(seconds: 61)
        let late = village.house.send("GET", url, as: village.tokens[.oldFriend])
        #expect(late["status"]?.string == "noAnswer", "\(late.text)")
    }

    @Test func `a number that is no fix of the person, and a caller without the right, get the same 404`() throws {
        let village = try Village()
        let number = try #require(Self.seen(village, "track", as: .operator).items.first?["number"]?.int)
        let head = village.house.service.log.head
        let nothing = village.house.send(
            "DELETE", "/v1/people/nobody/track/\(number)?reason=x", as: village.tokens[.stranger])
        #expect(nothing.status == 404)
        for asker in [Village.Asker.stranger, .oldFriend, .noneFriend, .querying] {
            for (method, query, body) in [("DELETE", "?reason=x", ""), ("POST", "", #"{"reason":"x"}"#)] {
                let answer = village.house.send(
                    method, "/v1/people/walker/track/\(number)\(query)", as: village.tokens[asker], body)
                #expect(answer.status == 404, "\(asker): \(answer.text)")
                #expect(answer["detail"]?.string == nothing["detail"]?.string)
            }
        }
        func operate(_ method: String, _ target: String, _ body: String = "") -> Answer {
            village.house.send(method, target, as: village.house.operatorToken, body)
        }
        // No fix, a number beyond the log, none at all.
        for text in ["1", "\(head + 1000)", "0", "x"] {
            let answer = operate("DELETE", "/v1/people/walker/track/\(text)?reason=x")
            #expect(answer.status == 404, "\(text): \(answer.text)")
        }
        let path = "/v1/people/walker/track/\(number)"
        #expect(operate("DELETE", path).status == 400)
        #expect(operate("DELETE", "\(path)?reason=").status == 422)
        #expect(operate("POST", path, "{}").status == 400)
        let isUntouched = try village.house.events(after: head).allSatisfy { event in
            if case .fixesWithdrawn = event.event { false } else { true }
        }
        #expect(isUntouched)
    }
}
