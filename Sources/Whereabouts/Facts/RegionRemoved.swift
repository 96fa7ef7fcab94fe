/// A region no longer counts.
enum RegionRemoved: Fact {
    static let kind = EventKind.regionRemoved
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = [.timeline, .feed]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: RegionID?
        if case .regionRemoved(let id)? = event { given = id }
        return .regionRemoved(try fact.clear.required(1, "region", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .regionRemoved(let region) = recorded.event else { return .nothing }
        return .change(SettingChange(item: region.rawValue))
    }
}
