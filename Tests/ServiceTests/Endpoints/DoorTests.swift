import JSON
import Log
import Testing

@testable import HTTPInterface
@testable import Reactors
@testable import Service

/// Properties of every answer that depend on the HTTP client: compression, cross-origin requests, codings of bodies.
@Suite struct DoorTests {
    /// The table searches only the routes with the same number of parts; the test searches all of them.
    @Test func `an address has the route with its words, or the first whose pattern it fits`() throws {
        let table = RouteTable.all
        let methods = Set(table.routes.map(\.method))
        var fits = 0
        for pattern in Set(table.routes.map(\.path)) {
            for part in ["walker", "me", "*", "", "ä/x", "%2F"] {
                let path = pattern.replacing("*", with: part)
                for method in methods {
                    let same = table.routes.indices.filter { table.routes[$0].method == method }
                    let expected =
                        same.first { !table.routes[$0].path.contains("*") && table.routes[$0].path == path }
                        ?? same.first { table.routes[$0].match(Route.parts(path)) != nil }
                    let found = table.find(method, path)
                    #expect(found?.index == expected, "\(method) \(path)")
                    if let found, let expected {
                        #expect(found.parameters == table.routes[expected].match(Route.parts(path)))
                        fits += 1
                    }
                }
            }
        }
        #expect(fits > table.routes.count)
        #expect(Route.parts("/v1//x/") == ["v1", "", "x", ""])
    }

    /// RFC 9110 section 12.5.3.
    @Test(arguments: [
        ("gzip", true), ("", false), ("*", true), ("identity", false), ("br;q=1.0, gzip;q=0.8, *;q=0.1", true),
        ("gzip;q=0", false), ("gzip;q=0, *", false), ("*;q=0", false), ("gzip;q=0.5, identity;q=0.9", false),
        ("x-gzip", true), ("GZIP; q=1", true), ("deflate, br", false), ("gzip;q=2", false),
        ("identity;q=0, gzip", true),
    ])
    func `gzip is sent to those who want it`(header: String, isTaken: Bool) {
        #expect(ContentCoding.takesGZIP(header) == isTaken)
    }

    @Test func `long answers are compressed, but for secrets and the words of others`() throws {
        let village = try Village()
        let house = village.house
        let wanted = [("Accept-Encoding", "gzip, br")]
        func isPacked(_ method: String, _ target: String, _ body: String = "") -> Bool {
            let plain = house.send(method, target, as: house.operatorToken, body)
            let packed = house.send(method, target, as: house.operatorToken, body, headers: wanted)
            #expect(plain.header("Content-Encoding") == nil)
            guard packed.header("Content-Encoding") != nil else { return false }
            #expect(packed.header("Content-Encoding") == "gzip" && packed.header("Vary") == "Accept-Encoding")
            #expect(plain.header("Vary") == "Accept-Encoding")
            // RFC 1952 section 2.3.1.
            #expect(packed.body.starts(with: [0x1F, 0x8B, 8]) && packed.body.count < plain.body.count / 2)
            return true
        }
        #expect(isPacked("GET", "/v1/people/walker/track"))
        #expect(isPacked("GET", "/openapi.json"))
        #expect(!isPacked("GET", "/healthz"))
        let audit = "/v1/people/walker/audit?limit=500"
        #expect(house.manage("GET", audit).body.count > 1024)
        #expect(!isPacked("GET", audit))
        #expect(!isPacked("GET", "/v1/events?limit=100"))
        #expect(!isPacked("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#))
    }

    @Test func `a packed body is refused unread`() throws {
        let house = try ServiceUnderTest()
        let answer = house.send(
            "POST", "/v1/people", as: house.operatorToken, #"{"handle":"walker"}"#,
            headers: [("Content-Encoding", "gzip")])
        #expect(answer.status == 415 && answer.header("Accept-Encoding") == "identity")
        let plain = house.send(
            "POST", "/v1/people", as: house.operatorToken, #"{"handle":"walker"}"#,
            headers: [("Content-Encoding", "identity")])
        #expect(plain.status == 201)
    }

    // MARK: Addresses

