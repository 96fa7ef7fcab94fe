import JSON
import Replies
import Whereabouts

/// `token add|list|remove`.
enum TokenCommands {
    private static let scopes = Option<[String]>(
        name: "scopes", placeholder: "LIST", help: "some of query,audit,manage (default: query,audit)",
        form: "some of query, audit and manage, separated by commas",
        read: { text in
            let words = text.split(separator: ",").map(String.init)
            return !words.isEmpty && words.allSatisfy { ["query", "audit", "manage"].contains($0) } ? words : nil
        })

    private static let auditor = Option.flag(
        "auditor", help: "of an auditor, who checks the log with scripts/audit_house.py")

    static let all = [
        Command(
            words: ["token", "add"], summary: "Issue an access token to a person, or a reporting key to a device.",
            accepts: [
                Options.person, Options.device, auditor, scopes,
                Options.time("until", help: "valid until this time (default: until removed)"), Options.json,
            ],
            details: """
                With --person: a token for the person's app. Its scopes allow it to ask where people are (query), to read
                who asked (audit), and to change grants, devices and regions (manage). With --device: another reporting key.
                With --auditor: a token for someone who checks that the log is whole. It reads hashes and the clear columns
                of events (who did something about whom and when, by numbers), and nothing else.
                The secret is shown only once.

                \(Options.timesHelp)
                """, run: add),
        Command(
            words: ["token", "list"], summary: "List the tokens of a person or of auditors, without the secrets.",
            accepts: [Options.person, auditor, Options.json],
            run: list),
        Command(
            words: ["token", "remove"], summary: "Revoke a token at once.", operands: .one("NUMBER"),
            accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the token \(number)", APIPath.token.parts(number))
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let answer: JSONValue
        if invocation.has(auditor) {
            guard invocation[Options.person] == nil, invocation[Options.device] == nil, invocation[scopes] == nil else {
                throw .usage("A token with --auditor takes neither --person, --device nor --scopes.")
            }
            answer = try House.withClient(invocation) { client throws(ToolError) in
                try client.post(APIPath.auditors.parts()) { body in
                    body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
                }
            }
            return try show(answer, invocation)
        }
        switch (invocation[Options.person], invocation[Options.device]) {
        case (let person?, nil):
            answer = try House.withClient(invocation) { client throws(ToolError) in
                try client.post(APIPath.peopleTokens.parts(person.text)) { body in
                    body.array("scopes") { array in
                        (invocation[scopes] ?? ["query", "audit"]).forEach { array.value($0) }
                    }
                    body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
                }
            }
        case (nil, let device?):
            guard invocation[scopes] == nil, invocation[Options.until] == nil else {
                throw .usage("A reporting key takes neither --scopes nor --until.")
            }
            answer = try House.withClient(invocation) { client throws(ToolError) in
                try client.post(APIPath.devicesTokens.parts(device.text))
            }
        default: throw .usage("\"token add\" needs either --person HANDLE, --device HANDLE or --auditor.")
        }
        try show(answer, invocation)
    }

    private static func show(_ answer: JSONValue, _ invocation: Invocation) throws(ToolError) {
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let token = try answer.read(IssuedToken.self)
        invocation.console.line("Token \(token.id.text), shown this once: \(token.token)")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation[Options.person]
        guard (person == nil) == invocation.has(auditor) else {
            throw .usage("\"token list\" needs either --person HANDLE or --auditor.")
        }
        let tokens = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(person.map { APIPath.peopleTokens.parts($0.text) } ?? APIPath.auditors.parts())
        }
        let table = Table(">TOKEN", "SCOPES", "DEVICE", "UNTIL")
        let sentence = person.map { "\($0.text) has no token." } ?? "No auditor is appointed."
        try invocation.show(tokens, as: "tokens", in: table, orElse: sentence) { (token: TokenItem) in
            [
                token.id.text, token.scopes.joined(separator: " "), token.device ?? "",
                token.until.map { ReadCommands.time($0) } ?? "",
            ]
        }
    }
}
