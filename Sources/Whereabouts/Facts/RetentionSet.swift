/// From now on reports are kept for this long: a person's own rule, or the house's for everyone. The shorter one counts.
enum RetentionSet: Fact {
    static let kind = EventKind.retentionSet
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (keyClass: RetentionClass, days: Int64?)?
        if case .retentionSet(let keyClass, let days)? = event { given = (keyClass, days) }
        let keyClass = try fact.clear.required(1, "class", given?.keyClass)
        let days = try fact.clear.optional(
            2, Label("days", .range(Limits.retentionDays), absent: "until the person is erased"), given?.days)
        return .retentionSet(keyClass, days: days)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .retentionSet(_, let days) = recorded.event else { return .nothing }
        guard recorded.stream != .house else { return .act("retention", projection: nil, version: nil, epoch: nil) }
        let name = days.map { $0 == 0 ? "today only" : $0 == 1 ? "1 day" : "\($0) days" } ?? "no limit"
        return .change(SettingChange(item: recorded.stream.person?.rawValue ?? 0, name: name))
    }
}

extension RetentionClass: WordValue {
    package static let form = FieldForm.words("retention-class", RetentionClass.self)
}
