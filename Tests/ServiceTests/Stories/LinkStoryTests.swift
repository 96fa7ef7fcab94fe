import Answers
import HTTPServer
import JSON
import Log
import Testing
import Whereabouts

@testable import HTTPInterface
@testable import Service

/// Share links: who opens one sees the person until it ends, and the person sees each opening and each look.
@Suite struct LinkStoryTests {
    private let village: Village
    private var house: ServiceUnderTest { village.house }

    init() throws { village = try Village() }

    /// A new link of the walker's; its secret and its number.
    private func link(_ body: String = "{}") throws -> (secret: String, id: Int64) {
        let made = house.manage("POST", "/v1/people/walker/links", body)
        return (try #require(made["secret"]?.string, "\(made.text)"), try #require(house.number(made["id"], .link)))
    }

    private func open(_ secret: String, passphrase: String? = nil) -> Answer {
        let more = passphrase.map { #","passphrase":"\#($0)""# } ?? ""
        return house.send("POST", "/v1/link-openings", as: nil, #"{"link":"\#(secret)"\#(more)}"#)
    }

    private func location(_ token: String?) -> Answer {
        house.send("GET", "/v1/people/walker/location", as: token)
    }

    @Test func `who has the address sees the location, and the person sees the opening and the look`() throws {
        let before = house.service.log.head
        let made = try link(#"{"name":"for the party","forSeconds":7200}"#)
        let opened = open(made.secret)
        #expect(opened.status == 201 && opened["person"]?.string == "walker" && opened["history"]?.bool == false)
        let seen = location(opened["token"]?.string)
        #expect(seen.status == 200 && seen["location"]?["latitude"]?.double != nil, "\(seen.text)")
        // Neither the past, nor a question that would wake the phone, nor anything of the house.
        for target in ["track", "visits", "audit", "grants", "links", "devices"] {
            let answer = house.send("GET", "/v1/people/walker/\(target)", as: opened["token"]?.string)
            #expect(answer.status == 404, "\(target): \(answer.text)")
        }
        let asked = house.send(
            "POST", "/v1/people/walker/location-queries", as: opened["token"]?.string, #"{"purpose":"x"}"#)
        #expect(asked.status == 404)
        let events = try house.events(after: before).map(\.event.kind)
        #expect(events.count { $0 == .linkOpened } == 1 && events.contains(.locationRead))
        let audit = house.send(
            "GET", "/v1/people/walker/audit?at-least=\(house.service.log.head)", as: house.operatorToken)
        let look = audit.items.first { $0["reader"]?.string == "link 2 (for the party)" }
        #expect(look?["question"]?.string == "location", "\(audit.text)")
        let listed = house.manage("GET", "/v1/people/walker/links").items.last
        #expect(listed?["opened"]?.int == 1 && listed?["state"]?.string == "open")
    }

    @Test func `a look lasts ten minutes, a live link until its end`() throws {
        let (once, live) = (open(try link().secret), open(try link(#"{"live":true,"forSeconds":7200}"#).secret))
        house.clock.advance(seconds: 599)
        #expect(location(once["token"]?.string).status == 200 && location(live["token"]?.string).status == 200)
        house.clock.advance(seconds: 1)
        #expect(location(once["token"]?.string).status == 401 && location(live["token"]?.string).status == 200)
        house.clock.advance(seconds: 6600)
        #expect(location(live["token"]?.string).status == 401)
    }

    /// A caller who tries links learns nothing about them: the answers are equal but for the request's own id.
    @Test func `a link that is ended, over, used up, unknown or lacks its passphrase answers alike`() throws {
        let (ended, over, used) = (try link(), try link(#"{"forSeconds":1}"#), try link(#"{"openings":1}"#))
        let locked = try link(#"{"passphrase":"Schönbrunn"}"#)
        #expect(open(used.secret).status == 201 && open(locked.secret, passphrase: "Schönbrunn").status == 201)
        #expect(house.manage("DELETE", "/v1/links/\(ended.id)").status == 200)
        house.clock.advance(seconds: 1)
        let unknown = "wl_" + Village.madeUp
        let answers = [
            open(ended.secret), open(over.secret), open(used.secret), open(unknown), open(locked.secret),
            open(locked.secret, passphrase: "schönbrunn"), open("x"),
        ]
        for answer in answers {
            #expect(answer.status == 404)
            #expect(answer.text == answers[3].text)
        }
        // Many wrong ones have to wait, from any caller.
        let late = (0..<40).map { _ in open(unknown).status }
        #expect(Set(late) == [404, 429] && late.last == 429)
    }

    @Test func `the page's form answers each such link alike, byte for byte`() throws {
        let (ended, over, used) = (try link(), try link(#"{"forSeconds":1}"#), try link(#"{"openings":1}"#))
        let locked = try link(#"{"passphrase":"Schönbrunn"}"#)
        #expect(open(used.secret).status == 201)
        #expect(house.manage("DELETE", "/v1/links/\(ended.id)").status == 200)
        house.clock.advance(seconds: 1)
        let unknown = "wl_" + Village.madeUp
        for isForm in [true, false] {
            let answers = [
                (ended.secret, ""), (over.secret, ""), (used.secret, ""), (unknown, ""), (locked.secret, "x"),
            ]
            .map { secret, phrase in
                house.send(
                    "POST", "/session", as: nil,
                    isForm
                        ? "link=\(secret)&passphrase=\(phrase)"
                        : #"{"link":"\#(secret)"\#(phrase.isEmpty ? "" : #","passphrase":"x""#)}"#,
                    headers: [
                        ("Content-Type", isForm ? "application/x-www-form-urlencoded" : "application/json"),
                        ("Sec-Fetch-Site", "same-origin"),
                    ])
            }
            for answer in answers {
                #expect(answer.status == 404 && answer.observable == answers[3].observable, "\(answer.text)")
            }
        }
    }

    @Test func `an ended link shows nothing from then on, also where it is open`() throws {
        let made = try link(#"{"live":true,"history":true}"#)
        let token = open(made.secret)["token"]?.string
        let page = house.send("GET", "/v1/people/walker/track?limit=1", as: token)
        #expect(page.status == 200 && location(token).status == 200)
        #expect(house.manage("DELETE", "/v1/links/\(made.id)").status == 200)
        #expect(location(token).status == 401)
        #expect(house.send("GET", "/v1/people/walker/track", as: token).status == 401)
        #expect(house.send("DELETE", "/v1/links/\(made.id)", as: house.operatorToken).status == 404)
        let left = house.manage("GET", "/v1/people/walker/grants").items.map { $0["requester"]?.string }
        #expect(!left.contains("link 2") && left.contains("link 1"))
        // Ending its grant ends the view, too.
        let other = try link(#"{"live":true}"#)
        let viewer = open(other.secret)["token"]?.string
        let grant = house.manage("GET", "/v1/people/walker/grants").items.last { $0["requester"]?.string == "link 3" }
        let id = try #require(house.number(grant?["id"], .grant))
        #expect(house.manage("DELETE", "/v1/grants/\(id)").status == 200)
        #expect(location(viewer).status == 404 && open(other.secret).status == 404)
    }

    @Test func `a coarse link shows the cell and no history, a pause shows nothing`() throws {
        let refused = house.send(
            "POST", "/v1/people/walker/links", as: house.operatorToken, #"{"precision":"city","history":true}"#)
        #expect(refused.status == 422, "\(refused.text)")
        let token = open(try link(#"{"precision":"kilometer","live":true}"#).secret)["token"]?.string
        let seen = location(token)
        #expect(
            seen["location"]?["precision"]?.string == "kilometer" && seen["location"]?["speed"] == nil, "\(seen.text)")
        house.clock.advance(seconds: 120)
        house.send("POST", "/v1/people/walker/pauses", as: village.tokens[.subject], "{}")
        house.clock.advance(seconds: 120)
        #expect(house.send("GET", "/v1/people/walker/track", as: token).status == 404)
    }

    @Test func `a link of place names shows the name, and no coordinate on any of its views`() throws {
        let made = try link(#"{"precision":"place","live":true}"#)
        let token = open(made.secret)["token"]?.string
        for target in ["location", "location?format=geojson"] {
            let seen = house.send("GET", "/v1/people/walker/\(target)", as: token)
            #expect(seen.status == 200 && seen.text.contains(#", Wien""#), "\(seen.text)")
            #expect(!village.holdsCoordinates(seen) && seen.text.firstMatch(of: /\d\.\d/) == nil, "\(seen.text)")
        }
        let opened = house.send(
            "POST", "/session", as: nil, "link=\(made.secret)&passphrase=",
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin")])
        let cookie = String(try #require(opened.header("Set-Cookie")?.prefix { $0 != ";" }))
        let plain = house.send(
            "GET", "/now?plain=true", as: nil, headers: [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")])
        #expect(plain.status == 200 && plain.text.contains("Wien") && !village.holdsCoordinates(plain), "\(plain.text)")
        let refused = house.send(
            "POST", "/v1/people/walker/links", as: house.operatorToken, #"{"precision":"place","history":true}"#)
        #expect(refused.status == 422, "\(refused.text)")
    }

    @Test func `another person neither lists nor ends a link, and an erased person has none`() throws {
        let made = try link(#"{"live":true}"#)
        let token = open(made.secret)["token"]?.string
        for asker in [Village.Asker.oldFriend, .stranger, .phone, .visitor] {
            #expect(house.send("GET", "/v1/people/walker/links", as: village.tokens[asker]).status == 404)
            #expect(house.send("POST", "/v1/people/walker/links", as: village.tokens[asker], "{}").status == 404)
        }
        try house.restart()
        #expect(location(token).status == 200)
        #expect(house.manage("DELETE", "/v1/people/walker").status == 200)
        #expect(location(token).status == 401 && open(made.secret).status == 404)
    }

    @Test func `a browser opens a link by a form, and sees only the views of its person`() throws {
        let made = try link(#"{"live":true}"#)
        let form = house.send("GET", "/link", as: nil)
        #expect(form.status == 200 && form.header("X-Robots-Tag")?.contains("noindex") == true)
        #expect(form.header("Referrer-Policy") == "no-referrer" && !form.text.contains("walker"))
        func post(_ body: String) -> Answer {
            house.send(
                "POST", "/session", as: nil, body,
                headers: [
                    ("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin"),
                ])
        }
        let wrong = post("link=wl_wrong&passphrase=")
        #expect(wrong.status == 404 && wrong.text.contains("role=\"alert\""))
        let opened = post("link=https%3A%2F%2Fwhere.example%2Flink%23\(made.secret)&passphrase=")
        #expect(opened.status == 303 && opened.header("Location") == "/now", "\(opened.text)")
        let cookie = try #require(opened.header("Set-Cookie")?.prefix { $0 != ";" })
        func get(_ target: String) -> Answer {
            house.send(
                "GET", target, as: nil, headers: [("Cookie", String(cookie)), ("Sec-Fetch-Site", "same-origin")])
        }
        let plain = get("/now?plain=true")
        #expect(plain.status == 200 && plain.text.contains("48.2") && !plain.text.contains("/audit"), "\(plain.text)")
        for path in ["/audit", "/day", "/sharing", "/operate", "/now?plain=true&person=oldfriend"] {
            let answer = get(path)
            let isWalkersNow = path.hasPrefix("/now") && answer.status == 200 && answer.text.contains("48.2")
            #expect(isWalkersNow || (answer.status == 303 && answer.header("Location") == "/now"), "\(path)")
        }
        let session = get("/session")
        #expect(session["link"]?["person"]?.string == "walker" && session["person"]?.isNull == true)
    }
}
