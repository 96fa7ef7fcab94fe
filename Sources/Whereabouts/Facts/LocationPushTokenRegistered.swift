/// The system gave an app this token for location pushes.
enum LocationPushTokenRegistered: Fact {
    static let kind = EventKind.locationPushTokenRegistered
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = .pushes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, environment: PushEnvironment, token: Part<LocationPushToken>)?
        if case .locationPushTokenRegistered(let device, let environment, let token)? = event {
            given = (device, environment, token)
        }
        let device = try fact.clear.required(1, "device", given?.device)
        let environment = try fact.clear.required(2, "environment", given?.environment)
        return .locationPushTokenRegistered(
            device: device, environment: environment, try fact.part(.rest, given?.token))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationPushTokenRegistered(let device, let environment, _) = recorded.event else {
            return .nothing
        }
        return .change(SettingChange(item: device.rawValue, name: environment.word))
    }
}

extension LocationPushToken: SealedContent {
    package static let rule = "push-token"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let bytes = try fields.required(1, .hidden("token"), given?.bytes)
        return Self(bytes: bytes, bundleID: try fields.required(2, "bundleID", given?.bundleID))
    }

    /// The token is a secret: its last bytes are enough to distinguish two.
    package func show(in shown: inout ShownFields) {
        shown.add("bundleID", .text(bundleID))
        shown.add("tokenEnding", .bytes(Array(bytes.suffix(4))))
    }
}
