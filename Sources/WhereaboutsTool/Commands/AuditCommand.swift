import Answers
import JSON
import Whereabouts

/// `audit`: who asked for or read a person's location, why, and what they saw. `asked`: the same for the requester.
/// `findings`: patterns in these questions.
enum AuditCommand {
    private static let csv = Option.flag("csv", help: "comma-separated values (RFC 4180), times in UTC")

    static let all = [
        Command(
            words: ["audit"], summary: "Show who asked for or read a person's location, why, and what they saw.",
            requires: [Options.person], accepts: ReadCommands.range + ReadCommands.common + [csv],
            details: ReadCommands.details, run: run),
        Command(
            words: ["asked"], summary: "Show what a person asked about others, and what they saw.",
            requires: [Options.person], accepts: ReadCommands.common, run: asked),
        Command(
            words: ["findings"], summary: "Show conspicuous patterns of questions about a person, for example polling.",
            requires: [Options.person], accepts: ReadCommands.common, run: findings),
    ]

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var entries: [JSONValue] = []
        let asOf = try ReadCommands.reading(invocation, scopes: ["audit"]) { client, query throws(ToolError) in
            try client.pages("v1", "people", person.text, "audit", query: query) { entries.append(contentsOf: $0) }
        }
        if invocation.has(csv) {
            return invocation.console.result((AuditCSV.head + entries.map { AuditCSV.lines(for: $0) }.joined()).utf8)
        }
        var table = Table("TIME", "WHO", "WHAT", "PURPOSE", "OUTCOME", "WAS SHOWN")
        for entry in entries {
            table.add(
                time(entry), who(entry), question(entry), entry.text("purpose"), outcome(entry), shown(entry))
            addSteps(of: entry, to: &table)
        }
        invocation.show(entries, as: "audit", asOf: asOf, table, orElse: "No one has asked about \(person.text).")
    }

    private static func asked(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var entries: [JSONValue] = []
        let asOf = try ReadCommands.reading(invocation, scopes: ["audit"]) { client, query throws(ToolError) in
            try client.pages("v1", "people", person.text, "asked", query: query) { entries.append(contentsOf: $0) }
        }
        var table = Table("TIME", "ABOUT", "WHAT", "PURPOSE", "OUTCOME", "WAS SHOWN")
        for entry in entries {
            let what = entry.text("kind") == "query" ? "where now" : entry["question"]?.string ?? "several"
            let times = entry["shown"]?.count ?? 0
            let shown =
                times > 0
                ? "\(times) \(times == 1 ? "time" : "times")" : entry.text("kind") == "read" ? rows(entry) : ""
            table.add(
                time(entry), entry["subject"]?.string ?? "", what, entry.text("purpose"), entry.text("status"), shown)
        }
        invocation.show(entries, as: "asked", asOf: asOf, table, orElse: "\(person.text) has asked nothing.")
    }

    private static func findings(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var found: [JSONValue] = []
        let asOf = try ReadCommands.reading(invocation, scopes: ["audit"]) { client, query throws(ToolError) in
            try client.pages("v1", "people", person.text, "findings", query: query) { found.append(contentsOf: $0) }
        }
        var table = Table("FROM", "TO", "WHO", "PATTERN", ">TIMES")
        for finding in found {
            table.add(
                time(finding, "from"), time(finding, "to"), finding["requester"]?.string ?? "erased person",
                finding.text("pattern"), Text.count(Int(finding["count"]?.int ?? 0)))
        }
        invocation.show(
            found, as: "findings", asOf: asOf, table, orElse: "There is no conspicuous pattern.")
    }

    private static func who(_ entry: JSONValue) -> String {
        (entry["requester"] ?? entry["reader"] ?? entry["actor"])?.string ?? "erased person"
    }

    private static func question(_ entry: JSONValue) -> String {
        switch entry.text("kind") {
        case "query": "where now"
        case "change": changeText(entry)
        case "act": words(of: entry.text("act")) + (entry["projection"]?.string.map { ": \($0)" } ?? "")
        default: entry.text("question")
        }
    }

    /// For example "grant given: ben" for `GrantGiven` and its other person.
    private static func changeText(_ entry: JSONValue) -> String {
        let words = sessionText(entry) ?? words(of: entry.text("event"))
        return (entry["name"] ?? entry["other"])?.string.map { "\(words): \($0)" } ?? words
    }

    /// For example "signed in to the page" for a `TokenIssued` that is the page's; `nil` for other changes.
    private static func sessionText(_ entry: JSONValue) -> String? {
        let scopes = entry["scopes"]?.array.map { $0.compactMap(\.string) } ?? []
        switch entry.text("event") {
        case "TokenIssued" where scopes.contains("session"): return "signed in to the page"
        case "TokenIssued" where scopes.contains("sign-in"): return "sign-in link made"
        case "TokenRevoked" where scopes.contains("session"): return "signed out of the page"
        case "TokenRevoked" where scopes.contains("sign-in"): return "sign-in link used or replaced"
        default: return nil
        }
    }

    /// The words of a name in camel case, for example "projections rebuilt" for `projectionsRebuilt`.
    private static func words(of name: String) -> String {
        var words = ""
        for letter in name {
            if letter.isUppercase && !words.isEmpty { words.append(" ") }
            words += letter.lowercased()
        }
        return words
    }

    private static func outcome(_ entry: JSONValue) -> String {
        if entry.text("kind") == "act" { return entry["failedAt"] == nil ? "" : "failed" }
        if entry.text("kind") == "change" { return "" }
        if entry.text("verdict") == "refused" {
            return entry["reason"]?.string.map { "refused: \($0)" } ?? "refused"
        }
        guard entry.text("kind") == "query" else { return entry.text("verdict") }
        guard let end = entry["end"]?.string else { return "pending" }
        guard let began = entry["at"]?.double, let ended = entry["endedAt"]?.double else { return end }
        return "\(end) after \(Text.fixed(ended - began, decimals: 1)) s"
    }

    /// The stored data that a read showed.
    private static func shown(_ entry: JSONValue) -> String {
        guard entry.text("kind") == "read" else { return "" }
        return entry.text("verdict") == "refused" ? "nothing" : rows(entry)
    }

    private static func rows(_ entry: JSONValue) -> String {
        guard entry["count"] != nil else { return "" }
        let count = entry["count"]?.int ?? 0
        return "\(Text.count(Int(count))) \(count == 1 ? "row" : "rows"), \(entry.text("precision"))"
    }

    /// The steps of a location query: each push with APNs' answer, the fix that ended it, and each disclosure.
    private static func addSteps(of entry: JSONValue, to table: inout Table) {
        for push in entry["pushes"]?.array.map(Array.init) ?? [] {
            table.add(time(push), "", pushText(push), "", pushOutcome(push), "")
        }
        if let consent = entry["consent"]?.string {
            table.add(time(entry, "consentAt"), "", "  consent", "", consent, "")
        }
        if let fix = entry["fix"], let number = fix.name("number") {
            let device = fix["device"]?.string.map { " of \($0)" } ?? ""
            table.add(time(fix, "timestamp"), "", "  fix\(device)", "", "event \(number)", "")
        }
        for shown in entry["disclosed"]?.array.map(Array.init) ?? [] {
            table.add(
                time(shown), "", "  shown", "", shown.name("number").map { "event \($0)" } ?? "", disclosed(shown))
        }
    }

    /// For example `  push 2 to walker-phone, priority 10`.
    private static func pushText(_ push: JSONValue) -> String {
        guard let device = push["device"]?.string else { return "  push" }
        let number = push["attempt"]?.int ?? 0
        let priority = push["priority"]?.int.map { ", priority \($0)" } ?? ""
        return "  push\(number > 1 ? " \(number)" : "") to \(device)\(priority)"
    }

    /// For example `accepted, APNs: 200 after 41 ms`, or `withheld: coalesced`. Older services give no outcome.
    private static func pushOutcome(_ push: JSONValue) -> String {
        let reason = push["reason"]?.string
        switch push["outcome"]?.string {
        case "underWay": return "under way"
        case "withheld" where reason == "noDevice": return "no device to wake"
        case let word? where push["attempt"]?.int == 0 || reason == "the service ended":
            return reason.map { "\(word): \($0)" } ?? word
        case let word:
            let answer = push["status"]?.int.map { "APNs: \($0)" } ?? "no answer"
            return [word, answer].compactMap { $0 }.joined(separator: ", ") + (reason.map { " \($0)" } ?? "")
                + " after \(push["durationMilliseconds"]?.int ?? 0) ms"
        }
    }

    private static func disclosed(_ shown: JSONValue) -> String {
        guard let latitude = shown["latitude"]?.double, let longitude = shown["longitude"]?.double else {
            return "erased"
        }
        let accuracy = shown["horizontalAccuracy"]?.double.map { " ± " + Text.meters($0) } ?? ""
        let place = shown["place"]?.string.map { "\($0), " } ?? ""
        return "\(place)\(Text.degrees(latitude)), \(Text.degrees(longitude))\(accuracy), \(shown.text("precision"))"
    }

    private static func time(_ value: JSONValue, _ key: String = "at") -> String {
        value.time(key).map { LocalTime.text($0) } ?? ""
    }
}
