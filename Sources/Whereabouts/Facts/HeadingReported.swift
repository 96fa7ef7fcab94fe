/// Where a device pointed.
enum HeadingReported: Fact {
    static let kind = EventKind.headingReported
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        try HeadingReport.visit(event, .heading, &fact)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension HeadingReport: SightedContent {
    package static let rule = "heading"

    init?(_ sighting: Sighting) {
        guard case .heading(let heading) = sighting else { return nil }
        self = heading
    }

    var sighting: Sighting { .heading(self) }

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let timestamp = try fields.required(1, Label("timestamp", note: "the device's own"), given?.timestamp)
        let magnetic = try fields.required(
            2, Label("magneticHeading", note: "degrees from magnetic north"), given?.magneticHeading)
        let trueNorth = try fields.optional(
            3, Label("trueHeading", note: "degrees from true north", absent: "not known"), given?.trueHeading)
        let accuracy = try fields.optional(
            4, Label("headingAccuracy", note: "degrees", absent: "not known"), given?.headingAccuracy)
        return Self(
            timestamp: timestamp, magneticHeading: magnetic, trueHeading: trueNorth, headingAccuracy: accuracy)
    }
}
