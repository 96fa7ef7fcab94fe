import Cryptography
import JSON
import Posting
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Log
@testable import Reactors
@testable import Service

/// Notices: the messages of webhooks for people, each recorded before it is sent.
@Suite struct NoticeStoryTests {
    private struct Scene {
        let house: ServiceUnderTest
        let walker, friend, phone: String

        init(_ receivers: WebhookReceiver..., mail: ServiceConfiguration.Mail? = nil) throws {
            let origins = receivers.compactMap { Origin($0.url) }
            house = try ServiceUnderTest {
                if !origins.isEmpty { $0.webhooks = .init(targets: origins) }
                $0.mail = mail
            }
            walker = try house.addPerson("walker")
            friend = try house.addPerson("friend")
            phone = try house.addDevice("walker-phone", of: "walker")
            try house.grant("walker", to: "friend")
        }

        func add(_ body: String) -> Answer { house.send("POST", "/v1/people/walker/webhooks", as: walker, body) }

        /// Adds one; its number.
        func added(_ body: String) throws -> Int64 {
            let added = add(body)
            #expect(added.status == 201, "\(added.text)")
            return try #require(house.number(added["id"], .webhook, of: "walker"))
        }

        func ask(_ purpose: String = "late for dinner") {
            house.clock.advance(seconds: 600)
            house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"\#(purpose)"}"#)
        }

        func report() {
            let sent = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"fixes":[{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.35,"#
                    + #""horizontalAccuracy":5}]}"#)
            #expect(sent["new"]?.int == 1)
        }

        func webhook(_ id: Int64) -> JSONValue? {
            house.manage("GET", "/v1/people/walker/webhooks").items.first { $0["id"]?.int == id }
        }

        func until(_ id: Int64, _ isGood: (JSONValue) -> Bool) throws -> JSONValue {
            try eventually("another state of the webhook") {
                let looked = try #require(webhook(id))
                return isGood(looked) ? looked : nil
            }
        }

        func confirm(_ id: Int64, _ code: String, as token: String? = nil) -> Int {
            house.send(
                "POST", "/v1/people/walker/webhooks/\(id)/confirmation", as: token ?? walker, #"{"code":"\#(code)"}"#
            ).status
        }

        func test(_ id: Int64) -> Answer {
            house.send("POST", "/v1/people/walker/webhooks/\(id)/test", as: walker)
        }

        /// Whether a read of these bytes is on record.
        func isOnRecord(_ bytes: [UInt8]) throws -> Bool {
            let hash = SHA256().hash(bytes).bytes
            return try house.events().contains { recorded in
                guard case .locationRead(let read) = recorded.event else { return false }
                return read.content.content?.answerHash?.bytes == hash && read.verdict == .own
            }
        }
    }

    // MARK: ntfy

    @Test func `an ntfy topic gets a text with title, priority and token, and the text is on record`() throws {
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver)
        let id = try scene.added(
            #"{"kind":"ntfy","url":"\#(receiver.url)/annas-topic","token":"tk_secret","priority":5,"topics":["query"]}"#
        )
        scene.ask("is it\\r\\nPriority: 1\\nyou?")
        let told = try #require(receiver.until { !$0.isEmpty }.first)
        #expect(told.path == "/annas-topic")
        #expect(told.headers["title"] == "A question about your location" && told.headers["priority"] == "5")
        #expect(told.headers["tags"] == "question" && told.headers["authorization"] == "Bearer tk_secret")
        #expect(told.headers["content-type"] == "text/plain; charset=utf-8")
        // Nothing that another person wrote makes a line.
        #expect(String(decoding: told.body, as: UTF8.self) == "friend asks where you are: is it  Priority: 1 you?.")
        #expect(try scene.isOnRecord(told.body))
        let listed = try scene.until(id) { $0["told"]?.int ?? 0 > id }
        #expect(listed["kind"]?.string == "ntfy" && listed["state"]?.string == "active")
        // Neither the list nor the log as it is shown has the token.
        let shown = scene.house.manage("GET", "/v1/events?limit=1000").text
        #expect(!shown.contains("tk_secret") && !shown.contains(Hex.encode(Array("tk_secret".utf8))))
        #expect(!scene.house.manage("GET", "/v1/people/walker/webhooks").text.contains("tk_secret"))
    }

