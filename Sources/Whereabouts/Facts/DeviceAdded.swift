/// A device of a person exists from now on.
enum DeviceAdded: Fact {
    static let kind = EventKind.deviceAdded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, person: PersonID, handle: Part<Handle>)?
        if case .deviceAdded(let device, let person, let handle)? = event { given = (device, person, handle) }
        let device = try fact.clear.required(1, "device", given?.device)
        let person = try fact.clear.required(2, "person", given?.person)
        return .deviceAdded(device, of: person, handle: try fact.part(.rest, of: person, given?.handle))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .deviceAdded(let device, _, let handle) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue, name: handle.content?.text))
    }
}
