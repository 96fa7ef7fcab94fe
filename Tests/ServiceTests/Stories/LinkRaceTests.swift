import Answers
import HTTPServer
import JSON
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Service

/// The end of a share link against everyone who opens it, looks or watches at the same moment.
@Suite struct LinkRaceTests {
    /// The ends of links: 10,000 in the long form.
    private static let ends = isLongForm ? 10_000 : 40
    /// The ends in one service, so that its tables stay short.
    private static let endsPerHouse = 500

    /// A live link, and those who have opened it.
    private struct Opened {
        let id: Int64
        let secret: String
        let token: String
        let cookie: String
        let stream: HTTPStream
    }

    /// The results of a number of rounds.
    private struct Figures {
        /// Rounds in which requests were under way when the end was acknowledged.
        var raced = 0
        var servedBefore = 0
        var openedBefore = 0
        var servedAfter = 0
    }

    @Test func `once a link has ended, nothing opens it and nothing shows its person, by any way`() throws {
        var figures = Figures()
        var left = Self.ends
        while left > 0 {
            let house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            let phone = try house.addDevice("walker-phone", of: "walker")
            for _ in 0..<min(left, Self.endsPerHouse) {
                house.clock.advance(seconds: 60)
                try round(house, phone, &figures)
                left -= 1
            }
        }
        #expect(figures.servedAfter == 0)
        #expect(figures.raced > 3, "Only in \(figures.raced) rounds were requests under way.")
        #expect(figures.servedBefore > 0 && figures.openedBefore > 0)
    }

    private func round(_ house: ServiceUnderTest, _ phone: String, _ figures: inout Figures) throws {
        house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.3}"#)
        let link = try open(house)
        // These may go either way.
        let early = Monitor<[HTTPResponse]>([])
        let ways = Self.ways(link)
        for way in ways { way(house, link.token, link.cookie) { response in early.change { $0.append(response) } } }
        house.manage("DELETE", "/v1/links/\(link.id)")
        if early.read({ $0.count }) < ways.count { figures.raced += 1 }
        // Those who got in at the last moment are out, too.
        let late = Monitor<[HTTPResponse]>([])
        let many = ways.count
        let before = try #require(early.wait(milliseconds: patienceMilliseconds) { $0.count == many ? $0 : nil })
        let tokens = before.compactMap { Answer($0)["token"]?.string } + [link.token]
        let cookies = before.compactMap(Self.cookie) + [link.cookie]
        figures.servedBefore += before.count { Self.shows($0) }
        figures.openedBefore += tokens.count + cookies.count - 2
        var asked = 0
        for (token, cookie) in Self.pairs(tokens, cookies) {
            for way in ways { way(house, token, cookie) { response in late.change { $0.append(response) } } }
            asked += ways.count
        }
        // A place that is reported after the end reaches no stream.
        house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(house.clock.seconds + 1),"latitude":48.9,"longitude":16.3}"#)
        let wanted = asked
        let after = try #require(late.wait(milliseconds: patienceMilliseconds) { $0.count == wanted ? $0 : nil })
        for response in after where Self.shows(response) || Self.cookie(response) != nil || response.status == 201 {
            figures.servedAfter += 1
            Issue.record("\(response.status) \(Answer(response).text.prefix(200))")
        }
        let streamed = Self.toTheEnd(link.stream)
        #expect(!streamed.contains("48.9"))
    }

    /// Each way in: the location and the track by token and by cookie, the page, and the three ways to open.
    private static func ways(
        _ link: Opened
    ) -> [(
        ServiceUnderTest, _ token: String, _ cookie: String, @escaping @Sendable (HTTPResponse) -> Void
    ) -> Void] {
        let form = "link=\(link.secret)&passphrase="
        let page = [("Sec-Fetch-Site", "same-origin")]
        return [
            { house, token, _, respond in house.send("GET", "/v1/people/walker/location", as: token, respond: respond)
            },
            { house, token, _, respond in house.send("GET", "/v1/people/walker/track", as: token, respond: respond) },
            { house, _, cookie, respond in
                house.send(
                    "GET", "/v1/people/walker/location", as: nil, headers: page + [("Cookie", cookie)],
                    respond: respond)
            },
            { house, _, cookie, respond in
                house.send("GET", "/now?plain=true", as: nil, headers: page + [("Cookie", cookie)], respond: respond)
            },
            { house, _, _, respond in
                house.send(
                    "POST", "/v1/link-openings", as: nil, #"{"link":"\#(link.secret)"}"#, respond: respond)
            },
            { house, _, _, respond in
                house.send(
                    "POST", "/session", as: nil, form,
                    headers: page + [("Content-Type", "application/x-www-form-urlencoded")], respond: respond)
            },
            { house, token, _, respond in
                house.send("HEAD", "/v1/live", as: token, respond: respond)
            },
        ]
    }

    /// Each token and each cookie at least once.
    private static func pairs(_ tokens: [String], _ cookies: [String]) -> [(String, String)] {
        (0..<max(tokens.count, cookies.count)).map { index in
            (tokens[index % tokens.count], cookies[index % cookies.count])
        }
    }

    private func open(_ house: ServiceUnderTest) throws -> Opened {
        let made = house.manage("POST", "/v1/people/walker/links", #"{"history":true,"live":true}"#)
        let secret = try #require(made["secret"]?.string)
        let opened = house.send("POST", "/v1/link-openings", as: nil, #"{"link":"\#(secret)"}"#)
        let session = Monitor<HTTPResponse?>(nil)
        house.send(
            "POST", "/session", as: nil, "link=\(secret)&passphrase=",
            headers: [
                ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded"),
            ]
        ) { response in session.change { $0 = response } }
        let token = try #require(opened["token"]?.string, "\(opened.text)")
        let signedIn = try #require(session.wait(milliseconds: patienceMilliseconds) { $0 })
        let live = Monitor<HTTPResponse?>(nil)
        house.send("GET", "/v1/live", as: token) { response in live.change { $0 = response } }
        let stream = live.wait(milliseconds: patienceMilliseconds) { $0 }?.stream
        return Opened(
            id: try #require(house.number(made["id"], .link)), secret: secret, token: token,
            cookie: try #require(Self.cookie(signedIn)), stream: try #require(stream))
    }

    /// The cookie of a session that was opened.
    private static func cookie(_ response: HTTPResponse) -> String? {
        response.headers.first { $0.name == "Set-Cookie" && $0.value.contains("=ws_") }.map {
            String($0.value.prefix { $0 != ";" })
        }
    }

    /// Whether an answer shows where the person is.
    private static func shows(_ response: HTTPResponse) -> Bool {
        String(decoding: response.body, as: UTF8.self).contains("48.")
    }

    private static func toTheEnd(_ stream: HTTPStream) -> String {
        var bytes: [UInt8] = []
        let signal = Monitor(0)
        while true {
            let seen = signal.read { $0 }
            switch stream.next(1000, wake: { signal.change { $0 += 1 } }) {
            case .bytes(let more): bytes += more
            case .nothingYet:
                if signal.wait(milliseconds: patienceMilliseconds, for: { $0 > seen ? true : nil }) != true {
                    waitedInVain(for: "the end of the stream")
                }
            case .end, .cut: return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}