    @Test func `a test comes to an ntfy topic, after the messages that wait`() throws {
        let receiver = try WebhookReceiver { _, index in .status(index == 0 ? 500 : 200) }
        let scene = try Scene(receiver)
        let id = try scene.added(#"{"kind":"ntfy","url":"\#(receiver.url)/t","topics":["query"],"detailedTitle":true}"#)
        scene.ask()
        _ = try scene.until(id) { $0["state"]?.string == "retrying" }
        #expect(scene.test(id).status == 200)
        scene.house.clock.advance(seconds: 10)
        let told = receiver.until { $0.count == 3 }
        #expect(told[1].headers["tags"] == "question" && told[2].headers["tags"] == "white_check_mark")
        #expect(told[2].headers["title"] == "This is a test: notices arrive here.")
        #expect(try scene.isOnRecord(told[2].body))
    }

    @Test func `a title with detail is one line of ASCII, whatever the names are`() throws {
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver)
        _ = try scene.added(
            #"{"kind":"ntfy","url":"\#(receiver.url)/t","detailedTitle":true,"topics":["query"]}"#)
        scene.ask("Grüße aus Tōkyō")
        let told = try #require(receiver.until { !$0.isEmpty }.first)
        let title = try #require(told.headers["title"])
        #expect(title.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        let read = try Foreign.python(
            "import email.header, sys; print(email.header.make_header(email.header.decode_header(sys.stdin.read())), end='')",
            input: title)
        #expect(read == "friend asks where you are: Grüße aus Tōkyō.")
        #expect(told.headers["authorization"] == nil && told.headers["priority"] == "3")
    }

