/// A phone did not answer a query with an envelope, for this reason.
enum SealingRefused: Fact {
    static let kind = EventKind.sealingRefused
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, query: QueryID, reason: SealingRefusal)?
        if case .sealingRefused(let device, let query, let reason)? = event { given = (device, query, reason) }
        let device = try fact.clear.required(1, "device", given?.device)
        let query = try fact.clear.required(2, "query", given?.query)
        return .sealingRefused(
            device: device, query: query, try fact.clear.required(3, "reason", given?.reason))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .sealingRefused(let device, _, let reason) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue, name: reason.word))
    }
}
