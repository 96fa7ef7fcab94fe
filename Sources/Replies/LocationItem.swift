/// A location as a permit shows it.
package struct LocationItem: Reply, Hashable {
    /// The device's time; under a coarse grant its quarter of an hour.
    package var timestamp: Moment
    /// Under a coarse grant the center of the cell or the city; `nil` under a grant of place names.
    package var at: MapPoint?
    /// Meters.
    package var horizontalAccuracy: Double?
    /// Meters above mean sea level.
    package var altitude: Double?
    /// Meters above the ellipsoid.
    package var ellipsoidalAltitude: Double?
    /// Meters per second.
    package var speed: Double?
    /// Degrees clockwise from true north.
    package var course: Double?
    /// `exact`, `kilometer`, `city` or `place`.
    package var precision: String
    package var place: PlacemarkItem?

    package init(
        timestamp: Moment, at: MapPoint?, horizontalAccuracy: Double? = nil, altitude: Double? = nil,
        ellipsoidalAltitude: Double? = nil, speed: Double? = nil, course: Double? = nil, precision: String,
        place: PlacemarkItem? = nil
    ) {
        (self.timestamp, self.at, self.horizontalAccuracy, self.altitude) = (
            timestamp, at, horizontalAccuracy, altitude
        )
        (self.ellipsoidalAltitude, self.speed, self.course, self.precision) = (
            ellipsoidalAltitude, speed, course, precision
        )
        self.place = place
    }

    package static let schema: String? = "Location"

    package static var invented: Self {
        Self(timestamp: .invented, at: .invented, precision: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("timestamp", &timestamp)
        try members.optionalPoint(&at)
        try members.optional("horizontalAccuracy", .length, &horizontalAccuracy)
        try members.optional("altitude", &altitude)
        try members.optional("ellipsoidalAltitude", &ellipsoidalAltitude)
        try members.optional("speed", .length, &speed)
        try members.optional("course", .length, &course)
        try members.required("precision", .named("Precision"), &precision)
        try members.optional("place", .named("LocationPlace"), &place)
    }

    package var shape: MapShape? { at.map { .point($0) } }
}

/// A person's newest location.
package struct LocationAnswer: Reply, Hashable {
    /// `nil` if there is none to show.
    package var location: LocationItem?
    /// `nil` under a coarse grant, which hides how the log grows.
    package var asOf: Reference?

    package init(location: LocationItem? = nil, asOf: Reference? = nil) {
        (self.location, self.asOf) = (location, asOf)
    }

    package static var invented: Self {
        Self()
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.nullable("location", &location)
        try members.optional("asOf", &asOf)
    }
}

/// The state of a location query, and its answer.
package struct QueryAnswer: Reply, Hashable {
    package var id: String
    /// `pending`, `answered`, `answeredFromLastKnown` or `noAnswer`.
    package var status: String
    package var location: LocationItem?
    /// The envelope of a sealed answer, which only the asker's client can open.
    package var envelope: EnvelopeItem?
    /// As in ``LocationAnswer``.
    package var asOf: Reference?

    package init(
        id: String, status: String, location: LocationItem? = nil, envelope: EnvelopeItem? = nil,
        asOf: Reference? = nil
    ) {
        (self.id, self.status, self.location, self.asOf) = (id, status, location, asOf)
        self.envelope = envelope
    }

    package static var invented: Self {
        Self(id: .invented, status: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .uuid, &id)
        try members.required("status", .named("LocationQueryStatus"), &status)
        try members.optional("location", &location)
        try members.optional("envelope", &envelope)
        try members.optional("asOf", &asOf)
    }
}

/// A location as another person would see it.
package struct PreviewAnswer: Reply, Hashable {
    package var location: LocationItem?
    /// Whether they may read the history.
    package var history: Bool
    /// Why they see nothing.
    package var reason: String?
    package var asOf: Reference

    package init(location: LocationItem? = nil, history: Bool, reason: String? = nil, asOf: Reference) {
        (self.location, self.history, self.reason, self.asOf) = (location, history, reason, asOf)
    }

    package static var invented: Self {
        Self(history: .invented, asOf: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.nullable("location", &location)
        try members.required("history", &history)
        try members.optional("reason", &reason)
        try members.required("asOf", &asOf)
    }
}
