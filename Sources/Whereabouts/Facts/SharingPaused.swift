/// From now on others see nothing about the person; during a pause, its end changes.
enum SharingPaused: Fact {
    static let kind = EventKind.sharingPaused
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = .pushes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (person: PersonID, until: Timestamp?)?
        if case .sharingPaused(let person, let until)? = event { given = (person, until) }
        let person = try fact.clear.required(1, "person", given?.person)
        let until = try fact.clear.optional(2, Label("until", absent: "until sharing is resumed"), given?.until)
        return .sharingPaused(person, until: until)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .sharingPaused(let person, let until) = recorded.event else { return .nothing }
        return .change(SettingChange(item: person.rawValue, until: until))
    }
}
