import JSON
import Replies
import Whereabouts

/// `pause`, `resume`, `consent list|give|refuse`: how a person controls who sees their location.
enum SharingCommands {
    private static let length = Options.duration("for", help: "for this long, for example 90m, 8h or 7d")

    static let all = [
        Command(
            words: ["pause"], summary: "Hide a person's location from everyone, as if the phone were off.",
            requires: [Options.person],
            accepts: [
                length, Options.time("until", help: "until this time (default: until resumed)"), Options.json,
            ], details: Options.timesHelp, run: pause),
        Command(
            words: ["resume"], summary: "End a person's pause.", requires: [Options.person], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let person = invocation.required(Options.person)
                try invocation.remove("the pause of \(person.text)", APIPath.peoplePauses.parts(person.text))
            }),
        Command(
            words: ["consent", "list"], summary: "List the questions that wait for a person's consent.",
            requires: [Options.person], accepts: [Options.json], run: list),
        Command(
            words: ["consent", "give"], summary: "Consent to a question.", operands: .one("QUERY"),
            requires: [Options.person], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in try answer(invocation, "given") }),
        Command(
            words: ["consent", "refuse"], summary: "Refuse a question.", operands: .one("QUERY"),
            requires: [Options.person], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in try answer(invocation, "refused") }),
    ]

    private static func pause(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peoplePauses.parts(person.text)) { body in
                body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
                body.field("forSeconds", invocation[length])
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("The location of \(person.text) is hidden from now on.")
    }

    /// Runs `body` as the person; the operator cannot give consent.
    private static func own<Value>(
        _ invocation: Invocation, _ body: (Client, Handle) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        let person = invocation.required(Options.person)
        return try House.withClient(invocation) { client throws(ToolError) in
            try body(
                try client.acting(as: person, scopes: ["manage"], seconds: AskCommand.tokenSeconds), person)
        }
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let requests = try own(invocation) { client, person throws(ToolError) in
            try client.items(APIPath.peopleConsentRequests.parts(person.text))
        }
        let table = Table("QUERY", "WHO", "PURPOSE", "UNTIL")
        let sentence = "No question waits."
        try invocation.show(requests, as: "requests", in: table, orElse: sentence) { (request: ConsentRequestItem) in
            [request.query, request.requester ?? "", request.purpose ?? "", ReadCommands.time(request.deadline)]
        }
    }

    private static func answer(_ invocation: Invocation, _ word: String) throws(ToolError) {
        let answer = try own(invocation) { client, person throws(ToolError) in
            try client.post(APIPath.peopleConsentRequest.parts(person.text, invocation.operands[0])) {
                $0.field("consent", word)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("The question is \(word == "given" ? "answered when the phone reports" : "refused").")
    }
}
