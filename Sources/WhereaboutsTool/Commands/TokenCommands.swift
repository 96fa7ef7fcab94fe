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

    static let all = [
        Command(
            words: ["token", "add"], summary: "Issue an access token to a person, or a reporting key to a device.",
            accepts: [
                Options.person, Options.device, scopes,
                Options.time("until", help: "valid until this time (default: until removed)"), Options.json,
            ],
            details: """
                With --person: a token for the person's app. Its scopes allow it to ask where people are (query), to read
                who asked (audit), and to change grants, devices and regions (manage). With --device: another reporting key.
                The secret is shown only once.

                \(Options.timesHelp)
                """, run: add),
        Command(
            words: ["token", "list"], summary: "List a person's tokens, without the secrets.",
            requires: [Options.person],
            accepts: [Options.json], run: list),
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
        default: throw .usage("\"token add\" needs either --person HANDLE or --device HANDLE.")
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let token = try answer.read(IssuedToken.self)
        invocation.console.line("Token \(token.id.text), shown this once: \(token.token)")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let tokens = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleTokens.parts(person.text))
        }
        let table = Table(">TOKEN", "SCOPES", "DEVICE", "UNTIL")
        let sentence = "\(person.text) has no token."
        try invocation.show(tokens, as: "tokens", in: table, orElse: sentence) { (token: TokenItem) in
            [
                token.id.text, token.scopes.joined(separator: " "), token.device ?? "",
                token.until.map { ReadCommands.time($0) } ?? "",
            ]
        }
    }
}
