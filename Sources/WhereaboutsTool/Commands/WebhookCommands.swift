import JSON
import Log
import Replies
import Whereabouts

/// `webhook add|confirm|test|list|remove|letters|retry|discard`: a person's feed, handed to a server, an ntfy topic, an address
/// or Home Assistant.
enum WebhookCommands {
    private static let kind = Options.choice(
        "kind", NoticeKind.words,
        help: "how messages are delivered (default: webhook, signed JSON)")
    private static let url = Options.text(
        "url", "URL", help: "the server or ntfy topic, of an origin that the operator allows")
    private static let address = Options.text(
        "address", "ADDRESS", help: "the address to mail to; a code that is mailed there confirms it")
    private static let tokenFile = Options.text(
        "token-file", "FILE", help: "the access token of the ntfy server, in the first line of this file")
    private static let priority = Options.number(
        "priority", "N", in: 1...5, help: "the ntfy priority; 5 is most urgent (default: as urgent as its topic)")
    private static let detailedTitle = Option.flag(
        "detailed-title", help: "put the details in the title, which lock screens show")
    private static let silentAfter = Options.duration(
        "silent-after", help: "the topic silence: a phone has sent no location for this long, 15m to 30d")
    private static let topics = Options.text(
        "topics", "WORDS",
        help: "what to post, for example visit,crossing,query (default: all)")
    private static let language = Options.choice(
        "language", NoticeWording.Language.words, help: "the language of texts by ntfy and mail (default: en)")
    private static let zone = Options.text(
        "zone", "ZONE",
        help: "the time zone of texts, such as Europe/Vienna (default: of each place)")
    private static let code = Options.text("code", "CODE", help: "the code in the mail, for example H7QKM-29XTD")
    private static let letter = Options.name("letter", "NUMBER", help: "only this message")

    static let all = [
        Command(
            words: ["webhook", "add"],
            summary: "Hand a person's feed to a server, an ntfy topic, an address or Home Assistant.",
            requires: [Options.person],
            accepts: [
                kind, url, address, tokenFile, priority, detailedTitle, topics, silentAfter, language, zone,
                Options.json,
            ],
            details: """
                For example: "webhook add --person anna --kind ntfy --url https://ntfy.example.org/annas-phone --topics
                crossing,silence --silent-after 6h".

                A webhook uses a token of the person's, which this command issues; it stops when the token is revoked. The
                signing secret is shown only once. Each message is recorded as a read before it leaves.
                """, run: add),
        Command(
            words: ["webhook", "confirm"], summary: "Confirm a webhook's address with the code that was mailed to it.",
            operands: .one("NUMBER"), requires: [Options.person, code], accepts: [Options.json], run: confirm),
        Command(
            words: ["webhook", "test"],
            summary: "Send a test message, which holds nothing about the person.",
            operands: .one("NUMBER"), requires: [Options.person], accepts: [Options.json], run: test),
        Command(
            words: ["webhook", "list"], summary: "List a person's webhooks and their state (recorded as a read).",
            requires: [Options.person], accepts: [Options.purpose, Options.json], run: list),
        Command(
            words: ["webhook", "remove"], summary: "Remove a webhook and its unsent messages.",
            operands: .one("NUMBER"), requires: [Options.person], accepts: [Options.json], run: remove),
        Command(
            words: ["webhook", "letters"], summary: "List the messages that a webhook gave up on (recorded as a read).",
            operands: .one("NUMBER"), requires: [Options.person], accepts: [Options.purpose, Options.json],
            run: letters),
        Command(
            words: ["webhook", "retry"], summary: "Post messages again that a webhook gave up on.",
            operands: .one("NUMBER"), requires: [Options.person], accepts: [letter],
            run: { (invocation) throws(ToolError) in
                let count = try forEachLetter(invocation) { client, path throws(ToolError) in
                    _ = try client.post(path + ["retry"])
                }
                invocation.console.line(
                    "\(Text.count(count)) sent again; \"webhook letters\" lists those that fail again.")
            }),
        Command(
            words: ["webhook", "discard"], summary: "Discard messages that a webhook gave up on.",
            operands: .one("NUMBER"), requires: [Options.person], accepts: [letter],
            run: { (invocation) throws(ToolError) in
                let count = try forEachLetter(invocation) { client, path throws(ToolError) in
                    _ = try client.delete(path)
                }
                invocation.console.line("Discarded \(Text.count(count)).")
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var accessToken: String?
        if let path = invocation[tokenFile] {
            guard let line = DataDirectory.read(path, atMost: 4096)?.prefix(while: { $0 >= 0x20 }), !line.isEmpty else {
                throw .data("\(path) cannot be read, or has no token in its first line.")
            }
            accessToken = String(decoding: line, as: UTF8.self)
        }
        var words = invocation[topics]?.split(separator: ",").map(String.init)
        let silence = FeedTopics.silence.words[0]
        if invocation[silentAfter] != nil, let given = words, !given.contains(silence) { words = given + [silence] }
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            let (made, token) = try client.endowing(person, scopes: ["query", "audit", "manage"]) {
                (holder, token) throws(ToolError) in
                let made = try holder.post(APIPath.peopleWebhooks.parts(person.text)) { body in
                    body.field("kind", invocation[kind])
                    body.field("url", invocation[url])
                    body.field("address", invocation[address])
                    body.field("token", accessToken)
                    body.field("priority", invocation[priority])
                    body.field("detailedTitle", invocation.has(detailedTitle) ? true : nil)
                    body.field("silentAfter", invocation[silentAfter])
                    body.field("language", invocation[language])
                    body.field("zone", invocation[zone])
                    guard let words else { return }
                    body.array("topics") { array in
                        for word in words { array.value(word) }
                    }
                }
                return (try made.read(Recorded<MadeWebhook>.self), token)
            }
            // The person's list has references; the operator uses numbers.
            let webhooks = try client.all(WebhookItem.self, APIPath.peopleWebhooks.parts(person.text))
            var webhook = made
            if let own = webhooks.first(where: { $0.token.text == token }) { webhook.made.id = own.id }
            return webhook
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.bytes + [UInt8(ascii: "\n")]) }
        let made = answer.made
        invocation.console.line("Added the webhook \(made.id.text) of \(person.text).")
        if let secret = made.secret { invocation.console.line("Its secret, shown this once: \(secret)") }
        if let address = invocation[address] {
            invocation.console.line(
                "A code was mailed to \(address); within a day, \"webhook confirm \(made.id.text) --person \(person.text) --code CODE\" begins the messages."
            )
        }
    }

