/// The service commanded a device without push to report.
enum LocationReportCommanded: Fact {
    static let kind = EventKind.locationReportCommanded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (query: QueryID, device: DeviceID)?
        if case .locationReportCommanded(let query, let device)? = event { given = (query, device) }
        let query = try fact.clear.required(1, "query", given?.query)
        return .locationReportCommanded(query: query, device: try fact.clear.required(2, "device", given?.device))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationReportCommanded(_, let device) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue))
    }
}
