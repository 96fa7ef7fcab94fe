/// A beacon that a device heard.
enum BeaconSighted: Fact {
    static let kind = EventKind.beaconSighted
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        try BeaconReport.visit(event, .beacon, &fact)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension BeaconReport: SightedContent {
    package static let rule = "beacon"

    init?(_ sighting: Sighting) {
        guard case .beacon(let beacon) = sighting else { return nil }
        self = beacon
    }

    var sighting: Sighting { .beacon(self) }

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let timestamp = try fields.required(1, Label("timestamp", note: "the device's own"), given?.timestamp)
        let uuid = try fields.required(2, "uuid", given?.uuid)
        let major = try fields.required(3, Label("major", .range(0...65_535)), given?.major)
        let minor = try fields.required(4, Label("minor", .range(0...65_535)), given?.minor)
        let proximity = try fields.required(
            5, Label("proximity", .range(0...3), note: "unknown, immediate, near, far"), given?.proximity)
        let accuracy = try fields.optional(
            6, Label("accuracy", note: "meters", absent: "not known"), given?.accuracy)
        let rssi = try fields.required(7, Label("rssi", .integer, note: "dBm"), given?.rssi)
        return Self(
            timestamp: timestamp, uuid: uuid, major: major, minor: minor, proximity: proximity, accuracy: accuracy,
            rssi: rssi)
    }
}
