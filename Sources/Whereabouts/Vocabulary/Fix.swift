package import Geodesy

/// One reported location, with the fields and the meaning of `CLLocation`.
///
/// What Core Location marks with a negative number is `nil` here, except ``horizontalAccuracy``: a fix whose coordinate
/// its device calls invalid is still a report, kept and never used.
package struct Fix: Hashable, Sendable {
    /// The moment the device says it was there.
    package var timestamp: Timestamp
    package var coordinate: Coordinate
    /// Radius of the 68 % circle in meters; `nil` when the device does not say, negative when it calls the coordinate invalid.
    package var horizontalAccuracy: Double?
    /// Meters above mean sea level.
    package var altitude: Double?
    /// Meters above the WGS 84 ellipsoid.
    package var ellipsoidalAltitude: Double?
    package var verticalAccuracy: Double?
    /// Storey of a building, 0 = ground floor.
    package var floor: Int64?
    /// Meters per second.
    package var speed: Double?
    package var speedAccuracy: Double?
    /// Degrees clockwise from true north, 0 ≤ course < 360.
    package var course: Double?
    package var courseAccuracy: Double?
    package var isSimulatedBySoftware: Bool?
    package var isProducedByAccessory: Bool?
    /// 0…1.
    package var batteryLevel: Double?
    /// The client's own name for this fix; tells nothing about its identity.
    package var clientID: String?
    /// When the service of origin received it; only imports have one, live fixes use the time they were recorded at.
    package var receivedAt: Timestamp?
    /// What else the client sent and this type has no field for, as a JSON object of at most 1 KiB.
    package var remainder: String?

    package init(timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double? = nil) {
        self.timestamp = timestamp
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
    }

    /// Same device, same identity: the same fix, however often and in whatever dialect it is sent.
    package struct Identity: Hashable, Sendable {
        package let device: DeviceID
        package let timestamp: Timestamp
        package let latitude, longitude: Double

        package init(device: DeviceID, timestamp: Timestamp, latitude: Double, longitude: Double) {
            (self.device, self.timestamp, self.latitude, self.longitude) = (device, timestamp, latitude, longitude)
        }
    }

    package func identity(device: DeviceID) -> Identity {
        .init(device: device, timestamp: timestamp, latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

/// Why a report is kept as rejected.
package enum RejectionReason: Int64, Sendable, CaseIterable {
    case notJSON = 1
    case unknownType = 2
    case missingField = 3
    case badCoordinate = 4
    case badTimestamp = 5
    /// More than ``Limits/futureRejectedSeconds`` ahead of the house.
    case inTheFuture = 6
    /// (0, 0) with accuracy 0 or time 0: a device that has no fix.
    case noFix = 7
    case tooLarge = 8
    case encryptedWithoutKey = 9
    /// A member says what none of its kind can say.
    case badValue = 10

    /// The word shown to people and machines.
    package var word: String {
        switch self {
        case .notJSON: "notJSON"
        case .unknownType: "unknownType"
        case .missingField: "missingField"
        case .badCoordinate: "badCoordinate"
        case .badTimestamp: "badTimestamp"
        case .inTheFuture: "inTheFuture"
        case .noFix: "noFix"
        case .tooLarge: "tooLarge"
        case .encryptedWithoutKey: "encryptedWithoutKey"
        case .badValue: "badValue"
        }
    }
}
