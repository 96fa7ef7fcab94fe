package import Geodesy

/// One reported location, with the fields and meanings of `CLLocation`.
///
/// Values that Core Location marks with a negative number are `nil` here, except for ``horizontalAccuracy``: a fix with
/// an invalid coordinate is still a report, which is kept and never used.
package struct Fix: Hashable, Sendable {
    /// When the device was there, by its clock.
    package var timestamp: Timestamp
    /// Where the device was.
    package var coordinate: Coordinate
    /// The radius in meters with a probability of 68 %; `nil` if unknown, negative if the device marks the coordinate
    /// as invalid.
    package var horizontalAccuracy: Double?
    /// Meters above mean sea level.
    package var altitude: Double?
    /// Meters above the WGS 84 ellipsoid.
    package var ellipsoidalAltitude: Double?
    /// The radius in meters with a probability of 68 %; more than 0.
    package var verticalAccuracy: Double?
    /// The floor of a building, 0 for the ground floor.
    package var floor: Int64?
    /// Meters per second.
    package var speed: Double?
    /// Meters per second.
    package var speedAccuracy: Double?
    /// Degrees clockwise from true north, 0 ≤ course < 360.
    package var course: Double?
    /// Degrees.
    package var courseAccuracy: Double?
    /// Whether software simulated the fix.
    package var isSimulatedBySoftware: Bool?
    /// Whether an accessory made the fix.
    package var isProducedByAccessory: Bool?
    /// 0 to 1.
    package var batteryLevel: Double?
    /// The client's name for this fix, which does not affect its identity.
    package var clientID: String?
    /// When the first service received it. Only imports have this time; for live fixes it is the time of recording.
    package var receivedAt: Timestamp?
    /// The client's fields that this type lacks, as a JSON object of at most 1 KiB.
    package var remainder: String?

    /// The key by which repeats are found: the same identity is the same fix, however often and in whatever format it
    /// is sent.
    package struct Identity: Hashable, Sendable {
        /// The device that reported it.
        package let device: DeviceID
        /// The device's time.
        package let timestamp: Timestamp
        /// Degrees.
        package let latitude, longitude: Double

        package init(device: DeviceID, timestamp: Timestamp, latitude: Double, longitude: Double) {
            (self.device, self.timestamp, self.latitude, self.longitude) = (device, timestamp, latitude, longitude)
        }
    }

    /// The identity of this fix from a device.
    package func identity(device: DeviceID) -> Identity {
        .init(device: device, timestamp: timestamp, latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

extension Fix {
    package init(timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double? = nil) {
        self.timestamp = timestamp
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
    }
}

/// Why a report was rejected and kept.
package enum RejectionReason: Int64, Sendable, CaseIterable {
    case notJSON = 1
    case unknownType = 2
    case missingField = 3
    case badCoordinate = 4
    case badTimestamp = 5
    /// More than ``Limits/futureRejectedSeconds`` ahead of the house's clock.
    case inTheFuture = 6
    /// (0, 0) with accuracy 0 or time 0: the device had no fix.
    case noFix = 7
    case tooLarge = 8
    case encryptedWithoutKey = 9
    /// A member has a value that is not allowed.
    case badValue = 10
    /// The device is sealed, and the report is not. Nothing of it is kept.
    case notSealed = 11
    /// Not an envelope. Nothing of it is kept.
    case badEnvelope = 12
    /// The person has no identity key, or did not sign the envelope with it.
    case wrongSignature = 13
    /// The envelope names another device.
    case otherDevice = 14
    /// The envelope is sealed for a key that the person has not accepted, or that was withdrawn.
    case recipientNotPinned = 15
    /// There is no open query about the person that the envelope could answer.
    case noSuchQuery = 16
    /// The envelope is for another person, or for another precision, than the query it answers.
    case wrongRecipient = 17

    /// The word in answers.
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
        case .notSealed: "notSealed"
        case .badEnvelope: "badEnvelope"
        case .wrongSignature: "wrongSignature"
        case .otherDevice: "otherDevice"
        case .recipientNotPinned: "recipientNotPinned"
        case .noSuchQuery: "noSuchQuery"
        case .wrongRecipient: "wrongRecipient"
        }
    }
}
