import JSON
import Replies
import Whereabouts

/// `person schedule`: intervals at which the service asks for a person.
enum ScheduleCommands {
    private static let every = Options.duration(
        "every", help: "the time from one question to the next, such as 30m or 6h")
    private static let stop = Options.name("stop", "NUMBER", help: "remove this schedule")

    static let command = Command(
        words: ["person", "schedule"],
        summary: "Let the service ask where a person is at intervals, or list such schedules.",
        operands: .one("HANDLE"),
        accepts: [
            every, Options.time("until", help: "until this time (default: until removed)"), stop, Options.json,
        ],
        details: """
            Without --every and --stop, lists the schedules. The service wakes the phone at low priority, and only if the
            newest fix is older than half the time between two questions.
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = try invocation.handle()
        if let number = invocation[stop] {
            guard invocation[every] == nil else { throw .usage("Give --every or --stop, not both.") }
            return try invocation.remove(
                "the schedule \(number)", APIPath.peopleSchedule.parts(person.text, "\(number)"))
        }
        if let seconds = invocation[every] {
            let answer = try House.withClient(invocation) { client throws(ToolError) in
                try client.post(APIPath.peopleSchedules.parts(person.text)) { body in
                    body.field("everySeconds", seconds)
                    body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
                }
            }
            if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
            let made = try answer.read(MadeItem.self)
            return invocation.console.line(
                "Schedule \(made.id.text): the service asks where \(person.text) is every \(seconds) s.")
        }
        let schedules = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleSchedules.parts(person.text))
        }
        let table = Table(">SCHEDULE", ">SECONDS", "NEXT", "UNTIL")
        let sentence = "\(person.text) has no schedules."
        try invocation.show(schedules, as: "schedules", in: table, orElse: sentence) { (schedule: ScheduleItem) in
            [
                schedule.id.text, "\(schedule.everySeconds)", ReadCommands.time(schedule.next),
                schedule.until.map { ReadCommands.time($0) } ?? "",
            ]
        }
    }
}
