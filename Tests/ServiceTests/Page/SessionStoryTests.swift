import HTTPServer
import JSON
import Log
import Posting
import Testing
import Whereabouts

@testable import HTTPInterface
@testable import Reactors
@testable import Service
@testable import WebPage

/// Signing in to the page, and out.
@Suite struct SessionStoryTests {
    /// A browser: it keeps the cookie, and says where its requests come from.
    final class Browser {
        let house: ServiceUnderTest
        var cookie: String?

        init(_ house: ServiceUnderTest) { self.house = house }

        @discardableResult
        func send(
            _ method: String, _ target: String, _ body: String = "", site: String? = "same-origin",
            more: [(String, String)] = []
        ) -> Answer {
            var headers = more
            if let cookie { headers.append(("Cookie", "ulogger=x; whereabouts_session=\(cookie); other=1")) }
            if let site { headers.append(("Sec-Fetch-Site", site)) }
            let answer = house.send(method, target, as: nil, body, headers: headers)
            if let set = answer.header("Set-Cookie") {
                let value = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                cookie = value.count == 2 ? String(value[1]) : nil
            }
            return answer
        }

        @discardableResult
        func signIn(token: String?, next: String? = nil, site: String? = "same-origin") -> Answer {
            send(
                "POST", "/session", "token=\(token ?? "")&next=\(next ?? "")", site: site,
                more: [("Content-Type", "application/x-www-form-urlencoded")])
        }

        @discardableResult
        func signIn(code: String?) -> Answer { send("POST", "/session", #"{"code":"\#(code ?? "")"}"#) }

        var isSignedIn: Bool { send("GET", "/session").status == 200 }
    }

    @Test func `a token signs a browser in, and the cookie is good for what the token is good for`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let browser = Browser(house)
        #expect(browser.send("GET", "/session").status == 204)
        let answer = browser.signIn(token: token, next: "/day/2026-05-04")
        #expect(answer.status == 303 && answer.header("Location") == "/day/2026-05-04")
        let set = try #require(answer.header("Set-Cookie"))
        #expect(set.contains("; HttpOnly") && set.contains("; SameSite=Strict") && set.contains("; Path=/"))
        #expect(set.contains("; Max-Age=2592000") && !set.contains("Secure"))
        #expect(!set.contains(token))
        let session = browser.send("GET", "/session")
        #expect(session["person"]?.string == "walker" && session["operator"]?.bool == false)
        #expect(session["expires"]?.int == house.clock.seconds + 30 * 86_400)
        #expect(browser.send("GET", "/v1/people/walker/grants").status == 200)
        #expect(browser.send("POST", "/v1/people/walker/pauses", "{}").status == 200)
        // As a bearer token, the cookie is a text like any other.
        #expect(house.send("GET", "/session", as: browser.cookie).status == 401)
    }

    @Test func `behind TLS the cookie never travels without it`() throws {
        let house = try ServiceUnderTest { $0.publicURL = "https://where.example" }
        let answer = Browser(house).signIn(token: try house.addPerson("walker"))
        #expect(answer.header("Set-Cookie")?.hasSuffix("; Secure") == true)
    }

    /// The path after signing in is the service's own, or the first view.
    @Test(arguments: [
        ("/audit?who=ben", "/audit?who=ben"), ("//evil.example/", "/"), ("https://evil.example/", "/"),
        ("/\\evil.example", "/"), ("audit", "/"), ("", "/"), ("/a\tb", "/"), ("javascript:alert(1)", "/"),
    ])
    func `signing in leads to no other site`(next: String, location: String) throws {
        let house = try ServiceUnderTest()
        let escaped = PageEndpoints.escaped(next).replacing(":", with: "%3A")
        let answer = Browser(house).signIn(token: try house.addPerson("walker"), next: escaped)
        #expect(answer.header("Location") == location)
    }

