import HTTPServer
import JSON
import Log
import Testing
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Service
@testable import WebPage

/// The page as a browser without scripts sees it.
@Suite struct PageStoryTests {
    private static func open(
        _ target: String, _ asker: Village.Asker?, _ village: Village, more: [(String, String)] = []
    ) -> Answer {
        village.house.send("GET", target, as: asker.flatMap { village.tokens[$0] }, headers: more)
    }

    private static func form(_ house: ServiceUnderTest, _ target: String, _ fields: String) -> Answer {
        house.send(
            "POST", target, as: nil, fields, headers: [("Content-Type", "application/x-www-form-urlencoded")])
    }

    /// The headers that every page has, with and without a session.
    @Test func `every page forbids the browser all that it does not need`() throws {
        let village = try Village()
        for route in RouteTable.all.routes where route.isView {
            let target = route.path.replacing("*", with: "2026-05-04")
            for asker in [nil, Village.Asker.subject] {
                for plain in ["", "?plain=true"] {
                    let answer = Self.open(target + plain, asker, village, more: [("Accept-Encoding", "gzip")])
                    let policy = answer.header("Content-Security-Policy") ?? ""
                    for part in [
                        "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
                    ] {
                        #expect(policy.contains(part), "\(target)")
                    }
                    #expect(!policy.contains("unsafe"))
                    #expect(answer.header("Referrer-Policy") == "no-referrer")
                    #expect(answer.header("X-Content-Type-Options") == "nosniff")
                    #expect(answer.header("Cross-Origin-Opener-Policy") == "same-origin")
                    #expect(answer.header("Cache-Control") == "no-store")
                    // Other people's words beside secrets are never compressed.
                    #expect(answer.header("Content-Encoding") == nil)
                    #expect(!answer.text.contains(" style=") && !answer.text.contains("<style"))
                    #expect(!answer.text.contains(/\ on[a-z]+=/) && !answer.text.contains(/<script(?![^>]* src=)/))
                }
            }
        }
    }

    @Test func `a page without its list reads nothing, and nobody signed in sees the form`() throws {
        let village = try Village()
        let before = village.house.service.log.head
        for route in RouteTable.all.routes where route.isView {
            let target = route.path.replacing("*", with: "2026-05-04")
            let page = Self.open(target, .subject, village)
            #expect(page.status == 200 && page.text.contains("<main id=\"main\""), "\(target)")
            #expect(page.text.contains("http-equiv=\"refresh\" content=\"0; url=\(target)?plain=true\""), "\(target)")
            for asker in [nil, Village.Asker.wrongToken, .formerToken, .phone] {
                let answer = Self.open(target + "?plain=true", asker, village)
                #expect(answer.status == 200 && answer.text.contains("action=\"/session\""), "\(target)")
                #expect(!village.holdsSecrets(answer), "\(target)")
            }
        }
        #expect(village.house.service.log.head == before)
    }

    /// The views of a person's data need the same rights as the API's answers.
    private static let lists = [
        "/now", "/day/2026-05-04", "/audit", "/sharing", "/regions", "/places", "/year/2026", "/devices", "/requests",
    ]

