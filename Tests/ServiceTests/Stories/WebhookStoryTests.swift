import Cryptography
import Foundation
import JSON
import Posting
import PushStandIn
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import Log
@testable import Reactors
@testable import Service

/// Webhook messages: signed, on record first, in order, and repeated until the receiver accepts them.
@Suite struct WebhookStoryTests {
    private struct Scene {
        let house: ServiceUnderTest
        let walker, friend, phone: String

        init(
            _ receivers: WebhookReceiver..., targets: [String] = [], trustFile: String? = nil,
            clock: HouseClock = .standing
        ) throws {
            let origins = (receivers.map(\.url) + targets).compactMap { Origin($0) }
            house = try ServiceUnderTest(clock: clock) {
                $0.webhooks = .init(targets: origins)
                $0.webhooks?.caFile = trustFile
            }
            walker = try house.addPerson("walker")
            friend = try house.addPerson("friend")
            phone = try house.addDevice("walker-phone", of: "walker")
            try house.grant("walker", to: "friend")
        }

        /// Adds a webhook of a person; its number and secret.
        func add(
            _ url: String, of person: String = "walker", as token: String? = nil, topics: String? = nil
        ) throws -> (id: Int64, secret: String) {
            let more = topics.map { #","topics":\#($0)"# } ?? ""
            let added = house.send(
                "POST", "/v1/people/\(person)/webhooks", as: token ?? walker, #"{"url":"\#(url)"\#(more)}"#)
            #expect(added.status == 201, "\(added.text)")
            let id = try #require(house.number(added["id"], .webhook, of: person))
            return (id, try #require(added["secret"]?.string))
        }

        /// Asks a question about the walker, which is posted under the topic `query`.
        func ask() {
            house.clock.advance(seconds: 600)
            house.send("POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late for dinner"}"#)
        }

        func webhook(_ id: Int64, of person: String = "walker") -> JSONValue? {
            house.manage("GET", "/v1/people/\(person)/webhooks").items.first { $0["id"]?.int == id }
        }

        /// Looks until the webhook is as wanted.
        func until(_ id: Int64, _ isGood: (JSONValue) -> Bool) throws -> JSONValue {
            try eventually("another state of the webhook") {
                let looked = try #require(webhook(id))
                return isGood(looked) ? looked : nil
            }
        }

        func letters(_ id: Int64) -> [JSONValue] {
            house.manage("GET", "/v1/people/walker/webhooks/\(id)/dead-letters").items
        }

        func walk() {
            let start = house.clock.seconds
            let fixes = (0..<30).map { step in
                let latitude = 48.2 + 0.0002 * Double(step)
                return #"{"timestamp":\#(start + Int64(step) * 15),"latitude":\#(latitude),"longitude":16.35,"#
                    + #""horizontalAccuracy":5}"#
            }
            house.clock.advance(seconds: 450)
            let sent = house.send("POST", "/v1/fixes", as: phone, #"{"fixes":[\#(fixes.joined(separator: ","))]}"#)
            #expect(sent["new"]?.int == 30)
        }
    }

    @Test func `each message is on record before it comes, in the order of events, and only once`() throws {
        let log = Monitor<EventLog?>(nil)
        let unrecorded = Monitor<[String]>([])
        let receiver = try WebhookReceiver { message, _ in
            let hash = SHA256().hash(message.body).bytes
            let events = (try? log.read { $0 }?.reader().events(after: 0, limit: 10_000)) ?? []
            let isOnRecord = events.contains { recorded, _ in
                guard case .locationRead(let read) = recorded.event else { return false }
                return read.content.content?.answerHash?.bytes == hash && read.verdict == .own
            }
            if !isOnRecord { unrecorded.change { $0.append(message.id) } }
            return .status(200)
        }
        let scene = try Scene(receiver)
        log.change { $0 = scene.house.service.log }
        let before = scene.house.service.log.head
        let (id, _) = try scene.add(
            "\(receiver.url)/in/box?key=1", topics: #"["change","query","end","crossing"]"#)
        scene.house.manage(
            "POST", "/v1/people/walker/regions",
            #"{"id":"gate","circle":{"latitude":48.202,"longitude":16.35,"radiusMeters":100}}"#)
        scene.ask()
        scene.walk()
        let told = receiver.until { $0.filter { $0.type == "crossing" }.count == 2 && $0.contains { $0.type == "end" } }
        #expect(told.allSatisfy { $0.path == "/in/box?key=1" && $0.headers["content-type"] == "application/json" })
        #expect(told.map(\.type).filter { $0 != "crossing" }.prefix(3) == ["change", "query", "end"])
        #expect(told.first?.json?["data"]?["event"]?.string == "RegionAdded")
        let numbers = told.compactMap { scene.house.number($0.number) }
        #expect(numbers.count == told.count && numbers == numbers.sorted() && numbers.allSatisfy { $0 > before })
        #expect(Set(told.map(\.id)).count == told.count)
        #expect(unrecorded.read { $0 } == [])
        // A posted message is not posted again, neither later nor after a restart.
        let settled = try scene.until(id) { ($0["told"]?.int ?? 0) >= numbers.max() ?? .max }
        #expect(settled["state"]?.string == "active")
        try scene.house.restart()
        log.change { $0 = scene.house.service.log }
        scene.ask()
        let after = receiver.until { $0.count > told.count }
        #expect(after[told.count].type == "query" && Set(after.map(\.id)).count == after.count)
        #expect(scene.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    /// The unchanged code of the HTTP page.
    @Test func `the signature is what the documented verification expects, and Python's hmac computes`() throws {
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver, clock: .running)
        let (_, secret) = try scene.add(receiver.url, topics: #"["query"]"#)
        scene.ask()
        let message = try #require(receiver.until { !$0.isEmpty }.first)
        let page = try String(
            contentsOfFile: Repository.root + "/Sources/Whereabouts/Documentation.docc/HTTP.md", encoding: .utf8)
        let snippet = try #require(
            page.components(separatedBy: "```python\n").last?.components(separatedBy: "```").first)
        try #require(snippet.contains("def verify"))
        func verdict(_ body: String, _ headers: [String: String], now: Int64) throws -> String {
            let given: [String: Any] = ["secret": secret, "headers": headers, "body": body, "now": now]
            return try Foreign.python(
                snippet
                    + """

                    import json, sys
                    given = json.load(sys.stdin)
                    print(verify(given["secret"], given["headers"], given["body"].encode(), given["now"]), end="")
                    """, input: String(decoding: JSONSerialization.data(withJSONObject: given), as: UTF8.self))
        }
        let body = String(decoding: message.body, as: UTF8.self)
        let now = try #require(message.headers["webhook-timestamp"].flatMap { Int64($0) })
        #expect(abs(now - scene.house.clock.seconds) < 3600)
        #expect(try verdict(body, message.headers, now: now) == "True")
        #expect(try verdict(body + " ", message.headers, now: now) == "False")
        #expect(try verdict(body, message.headers, now: now + 301) == "False")
        var another = message.headers
        another["webhook-id"] = "msg_1"
        #expect(try verdict(body, another, now: now) == "False")
    }

    /// github.com/standard-webhooks/standard-webhooks, the vector of its reference libraries' tests.
    @Test func `the signature of the published example is the published one`() throws {
        let key = try #require(Base64.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = WebhookMessage.signature(
            of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330,
            key: key)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `over https it is told to whom the named authority vouches for, and to nobody else`() throws {
        let receiver = try WebhookReceiver()
        let folder = TemporaryFolder()
        let credentials = try ["right", "wrong"].map { try PushStandInCredentials.make(in: folder.file($0)) }
        let front = try TLSFront(
            before: receiver.port, certificateFile: credentials[0].serverCertificateFile,
            keyFile: credentials[0].serverKeyFile)
        defer { withExtendedLifetime(front) {} }
        let url = "https://localhost:\(front.port)"
        let trusted = try Scene(targets: [url], trustFile: credentials[0].trustFile)
        let (id, _) = try trusted.add(url, topics: #"["query"]"#)
        trusted.ask()
        #expect(receiver.until { $0.count == 1 }.first?.type == "query")
        #expect(try trusted.until(id) { $0["told"]?.int ?? 0 > id }["state"]?.string == "active")
        let mistrusted = try Scene(targets: [url], trustFile: credentials[1].trustFile)
        let (other, _) = try mistrusted.add(url, topics: #"["query"]"#)
        mistrusted.ask()
        for tries in Int64(1)...2 {
            let webhook = try mistrusted.until(other) { $0["tries"]?.int == tries }
            #expect(webhook["state"]?.string == "retrying" && webhook["reason"]?.string == "tls")
            let next = try #require(webhook["nextTry"]?.double)
            mistrusted.house.clock.advance(seconds: Int64(next) - mistrusted.house.clock.seconds)
        }
        #expect(receiver.received.count == 1)
    }

    @Test func `what is not taken comes again under its id, later each time, and nothing overtakes it`() throws {
        let fault = Monitor(0)
        let receiver = try WebhookReceiver { _, _ in
            fault.change { fault in
                fault += 1
                switch fault {
                case 1: return .status(500)
                case 2: return .cut
                case 3: return .status(302, headers: ["Location: http://localhost:1/"])
                case 4: return .status(503, headers: ["Retry-After: 600"])
                case 5: return .endless
                default: return .status(204)
                }
            }
        }
        let scene = try Scene(receiver)
        let (id, _) = try scene.add(receiver.url, topics: #"["query"]"#)
        scene.ask()
        var pauses: [Double] = []
        for tries in Int64(1)...4 {
            let webhook = try scene.until(id) { $0["tries"]?.int == tries }
            #expect(webhook["state"]?.string == "retrying")
            #expect(webhook["status"]?.int == [500, nil, 302, 503][Int(tries) - 1])
            #expect(webhook["reason"]?.string == (tries == 2 ? "cut" : nil))
            let next = try #require(webhook["nextTry"]?.double)
            pauses.append(next - Double(scene.house.clock.seconds))
            // Another question, meanwhile; asking takes longer than the pause.
            if tries == 1 { scene.ask() } else { scene.house.clock.advance(seconds: Int64(pauses.last ?? 0)) }
        }
        // Half of it is left to chance; the receiver's own wish counts.
        #expect(zip(pauses, [5.0, 10, 20]).allSatisfy { $0 >= ($1 / 2).rounded(.down) && $0 <= $1 })
        #expect(pauses[3] == 600)
        let told = receiver.until { $0.count == 6 }
        #expect(Set(told.prefix(5).map(\.id)).count == 1 && told[5].id != told[4].id)
        #expect(Set(told.prefix(5).map(\.body)).count == 1)
        let numbers = told.compactMap { scene.house.number($0.number) }
        #expect(numbers == numbers.sorted())
        _ = try scene.until(id) { $0["state"]?.string == "active" && $0["told"]?.int ?? 0 >= numbers[5] }
    }

    @Test func `a target that is gone stops the webhook, and a retry that it takes sets it going again`() throws {
        let isGone = Monitor(true)
        let receiver = try WebhookReceiver { _, _ in .status(isGone.read { $0 } ? 410 : 200) }
        let scene = try Scene(receiver)
        let (id, _) = try scene.add(receiver.url, topics: #"["query"]"#)
        scene.ask()
        _ = try scene.until(id) { $0["state"]?.string == "stopped" }
        scene.ask()
        let letter = try #require(scene.letters(id).first)
        #expect(letter["status"]?.int == 410 && letter["tries"]?.int == 1)
        let letters = "/v1/people/walker/webhooks/\(id)/dead-letters"
        let number = try #require(letter["id"]?.int)
        // In vain: it stays where it is, also after a restart.
        #expect(scene.house.send("POST", "\(letters)/\(number)/retry", as: scene.walker).status == 202)
        #expect(
            receiver.until { $0.count == 2 }.map(\.id) == Array(repeating: letter["message"]?.string ?? "", count: 2))
        try scene.house.restart()
        #expect(scene.webhook(id)?["state"]?.string == "stopped" && scene.letters(id).count == 1)
        isGone.change { $0 = false }
        #expect(scene.house.send("POST", "\(letters)/\(number)/retry", as: scene.walker).status == 202)
        let told = receiver.until { $0.count == 4 }
        #expect(told[2].id == told[0].id && told[3].id != told[0].id)
        #expect(try scene.until(id) { $0["state"]?.string == "active" }["deadLetters"]?.int == 0)
        #expect(scene.house.send("POST", "\(letters)/\(number)/retry", as: scene.walker).status == 404)
    }

    @Test func `after a day of tries a message is given up, and the next ones come`() throws {
        let receiver = try WebhookReceiver { _, index in .status(index < 34 ? 500 : 200) }
        let scene = try Scene(receiver)
        let (id, _) = try scene.add(receiver.url, topics: #"["query"]"#)
        scene.ask()
        let start = scene.house.clock.seconds
        while scene.letters(id).isEmpty {
            let next = scene.webhook(id)?["nextTry"]?.double ?? 0
            let seconds = Int64(next.rounded(.up)) - scene.house.clock.seconds
            if seconds > 0 { scene.house.clock.advance(seconds: seconds) }
            _ = scene.house.service.log.waitForHead(after: scene.house.service.log.head, milliseconds: 5)
        }
        #expect((12 * 3600...25 * 3600).contains(scene.house.clock.seconds - start))
        scene.ask()
        let told = receiver.until { $0.count == 35 }
        #expect(Set(told.prefix(34).map(\.id)).count == 1 && told[34].id != told[0].id)
        let letter = try #require(scene.letters(id).first?["id"]?.int)
        #expect(
            scene.house.send(
                "DELETE", "/v1/people/walker/webhooks/\(id)/dead-letters/\(letter)", as: scene.walker
            ).status == 200)
        #expect(scene.letters(id).isEmpty)
        let audit = "/v1/people/walker/audit?at-least=\(scene.house.service.log.head)"
        let settings = scene.house.manage("GET", audit).items.filter { $0["kind"]?.string == "change" }
        #expect(settings.contains { $0["event"]?.string == "WebhookFailed" }, "\(settings)")
    }

    private struct TestFault: Error {}

    private func test(_ scene: Scene, _ id: Int64, as token: String? = nil, key: String? = nil) -> Answer {
        scene.house.send(
            "POST", "/v1/people/walker/webhooks/\(id)/test", as: token ?? scene.walker,
            headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    @Test func `a test is on record, holds nothing about the person, and is told to nobody else`() throws {
        let receiver = try WebhookReceiver(), other = try WebhookReceiver()
        let scene = try Scene(receiver, other)
        let (id, secret) = try scene.add(receiver.url, topics: #"["visit"]"#)
        _ = try scene.add(other.url)
        scene.walk()
        #expect(test(scene, id, as: scene.friend).status == 404)
        let asked = test(scene, id, key: "k-1")
        #expect(asked.status == 200, "\(asked.text)")
        let told = try #require(receiver.until { !$0.isEmpty }.first)
        #expect(told.type == "test" && told.json?["data"]?.members.map { Array($0).isEmpty } == true)
        // The signature is that of every message.
        let key = try #require(Base64.decode(Array(secret.dropFirst("whsec_".count).utf8)))
        let signed = WebhookMessage.signature(
            of: told.body, id: told.id, seconds: try #require(Int64(told.headers["webhook-timestamp"] ?? "")), key: key)
        #expect(told.headers["webhook-signature"] == signed)
        #expect(!String(decoding: told.body, as: UTF8.self).contains("48.2"))
        let listed = try scene.until(id) { $0["testOutcome"]?.string == "delivered" }
        #expect(listed["testedAt"]?.int == scene.house.clock.seconds && listed["state"]?.string == "active")
        // The request and the message are in the audit, in this order, before it left.
        let events = try scene.house.events()
        let hash = SHA256().hash(told.body).bytes
        let act = try #require(
            events.firstIndex { $0.event == .operatorActed(.testWebhook(WebhookID(rawValue: id))) })
        let read = events.firstIndex {
            guard case .locationRead(let read) = $0.event else { return false }
            return read.content.content?.answerHash?.bytes == hash && read.question == .live
        }
        #expect(read.map { $0 > act } == true)
        let audit = scene.house.manage("GET", "/v1/people/walker/audit?at-least=\(scene.house.service.log.head)")
        #expect(audit.items.contains { $0["event"]?.string == "OperatorActed" }, "\(audit.text)")
        // The same request with its key is the same test; a restart repeats nothing.
        #expect(test(scene, id, key: "k-1").text == asked.text)
        try scene.house.restart()
        #expect(scene.webhook(id)?["testOutcome"]?.string == "delivered")
        scene.ask()
        _ = other.until { $0.contains { $0.type == "query" } }
        #expect(receiver.received.count == 1)
        #expect(!other.received.contains { $0.type == "test" })
        #expect(
            !other.received.contains { String(decoding: $0.body, as: UTF8.self).contains("OperatorActed") })
    }

    @Test func `a test that its target refuses is tried again, shown with the reason, and given up as others are`()
        throws
    {
        let isGone = Monitor(true)
        let receiver = try WebhookReceiver { _, index in
            .status(index == 0 ? 503 : isGone.read { $0 } ? 410 : 200)
        }
        let scene = try Scene(receiver)
        let (id, _) = try scene.add(receiver.url, topics: #"["visit"]"#)
        #expect(test(scene, id).status == 200)
        let waiting = try scene.until(id) { $0["state"]?.string == "retrying" }
        #expect(waiting["testOutcome"]?.string == "waiting" && waiting["status"]?.int == 503)
        let second = test(scene, id)
        #expect(second.status == 422 && second.text.contains("not been accepted"), "\(second.text)")
        scene.house.clock.advance(seconds: 10)
        let given = try scene.until(id) { $0["testOutcome"]?.string == "givenUp" }
        #expect(given["state"]?.string == "stopped" && given["deadLetters"]?.int == 1)
        #expect(test(scene, id).text.contains("stopped"))
        let letter = try #require(scene.letters(id).first)
        #expect(letter["status"]?.int == 410)
        isGone.change { $0 = false }
        let path = "/v1/people/walker/webhooks/\(id)/dead-letters/\(letter["id"]?.int ?? 0)/retry"
        #expect(scene.house.send("POST", path, as: scene.walker).status == 202)
        _ = try scene.until(id) { $0["testOutcome"]?.string == "delivered" }
        #expect(Set(receiver.received.map(\.id)).count == 1)
        // Three at once; then the answer says how long to wait.
        for _ in 0..<2 {
            #expect(test(scene, id).status == 200)
            _ = try scene.until(id) { $0["testOutcome"]?.string == "delivered" }
        }
        let refused = test(scene, id)
        #expect(refused.status == 429 && refused.text.contains("3 test messages"), "\(refused.text)")
        let seconds = refused.header("Retry-After").flatMap { Int($0) } ?? 0
        #expect((1...600).contains(seconds))
        scene.house.clock.advance(seconds: Int64(seconds))
        #expect(test(scene, id).status == 200)
    }

    @Test func `a target that the operator no longer allows gets no test`() throws {
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver)
        let log = scene.house.service.log
        let walker = try #require(Handle("walker"))
        let caller = try #require(
            log.withStanding { standing in
                standing.tokens.all.lazy.map { id, token in
                    Caller(principal: token.issued.principal, scopes: token.issued.scopes, token: id)
                }.first { $0.principal == standing.person(walker)?.principal }
            })
        let target = WebhookTarget(url: "https://once-allowed.example/t", secret: [1])
        let added = try log.appendAndWait(
            .addWebhook(of: walker, target, .usual, NoticeTerms()), by: caller, correlation: .random())
        guard case .webhook(let webhook) = added.reply else { throw TestFault() }
        let id = webhook.rawValue
        let answer = test(scene, id)
        #expect(answer.status == 422 && answer.text.contains("no longer allows"), "\(answer.text)")
        #expect(test(scene, id, as: scene.friend).status == 404)
    }

    @Test func `who is silent holds up nobody else`() throws {
        let silent = try WebhookReceiver { _, _ in .silence }
        let receiver = try WebhookReceiver()
        let scene = try Scene(silent, receiver)
        _ = try scene.add(silent.url, topics: #"["query"]"#)
        _ = try scene.add(receiver.url, of: "friend", as: scene.friend, topics: #"["change"]"#)
        scene.ask()
        _ = silent.until { $0.count == 1 }
        for _ in 0..<3 {
            scene.house.manage("POST", "/v1/people/friend/pauses", "{}")
            scene.house.manage("DELETE", "/v1/people/friend/pauses")
        }
        #expect(Set(receiver.until { $0.count == 6 }.map(\.id)).count == 6)
        #expect(silent.received.count == 1)
    }

    @Test func `what a restart finds unsettled is told again under the same id, and nothing is lost`() throws {
        let isDown = Monitor(true)
        let receiver = try WebhookReceiver { _, _ in .status(isDown.read { $0 } ? 500 : 200) }
        let scene = try Scene(receiver)
        let (id, _) = try scene.add(receiver.url, topics: #"["query"]"#)
        for _ in 0..<3 { scene.ask() }
        // Each question moves the clock to the next try of the first.
        _ = try scene.until(id) { $0["tries"]?.int ?? 0 > 0 }
        let asked = try scene.house.events().filter { if case .locationQueried = $0.event { true } else { false } }
        try scene.house.restart { isDown.change { $0 = false } }
        let told = receiver.until { Set($0.map(\.id)).count == 3 }
        #expect(told.count > 3 && Set(told.dropLast(2).map(\.id)).count == 1)
        #expect(told.suffix(3).compactMap { scene.house.number($0.number) } == asked.map(\.number))
    }

    @Test func `only the person adds one, where the operator allows it, and it tells what the token may read`() throws {
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver, targets: ["https://10.1.2.3"])
        func add(_ url: String, as token: String, _ more: String = "") -> Int {
            scene.house.send("POST", "/v1/people/walker/webhooks", as: token, #"{"url":"\#(url)"\#(more)}"#).status
        }
        let asOperator = scene.house.operatorToken
        #expect(add(receiver.url, as: scene.friend) == 404 && add(receiver.url, as: asOperator) == 404)
        #expect(add(receiver.url, as: try scene.house.token(of: "walker", scopes: #"["manage","query"]"#)) == 404)
        #expect(add("https://elsewhere.example", as: scene.walker) == 422)
        #expect(
            add("https://user@10.1.2.3/", as: scene.walker) == 400 && add("ftp://10.1.2.3/", as: scene.walker) == 400)
        #expect(add(receiver.url, as: scene.walker, #","topics":["weather"]"#) == 400)
        // The service does not connect to a private address, even if the host name is allowed.
        let inside = try scene.add("https://10.1.2.3/", topics: #"["query"]"#)
        // Visits and crossings require the scope of asking.
        let token = try scene.house.token(of: "walker", scopes: #"["audit","manage"]"#)
        let audit = try scene.add(receiver.url, as: token)
        scene.house.manage(
            "POST", "/v1/people/walker/regions",
            #"{"id":"gate","circle":{"latitude":48.202,"longitude":16.35,"radiusMeters":100}}"#)
        scene.ask()
        scene.walk()
        #expect(try scene.until(inside.id) { $0["tries"] != nil }["reason"]?.string == "addressNotAllowed")
        let told = receiver.until { $0.contains { $0.type == "end" } }
        #expect(!told.contains { $0.type == "crossing" || $0.type == "visit" })
        // A token that holds no more takes its webhooks' voice.
        let tokens = scene.house.manage("GET", "/v1/people/walker/tokens").items.compactMap { $0["id"]?.int }
        let newest = try #require(tokens.max())
        #expect(scene.webhook(audit.id)?["token"]?.int == newest)
        scene.house.manage("DELETE", "/v1/tokens/\(newest)")
        let revoked = scene.house.service.log.head
        #expect(try scene.until(audit.id) { $0["state"]?.string == "silent" }["url"]?.string == "\(receiver.url)/")
        _ = try scene.add("\(receiver.url)/second", topics: #"["query"]"#)
        scene.ask()
        let all = receiver.until { $0.contains { $0.path == "/second" } }
        let silenced = all.filter { $0.path != "/second" }.compactMap { scene.house.number($0.number) }
        #expect(silenced.allSatisfy { $0 < revoked })
    }

    @Test func `webhooks are off until a target is allowed, and end with the person`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let off = house.send("POST", "/v1/people/walker/webhooks", as: walker, #"{"url":"https://example.org"}"#)
        #expect(off.status == 409, "\(off.text)")
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver)
        let (id, secret) = try scene.add(receiver.url)
        let key = try #require(Base64.decode(secret.dropFirst("whsec_".count)))
        #expect(key.count == 32)
        // Neither the list nor the log as it is shown has the secret.
        let shown =
            scene.house.manage("GET", "/v1/events?limit=1000").text
            + scene.house.manage("GET", "/v1/people/walker/webhooks").text
        #expect(!shown.contains(secret) && !shown.contains(Hex.encode(key)))
        #expect(
            scene.house.send("DELETE", "/v1/people/walker/webhooks/\(id)", as: scene.friend).status == 404)
        let other = try scene.add(receiver.url)
        #expect(scene.house.send("DELETE", "/v1/people/walker/webhooks/\(other.id)", as: scene.walker).status == 200)
        #expect(scene.webhook(other.id) == nil && scene.webhook(id) != nil)
        scene.house.manage("DELETE", "/v1/people/walker")
        #expect(scene.house.service.log.withStanding { $0.webhooks.all.isEmpty })
        #expect(scene.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }
}
