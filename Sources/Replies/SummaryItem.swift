/// A day, week or month of a person.
package struct SummaryItem: Reply, Hashable {
    /// For example `2026-05-04`.
    package var period: String
    package var from: Moment
    package var to: Moment
    /// The length of the period: stays, moves and unknown time together.
    package var seconds: Double
    package var staySeconds: Double
    package var moveSeconds: Double
    /// Without data.
    package var unknownSeconds: Double
    /// The length of all trips.
    package var distanceMeters: Double
    package var visits: Int64
    /// The longest stay first.
    package var places: [StayItem]
    package var modes: [MovementItem]

    package init(
        period: String, from: Moment, to: Moment, seconds: Double, staySeconds: Double, moveSeconds: Double,
        unknownSeconds: Double, distanceMeters: Double, visits: Int64, places: [StayItem], modes: [MovementItem]
    ) {
        (self.period, self.from, self.to, self.seconds) = (period, from, to, seconds)
        (self.staySeconds, self.moveSeconds, self.unknownSeconds, self.distanceMeters) = (
            staySeconds, moveSeconds, unknownSeconds, distanceMeters
        )
        (self.visits, self.places, self.modes) = (visits, places, modes)
    }

    package static var invented: Self {
        Self(
            period: .invented, from: .invented, to: .invented, seconds: .invented, staySeconds: .invented,
            moveSeconds: .invented, unknownSeconds: .invented, distanceMeters: .invented, visits: .invented,
            places: .invented, modes: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("period", &period)
        try members.required("from", &from)
        try members.required("to", &to)
        try members.required("seconds", .length, &seconds)
        try members.required("staySeconds", .length, &staySeconds)
        try members.required("moveSeconds", .length, &moveSeconds)
        try members.required("unknownSeconds", .length, &unknownSeconds)
        try members.required("distanceMeters", .length, &distanceMeters)
        try members.required("visits", &visits)
        try members.required("places", &places)
        try members.required("modes", &modes)
    }
}

/// The time at one place in a period.
package struct StayItem: Reply, Hashable {
    package var id: String
    package var place: String?
    package var visits: Int64
    package var seconds: Double

    package init(id: String, place: String? = nil, visits: Int64, seconds: Double) {
        (self.id, self.place, self.visits, self.seconds) = (id, place, visits, seconds)
    }

    package static var invented: Self {
        Self(id: .invented, visits: .invented, seconds: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .visitID, &id)
        try members.optional("place", &place)
        try members.required("visits", &visits)
        try members.required("seconds", .length, &seconds)
    }
}

/// The trips of one mode in a period.
package struct MovementItem: Reply, Hashable {
    /// `walk`, `run`, `cycle`, `drive`, `train`, `flight` or `ferry`.
    package var mode: String
    package var trips: Int64
    package var seconds: Double
    package var distanceMeters: Double

    package init(mode: String, trips: Int64, seconds: Double, distanceMeters: Double) {
        (self.mode, self.trips, self.seconds, self.distanceMeters) = (mode, trips, seconds, distanceMeters)
    }

    package static var invented: Self {
        Self(mode: .invented, trips: .invented, seconds: .invented, distanceMeters: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("mode", .named("TravelMode"), &mode)
        try members.required("trips", &trips)
        try members.required("seconds", .length, &seconds)
        try members.required("distanceMeters", .length, &distanceMeters)
    }
}
