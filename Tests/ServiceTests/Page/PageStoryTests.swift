import HTTPServer
import JSON
import Log
import Testing
import Whereabouts

@testable import HTTPInterface
@testable import Service

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
        "/now", "/day/2026-05-04", "/audit", "/sharing", "/regions", "/places", "/year/2026", "/devices",
    ]

    @Test func `the list of each view shows what the API shows, on record, and to no one else`() throws {
        let village = try Village()
        _ = village.house.settled()
        for target in Self.lists {
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
    @Test func `a kilometer friend's page has the coordinates of the API's answer`() throws {
        let village = try Village()
        _ = village.house.settled()
        let answer = Self.open("/now?plain=true&person=walker", .kilometerFriend, village)
        village.house.clock.advance(seconds: 61)
        let shown = village.house.send("GET", "/v1/people/walker/location", as: village.tokens[.kilometerFriend])
        let latitude = try #require(shown["location"]?["latitude"]?.double)
        #expect(answer.status == 200 && answer.text.contains("\((latitude * 100_000).rounded() / 100_000)"))
        #expect(!answer.text.contains("48.212"), "\(answer.text)")
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
