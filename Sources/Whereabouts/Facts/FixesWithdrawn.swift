/// Fixes no longer count: everything is folded as if they had never been reported, and they are shown to nobody else.
enum FixesWithdrawn: Fact {
    static let kind = EventKind.fixesWithdrawn
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = [.current, .timeline, .feed]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (fixes: FixNumbers, revision: Part<FixRevision>)?
        if case .fixesWithdrawn(let fixes, let revision)? = event { given = (fixes, revision) }
        let fixes = try FixNumbers.visit(given?.fixes, &fact.clear)
        return .fixesWithdrawn(fixes, try fact.part(.rest, given?.revision))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .fixesWithdrawn(let fixes, let revision) = recorded.event else { return .nothing }
        return .change(SettingChange(item: fixes.numbers.lowerBound, name: revision.content?.reason))
    }
}

extension FixNumbers {
    /// Visits the fields, which are the same in each kind of event about fixes or visits.
    ///
    /// - Parameter name: What the numbers are of.
    static func visit<V: FieldVisitor>(
        _ given: FixNumbers?, _ fields: inout V, name: String = "fix"
    ) throws(V.Failure) -> FixNumbers {
        let device = try fields.required(1, "device", given?.device)
        let first = try fields.required(2, Label(name, .eventNumber), given?.numbers.lowerBound)
        let last = try fields.optional(
            3, Label("through", .eventNumber, note: "of the device's last \(name)", absent: "only that \(name)"),
            given.flatMap { $0.numbers.count == 1 ? nil : $0.numbers.upperBound })
        return FixNumbers(
            device: device, numbers: try fields.whole(last.map { $0 > first } ?? true ? first...(last ?? first) : nil))
    }
}

extension FixRevision: SealedContent {
    package static let rule = "fix-revision"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let from = try fields.required(1, Label("from", note: "of the first fix"), given?.time.lowerBound)
        let to = try fields.optional(
            2, Label("to", note: "of the last fix", absent: "all have the same time"),
            given.flatMap { $0.time.lowerBound == $0.time.upperBound ? nil : $0.time.upperBound })
        let reason = try fields.required(3, "reason", given?.reason)
        return FixRevision(
            time: try fields.whole(to.map { $0 > from } ?? true ? from...(to ?? from) : nil), reason: reason)
    }
}
