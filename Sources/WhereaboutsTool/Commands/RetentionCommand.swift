import JSON
import Replies
import Whereabouts

/// `retention`: how long the reports of devices are kept.
enum RetentionCommand {
    private static let days = Options.number(
        "days", "N", in: Limits.retentionDays, help: "keep reports for this many days; 0 keeps the present day only")
    private static let forever = Option.flag("forever", help: "end the rule")

    static let command = Command(
        words: ["retention"], summary: "Set or show how long the reports of devices are kept.",
        accepts: [Options.person, days, forever, Options.json],
        details: """
            Without --person, the rule is the house's and holds for everyone; a person's own rule can only be shorter.
            Without --days and --forever, shows the rule. Older reports become unreadable: their keys are destroyed, here
            and in the folders that "backup" wrote. Days are those on which the service recorded a report, in UTC. The
            audit, with the locations that were shown to others, is kept. This cannot be undone.
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation[Options.person]
        let path = person.map { APIPath.peopleRetention.parts($0.text) } ?? APIPath.retention.parts()
        if let days = invocation[days] {
            guard !invocation.has(forever) else { throw .usage("Give --days or --forever, not both.") }
            let answer = try House.withClient(invocation) { client throws(ToolError) in
                try client.put(path) { $0.field("trackDays", days) }
            }
            if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
            return invocation.console.line("Reports \(whose(person)) are kept for \(words(days)).")
        }
        if invocation.has(forever) { return try invocation.remove("the rule \(whose(person))", path) }
        guard person != nil else {
            let answer = try House.withClient(invocation) { client throws(ToolError) in try client.get(path) }
            return try invocation.show(answer) { (rule: HouseRetention) in
                invocation.console.line(sentence(rule.trackDays, person))
            }
        }
        let items = try House.withClient(invocation) { client throws(ToolError) in try client.items(path) }
        guard let first = items.first else { throw .data("The service answered without a rule.") }
        try invocation.show(first) { (item: RetentionItem) in
            invocation.console.line(sentence(item.trackDays, person))
            if let before = item.goneBefore {
                invocation.console.line("Reports recorded before \(ReadCommands.time(before)) are gone.")
            }
        }
    }

    private static func sentence(_ days: Int64?, _ person: Handle?) -> String {
        days.map { "Reports \(whose(person)) are kept for \(words($0))." }
            ?? "Reports \(whose(person)) are kept without a limit."
    }

    private static func whose(_ person: Handle?) -> String { person.map { "of \($0.text)" } ?? "of everyone" }

    private static func words(_ days: Int64) -> String {
        days == 0 ? "the present day" : days == 1 ? "1 day" : "\(days) days"
    }
}