    @Test func `a code signs in once, within a quarter of an hour, and opening its link does not use it`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let made = house.send("POST", "/v1/sign-in-codes", as: token, "{}")
        #expect(made.status == 201 && made["expires"]?.int == house.clock.seconds + 900)
        let path = try #require(made["path"]?.string)
        let page = Browser(house).send("GET", path, site: "none")
        #expect(page.status == 200 && page.text.contains("<form method=\"post\" action=\"/session\""))
        let browser = Browser(house)
        #expect(browser.signIn(code: made["code"]?.string).status == 200 && browser.isSignedIn)
        #expect(browser.send("GET", "/session")["person"]?.string == "walker")
        #expect(Browser(house).signIn(code: made["code"]?.string).status == 401)
        let late = house.send("POST", "/v1/sign-in-codes", as: token, "{}")
        house.clock.advance(seconds: 901)
        #expect(Browser(house).signIn(code: late["code"]?.string).status == 401)
        // The code is no token.
        let third = house.send("POST", "/v1/sign-in-codes", as: token, "{}")["code"]?.string
        #expect(house.send("GET", "/session", as: third).status == 401)
        // A newer code replaces it.
        house.send("POST", "/v1/sign-in-codes", as: token, "{}")
        #expect(Browser(house).signIn(code: third).status == 401)
    }

    @Test func `the operator signs a person in, and the person no one else`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        _ = try house.addPerson("friend")
        let code = house.manage("POST", "/v1/sign-in-codes", #"{"person":"friend"}"#)["code"]?.string
        let browser = Browser(house)
        browser.signIn(code: code)
        #expect(browser.send("GET", "/session")["person"]?.string == "friend")
        #expect(house.send("POST", "/v1/sign-in-codes", as: walker, #"{"person":"friend"}"#).status == 404)
        let own = house.manage("POST", "/v1/sign-in-codes", "{}")["code"]?.string
        browser.signIn(code: own)
        #expect(browser.send("GET", "/session")["operator"]?.bool == true)
    }

    @Test func `a session has no more rights than what it was opened with`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let reading = try house.token(of: "walker", scopes: #"["query"]"#)
        let browser = Browser(house)
        browser.signIn(token: reading)
        #expect(browser.send("GET", "/v1/people/walker/grants").status == 404)
        let managing = try house.token(of: "walker", scopes: #"["manage"]"#)
        let code = house.send("POST", "/v1/sign-in-codes", as: managing, "{}")["code"]?.string
        browser.signIn(code: code)
        #expect(browser.send("GET", "/session")["scopes"]?.array.map { $0.compactMap(\.string) } == ["manage"])
    }

    @Test func `wrong, revoked, expired and a device's secrets get one answer, and many of them wait`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let key = try house.addDevice("walker-phone", of: "walker")
        let made = house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        house.manage("DELETE", "/v1/tokens/\(try #require(made["id"]?.int))")
        let soon = house.manage(
            "POST", "/v1/people/walker/tokens", #"{"scopes":["query"],"until":\#(house.clock.seconds + 1)}"#)
        house.clock.advance(seconds: 2)
        let browser = Browser(house)
        browser.signIn(token: token)
        let secrets = [key, made["token"]?.string, soon["token"]?.string, browser.cookie, "wp_wrong", ""]
        let answers = secrets.map {
            Browser(house).send("POST", "/session", #"{"token":"\#($0 ?? "")"}"#).observable
        }
        #expect(Set(answers).count == 1 && answers[0].hasPrefix("401"), "\(answers[0])")
        var last = 0
        for _ in 0..<40 { last = Browser(house).signIn(token: "wrong").status }
        #expect(last == 429)
        // A valid secret is accepted all the same.
        #expect(Browser(house).signIn(token: token).status == 303)
        house.clock.advance(seconds: 2)
        #expect(Browser(house).signIn(token: "wrong").status == 401)
    }

    @Test func `a session ends by signing out, everywhere if one says so`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let browsers = (0..<3).map { _ in Browser(house) }
        for browser in browsers { browser.signIn(token: token) }
        let cookie = browsers[0].cookie
        let answer = browsers[0].send("DELETE", "/session")
        #expect(answer.status == 204 && answer.header("Set-Cookie")?.contains("Max-Age=0") == true)
        browsers[0].cookie = cookie
        #expect(browsers.map(\.isSignedIn) == [false, true, true])
        let code = house.send("POST", "/v1/sign-in-codes", as: token, "{}")["code"]?.string
        browsers[1].send("POST", "/session/end?everywhere=true", more: [("Accept", "text/html")])
        #expect(browsers.map(\.isSignedIn) == [false, false, false])
        #expect(browsers[0].signIn(code: code).status == 401)
        // The token itself goes on.
        #expect(house.send("GET", "/session", as: token).status == 200)
    }

    @Test func `a session ends with its time, its token and its person`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let browser = Browser(house)
        browser.signIn(token: try house.token(of: "walker"))
        house.clock.advance(seconds: 30 * 86_400)
        #expect(!browser.isSignedIn)

        let made = house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query","audit","manage"]}"#)
        let other = Browser(house)
        browser.signIn(token: made["token"]?.string)
        // Signed in by a code that a session made: it goes back to the same token.
        other.signIn(code: browser.send("POST", "/v1/sign-in-codes", "{}")["code"]?.string)
        #expect(browser.isSignedIn && other.isSignedIn)
        try house.restart()
        #expect(browser.isSignedIn && other.isSignedIn)
        house.manage("DELETE", "/v1/tokens/\(try #require(made["id"]?.int))")
        #expect(!browser.isSignedIn && !other.isSignedIn)

        browser.signIn(token: try house.token(of: "walker"))
        house.manage("DELETE", "/v1/people/walker")
        #expect(!browser.isSignedIn)
    }