    private static func confirm(_ invocation: Invocation) throws(ToolError) {
        let number = try invocation.number()
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(
                APIPath.peopleWebhooksConfirmation.parts(invocation.required(Options.person).text, number)
            ) { body in body.field("code", invocation.required(code)) }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("Confirmed; the messages of the webhook \(number) begin now.")
    }

    private static func test(_ invocation: Invocation) throws(ToolError) {
        let (number, person) = (try invocation.number(), invocation.required(Options.person).text)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleWebhooksTest.parts(person, number))
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line(
            "A test message follows the messages that wait; \"webhook list --person \(person)\" shows whether it arrived."
        )
    }

    /// The person may use the token elsewhere too, so removing a webhook names it and leaves the decision to the
    /// person.
    private static func remove(_ invocation: Invocation) throws(ToolError) {
        let (number, webhooks) = (
            try invocation.number(), APIPath.peopleWebhooks.parts(invocation.required(Options.person).text)
        )
        let (answer, token) = try House.withClient(invocation) { client throws(ToolError) in
            var token: String?
            for item in try client.items(webhooks) {
                let webhook = try item.read(WebhookItem.self)
                if webhook.id.text == number { token = webhook.token.text }
            }
            return (try client.delete(webhooks + [number]), token)
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("Removed the webhook \(number).")
        guard let token else { return }
        invocation.console.line(
            "Its token \(token) is still valid; \"token remove \(token)\" revokes it.")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let webhooks = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleWebhooks.parts(person.text))
        }
        let table = Table(">NUMBER", "KIND", "STATE", ">TOLD", ">GIVEN UP", ">TRIES", "LAST", "NEXT TRY", "TEST", "URL")
        let sentence = "\(person.text) has no webhook."
        try invocation.show(webhooks, as: "webhooks", in: table, orElse: sentence) { (webhook: WebhookItem) in
            [
                webhook.id.text, webhook.kind, webhook.state, webhook.told.text, "\(webhook.deadLetters)",
                text(webhook.tries),
                outcome(webhook.status, webhook.reason), webhook.nextTry.map { ReadCommands.time($0) } ?? "",
                webhook.testOutcome ?? "",
                webhook.url ?? "",
            ]
        }
    }

    private static func letters(_ invocation: Invocation) throws(ToolError) {
        let (person, webhook) = (invocation.required(Options.person), try invocation.number())
        let letters = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleWebhooksDeadLetters.parts(person.text, webhook))
        }
        let table = Table(">LETTER", "GIVEN UP", ">TRIES", "LAST", "MESSAGE")
        let sentence = "The webhook \(webhook) has given up no message."
        try invocation.show(letters, as: "letters", in: table, orElse: sentence) { (letter: DeadLetterItem) in
            [
                letter.id.text, letter.failedAt.map { ReadCommands.time($0) } ?? "", text(letter.tries),
                outcome(letter.status, letter.reason), letter.message,
            ]
        }
    }

    /// Calls `body` with the path of each given-up message, or of the named one; returns their number.
    private static func forEachLetter(
        _ invocation: Invocation, _ body: (Client, [String]) throws(ToolError) -> Void
    ) throws(ToolError) -> Int {
        let path = APIPath.peopleWebhooksDeadLetters.parts(
            invocation.required(Options.person).text, try invocation.number())
        return try House.withClient(invocation) { client throws(ToolError) in
            var ids: [String] = []
            if let id = invocation[letter] {
                ids = [id]
            } else {
                for item in try client.items(path) { ids.append(try item.read(DeadLetterItem.self).id.text) }
            }
            for id in ids { try body(client, path + [id]) }
            return ids.count
        }
    }

    private static func text(_ number: Int64?) -> String { number.map { "\($0)" } ?? "" }

    /// The status of the target's answer, or why there was none.
    private static func outcome(_ status: Int64?, _ reason: String?) -> String {
        status.map { "\($0)" } ?? reason ?? ""
    }
}
