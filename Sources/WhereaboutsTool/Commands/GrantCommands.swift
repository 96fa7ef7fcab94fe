import JSON
import Whereabouts

/// `grant add|list|remove`.
enum GrantCommands {
    private static let subject = Options.handle("subject", "S", help: "whose location")
    private static let requester = Options.handle("requester", "R", help: "who may ask for it")
    private static let precision = Options.choice(
        "precision", ["exact", "kilometer", "none"], help: "how exactly; none refuses on record")
    private static let history = Option.flag("history", help: "the past may be read too, not only the present")

    static let all = [
        Command(
            words: ["grant", "add"], summary: "Let a person ask where another one is.",
            requires: [subject, requester, precision],
            accepts: [
                history, Options.time("from", help: "in force from this moment (default: now)"),
                Options.time("until", help: "in force until this moment (default: until removed)"), Options.json,
            ], details: Options.timesHelp, run: add),
        Command(
            words: ["grant", "list"], summary: "List who may ask where a person is.", requires: [subject],
            accepts: [Options.json], run: list),
        Command(
            words: ["grant", "remove"], summary: "End a grant.", operands: .one("NUMBER"), accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the grant \(number)", "v1", "grants", number)
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let subject = invocation.required(Self.subject)
        let requester = invocation.required(Self.requester)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post("v1", "people", subject.text, "grants") { body in
                body.field("requester", requester.text)
                body.field("precision", invocation.required(precision))
                body.field("history", invocation.has(history))
                body.field("from", milliseconds: invocation[Options.from]?.milliseconds)
                body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let number = answer["id"]?.int.map { "\($0)" } ?? "?"
        invocation.console.line("Grant \(number): \(requester.text) may ask where \(subject.text) is.")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let subject = invocation.required(Self.subject)
        let grants = try House.withClient(invocation) { client throws(ToolError) in
            try client.items("v1", "people", subject.text, "grants")
        }
        var table = Table(">GRANT", "REQUESTER", "PRECISION", "HISTORY", "FROM", "UNTIL")
        for grant in grants {
            table.add(
                grant["id"]?.int.map { "\($0)" } ?? "", grant.text("requester"), grant.text("precision"),
                grant["history"]?.bool == true ? "yes" : "no", grant.time("from").map { LocalTime.text($0) } ?? "",
                grant.time("until").map { LocalTime.text($0) } ?? "")
        }
        invocation.show(grants, as: "grants", table, orElse: "Nobody may ask where \(subject.text) is.")
    }
}
