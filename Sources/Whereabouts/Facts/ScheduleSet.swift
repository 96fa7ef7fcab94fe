/// The service asks for the person at this interval.
enum ScheduleSet: Fact {
    static let kind = EventKind.scheduleSet
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .schedule
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (everySeconds: Int64, until: Timestamp?)?
        if case .scheduleSet(let seconds, let until)? = event { given = (seconds, until) }
        let seconds = try fact.clear.required(1, Label("everySeconds", .ordinal), given?.everySeconds)
        let until = try fact.clear.optional(2, Label("until", absent: "until removed"), given?.until)
        return .scheduleSet(everySeconds: seconds, until: until)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .scheduleSet(let seconds, let until) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: "every \(seconds) s", until: until))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? { .schedule(ScheduleID(rawValue: recorded.number)) }
}
