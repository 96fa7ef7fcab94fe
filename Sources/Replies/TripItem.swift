/// A trip between two visits, or a gap without data.
package struct TripItem: Reply, Hashable {
    /// `trip`, or `gap` for a time without data.
    package var type: String
    package var start: Moment
    package var end: Moment
    package var durationSeconds: Double
    package var from: TripEndItem?
    package var to: TripEndItem?
    /// The length of the track; a gap has none.
    package var distanceMeters: Double?
    /// `walk`, `run`, `cycle`, `drive`, `train`, `flight` or `ferry`; a gap has none.
    package var mode: String?
    /// The probability of the mode.
    /// From 0 to 1.
    package var confidence: Double?
    /// The number of fixes of the trip.
    package var fixes: Int64?
    /// At its start.
    package var timeZone: String?

    package init(
        type: String, start: Moment, end: Moment, durationSeconds: Double, from: TripEndItem? = nil,
        to: TripEndItem? = nil, distanceMeters: Double? = nil, mode: String? = nil, confidence: Double? = nil,
        fixes: Int64? = nil, timeZone: String? = nil
    ) {
        (self.type, self.start, self.end, self.durationSeconds) = (type, start, end, durationSeconds)
        (self.from, self.to, self.distanceMeters, self.mode) = (from, to, distanceMeters, mode)
        (self.confidence, self.fixes, self.timeZone) = (confidence, fixes, timeZone)
    }

    package static var invented: Self {
        Self(type: .invented, start: .invented, end: .invented, durationSeconds: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("type", .words(["trip", "gap"]), &type)
        try members.required("start", &start)
        try members.required("end", &end)
        try members.required("durationSeconds", .length, &durationSeconds)
        try members.optional("from", &from)
        try members.optional("to", &to)
        try members.optional("distanceMeters", .length, &distanceMeters)
        try members.optional("mode", .named("TravelMode"), &mode)
        try members.optional("confidence", .range(0...1), &confidence)
        try members.optional("fixes", &fixes)
        try members.optional("timeZone", .timeZone, &timeZone)
    }

    package var shape: MapShape? {
        guard let from, let to else { return nil }
        return .line([from.at, to.at])
    }
}

/// Where a trip begins or ends.
package struct TripEndItem: Reply, Hashable {
    package var at: MapPoint
    package var place: String?

    package init(at: MapPoint, place: String? = nil) {
        (self.at, self.place) = (at, place)
    }

    package static let schema: String? = "TripEnd"

    package static var invented: Self {
        Self(at: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.point(&at)
        try members.optional("place", &place)
    }
}
