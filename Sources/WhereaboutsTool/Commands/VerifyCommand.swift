import JSON
import Whereabouts

/// `verify`: is the log whole, and is everything folded from it what it would be folded to again?
enum VerifyCommand {
    static let command = Command(
        words: ["verify"], summary: "Check the log's hashes and refold every projection.", accepts: [Options.json],
        details: "Reads everything, so it takes its time with a long log. The exit code is 1 when something is wrong.",
        run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let answer = try House.withClient(invocation) { client throws(ToolError) in try client.get("v1", "verify") }
        let isGood = answer["ok"]?.bool == true
        if invocation.has(Options.json) {
            invocation.console.result(answer.jsonLine)
        } else {
            invocation.console.result(table(of: answer).text.utf8)
        }
        guard isGood else {
            throw .checkFailed(
                invocation.has(Options.json) ? nil : "The log or what is folded from it is not as it should be.")
        }
    }

    static func table(of answer: JSONValue) -> Table {
        var table = Table("CHECK", "RESULT", "DETAILS")
        let log = answer["log"]
        let root = log?.text("root") ?? ""
        table.add(
            "log", log?["ok"]?.bool == true ? "good" : "WRONG",
            log?["problem"]?.string ?? "\(ProjectionCommands.number(log?["events"])) events, root \(root.prefix(16))…")
        let keys = answer["keys"]
        let lost = keys?["lost"]?.int ?? 0
        table.add(
            "keys", lost == 0 ? "good" : "LOST",
            "\(ProjectionCommands.number(keys?["erased"])) sealed parts erased, \(Text.count(Int(lost))) with a lost key"
        )
        for projection in answer["projections"]?.array.map(Array.init) ?? [] {
            let isGood = projection.text("rows") == "ok" && projection.text("refold") == "equal"
            table.add(
                "projection \(projection.text("name"))", isGood ? "good" : "WRONG",
                "at event \(ProjectionCommands.number(projection["place"])), rows \(projection.text("rows")), "
                    + "refold \(projection.text("refold"))")
        }
        return table
    }
}
