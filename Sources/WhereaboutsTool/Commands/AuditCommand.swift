import JSON
import Whereabouts

/// `audit --person P`: who has asked or read, why, and what they were shown.
enum AuditCommand {
    static let command = Command(
        words: ["audit"], summary: "Show who has asked where a person is, why, and what they saw.",
        requires: [Options.person], accepts: ReadCommands.range + ReadCommands.common, details: ReadCommands.details,
        run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var entries: [JSONValue] = []
        let asOf = try ReadCommands.reading(invocation, scopes: ["audit"]) { client, query throws(ToolError) in
            try client.pages("v1", "people", person.text, "audit", query: query) { entries.append(contentsOf: $0) }
        }
        var table = Table("TIME", "WHO", "WHAT", "PURPOSE", "OUTCOME", "WAS SHOWN")
        for entry in entries {
            table.add(
                entry.time("at").map { LocalTime.text($0) } ?? "", who(entry), question(entry), entry.text("purpose"),
                outcome(entry), shown(entry))
        }
        invocation.show(entries, as: "audit", asOf: asOf, table, orElse: "Nobody has asked about \(person.text).")
    }

    private static func who(_ entry: JSONValue) -> String {
        (entry["requester"] ?? entry["reader"] ?? entry["actor"])?.string ?? "erased person"
    }

    private static func question(_ entry: JSONValue) -> String {
        switch entry.text("kind") {
        case "query": "where now"
        case "change": changeText(entry)
        default: entry.text("question")
        }
    }

    /// `GrantGiven` with its other person is "grant given: ben".
    private static func changeText(_ entry: JSONValue) -> String {
        var words = ""
        for letter in entry.text("event") {
            if letter.isUppercase && !words.isEmpty { words.append(" ") }
            words += letter.lowercased()
        }
        return (entry["name"] ?? entry["other"])?.string.map { "\(words): \($0)" } ?? words
    }

    private static func outcome(_ entry: JSONValue) -> String {
        if entry.text("kind") == "change" { return "" }
        if entry.text("verdict") == "refused" {
            return entry["reason"]?.string.map { "refused: \($0)" } ?? "refused"
        }
        guard entry.text("kind") == "query" else { return entry.text("verdict") }
        let pushes = entry["pushes"]?.count ?? 0
        let end = entry["end"]?.string ?? "pending"
        return pushes == 0 ? end : "\(end), \(pushes) \(pushes == 1 ? "push" : "pushes")"
    }

    /// What left the house: for a query each disclosure, for a read how much.
    private static func shown(_ entry: JSONValue) -> String {
        if entry.text("kind") == "change" { return "" }
        if entry.text("verdict") == "refused" { return "nothing" }
        guard entry.text("kind") == "query" else {
            let count = entry["count"]?.int ?? 0
            return "\(Text.count(Int(count))) \(count == 1 ? "row" : "rows"), \(entry.text("precision"))"
        }
        let disclosures = entry["disclosed"]?.array.map(Array.init) ?? []
        guard let last = disclosures.last else { return "nothing" }
        let place = last["place"]?.string ?? Text.place(last["place"])
        let accuracy = last["horizontalAccuracy"]?.double.map { "± " + Text.meters($0) }
        let parts = [
            place, accuracy ?? "", last.text("precision"), disclosures.count > 1 ? "\(disclosures.count) times" : "",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
