/// Apple answered that a device token is no longer valid.
enum LocationPushTokenRetired: Fact {
    static let kind = EventKind.locationPushTokenRetired
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = .pushes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, reason: String)?
        if case .locationPushTokenRetired(let device, let reason)? = event { given = (device, reason) }
        let device = try fact.clear.required(1, "device", given?.device)
        return .locationPushTokenRetired(
            device: device, reason: try fact.clear.required(2, "reason", given?.reason))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationPushTokenRetired(let device, let reason) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue, name: reason))
    }
}
