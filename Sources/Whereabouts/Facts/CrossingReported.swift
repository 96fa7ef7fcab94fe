/// An entry or exit as a device detected it.
enum CrossingReported: Fact {
    static let kind = EventKind.crossingReported
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        try CrossingReport.visit(event, .crossing, &fact)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension CrossingReport: SightedContent {
    package static let rule = "crossing"

    init?(_ sighting: Sighting) {
        guard case .crossing(let crossing) = sighting else { return nil }
        self = crossing
    }

    var sighting: Sighting { .crossing(self) }

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let timestamp = try fields.required(1, Label("timestamp", note: "when the app got it"), given?.timestamp)
        let region = try fields.required(2, Label("region", note: "the app's name for it"), given?.region)
        let isEntry = try fields.required(3, Label("entry", note: "false: an exit"), given?.isEntry)
        return Self(timestamp: timestamp, region: region, isEntry: isEntry)
    }
}
