/// A push to a device is about to be sent.
enum LocationPushStarted: Fact {
    static let kind = EventKind.locationPushStarted
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (query: QueryID, device: DeviceID)?
        if case .locationPushStarted(let query, let device)? = event { given = (query, device) }
        let query = try fact.clear.required(1, "query", given?.query)
        return .locationPushStarted(query: query, device: try fact.clear.required(2, "device", given?.device))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationPushStarted(let query, let device) = recorded.event else { return .nothing }
        return .pushStart(query, device)
    }
}
