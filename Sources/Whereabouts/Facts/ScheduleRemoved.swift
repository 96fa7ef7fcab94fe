/// A schedule is gone.
enum ScheduleRemoved: Fact {
    static let kind = EventKind.scheduleRemoved
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .schedule
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: ScheduleID?
        if case .scheduleRemoved(let schedule)? = event { given = schedule }
        return .scheduleRemoved(try fact.clear.required(1, "schedule", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .scheduleRemoved(let schedule) = recorded.event else { return .nothing }
        return .change(SettingChange(item: schedule.rawValue))
    }
}