    /// The id of a question about the subject, which a friend asks here.
    private static func question(in village: Village) throws -> String {
        let asked = village.house.send(
            "POST", "/v1/people/walker/location-queries", as: village.tokens[.kilometerFriend], #"{"purpose":"lunch"}"#)
        _ = village.house.settled()
        return try #require(asked["id"]?.string, "\(asked.text)")
    }

    @Test func `the list of each view shows what the API shows, on record, and to no one else`() throws {
        let village = try Village()
        _ = village.house.settled()
        for target in Self.lists + ["/requests/\(try Self.question(in: village))"] {
            for asker in Village.Asker.allCases {
                let before = village.house.service.log.head
                let answer = Self.open("\(target)?plain=true&person=walker", asker, village)
                let reads = try village.house.events(after: before).compactMap { recorded -> LocationRead? in
                    if case .locationRead(let read) = recorded.event { read } else { nil }
                }
                let what = "\(target) by \(asker): \(answer.status)"
                // The address of the view, which the reader gave, names the subject.
                let told = village.secrets.filter {
                    $0 != Village.subject && $0 != "oldfriend" && answer.text.contains($0)
                }
                if !told.isEmpty {
                    #expect(reads.contains { !$0.verdict.isRefused && $0.count > 0 }, "\(what)")
                }
                switch asker {
                case .subject, .operator:
                    #expect(answer.status == 200, "\(what)")
                    #expect(!reads.isEmpty && reads.allSatisfy { !$0.verdict.isRefused }, "\(what)")
                case .nobody, .wrongToken, .formerToken, .phone, .strangersPhone, .removedPhone:
                    #expect(told.isEmpty && reads.isEmpty, "\(what)")
                case .stranger, .formerFriend, .expiredFriend, .noneFriend, .hoursFriend, .askingFriend:
                    #expect(told.isEmpty && answer.status == 404, "\(what): \(told)")
                    let unknown = Self.open("\(target)?plain=true&person=nobody-at-all", asker, village)
                    let isSame =
                        answer.observable.replacing("walker", with: "#")
                        == unknown.observable.replacing("nobody-at-all", with: "#")
                    #expect(isSame, "\(what)")
                default: break
                }
                village.house.clock.advance(seconds: 61)
            }
        }
        #expect(village.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    /// The precision wall: a coarse grant shows no more digits on the page than in the API.
    @Test(arguments: [Village.Asker.kilometerFriend, .cityFriend])
    func `a friend's page has the coarse coordinates of the API's answer`(_ friend: Village.Asker) throws {
        let village = try Village()
        _ = village.house.settled()
        let answer = Self.open("/now?plain=true&person=walker", friend, village)
        village.house.clock.advance(seconds: 61)
        let shown = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[friend])
        let latitude = try #require(shown["location"]?["latitude"]?.double)
        #expect(answer.status == 200 && answer.text.contains("\((latitude * 100_000).rounded() / 100_000)"))
        #expect(!answer.text.contains("48.212"), "\(answer.text)")
        #expect(friend != .cityFriend || !answer.text.contains("48.21"), "\(answer.text)")
    }

    @Test func `only the operator's list of the house has people and events, and the events stay sealed`() throws {
        let village = try Village()
        _ = village.house.settled()
        for asker in Village.Asker.allCases {
            let answer = Self.open("/operate?plain=true&after=0", asker, village)
            if asker == .operator {
                #expect(answer.status == 200 && answer.text.contains("Events, as stored"), "\(answer.text)")
                #expect(answer.text.contains("PersonAdded") && answer.text.contains(">walker<"), "\(answer.text)")
                #expect(["48.20", "48.21", "16.34", "garden-gate"].allSatisfy { !answer.text.contains($0) })
            } else {
                // The head of the page has the reader's own name.
                let told = village.secrets.filter {
                    $0 != Village.subject && $0 != "oldfriend" && answer.text.contains($0)
                }
                #expect(told.isEmpty && !answer.text.contains("PersonAdded"), "\(asker): \(told)")
            }
        }
    }

    @Test func `a day's list has who asked, and a question leads to its path`() throws {
        let village = try Village()
        _ = village.house.settled()
        let id = try Self.question(in: village)
        let requests = Self.open("/requests?plain=true", .subject, village).text
        #expect(requests.contains("Questions about you") && requests.contains("/requests/\(id)?plain=true"))
        let path = Self.open("/requests/\(id)?plain=true", .subject, village)
        #expect(path.status == 200 && path.text.contains("<div>question</div>"), "\(path.text)")
        let unknown = "/requests/00000000-0000-4000-8000-000000000000?plain=true"
        #expect(Self.open(unknown, .subject, village).status == 404)
        let at = try #require(path.text.firstMatch(of: /datetime="([0-9-]{10})/)).1
        let day = Self.open("/day/\(at)?plain=true", .subject, village).text
        #expect(day.contains("Who asked and who read") && day.contains("/requests/\(id)?plain=true"), "\(day)")
        // A friend sees the day, and not who else asked.
        let friends = Self.open("/day/\(at)?plain=true&person=walker", .oldFriend, village)
        #expect(friends.status == 200 && !friends.text.contains("Who asked and who read"), "\(friends.text)")
    }

    @Test func `the audit's list follows the filter of the address, through as many pages as it takes`() throws {
        let village = try Village()
        let token = village.tokens[.subject]
        for _ in 0..<120 { _ = village.house.send("GET", "/v1/people/walker/pauses", as: token) }
        _ = try Self.question(in: village)
        _ = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[.stranger])
        _ = village.house.settled()
        func rows(_ query: String) -> [Substring] {
            let text = Self.open("/audit?plain=true\(query)", .subject, village).text
            return Array(text.split(separator: "<tr role=\"row\">").dropFirst(2))
        }
        let all = rows("&outcome=all")
        let refused = rows("&outcome=refused")
        #expect(all.count > 120 && !refused.isEmpty && refused.count < all.count)
        #expect(refused.allSatisfy { $0.contains("<div>refused</div>") }, "\(refused.first ?? "")")
        #expect(rows("").count < all.count && rows("&outcome=own").count >= 120)
        let some = try #require(rows("&who=kilometerfriend").first)
        #expect(some.contains("kilometerfriend"), "\(some)")
        #expect(rows("&who=nobody-at-all").isEmpty)
        let page = Self.open("/audit?plain=true&outcome=refused&who=x%22%3E", .subject, village).text
        #expect(page.contains("<option value=\"refused\" selected>") && page.contains("name=\"who\" value=\"x"))
        #expect(!page.contains("x\">"), "The value of a field ends where the reader chose.")
    }

