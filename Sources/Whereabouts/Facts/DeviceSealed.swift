/// From now on a device only sends envelopes, or sends open fixes again.
enum DeviceSealed: Fact {
    static let kind = EventKind.deviceSealed
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, isSealed: Bool)?
        if case .deviceSealed(let device, let isSealed)? = event { given = (device, isSealed) }
        let device = try fact.clear.required(1, "device", given?.device)
        let isSealed = try fact.clear.mark(
            2, Label("sealed", note: "its open fixes are refused", absent: "open fixes are taken again"),
            given?.isSealed)
        return .deviceSealed(device, isSealed: isSealed)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .deviceSealed(let device, let isSealed) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue, name: isSealed ? "on" : "off"))
    }
}
