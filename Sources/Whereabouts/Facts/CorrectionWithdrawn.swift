/// A correction no longer counts.
enum CorrectionWithdrawn: Fact {
    static let kind = EventKind.correctionWithdrawn
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .correction
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: CorrectionID?
        if case .correctionWithdrawn(let correction)? = event { given = correction }
        return .correctionWithdrawn(try fact.clear.required(1, "correction", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .correctionWithdrawn(let correction) = recorded.event else { return .nothing }
        return .change(SettingChange(item: correction.rawValue))
    }
}