    @Test func `a notice is in the person's language and zone, or in the zone of the place`() throws {
        let (own, placed) = (try WebhookReceiver(), try WebhookReceiver())
        let scene = try Scene(own, placed)
        let id = try scene.added(
            #"{"kind":"ntfy","url":"\#(own.url)/t","topics":["crossing"],"language":"de","zone":"America/New_York"}"#)
        let other = try scene.added(#"{"kind":"ntfy","url":"\#(placed.url)/t","topics":["crossing"]}"#)
        scene.house.send(
            "POST", "/v1/people/walker/regions", as: scene.walker,
            #"{"id":"school","circle":{"latitude":48.2,"longitude":16.35,"radiusMeters":100}}"#)
        let start = scene.house.clock.seconds
        let fixes = (0..<20).map { step in
            let latitude = step < 10 ? 48.21 : 48.2
            return
                #"{"timestamp":\#(start + Int64(step) * 60),"latitude":\#(latitude),"longitude":16.35,"horizontalAccuracy":5}"#
        }
        scene.house.clock.advance(seconds: 1200)
        #expect(
            scene.house.send("POST", "/v1/fixes", as: scene.phone, #"{"fixes":[\#(fixes.joined(separator: ","))]}"#)[
                "new"]?.int == 20)
        let german = String(decoding: try #require(own.until { !$0.isEmpty }.first).body, as: UTF8.self)
        let english = String(decoding: try #require(placed.until { !$0.isEmpty }.first).body, as: UTF8.self)
        #expect(german.contains(#/^Zone betreten am \d+\.\d+\.\d{4} um \d\d:\d\d E[SD]T: school\.$/#), "\(german)")
        #expect(english.contains(#/^Entered school at \d{4}-\d\d-\d\d \d\d:\d\d CES?T\.$/#), "\(english)")
        let title = try #require(own.received.first?.headers["title"])
        #expect(title == "Eine Zone wurde betreten oder verlassen")
        #expect(try scene.isOnRecord(Array(german.utf8)) && scene.isOnRecord(Array(english.utf8)))
        let listed = try #require(scene.webhook(id))
        #expect(listed["language"]?.string == "de" && listed["zone"]?.string == "America/New_York")
        #expect(scene.webhook(other)?["language"]?.string == "en" && scene.webhook(other)?["zone"] == nil)
        // The zone says where someone lives: it is sealed.
        #expect(!scene.house.manage("GET", "/v1/events?limit=1000").text.contains("New_York"))
    }

    @Test func `a server that refuses is tried again, then given up, and the letter is posted again as text`() throws {
        let receiver = try WebhookReceiver { _, index in .status(index == 0 ? 410 : 200) }
        let scene = try Scene(receiver)
        let id = try scene.added(#"{"kind":"ntfy","url":"\#(receiver.url)/t","topics":["query"]}"#)
        scene.ask()
        _ = try scene.until(id) { $0["state"]?.string == "stopped" }
        let letters = "/v1/people/walker/webhooks/\(id)/dead-letters"
        let letter = try #require(scene.house.manage("GET", letters).items.first?["id"]?.int)
        #expect(scene.house.send("POST", "\(letters)/\(letter)/retry", as: scene.walker).status == 202)
        let told = receiver.until { $0.count == 2 }
        #expect(told[1].body == told[0].body && told[1].headers["title"] == told[0].headers["title"])
        #expect(try scene.until(id) { $0["state"]?.string == "active" }["deadLetters"]?.int == 0)
    }

    @Test func `what does not belong together is refused with a sentence that says what to do`() throws {
        let receiver = try WebhookReceiver()
        let scene = try Scene(receiver)
        for (body, status, word) in [
            (#"{"kind":"pager","url":"\#(receiver.url)"}"#, 400, "\"kind\""),
            (#"{"kind":"ntfy"}"#, 422, "\"url\""),
            (#"{"url":"\#(receiver.url)","priority":3}"#, 422, "\"priority\""),
            (#"{"kind":"ntfy","url":"\#(receiver.url)","priority":6}"#, 400, "\"priority\""),
            (#"{"kind":"ntfy","url":"\#(receiver.url)","token":"a b"}"#, 422, "\"token\""),
            (#"{"kind":"ntfy","url":"\#(receiver.url)","token":"a\r\nX: y"}"#, 422, "\"token\""),
            (#"{"kind":"ntfy","url":"https://elsewhere.example/t"}"#, 422, "not allowed"),
            (#"{"url":"\#(receiver.url)","topics":["silence"]}"#, 422, "\"silentAfter\""),
            (#"{"url":"\#(receiver.url)","topics":["query"],"silentAfter":3600}"#, 422, "\"silentAfter\""),
            (#"{"url":"\#(receiver.url)","silentAfter":899}"#, 400, "900"),
            (#"{"url":"\#(receiver.url)","silentAfter":2592001}"#, 400, "2592000"),
            (#"{"kind":"email","address":"anna@example.org"}"#, 409, "relay"),
            (#"{"kind":"homeAssistant"}"#, 409, "broker"),
            (#"{"kind":"ntfy","url":"\#(receiver.url)/t","language":"fr"}"#, 400, "en, de"),
            (#"{"kind":"ntfy","url":"\#(receiver.url)/t","zone":"Europe/Atlantis"}"#, 422, "Europe/Vienna"),
            (#"{"kind":"ntfy","url":"\#(receiver.url)/t","zone":"../../etc/passwd"}"#, 422, "\"zone\""),
            (#"{"url":"\#(receiver.url)/t","language":"de"}"#, 422, "\"language\""),
            (#"{"kind":"homeAssistant","zone":"Europe/Vienna"}"#, 422, "\"zone\""),
        ] {
            let answer = scene.add(body)
            #expect(
                answer.status == status && answer.text.contains(word.replacing("\"", with: "\\\"")),
                "\(body): \(answer.text)")
        }
    }

    // MARK: Silence

    @Test func `a silent phone is told once for each length, also after a restart, until it reports again`() throws {
        let (short, long) = (try WebhookReceiver(), try WebhookReceiver())
        let scene = try Scene(short, long)
        _ = try scene.added(#"{"kind":"ntfy","url":"\#(short.url)/t","topics":["silence"],"silentAfter":900}"#)
        _ = try scene.added(#"{"url":"\#(long.url)","topics":["silence"],"silentAfter":7200}"#)
        scene.report()
        let since = scene.house.clock.seconds
        scene.house.clock.advance(seconds: 1000)
        let first = try #require(short.until { !$0.isEmpty }.first)
        #expect(String(decoding: first.body, as: UTF8.self).hasPrefix("walker-phone has sent no location for 15 min"))
        #expect(first.headers["title"] == "A phone is silent" && first.headers["priority"] == "4")
        try scene.house.restart { scene.house.clock.advance(seconds: 10_000) }
        let later = try #require(long.until { !$0.isEmpty }.first)
        #expect(later.type == "silence" && later.json?["data"]?["device"]?.string == "walker-phone")
        #expect(later.json?["data"]?["after"]?.int == 7200)
        #expect(later.json?["data"]?["since"]?.double.map { Int64($0) } == since)
        // The next silence is another one.
        scene.report()
        scene.house.clock.advance(seconds: 1000)
        #expect(short.until { $0.count == 2 }.count == 2)
        #expect(long.received.count == 1)
        let silences = try scene.house.events().filter { recorded in
            if case .phoneFellSilent = recorded.event { true } else { false }
        }
        #expect(silences.count == 3)
        // The audit shows them.
        let audit = scene.house.manage(
            "GET", "/v1/people/walker/audit?at-least=\(scene.house.service.log.head)")
        #expect(audit.items.count { $0["event"]?.string == "PhoneFellSilent" } == 3, "\(audit.text)")
    }

    // MARK: Mail

    @Test(
        .enabled(if: RunningRelay.isInstalled, "aiosmtpd is not installed"),
        arguments: [
            (MailRelay.Security.none, ""), (.none, "house"), (.startTLS, "house"), (.tls, "house"),
        ])
    func `mail comes to a confirmed address, one for each event, without names in its subject`(
        security: MailRelay.Security, user: String
    ) throws {
        let relay = try RunningRelay(security, user: user)
        let scene = try Scene(mail: relay.setting())
        let id = try scene.added(#"{"kind":"email","address":"walker@example.org","topics":["query"]}"#)
        let offer = try #require(relay.until(1).first)
        #expect(offer.recipients == ["walker@example.org"] && offer.subject == "Confirm this address")
        #expect(offer.json["encrypted"]?.bool == (security != .none))
        #expect(offer.json["user"]?.string == (user.isEmpty ? nil : user))
        #expect(try scene.until(id) { $0["told"]?.int == id }["state"]?.string == "unconfirmed")
        let early = scene.test(id)
        #expect(early.status == 422 && early.text.contains("not confirmed"), "\(early.text)")
        // What happens before the confirmation is not mailed, neither now nor later.
        scene.ask("too early")
        let code = try #require(offer.text.firstMatch(of: #/[A-Z0-9]{5}-[A-Z0-9]{5}/#)).output
        #expect(scene.confirm(id, "AAAAA-AAAAA") == 422 && scene.confirm(id, String(code), as: scene.friend) == 404)
        #expect(scene.confirm(id, code.lowercased().replacing("-", with: " ")) == 200)
        scene.ask("dinner")
        scene.ask("supper")
        let mails = try relay.until(3)
        #expect(mails.count == 3)
        let mail = mails[1]
        #expect(mail.text.replacing("\r\n", with: "\n") == "friend asks where you are: dinner.\n")
        #expect(mail.subject == "Notice from Whereabouts")
        #expect(mail.headers(named: "from") == ["Whereabouts <whereabouts@example.org>"])
        #expect(
            mail.headers(named: "to") == ["walker@example.org"] || mail.headers(named: "to") == ["<walker@example.org>"]
        )
        #expect(mail.headers(named: "auto-submitted") == ["auto-generated"])
        #expect(
            mail.json["defects"]?.array.map { Array($0).isEmpty } == true && (mail.json["longest"]?.int ?? 999) <= 78)
        #expect(mail.json["date"]?.double.map { abs($0 - Double(scene.house.clock.seconds)) < 2000 } == true)
        #expect(Set(mails.map { $0.json["id"]?.string }).count == 3)
        #expect(try scene.isOnRecord(Array("friend asks where you are: dinner.".utf8)))
        #expect(try scene.isOnRecord(Array("friend asks where you are: too early.".utf8)) == false)
        #expect(try scene.until(id) { $0["state"]?.string == "active" }["url"]?.string == "mailto:walker@example.org")
        #expect(scene.test(id).status == 200)
        #expect(try relay.until(4)[3].text.replacing("\r\n", with: "\n") == "This is a test: notices arrive here.\n")
        #expect(try scene.isOnRecord(Array("This is a test: notices arrive here.".utf8)))
    }

    @Test(.enabled(if: RunningRelay.isInstalled, "aiosmtpd is not installed"))
    func `a mail in German has German subjects, a German code and umlauts`() throws {
        let relay = try RunningRelay()
        let scene = try Scene(mail: relay.setting())
        let id = try scene.added(
            #"{"kind":"email","address":"walker@example.org","topics":["change"],"language":"de","zone":"Europe/Vienna"}"#
        )
        let offer = try #require(relay.until(1).first)
        #expect(offer.subject == "Diese Adresse bestätigen" && offer.text.contains("walker möchte"))
        let code = try #require(offer.text.firstMatch(of: #/[A-Z0-9]{5}-[A-Z0-9]{5}/#)).output
        #expect(scene.confirm(id, String(code)) == 200)
        #expect(scene.test(id).status == 200)
        let mail = try #require(relay.until(2).last)
        #expect(mail.subject == "Benachrichtigung von Whereabouts")
        #expect(mail.text.hasPrefix("Das ist ein Test: Benachrichtigungen kommen hier an."))
    }

    @Test(.enabled(if: RunningRelay.isInstalled, "aiosmtpd is not installed"))
    func `no purpose and no address makes a header, a recipient or an end of the mail`() throws {
        let relay = try RunningRelay()
        let scene = try Scene(mail: relay.setting())
        for address in [
            "walker", "@example.org", "walker@", "a@b@example.org", "walker@example.org,eve@example.org",
            #"walker@example.org\r\nRCPT TO:<eve@example.org>"#, "walker @example.org", #"\"a b\"@example.org"#,
            "<walker@example.org>", "walker@example.org> NOTIFY=SUCCESS", "walker@[127.0.0.1]", "w..w@example.org",
            "wälker@example.org", "walker@-example.org", String(repeating: "w", count: 65) + "@example.org",
            "w@" + String(repeating: "e.", count: 130) + "org",
        ] {
            #expect(scene.add(#"{"kind":"email","address":"\#(address)"}"#).status == 422, "\(address)")
        }
        let id = try scene.added(
            #"{"kind":"email","address":"walker+x@example.org","topics":["query"],"detailedTitle":true}"#)
        let code = try #require(relay.until(1)[0].text.firstMatch(of: #/[A-Z0-9]{5}-[A-Z0-9]{5}/#)).output
        #expect(scene.confirm(id, String(code)) == 200)
        scene.ask(#"x\r\nBcc: eve@example.org\r\n\r\n.\r\nMAIL FROM:<a@b.c>\r\nGrüße"#)
        let mail = try #require(relay.until(2).last)
        #expect(mail.recipients == ["walker+x@example.org"] && mail.headers(named: "bcc").isEmpty)
        #expect(mail.subject.hasPrefix("friend asks where you are: x  Bcc: eve@example.org"))
        #expect(mail.text.contains("MAIL FROM") && mail.text.contains("Grüße"))
        // One character of 981 bytes: the relay takes no line of more than 998.
        scene.ask("e" + String(repeating: "\u{301}", count: 490))
        let marked = try #require(relay.until(3).last)
        #expect(marked.subject.unicodeScalars.starts(with: "friend asks where you are: e\u{301}\u{301}".unicodeScalars))
    }

    @Test(.enabled(if: RunningRelay.isInstalled, "aiosmtpd is not installed"))
    func `an address that the relay refuses is given up at once, one that it cannot take now is tried again`() throws {
        let relay = try RunningRelay()
        let scene = try Scene(mail: relay.setting())
        let refused = try scene.added(#"{"kind":"email","address":"refused@example.org"}"#)
        let given = try scene.until(refused) { $0["deadLetters"]?.int == 1 }
        #expect(given["state"]?.string == "unconfirmed")
        let letters = scene.house.manage("GET", "/v1/people/walker/webhooks/\(refused)/dead-letters").items
        #expect(letters.first?["status"]?.int == 550 && letters.first?["tries"]?.int == 1)
        let later = try scene.added(#"{"kind":"email","address":"later@example.org"}"#)
        let waiting = try scene.until(later) { $0["tries"]?.int == 1 }
        #expect(waiting["state"]?.string == "retrying" && waiting["status"]?.int == 451)
        // A person can add a few addresses a day, so that codes do not flood a mailbox.
        for number in 3...Limits.codesPerDay.person {
            let id = try scene.added(#"{"kind":"email","address":"walker@example.org"}"#)
            scene.house.send("DELETE", "/v1/people/walker/webhooks/\(id)", as: scene.walker)
            #expect(number <= Limits.codesPerDay.person)
        }
        #expect(scene.add(#"{"kind":"email","address":"walker@example.org"}"#).status == 429)
    }

    @Test(.enabled(if: RunningRelay.isInstalled, "aiosmtpd is not installed"))
    func `an address that a session of the page adds gets its code, though the webhook may only read`() throws {
        let relay = try RunningRelay()
        let scene = try Scene(mail: relay.setting())
        let browser = SessionStoryTests.Browser(scene.house)
        browser.signIn(token: scene.walker)
        let added = browser.send(
            "POST", "/v1/people/walker/webhooks", #"{"kind":"email","address":"walker@example.org"}"#)
        #expect(added.status == 201, "\(added.text)")
        let mail = try #require(relay.until(1).first)
        #expect(mail.text.contains(#/[A-Z0-9]{5}-[A-Z0-9]{5}/#))
    }

    @Test(.enabled(if: RunningRelay.isInstalled, "aiosmtpd is not installed"))
    func `nothing is sent to a relay that is not the named one, or without its password`() throws {
        let relay = try RunningRelay(.startTLS, user: "house")
        let mistrusting = try Scene(mail: relay.setting(trustsIt: false))
        let id = try mistrusting.added(#"{"kind":"email","address":"walker@example.org"}"#)
        #expect(try mistrusting.until(id) { $0["tries"]?.int == 1 }["reason"]?.string == "tls")
        let wrong = try Scene(mail: relay.setting(password: "wrong"))
        let other = try wrong.added(#"{"kind":"email","address":"walker@example.org"}"#)
        #expect(try wrong.until(other) { $0["tries"]?.int == 1 }["status"]?.int == 535)
        #expect(relay.received.isEmpty)
    }
}
