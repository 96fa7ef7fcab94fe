import JSON
import Replies
import Whereabouts

/// `fix withdraw|restore|list`: single fixes of a person's track that do not count.
enum FixCommands {
    private static let reason = Options.text(
        "reason", "TEXT", help: "why, for example \"wrong clock\"; the person's audit shows it")

    static let all = [
        Command(
            words: ["fix", "withdraw"], summary: "Withdraw a fix: it counts as never reported.",
            operands: .one("NUMBER"), requires: [Options.person, reason], accepts: [Options.json],
            details: """
                NUMBER is a fix's "number", as "track --json" shows it. The newest location, visits, trips, crossings and
                places are then as if the fix had never been reported, and nobody else sees it any more. The fix stays in the
                log; "fix restore" makes it count again.
                """,
            run: { (invocation) throws(ToolError) in
                try change(invocation, "Withdrew") { (client, path) throws(ToolError) in
                    try client.delete(path, query: [("reason", invocation.required(reason))])
                }
            }),
        Command(
            words: ["fix", "restore"], summary: "Make a withdrawn fix count again.", operands: .one("NUMBER"),
            requires: [Options.person, reason], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                try change(invocation, "Restored") { (client, path) throws(ToolError) in
                    try client.post(path) { $0.field("reason", invocation.required(reason)) }
                }
            }),
        Command(
            words: ["fix", "list"], summary: "List a person's withdrawn fixes (recorded as a read).",
            requires: [Options.person], accepts: [Options.purpose, Options.json], run: list),
    ]

    private static func change(
        _ invocation: Invocation, _ done: String,
        _ send: (Client, _ path: [String]) throws(ToolError) -> JSONValue
    ) throws(ToolError) {
        let number = try invocation.number(from: invocation.command.words[1] == "withdraw" ? "track --json" : nil)
        let person = invocation.required(Options.person)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try send(client, APIPath.peopleTrackFix.parts(person.text, number))
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("\(done) the fix \(number) of \(person.text).")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let fixes = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(
                APIPath.peopleWithdrawnFixes.parts(person.text), query: try client.waitingForEarlierCommands())
        }
        let table = Table(">NUMBER", "TIME", ">LATITUDE", ">LONGITUDE", "DEVICE")
        let sentence = "\(person.text) has withdrawn nothing."
        try invocation.show(fixes, as: "fixes", in: table, orElse: sentence) { (point: TrackPoint) in
            let (latitude, longitude) = Text.coordinate(of: point.fix.at)
            return [
                point.number.text, ReadCommands.time(point.fix.timestamp), latitude, longitude, point.device ?? "",
            ]
        }
    }
}
