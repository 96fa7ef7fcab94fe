/// A device no longer reports; its tokens end with it.
enum DeviceRemoved: Fact {
    static let kind = EventKind.deviceRemoved
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = .pushes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: DeviceID?
        if case .deviceRemoved(let device)? = event { given = device }
        return .deviceRemoved(try fact.clear.required(1, "device", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .deviceRemoved(let device) = recorded.event else { return .nothing }
        return .change(SettingChange(item: device.rawValue))
    }
}
