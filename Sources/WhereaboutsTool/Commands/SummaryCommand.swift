import JSON
import Replies
import Whereabouts

/// `summary --person P --from TIME`: days, weeks and months in the local time where the person was.
enum SummaryCommand {
    private static let period = Options.choice(
        "period", ["day", "week", "month"], help: "the length of a period (default: day)")
    private static let dayStart = Options.number(
        "day-start", "MINUTES", in: 0...1439, help: "days begin this many minutes after midnight (default: 0)")

    static let command = Command(
        words: ["summary"], summary: "Sum up a person's days, weeks or months: stays, trips, time without data.",
        requires: [Options.person, Options.from], accepts: [Options.to, period, dayStart] + ReadCommands.naming,
        details: """
            Days begin by the local time where the person was, so a day has 23 or 25 hours when clocks change, and more or
            fewer when the person travels between zones. At most 93 days at once. The read is recorded.

            \(Options.timesHelp)
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let (periods, asOf) = try ReadCommands.reading(invocation) { client, query throws(ToolError) in
            var query = query
            if let period = invocation[period] { query.append(("period", period)) }
            if let minutes = invocation[dayStart] { query.append(("dayStartMinutes", "\(minutes)")) }
            var items: [JSONValue] = []
            let asOf = try client.pages(APIPath.peopleSummary.parts(person.text), query: query) {
                items.append(contentsOf: $0)
            }
            return (items, asOf)
        }
        let table = Table("PERIOD", ">STAYED", ">ON THE WAY", ">UNKNOWN", ">DISTANCE", ">VISITS", "MOST AT")
        let sentence = "There is no data in that time."
        try invocation.show(periods, as: "summary", asOf: asOf, in: table, orElse: sentence) { (period: SummaryItem) in
            [
                period.period, LocalTime.duration(seconds: period.staySeconds),
                LocalTime.duration(seconds: period.moveSeconds), LocalTime.duration(seconds: period.unknownSeconds),
                Text.meters(period.distanceMeters), "\(period.visits)", period.places.first?.place ?? "",
            ]
        }
    }
}
