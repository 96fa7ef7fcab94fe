/// A stay at one place.
package struct VisitItem: Reply, Hashable {
    /// The same in every answer.
    package var id: String
    /// The device's time.
    package var arrival: Moment
    /// `nil` while the visit goes on.
    package var departure: Moment?
    /// The accuracy-weighted mean of the fixes.
    package var at: MapPoint
    /// Meters.
    package var horizontalAccuracy: Double
    /// The person's own name for the place, or the gazetteer's.
    package var place: String?
    /// Of the place; `nil` on the high seas or without a gazetteer.
    package var timeZone: String?
    /// The receipt of the fix that made the visit known.
    package var firstReported: Moment
    package var departureReported: Moment?
    /// `nil` unless true.
    package var isProvisional: Bool?

    package init(
        id: String, arrival: Moment, departure: Moment? = nil, at: MapPoint, horizontalAccuracy: Double,
        place: String? = nil, timeZone: String? = nil, firstReported: Moment, departureReported: Moment? = nil,
        isProvisional: Bool? = nil
    ) {
        (self.id, self.arrival, self.departure, self.at) = (id, arrival, departure, at)
        (self.horizontalAccuracy, self.place, self.timeZone, self.firstReported) = (
            horizontalAccuracy, place, timeZone, firstReported
        )
        (self.departureReported, self.isProvisional) = (departureReported, isProvisional)
    }

    package static let schema: String? = "Visit"

    package static var invented: Self {
        Self(id: .invented, arrival: .invented, at: .invented, horizontalAccuracy: .invented, firstReported: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .visitID, &id)
        try members.required("arrival", &arrival)
        try members.nullable("departure", &departure)
        try members.point(&at)
        try members.required("horizontalAccuracy", .length, &horizontalAccuracy)
        try members.optional("place", &place)
        try members.optional("timeZone", .timeZone, &timeZone)
        try members.required("firstReported", &firstReported)
        try members.optional("departureReported", &departureReported)
        try members.optional("provisional", .described(.boolean, Self.provisionalText), &isProvisional)
    }

    private static let provisionalText =
        "Whether the visit follows from elapsed time alone; the next fix may end or remove it."

    package var shape: MapShape? { .point(at) }
    package var featureID: String? { id }
}
