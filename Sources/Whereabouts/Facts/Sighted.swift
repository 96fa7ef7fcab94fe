/// A report that is kept as a ``Sighting``. Each kind of sighting is a separate fact.
protocol SightedContent: SealedContent {
    /// `nil` if the sighting is of another kind.
    init?(_ sighting: Sighting)
    /// The report as a sighting.
    var sighting: Sighting { get }
}

extension SightedContent {
    /// The fields of a sighting of this kind: the device, and the report in a part of the track.
    static func visit<V: FactVisitor>(
        _ event: Event?, _ kind: Sighting.Kind, _ fact: inout V
    ) throws(V.Failure) -> Event {
        var given: (device: DeviceID, report: Part<Self>)?
        if case .sightingReported(let device, _, let part)? = event {
            switch part {
            case .open(let sighting): given = Self(sighting).map { (device, .open($0)) }
            case .erased: given = (device, .erased)
            case .keyLost: given = (device, .keyLost)
            }
        }
        let device = try fact.clear.required(1, "device", given?.device)
        let sighting: Part<Sighting> =
            switch try fact.part(.track, given?.report) {
            case .open(let report): .open(report.sighting)
            case .erased: .erased
            case .keyLost: .keyLost
            }
        return .sightingReported(device: device, kind, sighting)
    }

    package func show(in shown: inout ShownFields) { shown.add("sighting", .sighting(sighting)) }
}
