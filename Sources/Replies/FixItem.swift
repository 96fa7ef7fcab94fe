/// A reported fix with the names and units of `CLLocation`.
package struct FixItem: Reply, Hashable {
    /// The client's own name for it.
    package var id: String?
    /// The device's time.
    package var timestamp: Moment
    /// WGS 84 in degrees, unless the caller asked for another reference system.
    package var at: MapPoint
    /// Meters, 68 %; negative if the place is not valid.
    package var horizontalAccuracy: Double?
    /// Meters above mean sea level.
    package var altitude: Double?
    /// Meters above the ellipsoid.
    package var ellipsoidalAltitude: Double?
    /// Meters; 0 or less if the altitudes are not valid.
    package var verticalAccuracy: Double?
    /// As `CLFloor.level`: 0 is the ground floor.
    package var floor: Int64?
    /// Meters per second.
    package var speed: Double?
    /// Meters per second.
    package var speedAccuracy: Double?
    /// Degrees clockwise from true north.
    package var course: Double?
    /// Degrees.
    package var courseAccuracy: Double?
    /// From 0 to 1.
    package var batteryLevel: Double?
    package var sourceInformation: SourceInformationItem?
    /// When the service got it; `nil` for an import.
    package var receivedAt: Moment?
    /// The id of the location query that the fix answers.
    package var answering: String?
    /// Members that the service does not know, as received.
    package var remainder: ForeignJSON?

    package init(
        id: String? = nil, timestamp: Moment, at: MapPoint, horizontalAccuracy: Double? = nil,
        altitude: Double? = nil, ellipsoidalAltitude: Double? = nil, verticalAccuracy: Double? = nil,
        floor: Int64? = nil, speed: Double? = nil, speedAccuracy: Double? = nil, course: Double? = nil,
        courseAccuracy: Double? = nil, batteryLevel: Double? = nil, sourceInformation: SourceInformationItem? = nil,
        receivedAt: Moment? = nil, answering: String? = nil, remainder: ForeignJSON? = nil
    ) {
        // One by one: a tuple would copy them.
        self.id = id
        self.timestamp = timestamp
        self.at = at
        self.horizontalAccuracy = horizontalAccuracy
        self.altitude = altitude
        self.ellipsoidalAltitude = ellipsoidalAltitude
        self.verticalAccuracy = verticalAccuracy
        self.floor = floor
        self.speed = speed
        self.speedAccuracy = speedAccuracy
        self.course = course
        self.courseAccuracy = courseAccuracy
        self.batteryLevel = batteryLevel
        self.sourceInformation = sourceInformation
        self.receivedAt = receivedAt
        self.answering = answering
        self.remainder = remainder
    }

    package static var invented: Self {
        Self(timestamp: .invented, at: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("id", &id)
        try members.required("timestamp", &timestamp)
        try members.point(&at)
        try members.optional("horizontalAccuracy", &horizontalAccuracy)
        try members.optional("altitude", &altitude)
        try members.optional("ellipsoidalAltitude", &ellipsoidalAltitude)
        try members.optional("verticalAccuracy", &verticalAccuracy)
        try members.optional("floor", .integer, &floor)
        try members.optional("speed", &speed)
        try members.optional("speedAccuracy", &speedAccuracy)
        try members.optional("course", &course)
        try members.optional("courseAccuracy", &courseAccuracy)
        try members.optional("batteryLevel", &batteryLevel)
        try members.optional("sourceInformation", &sourceInformation)
        try members.optional("receivedAt", &receivedAt)
        try members.optional("answering", .uuid, &answering)
        try members.optional("remainder", &remainder)
    }

    package var shape: MapShape? { .point(at) }
    package var featureID: String? { id }
}

/// How a fix was made.
package struct SourceInformationItem: Reply, Hashable {
    /// As in `CLLocationSourceInformation`.
    package var isSimulatedBySoftware: Bool?
    /// As in `CLLocationSourceInformation`.
    package var isProducedByAccessory: Bool?

    package init(isSimulatedBySoftware: Bool? = nil, isProducedByAccessory: Bool? = nil) {
        (self.isSimulatedBySoftware, self.isProducedByAccessory) = (isSimulatedBySoftware, isProducedByAccessory)
    }

    package static let schema: String? = "SourceInformation"

    package static var invented: Self {
        Self()
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("isSimulatedBySoftware", &isSimulatedBySoftware)
        try members.optional("isProducedByAccessory", &isProducedByAccessory)
    }
}