    @Test func `sharing lists links and schedules, places their days, a year its months and ways of travel`() throws {
        let village = try Village()
        let token = village.tokens[.subject]
        let link = village.house.send(
            "POST", "/v1/people/walker/links", as: token, #"{"name":"party","forSeconds":3600}"#)
        let schedule = village.house.send("POST", "/v1/people/walker/schedules", as: token, #"{"everySeconds":3600}"#)
        #expect(link.status == 201 && schedule.status == 201, "\(link.text) \(schedule.text)")
        _ = village.house.settled()
        let sharing = Self.open("/sharing?plain=true", .subject, village).text
        #expect(sharing.contains("party") && sharing.contains("<div>1 h 0 min</div>"), "\(sharing)")
        let places = Self.open("/places?plain=true", .subject, village).text
        #expect(places.contains("Newest days") && places.contains("2026-05-04"), "\(places)")
        let year = Self.open("/year/2026?plain=true", .subject, village).text
        for words in ["Months", "Countries", "Cities", "Ways of travel", "<div>2026-05</div>"] {
            #expect(year.contains(words), "\(words): \(year)")
        }
    }

    @Test func `the words of the interface are in the reader's language`() throws {
        let village = try Village()
        _ = try Self.question(in: village)
        _ = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[.stranger])
        _ = village.house.settled()
        let german = Self.open(
            "/audit?plain=true&outcome=all", .subject, village, more: [("Accept-Language", "de")]
        ).text
        for word in ["<div>Frage</div>", "<div>abgelehnt</div>", "<div>Erlaubnis gegeben</div>"] {
            #expect(german.contains(word), "\(word)")
        }
        for word in ["<div>query</div>", "<div>refused</div>", "<div>GrantGiven</div>"] {
            #expect(!german.contains(word), "\(word)")
        }
        let texts = PageText(HTTPRequest(method: "GET", path: "/", headers: [("accept-language", "de")]))
        #expect(texts.word("audit.end", "answeredFromNowhere") == "answered from nowhere")
        #expect(texts.hours("Mo-Fr 07:00-16:00; Su 10:00-12:00") == "Mo-Fr 07:00-16:00; So 10:00-12:00")
    }

    @Test func `texts are in the reader's language, and times in the zone of the place`() throws {
        let village = try Village()
        _ = village.house.settled()
        let german = Self.open(
            "/day/2026-05-04?plain=true", .subject, village, more: [("Accept-Language", "de-AT, en")])
        #expect(german.text.contains("<html lang=\"de\"") && german.text.contains("Ankunft"))
        #expect(german.text.contains("Europe/Vienna"))
        #expect(Self.open("/now", .subject, village).text.contains("<html lang=\"en\""))
    }

    @Test func `an invitation opened in a browser makes an account there, once`() throws {
        let house = try ServiceUnderTest()
        let code = try #require(house.manage("POST", "/v1/account-invitations", "{}")["code"]?.string)
        let page = house.send("GET", "/welcome?invitation=\(code)", as: nil)
        #expect(page.status == 200 && page.text.contains("value=\"\(code)\""))
        #expect(Self.form(house, "/welcome", "code=\(code)&name=Not%20A%20Name").status == 400)
        let made = Self.form(house, "/welcome", "code=\(code)&name=Ana")
        #expect(made.status == 200, "\(made.text)")
        let token = try #require(made.text.firstMatch(of: /wp_[A-Za-z0-9_-]{43}/)).output
        let cookie = try #require(made.header("Set-Cookie")?.prefix { $0 != ";" })
        let session = house.send("GET", "/session", as: nil, headers: [("Cookie", String(cookie))])
        #expect(session["person"]?.string?.hasPrefix("ana-") == true)
        #expect(house.send("GET", "/session", as: String(token))["person"]?.string == session["person"]?.string)
        #expect(Self.form(house, "/welcome", "code=\(code)&name=ben").status == 404)
        let foreign = house.send(
            "POST", "/welcome", as: nil, "code=\(code)&name=ben",
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "cross-site")])
        #expect(foreign.status == 403)
    }
}

extension Route {
    /// Whether it is a view of the page.
    fileprivate var isView: Bool { if case .otherRoutes = disclosure { true } else { false } }
}
