import JSON
import LocationPush
import PushStandIn
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// Every way in which a query ends, over real sockets: it has exactly one end, the subject sees which, and the asker no
/// more than pending, then an answer, or none at the deadline.
@Suite struct EndStoryTests {
    enum Way: String, CaseIterable {
        case phoneAnswers, knownFixAnswers, consentGiven
        case consentRefused, consentIgnored, pausedBefore, pausedMeanwhile, revoked, grantRunsOut, subjectErased
        case tokenDead, phoneSilent, neverWoken, phoneRemoved
        case cancelled

        /// The end in the subject's audit.
        var end: QueryEnd {
            switch self {
            case .phoneAnswers, .consentGiven: .answered
            case .knownFixAnswers: .answeredFromLastKnown
            case .consentRefused, .pausedBefore, .pausedMeanwhile, .revoked: .refused
            case .tokenDead: .pushFailed
            case .consentIgnored, .phoneSilent, .neverWoken, .phoneRemoved, .grantRunsOut, .subjectErased: .timedOut
            case .cancelled: .cancelled
            }
        }

        var isAnswered: Bool { end == .answered || end == .answeredFromLastKnown }
    }

    @Test(arguments: Way.allCases) func `a query ends once, and each sees of it what they may`(way: Way) throws {
        let here = try Neighbourhood()
        let asksEachTime = [.consentGiven, .consentRefused, .consentIgnored].contains(way)
        let until = here.house.clock.seconds + 30
        let terms = way == .grantRunsOut ? #","until":\#(until)"# : asksEachTime ? #","asksEachTime":true"# : ""
        let grant = try here.house.grant("walker", to: "friend", more: terms)
        if way != .neverWoken { _ = try here.registerSilentPhone() }
        func walker(_ method: String, _ path: String, _ body: String = "") throws {
            #expect(try here.client.send(method, path, as: here.walker, body).status == 200)
        }
        func report(_ more: String = "") throws {
            let fix = #"{"timestamp":\#(here.house.clock.seconds),"latitude":48.2,"longitude":16.4\#(more)}"#
            #expect(try here.client.send("POST", "/v1/fixes", as: here.phoneKey, fix)["new"]?.int == 1)
        }
        switch way {
        case .knownFixAnswers: try report()
        case .pausedBefore: try walker("POST", "/v1/people/walker/pauses", "{}")
        case .tokenDead: here.standIn.script([.answer(status: 410, reason: "Unregistered")])
        default: break
        }
        let url = try here.ask()
        let id = String(try #require(url.split(separator: "/").last))
        let isPushed = !asksEachTime && ![.knownFixAnswers, .pausedBefore, .neverWoken].contains(way)
        if isPushed { try eventually { !here.standIn.pushes.isEmpty } }
        let consent = "/v1/people/walker/consent-requests/\(id)"
        switch way {
        case .phoneAnswers: try report(#","answering":"\#(id)""#)
        case .consentGiven:
            try walker("POST", consent, #"{"consent":"given"}"#)
            try eventually { here.standIn.acceptedCount == 1 }
            try report(#","answering":"\#(id)""#)
        case .consentRefused: try walker("POST", consent, #"{"consent":"refused"}"#)
        case .pausedMeanwhile: try walker("POST", "/v1/people/walker/pauses", "{}")
        case .revoked: try walker("DELETE", here.house.named("/v1/grants/\(grant)", for: here.walker))
        case .phoneRemoved: try walker("DELETE", "/v1/devices/walker-phone")
        case .subjectErased:
            #expect(try here.client.send("DELETE", "/v1/people/walker", as: here.house.operatorToken).status == 200)
        case .cancelled: #expect(try here.client.send("DELETE", url, as: here.friend).status == 200)
        default: break
        }
        guard way != .subjectErased else { return try expectForgotten(here, url) }
        if way.end != .timedOut { try eventually { Self.ends(here, id) == [way.end] } }
        let early = try here.client.send("GET", url, as: here.friend)
        #expect(early["status"]?.string == (way.isAnswered ? way.end.word : way == .cancelled ? "noAnswer" : "pending"))
        here.house.clock.advance(seconds: 61)
        let late = try here.client.send("GET", url, as: here.friend)
        #expect(late["status"]?.string == (way.isAnswered ? way.end.word : "noAnswer"))
        #expect((late["location"] != nil) == way.isAnswered)
        try eventually { Self.ends(here, id) == [way.end] }

        if way != .phoneRemoved {
            // A late fix is kept, but not shown for this query.
            try report(#","answering":"\#(id)""#)
            let after = try here.client.send("GET", url, as: here.friend)
            #expect(after["status"]?.string == late["status"]?.string)
        }
        #expect(Self.ends(here, id) == [way.end])
        let query = try #require(try here.audited().query)
        #expect(query["id"]?.string == id && query["end"]?.string == way.end.word)
        #expect((query["disclosed"]?.array.map { !Array($0).isEmpty } ?? false) == way.isAnswered)
    }

    /// The query went with the person: nothing of it is shown, and none of its events come after.
    private func expectForgotten(_ here: Neighbourhood, _ url: String) throws {
        #expect(try here.client.send("GET", url, as: here.friend).status == 404)
        here.house.clock.advance(seconds: 61)
        #expect(try here.client.send("GET", url, as: here.friend).status == 404)
        let shown = try here.house.events().contains {
            if case .locationDisclosed = $0.event { true } else { false }
        }
        #expect(!shown)
    }

    private static func ends(_ here: Neighbourhood, _ id: String) -> [QueryEnd] {
        ((try? here.house.events()) ?? []).compactMap {
            if case .locationQueryEnded(let query, let end, _) = $0.event, query.description == id { end } else { nil }
        }
    }
}