    @Test func `a person sees their sessions among the tokens, and ends one there`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let browser = Browser(house)
        browser.signIn(token: token)
        let sessions = browser.send("GET", "/v1/people/walker/tokens").items.filter {
            $0["scopes"]?.array?.contains { $0.string == "session" } ?? false
        }
        #expect(sessions.count == 1)
        let id = try #require(sessions.first?["id"]?.string)
        #expect(browser.send("DELETE", "/v1/tokens/\(id)").status == 200)
        #expect(!browser.isSignedIn)
    }

    @Test func `signing in again ends the session before, and a holder has a limited number`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let first = Browser(house), again = Browser(house)
        first.signIn(token: token)
        again.cookie = first.cookie
        again.signIn(token: token)
        #expect(!first.isSignedIn && again.isSignedIn)
        for _ in 0..<Limits.sessionsPerHolder { Browser(house).signIn(token: token) }
        #expect(!again.isSignedIn)
    }

    @Test func `the audit tells the end of a session from that of a token, and a session names the person's log`()
        throws
    {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        let code = house.send("POST", "/v1/sign-in-codes", as: token, "{}")["code"]?.string
        let browser = Browser(house)
        browser.signIn(code: code)
        let log = browser.send("GET", "/session")["log"]?.string
        let note = house.send("GET", "/v1/people/walker/checkpoint", as: token)["checkpoint"]?.string
        #expect(log != nil && log == note?.split(separator: "\n").first.map(String.init))
        browser.send("POST", "/session/end")
        let audit = house.send(
            "GET", "/v1/people/walker/audit?at-least=\(house.service.log.head)", as: token)
        let changes: [String] = try #require(audit["items"]?.array).compactMap { item -> String? in
            guard let event = item["event"]?.string, event.hasPrefix("Token") else { return nil }
            let scopes = item["scopes"]?.array.map { $0.compactMap(\.string) } ?? []
            return ([event] + scopes.filter { $0 == "session" || $0 == "sign-in" }).joined(separator: " ")
        }
        // The newest first; the first token is no session.
        #expect(
            changes == [
                "TokenRevoked session", "TokenIssued session", "TokenRevoked sign-in", "TokenIssued sign-in",
                "TokenIssued",
            ])
        #expect(house.manage("GET", "/session", "")["log"]?.string == nil)
    }

    @Test func `a webhook that a session adds outlives the session, and falls silent with the token that opened it`()
        throws
    {
        let house = try ServiceUnderTest {
            $0.webhooks = .init(targets: [Origin("http://localhost:1")].compactMap { $0 })
        }
        let token = try house.addPerson("walker")
        let opened = try #require(house.manage("GET", "/v1/people/walker/tokens").items.first?["id"]?.int)
        func webhooks() -> Int { house.service.log.withStanding { $0.webhooks.all.count } }
        let browser = Browser(house)
        browser.signIn(token: token)
        let answer = browser.send("POST", "/v1/people/walker/webhooks", #"{"url":"http://localhost:1"}"#)
        #expect(answer.status == 201, "\(answer.text)")
        // The token of the webhook can only read: neither share nor manage.
        func ownTokens() -> [JSONValue] {
            house.manage("GET", "/v1/people/walker/tokens").items.filter { item in
                item["scopes"]?.array.map { Set($0.compactMap(\.string)) } == ["query", "audit"]
            }
        }
        #expect(ownTokens().count == 1)
        #expect(browser.send("POST", "/session/end", "").status < 400)
        #expect(webhooks() == 1)
        #expect(house.manage("DELETE", "/v1/tokens/\(opened)", "").status < 300)
        #expect(ownTokens().isEmpty)
    }

    /// The header `WWW-Authenticate: Basic` makes browsers open a window that asks for a password.
    @Test func `a script that gets 401 makes the browser ask for nothing`() throws {
        let house = try ServiceUnderTest()
        let answer = Browser(house).send("GET", "/v1/people", more: [("Sec-Fetch-Dest", "empty")])
        #expect(answer.status == 401 && answer.header("WWW-Authenticate") == "Bearer")
        #expect(house.send("GET", "/v1/people", as: nil).header("WWW-Authenticate")?.contains("Basic") == true)
    }

    /// Which requests a cookie counts for, by the headers that the browser adds to them.
    @Test(
        arguments: [
            ("GET", "same-origin", nil, true), ("GET", "none", nil, true), ("GET", nil, nil, true),
            ("GET", "same-site", nil, false), ("GET", "cross-site", nil, false),
            ("HEAD", "cross-site", nil, false), ("POST", "same-origin", nil, true), ("POST", "none", nil, false),
            ("POST", "same-site", nil, false), ("POST", "cross-site", nil, false), ("POST", nil, nil, false),
            ("POST", nil, "http://where.example:8080", true), ("POST", nil, "http://where.example", false),
            ("POST", nil, "http://where.example:8081", false), ("POST", nil, "null", false),
            ("POST", nil, "https://public.example", true), ("POST", nil, "https://public.example.evil", false),
            ("POST", "cross-site", "http://where.example:8080", false), ("DELETE", nil, nil, false),
        ] as [(String, String?, String?, Bool)])
    func `a cookie counts only for the page's own requests`(
        method: String, site: String?, origin: String?, counts: Bool
    ) {
        var headers = [(name: "Host", value: "where.example:8080"), ("Cookie", "a=1; whereabouts_session=ws_x")]
        if let site { headers.append(("Sec-Fetch-Site", site)) }
        if let origin { headers.append(("Origin", origin)) }
        let request = HTTPRequest(method: method, path: "/v1/people/walker/grants", headers: headers)
        let secret = SessionCookie.secret(of: request, publicURL: "https://public.example/path")
        #expect(secret == (counts ? "ws_x" : nil))
    }

    @Test func `a person who follows a link from elsewhere is still who they are, and a frame is not`() {
        func secret(_ mode: String, _ destination: String) -> Substring? {
            SessionCookie.secret(
                of: HTTPRequest(
                    method: "GET", path: "/day",
                    headers: [
                        ("Cookie", "whereabouts_session=ws_x"), ("Sec-Fetch-Site", "same-site"),
                        ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination),
                    ]), publicURL: nil)
        }
        #expect(secret("navigate", "document") == "ws_x")
        #expect(secret("navigate", "iframe") == nil && secret("no-cors", "image") == nil)
    }

    /// Otherwise a page could sign its visitor in as someone else, and read the visitor's later data.
    @Test func `no other page signs a browser in, and a header outranks the cookie`() throws {
        let house = try ServiceUnderTest()
        let token = try house.addPerson("walker")
        for site in ["cross-site", "same-site", "none"] {
            #expect(Browser(house).signIn(token: token, site: site).status == 403)
        }
        #expect(Browser(house).signIn(token: token, site: nil).status == 303)
        let browser = Browser(house)
        browser.signIn(token: token)
        #expect(browser.send("GET", "/session", more: [("Authorization", "Bearer wrong")]).status == 401)
    }
}