    @Test(arguments: [
        (#"{"name":"ben"}"#, "\"name\" is not a member of this body; it takes handle, shard."),
        // The name is cut after 64 characters, and has no control or format characters.
        (
            #"{"\#(String(repeating: "n", count: 70))":1}"#,
            "\"\(String(repeating: "n", count: 64))\" is not a member of this body; it takes handle, shard."
        ),
        (#"{"a\u0000b\u202e":1}"#, "\"a b \" is not a member of this body; it takes handle, shard."),
    ])
    func `a member that a body does not take is named`(body: String, detail: String) throws {
        let house = try Village().house
        let answer = house.send("POST", "/v1/people", as: house.operatorToken, body)
        #expect(answer.status == 400)
        #expect(try JSONDocument.parse(answer.body).root["detail"]?.string == detail)
    }

    @Test func `an unknown or repeated parameter is refused, and nothing is read`() throws {
        let village = try Village()
        let house = village.house
        let number = house.service.log.head
        for route in RouteTable.all.operations.map(\.route) where route.pattern.first == "v1" {
            let path = "/" + route.pattern.map { $0 == "*" ? "walker" : $0 }.joined(separator: "/")
            let unknown = house.send(route.method, path + "?form=2026-05-01", as: house.operatorToken, "{}")
            #expect(unknown.status == 400, "\(route.method) \(path)")
            #expect(unknown.text.contains("form"), "\(route.method) \(path)")
            guard let name = route.parameterNames?.first else { continue }
            let twice = house.send(route.method, path + "?\(name)=1&\(name)=2", as: house.operatorToken, "{}")
            #expect(twice.status == 400 && twice.text.contains("more than once"), "\(route.method) \(path)")
        }
        #expect(house.service.log.head == number)
        #expect(house.send("GET", "/v1/people?form=1", as: nil).status == 401)
        #expect(house.send("GET", "/healthz?probe=1", as: nil).status == 200)
    }

    @Test(arguments: ["//healthz", "/healthz/", "/v1//people", "/v1/people/", "//v1/people", "/v1/people//walker/"])
    func `an address has one spelling`(path: String) throws {
        let house = try ServiceUnderTest()
        #expect(house.send("GET", path, as: house.operatorToken).status == 404)
    }

    // MARK: Pages of other origins

    private static func allowed(_ answer: Answer) -> [String] {
        answer.headers.filter { $0.name.lowercased().hasPrefix("access-control-") }.map { "\($0.name): \($0.value)" }
    }

    @Test func `no page of another origin may read anything unless the operator says so`() throws {
        let house = try ServiceUnderTest()
        let from = [("Origin", "https://app.example")]
        #expect(Self.allowed(house.send("GET", "/healthz", as: nil, headers: from)) == [])
        let preflight = house.send(
            "OPTIONS", "/v1/people", as: nil, headers: from + [("Access-Control-Request-Method", "POST")])
        #expect(preflight.status == 405 && Self.allowed(preflight) == [])
    }

    @Test func `pages of named origins may, without cookies`() throws {
        let house = try ServiceUnderTest { $0.allowedOrigins = ["https://app.example"] }
        let from = [("Origin", "https://app.example")]
        let asked = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "authorization")]
        let preflight = house.send("OPTIONS", "/v1/people/walker/grants", as: nil, headers: from + asked)
        #expect(preflight.status == 204 && preflight.body.isEmpty)
        #expect(preflight.header("Access-Control-Allow-Origin") == "https://app.example")
        #expect(preflight.header("Access-Control-Allow-Methods") == "POST, GET")
        #expect(preflight.header("Access-Control-Allow-Headers")?.contains("Authorization") == true)
        #expect(preflight.header("Vary") == "Origin")
        // The page that asked can read a refusal too.
        for answer in [house.send("GET", "/v1/people", as: nil, headers: from), preflight] {
            #expect(answer.header("Access-Control-Allow-Origin") == "https://app.example")
            #expect(answer.header("Access-Control-Allow-Credentials") == nil)
        }
        for origin in ["https://app.example.evil.example", "http://app.example", "null"] {
            let other = house.send("GET", "/healthz", as: nil, headers: [("Origin", origin)])
            #expect(Self.allowed(other) == [] && other.header("Vary") == "Origin")
            #expect(house.send("OPTIONS", "/v1/people", as: nil, headers: [("Origin", origin)] + asked).status == 405)
        }
        #expect(house.send("OPTIONS", "/nothing", as: nil, headers: from + asked).status == 404)
    }

    @Test(arguments: [
        #"{"allowedOrigins":["*"]}"#, #"{"allowedOrigins":["null"]}"#, #"{"allowedOrigins":["https://App.example"]}"#,
        #"{"allowedOrigins":["https://app.example/"]}"#, #"{"allowedOrigins":["app.example"]}"#,
        #"{"allowedOrigins":"https://app.example"}"#, #"{"allowedOrigins":[7]}"#,
    ])
    func `what is no origin is refused by its key`(text: String) throws {
        let error = #expect(throws: ServiceConfiguration.ReadError.self) {
            try ServiceConfiguration.parse(Array(text.utf8))
        }
        #expect(error?.description.contains("allowedOrigins") == true)
    }
}
