import HTTPServer
import JSON
import Log
import Posting
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Reactors
@testable import Service

/// A client that got no answer sends its request again, with the same `Idempotency-Key`.
@Suite struct RepeatedRequestStoryTests {
    private static let key = [("Idempotency-Key", #""8e03978e-40d5-43dd-bc93-6894a57f9324""#)]

    private static func request(_ answer: Answer) -> String? { answer.header("Whereabouts-Request") }

    @Test func `the same request is done once and answered alike, also after a restart`() throws {
        let receiver = try WebhookReceiver()
        let house = try ServiceUnderTest {
            $0.webhooks = .init(targets: [Origin("https://hooks.example"), Origin(receiver.url)].compactMap(\.self))
        }
        let walker = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let code = house.manage("POST", "/v1/people/walker/invitations", #"{"precision":"city"}"#)["code"]?.string ?? ""
        let account = house.manage("POST", "/v1/account-invitations", "{}")["code"]?.string ?? ""
        let link = house.send("POST", "/v1/people/walker/links", as: walker, "{}")["secret"]?.string ?? ""
        try house.grant("walker", to: "friend", more: #","asksEachTime":true"#)
        let asked =
            house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"to test"}"#)["id"]?.string ?? ""
        let watch = try house.addDevice("walker.watch", of: "walker")
        _ = house.send("POST", "/v1/fixes", as: watch, #"{"timestamp":1777881000,"latitude":1,"longitude":2}"#)
        _ = house.settled()
        let fix = try #require(house.send("GET", "/v1/people/walker/track", as: walker).items.first?["number"]?.string)
        let withdrawn = house.send("DELETE", "/v1/people/walker/track/\(fix)?reason=a%20test", as: walker)
        #expect(withdrawn.status == 200, "\(withdrawn.text)")
        let hook = house.send(
            "POST", "/v1/people/walker/webhooks", as: walker, #"{"url":"\#(receiver.url)/t","topics":["finding"]}"#
        )
        let wishes: [(target: String, body: String, token: String?)] = [
            ("/v1/people/walker/consent-requests/\(asked)", #"{"consent":"given"}"#, walker),
            ("/v1/people", #"{"handle":"new"}"#, house.operatorToken),
            ("/v1/people/walker/devices", #"{"handle":"walker.phone"}"#, walker),
            ("/v1/people/walker/tokens", #"{"scopes":["query"]}"#, walker),
            ("/v1/people/walker/grants", #"{"requester":"friend","precision":"exact"}"#, walker),
            ("/v1/people/walker/pauses", #"{"forSeconds":60}"#, walker),
            ("/v1/people/walker/invitations", #"{"precision":"city"}"#, walker),
            ("/v1/people/walker/schedules", #"{"everySeconds":900}"#, walker),
            ("/v1/people/walker/corrections", #"{"type":"split","at":5}"#, walker),
            (
                "/v1/people/walker/regions", #"{"id":"home","circle":{"latitude":1,"longitude":2,"radiusMeters":50}}"#,
                walker
            ),
            ("/v1/people/walker/location-queries", #"{"purpose":"to test"}"#, walker),
            ("/v1/devices/walker.phone/tokens", "", walker),
            ("/v1/people/walker/webhooks", #"{"url":"https://hooks.example/","topics":["finding"]}"#, walker),
            ("/v1/people/walker/webhooks/\(hook["id"]?.string ?? "")/test", "", walker),
            ("/v1/redemptions", #"{"code":"\#(code)"}"#, friend),
            ("/v1/account-invitations", "{}", walker),
            ("/v1/sign-in-codes", "{}", walker),
            ("/v1/people/walker/track/\(fix)", #"{"reason":"a test"}"#, walker),
            ("/v1/accounts", #"{"code":"\#(account)","name":"carl"}"#, nil),
            ("/v1/people/walker/links", "{}", walker),
            ("/v1/auditors", "", house.operatorToken),
            ("/v1/link-openings", #"{"link":"\#(link)"}"#, nil),
        ]
        // Each route that takes a key is among them.
        let wished = wishes.compactMap { wish in
            RouteTable.all.routes.first { $0.method == "POST" && $0.match(Route.parts(wish.target)) != nil }?.path
        }
        #expect(Set(wished) == Set(RouteTable.all.routes.filter(\.takesKey).map(\.path)))
        func all() -> [Answer] {
            wishes.map { house.send("POST", $0.target, as: $0.token, $0.body, headers: Self.key) }
        }
        let first = all()
        // Delivering the test message appends events too.
        try eventually {
            house.manage("GET", "/v1/people/walker/webhooks").items.contains {
                $0["testOutcome"]?.string == "delivered"
            }
        }
        let head = house.service.log.head
        for (wish, answer) in zip(wishes, first) {
            #expect((200..<300).contains(answer.status), "\(wish.target): \(answer.text)")
        }
        house.clock.advance(seconds: 30)
        for isRestarted in [false, true] {
            if isRestarted { try house.restart() }
            for (before, now) in zip(first, all()) {
                #expect(now.observable == before.observable)
                #expect(Self.request(now) == Self.request(before))
            }
            // What the service does by itself may come late: it settles a webhook, and shows a finding to one.
            let requested = try house.events(after: head).filter {
                $0.actor != .house && $0.event.kind != .locationRead
            }
            #expect(requested.isEmpty, "\(requested.map(\.event.kind))")
        }
        // The secrets shown again are those that open something.
        let device = try #require(first[2]["password"]?.string)
        #expect(
            house.send("POST", "/v1/fixes", as: device, #"{"timestamp":1777881600,"latitude":1,"longitude":2}"#).status
                == 200)
        #expect(house.send("GET", "/v1/people/walker/track", as: first[3]["token"]?.string).status == 200)
        let redeemed = house.send(
            "POST", "/v1/redemptions", as: try house.token(of: "friend"),
            #"{"code":"\#(first[6]["code"]?.string ?? "")"}"#)
        #expect(redeemed.status == 201)
    }

    /// Requests that are idempotent without a key, or that have an effect every time.
    private static let withoutKey: Set<String> = [
        // A repeated fix, report or message is recognized by its content.
        "/v1/fixes", "/v1/reports", "/owntracks", "/overland", "/osmand", "/v1/imports/*/batches",
        "/pub", "/api/webhook/*", "/ulogger/client/index.php", "/index.php/apps/phonetrack/logPost/*/*",
        "/index.php/apps/phonetrack/logPostMultiple/*/*",
        // An envelope is recognized by its identity, a key by its name.
        "/v1/envelopes", "/v1/people/*/keys", "/v1/people/*/pins",
        // They change nothing.
        "/v1/geocode/reverse", "/v1/geocode/forward",
        // Done twice they have been done.
        "/v1/people/*/webhooks/*/confirmation",
        "/v1/people/*/webhooks/*/dead-letters/*/retry", "/v1/backups", "/v1/projections/prune",
        "/v1/projections/rebuilds", "/v1/projections/*/rebuild", "/v1/projections/*/activate",
        "/v1/projections/*/rollback",
        "/v1/imports/*/withdrawals", "/v1/imports/*/restorations", "/v1/imports/*/ends",
        // The same file is the same import until it has ended.
        "/v1/imports",
        // A browser that signs in again has a newer session; one that signs out twice is signed out.
        "/session", "/session/end",
        // Limited to one a minute.
        "/v1/devices/*/push-tests",
    ]

    @Test func `every other post can do without a key`() {
        let described = RouteTable.all.operations.map(\.route)
        #expect(Set(described.filter { $0.method == "POST" && !$0.takesKey }.map(\.path)) == Self.withoutKey)
    }

    @Test func `a key is of one caller, one address and one content`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        func add(_ scopes: String, by token: String, _ key: String = "k-1") -> Answer {
            house.send(
                "POST", "/v1/people/walker/tokens", as: token, #"{"scopes":["\#(scopes)"]}"#,
                headers: [("Idempotency-Key", key)])
        }
        let first = add("query", by: walker)
        #expect(first.status == 201)
        // With quotes, as the draft has it, and without.
        #expect(add("query", by: walker, #""k-1""#).text == first.text)
        #expect(add("audit", by: walker).status == 422)
        let others = add("query", by: house.operatorToken)
        #expect(others.status == 201 && others["token"]?.string != first["token"]?.string)
        let elsewhere = house.send(
            "POST", "/v1/people/walker/pauses", as: walker, "{}", headers: [("Idempotency-Key", "k-1")])
        #expect(elsewhere.status == 200)
        for key in ["", "\"\"", "two words", "ümlaut", String(repeating: "k", count: 256)] {
            #expect(add("query", by: walker, key).status == 400, "\(key)")
        }
        // After a day the key is free again, and makes another secret.
        house.clock.advance(seconds: Limits.keyedRequestKeptSeconds)
        let later = add("query", by: walker)
        #expect(later.status == 201 && later["token"]?.string != first["token"]?.string)
    }

    @Test func `what was refused is not remembered`() throws {
        let house = try ServiceUnderTest()
        let friend = try house.addPerson("friend")
        func ask() -> Answer {
            house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"to test"}"#, headers: Self.key)
        }
        #expect(ask().status == 404)
        _ = try house.addPerson("walker")
        try house.grant("walker", to: "friend")
        #expect(ask().status == 202)
        #expect(ask().status == 202)
        let asked = try house.events().filter { if case .locationQueried = $0.event { true } else { false } }
        #expect(asked.count == 2)
    }

    @Test func `while a request is under way, the same one waits its turn`() throws {
        let house = try ServiceUnderTest()
        let keys = house.service.door.requestKeys
        let request = HTTPRequest(method: "POST", path: "/v1/people", body: Array("{}".utf8))
        let caller = Caller(principal: .operator, scopes: [], token: nil)
        let first = try keys.begin("k", with: request, by: caller, house.service.decisions)
        let refusal = #expect(throws: Problem.self) {
            try keys.begin("k", with: request, by: caller, house.service.decisions)
        }
        #expect(refusal?.status == 409 && refusal?.retryAfterSeconds == 1)
        // Another caller's request with the same key and content is another request.
        let other = Caller(principal: .first, scopes: [], token: nil)
        let second = try keys.begin("k", with: request, by: other, house.service.decisions)
        #expect(second.id.high != first.id.high)
        keys.end(second)
        keys.end(first)
        keys.end(try keys.begin("k", with: request, by: caller, house.service.decisions))
    }

    @Test func `what a request made and what has ended since is not made up`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let code = house.manage("POST", "/v1/people/walker/invitations", #"{"precision":"city"}"#)["code"]?.string
        func redeem() -> Answer {
            house.send("POST", "/v1/redemptions", as: friend, #"{"code":"\#(code ?? "")"}"#, headers: Self.key)
        }
        let grant = try #require(redeem()["id"])
        #expect(redeem()["id"]?.name == grant.name)
        house.manage("DELETE", "/v1/grants/\(try #require(house.number(grant, .grant, of: "friend")))")
        #expect(redeem().status == 409)
    }
}
