/// The operator sent a test push to a device.
enum LocationPushTested: Fact {
    static let kind = EventKind.locationPushTested
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LocationPushAttempt?
        if case .locationPushTested(let attempt)? = event { given = attempt }
        return .locationPushTested(try LocationPushAttempt.visit(given, of: "test", &fact.clear))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationPushTested(let attempt) = recorded.event else { return .nothing }
        let said = [attempt.outcome.word, attempt.status.map { "\($0)" }, attempt.reason].compactMap { $0 }
        return .change(
            SettingChange(
                item: attempt.device.rawValue,
                name: attempt.isTestLeaving ? "leaving" : said.joined(separator: " ")))
    }

    static func show(_ event: Event, in shown: inout ShownFields) {
        _ = visit(event, &shown)
        if case .locationPushTested(let attempt) = event { attempt.showOutcome(in: &shown) }
    }
}
