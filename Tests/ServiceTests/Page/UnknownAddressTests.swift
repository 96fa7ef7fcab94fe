import JSON
import TestSupport
import Testing

@testable import Log
@testable import Service

/// An address without a route answers a page to browsers and a problem to programs.
@Suite struct UnknownAddressTests {
    /// As Firefox sends it for a page.
    private static let browser = ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")

    private static func page(
        _ house: ServiceUnderTest, _ path: String, as token: String? = nil, _ more: (String, String)...
    ) -> Answer {
        house.send("GET", path, as: token, headers: [browser] + more)
    }

    @Test(arguments: ["/nosuch", "/now/", "/v1/nosuch", "//", "/<script>alert(1)</script>", "/link/abc"])
    func `a browser gets a page that leads home, in its language`(path: String) throws {
        let house = try ServiceUnderTest()
        let answer = Self.page(house, path)
        #expect(answer.status == 404 && answer.header("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.text.contains("<h1>There is nothing at this address</h1>"))
        #expect(answer.text.contains(#"<html lang="en""#) && answer.text.contains(#"<a href="/">"#))
        #expect(!answer.text.contains("<script") && !answer.text.contains("nosuch"))
        let german = Self.page(house, path, as: nil, ("Accept-Language", "de-AT,de;q=0.9,en;q=0.5"))
        #expect(german.text.contains("<h1>Unter dieser Adresse gibt es nichts</h1>"))
        #expect(german.text.contains(#"<html lang="de""#))
        // The headers of every page.
        let home = Self.page(house, "/")
        for name in [
            "Content-Security-Policy", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy",
            "X-Content-Type-Options", "Cache-Control",
        ] {
            #expect(answer.header(name) != nil && answer.header(name) == home.header(name), "\(name)")
        }
    }

    @Test(arguments: [nil, "*/*", "application/json", "text/html;q=0", "text/htmlx", ""])
    func `a program gets the problem as JSON`(accept: String?) throws {
        let house = try ServiceUnderTest()
        let answer = house.send("GET", "/nosuch", as: nil, headers: accept.map { [("Accept", $0)] } ?? [])
        #expect(answer.status == 404 && answer.header("Content-Type") == "application/problem+json")
        #expect(answer["detail"]?.string == "There is nothing at this address.")
        // Only GET and HEAD get the page.
        #expect(house.send("POST", "/nosuch", as: nil, headers: [Self.browser])["status"]?.int == 404)
    }

    @Test func `the page is the same whoever asks, whatever they ask for, and makes no event`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let head = house.service.log.head
        let first = Self.page(house, "/nosuch")
        for token in [walker, phone, house.operatorToken, "wp_wrong"] {
            for path in ["/nosuch", "/people/walker", "/v1/people/walker/nosuch"] {
                #expect(Self.page(house, path, as: token).text == first.text)
            }
        }
        #expect(house.service.log.head == head)
        // A route that hides something still answers as it does for programs.
        let hidden = Self.page(house, "/v1/people/walker/visits", as: try house.addPerson("friend"))
        #expect(hidden.status == 404 && hidden.header("Content-Type") == "application/problem+json")
    }
}
