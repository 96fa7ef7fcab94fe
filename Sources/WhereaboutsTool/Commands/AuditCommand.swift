import Answers
import JSON
import Replies
import Whereabouts

/// `audit`: who asked for or read a person's location, why, and what they saw. `asked`: the same for the requester.
/// `findings`: patterns in these questions.
enum AuditCommand {
    private static let csv = Option.flag("csv", help: "comma-separated values (RFC 4180), times in UTC")

    static let all = [
        Command(
            words: ["audit"], summary: "Show who asked for or read a person's location, why, and what they saw.",
            requires: [Options.person], accepts: ReadCommands.range + ReadCommands.past + ReadCommands.common + [csv],
            details: ReadCommands.pastDetails, run: run),
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
            try client.pages(APIPath.peopleAudit.parts(person.text), query: query) { entries.append(contentsOf: $0) }
        }
        if invocation.has(csv) {
            var text = AuditCSV.head
            for entry in entries { text += AuditCSV.lines(for: try entry.read()) }
            return invocation.console.result(text.utf8)
        }
        var table = Table("TIME", "WHO", "WHAT", "PURPOSE", "OUTCOME", "WAS SHOWN", "PROOF")
        for entry in invocation.has(Options.json) ? [] : entries { add(try entry.read(), to: &table) }
        invocation.show(entries, as: "audit", asOf: asOf, table, orElse: "No one has asked about \(person.text).")
    }

    private static func asked(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var entries: [JSONValue] = []
        let asOf = try ReadCommands.reading(invocation, scopes: ["audit"]) { client, query throws(ToolError) in
            try client.pages(APIPath.peopleAsked.parts(person.text), query: query) { entries.append(contentsOf: $0) }
        }
        let table = Table("TIME", "ABOUT", "WHAT", "PURPOSE", "OUTCOME", "WAS SHOWN")
        let sentence = "\(person.text) has asked nothing."
        try invocation.show(entries, as: "asked", asOf: asOf, in: table, orElse: sentence) { (entry: AskedItem) in
            switch entry {
            case .query(let query):
                let times = query.shown.count
                return [
                    time(query.at), query.subject?.handle ?? "", "where now", query.purpose ?? "", query.status,
                    times > 0 ? "\(times) \(times == 1 ? "time" : "times")" : "",
                ]
            case .read(let read):
                return [
                    time(read.at), read.subject?.handle ?? "", read.question, read.purpose ?? "", read.status,
                    read.count.map { rows($0, read.precision ?? "") } ?? "",
                ]
            case .refusals(let refusals): return [time(refusals.at), "", "several", "", refusals.status, ""]
            case .other(let entry): return [time(entry.at), "", entry.kind, "", "", ""]
            }
        }
    }

    private static func findings(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        var found: [JSONValue] = []
        let asOf = try ReadCommands.reading(invocation, scopes: ["audit"]) { client, query throws(ToolError) in
            try client.pages(APIPath.peopleFindings.parts(person.text), query: query) { found.append(contentsOf: $0) }
        }
        let table = Table("FROM", "TO", "WHO", "PATTERN", ">TIMES")
        let sentence = "There is no conspicuous pattern."
        try invocation.show(found, as: "findings", asOf: asOf, in: table, orElse: sentence) { (finding: FindingItem) in
            [
                time(finding.from), time(finding.to), finding.requester ?? erased, finding.pattern,
                Text.count(Int(finding.count)),
            ]
        }
    }

    private static let erased = "erased person"

    /// Adds an entry, and the steps of a query below it.
    private static func add(_ entry: AuditItem, to table: inout Table) {
        switch entry {
        case .query(let query):
            table.add(
                time(query.at), query.requester ?? erased, "where now", query.purpose ?? "", outcome(query), "",
                query.proof?.words ?? "")
            addSteps(of: query, to: &table)
        case .read(let read):
            let isRefused = read.verdict.verdict == "refused"
            table.add(
                time(read.at), read.reader ?? erased, read.question, read.purpose ?? "",
                isRefused ? refusal(read.verdict) : read.verdict.verdict,
                isRefused ? "nothing" : rows(read.count, read.precision), read.proof?.words ?? "")
        case .change(let change):
            table.add(time(change.at), change.actor ?? erased, text(change), "", "", "", change.proof?.words ?? "")
        case .act(let act):
            let what = words(of: act.act) + (act.projection.map { ": \($0)" } ?? "")
            table.add(time(act.at), act.actor ?? erased, what, "", act.failedAt == nil ? "" : "failed", "", "")
        case .other(let entry): table.add(time(entry.at), "", entry.kind, "", "", "", "")
        }
    }

    /// For example "grant given: ben" for `GrantGiven` and its other person.
    private static func text(_ change: AuditChangeItem) -> String {
        let words = sessionText(change) ?? words(of: change.event)
        return (change.name ?? change.other?.handle).map { "\(words): \($0)" } ?? words
    }

    /// For example "signed in to the page" for a `TokenIssued` that is the page's; `nil` for other changes.
    private static func sessionText(_ change: AuditChangeItem) -> String? {
        let scopes = change.scopes ?? []
        switch change.event {
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

    private static func outcome(_ query: AuditQueryItem) -> String {
        if query.verdict.verdict == "refused" { return refusal(query.verdict) }
        guard let end = query.end else { return "pending" }
        guard let ended = query.endedAt else { return end }
        return "\(end) after \(Text.fixed(ended.seconds - query.at.seconds, decimals: 1)) s"
    }

    private static func refusal(_ verdict: VerdictItem) -> String {
        verdict.reason.map { "refused: \($0)" } ?? "refused"
    }

    private static func rows(_ count: Int64, _ precision: String) -> String {
        "\(Text.count(Int(count))) \(count == 1 ? "row" : "rows"), \(precision)"
    }

    /// The steps of a location query: each push with APNs' answer, the fix that ended it, and each disclosure.
    private static func addSteps(of query: AuditQueryItem, to table: inout Table) {
        for push in query.pushes { table.add(time(push.at), "", pushText(push), "", pushOutcome(push), "", "") }
        if let consent = query.consent { table.add(time(query.consentAt), "", "  consent", "", consent, "", "") }
        if let fix = query.fix {
            let device = fix.device.map { " of \($0)" } ?? ""
            table.add(time(fix.timestamp), "", "  fix\(device)", "", "event \(fix.number.text)", "", "")
        }
        for shown in query.disclosed {
            table.add(time(shown.at), "", "  shown", "", "event \(shown.number.text)", text(shown), "")
        }
    }

    /// For example `  push 2 to walker-phone, priority 10`.
    private static func pushText(_ push: AuditPushItem) -> String {
        guard let device = push.device else { return "  push" }
        let priority = push.priority.map { ", priority \($0)" } ?? ""
        return "  push\(push.attempt > 1 ? " \(push.attempt)" : "") to \(device)\(priority)"
    }

    /// For example `accepted, APNs: 200 after 41 ms`, or `withheld: coalesced`. Older services give no outcome.
    private static func pushOutcome(_ push: AuditPushItem) -> String {
        switch push.outcome {
        case "underWay": return "under way"
        case "withheld" where push.reason == "noDevice": return "no device to wake"
        case let word? where push.attempt == 0 || push.reason == "the service ended":
            return push.reason.map { "\(word): \($0)" } ?? word
        case let word:
            let answer = push.status.map { "APNs: \($0)" } ?? "no answer"
            return [word, answer].compactMap { $0 }.joined(separator: ", ") + (push.reason.map { " \($0)" } ?? "")
                + " after \(push.durationMilliseconds ?? 0) ms"
        }
    }

    private static func text(_ shown: AuditDisclosureItem) -> String {
        guard let place = shown.place else {
            // A grant of place names shows no coordinate; erased content has no time either.
            return shown.timestamp == nil ? "erased" : "\(shown.placeName ?? "no name"), \(shown.precision)"
        }
        let (latitude, longitude) = Text.coordinate(of: place)
        let accuracy = shown.horizontalAccuracy.map { " ± " + Text.meters($0) } ?? ""
        let name = shown.placeName.map { "\($0), " } ?? ""
        return "\(name)\(latitude), \(longitude)\(accuracy), \(shown.precision)"
    }

    private static func time(_ moment: Moment?) -> String { moment.map { ReadCommands.time($0) } ?? "" }
}
