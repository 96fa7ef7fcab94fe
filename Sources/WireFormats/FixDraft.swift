import Geodesy
package import Whereabouts

/// The time of a report, if it can be read.
package enum ReportedTime: Hashable, Sendable {
    case missing
    case unreadable
    case at(Timestamp)

    /// The report that `make` makes at this time, or the rejection: the time is missing, unreadable, before any client
    /// existed, or further ahead of the house's clock than a clock may be.
    package func report(now: Timestamp, _ make: (Timestamp) -> Report) -> Report {
        switch self {
        case .missing: .rejected(.missingField)
        case .at(let time) where time >= Limits.oldestFix:
            time > now.adding(seconds: Limits.futureRejectedSeconds) ? .rejected(.inTheFuture) : make(time)
        case .unreadable, .at: .rejected(.badTimestamp)
        }
    }
}

/// A fix while its message is read, with the units and meanings of `CLLocation`. `report(now:)` checks it.
package struct FixDraft {
    /// Degrees; NaN if the member is not a number.
    package var latitude: Double?
    /// Degrees; NaN if the member is not a number.
    package var longitude: Double?
    /// The time, if the message has one that can be read.
    package var time = ReportedTime.missing
    /// Meters; negative if the coordinate is invalid.
    package var horizontalAccuracy: Double?
    /// Meters above mean sea level.
    package var altitude: Double?
    /// Meters above the WGS 84 ellipsoid.
    package var ellipsoidalAltitude: Double?
    /// Meters; 0 or less makes both altitudes unknown.
    package var verticalAccuracy: Double?
    /// The floor of a building.
    package var floor: Int64?
    /// Meters per second.
    package var speed: Double?
    /// Meters per second.
    package var speedAccuracy: Double?
    /// Degrees, 0 ≤ course < 360.
    package var course: Double?
    /// Degrees.
    package var courseAccuracy: Double?
    /// Whether software simulated the fix.
    package var isSimulatedBySoftware: Bool?
    /// Whether an accessory made the fix.
    package var isProducedByAccessory: Bool?
    /// 0 to 1.
    package var batteryLevel: Double?
    /// The client's name for the fix.
    package var clientID: String?
    /// When the first service received it.
    package var receivedAt: Timestamp?
    /// Members without a field, as a JSON object.
    package var remainder: String?
    /// The query that the fix answers.
    package var answering: QueryID?

    /// A draft without any value.
    package init() {}

    /// The fix, or the first reason to reject it: missing field, no fix, coordinate, time, future.
    package func report(now: Timestamp) -> Report {
        guard let latitude, let longitude, time != .missing else { return .rejected(.missingField) }
        // Checked before the time, because a device without a fix may have no clock either.
        if latitude == 0 && longitude == 0 && (horizontalAccuracy == 0 || time == .at(Timestamp(milliseconds: 0))) {
            return .rejected(.noFix)
        }
        guard
            let coordinate = try? Coordinate(latitude: latitude.positiveZero, longitude: longitude.positiveZero)
        else { return .rejected(.badCoordinate) }
        return time.report(now: now) { .fix(fix(at: $0, coordinate), answering: answering) }
    }

    private func fix(at timestamp: Timestamp, _ coordinate: Coordinate) -> Fix {
        var fix = Fix(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: Self.known(horizontalAccuracy))
        if verticalAccuracy.map({ $0 > 0 }) ?? true {
            fix.altitude = Self.known(altitude)
            fix.ellipsoidalAltitude = Self.known(ellipsoidalAltitude)
            fix.verticalAccuracy = Self.known(verticalAccuracy)
        }
        fix.floor = floor
        // A value outside its range is stored as unknown.
        fix.speed = Self.known(speed).flatMap(Sentinel.nonNegative)
        fix.speedAccuracy = Self.known(speedAccuracy).flatMap(Sentinel.nonNegative)
        fix.course = course.flatMap(Sentinel.course)
        fix.courseAccuracy = Self.known(courseAccuracy).flatMap(Sentinel.nonNegative)
        fix.isSimulatedBySoftware = isSimulatedBySoftware
        fix.isProducedByAccessory = isProducedByAccessory
        fix.batteryLevel = batteryLevel.flatMap { (0...1).contains($0) ? $0.positiveZero : nil }
        fix.clientID = clientID
        fix.receivedAt = receivedAt
        fix.remainder = remainder
        return fix
    }

    private static func known(_ number: Double?) -> Double? { number.flatMap(Sentinel.known) }
}

/// Numbers from clients and files, some of which mean that a value is unknown.
package enum Sentinel {
    /// `nil` for a negative number; −0 is 0.
    package static func nonNegative(_ number: Double) -> Double? { number >= 0 ? number.positiveZero : nil }

    /// A number that can be stored: `nil` for infinity, for example a speed that overflows in meters per second, and 0
    /// for −0.
    package static func known(_ number: Double) -> Double? { number.isFinite ? number.positiveZero : nil }

    /// A course in 0 ≤ course < 360; 360 becomes 0. `nil` for a negative number, and beyond 360.
    package static func course(_ degrees: Double) -> Double? {
        degrees == 360 ? 0 : degrees < 360 ? nonNegative(degrees) : nil
    }
}
