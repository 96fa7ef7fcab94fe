/// The owner of a phone allows its app this much.
enum AuthorizationReported: Fact {
    static let kind = EventKind.authorizationReported
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, report: Part<AuthorizationReport>)?
        if case .authorizationReported(let device, let report)? = event { given = (device, report) }
        let device = try fact.clear.required(1, "device", given?.device)
        return .authorizationReported(device: device, try fact.part(.rest, given?.report))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .authorizationReported(let device, let report) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue, name: report.content?.words))
    }
}

extension AuthorizationReport: SealedContent {
    package static let rule = "authorization"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let timestamp = try fields.required(1, Label("timestamp", note: "the device's own"), given?.timestamp)
        let status = try fields.required(2, "status", given?.status)
        let accuracy = try fields.optional(
            3, Label("accuracy", absent: "the device does not report it"), given?.accuracy)
        return Self(timestamp: timestamp, status: status, accuracy: accuracy)
    }

    package func show(in shown: inout ShownFields) { shown.add("authorization", .authorization(self)) }

    /// Status and accuracy in words.
    fileprivate var words: String {
        accuracy.map { "\(status.word), \($0.word) accuracy" } ?? status.word
    }
}
