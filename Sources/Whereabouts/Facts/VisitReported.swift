import Geodesy

/// A stay as a device detected it.
enum VisitReported: Fact {
    static let kind = EventKind.visitReported
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = .timeline

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        try VisitReport.visit(event, .visit, &fact)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension VisitReport: SightedContent {
    package static let rule = "visit"

    init?(_ sighting: Sighting) {
        guard case .visit(let visit) = sighting else { return nil }
        self = visit
    }

    var sighting: Sighting { .visit(self) }

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let timestamp = try fields.required(1, Label("timestamp", note: "when the app got it"), given?.timestamp)
        let latitude = try fields.required(2, "latitude", given.map { Degrees($0.coordinate.latitude) })
        let longitude = try fields.required(
            3, Label("longitude", .longitude), given.map { Degrees($0.coordinate.longitude) })
        let accuracy = try fields.optional(
            4, Label("horizontalAccuracy", note: "meters", absent: "not known"), given?.horizontalAccuracy)
        let arrival = try fields.optional(5, Label("arrival", absent: "not observed"), given?.arrival)
        let departure = try fields.optional(6, Label("departure", absent: "still there"), given?.departure)
        let coordinate = try fields.whole(try? Coordinate(latitude: latitude.value, longitude: longitude.value))
        return Self(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: accuracy, arrival: arrival,
            departure: departure)
    }
}
