import Geodesy
package import Whereabouts

/// One track point of a GPX file. Its coordinate is not checked yet: it may be in another reference system.
package struct GPXPoint: Sendable, DescribedWithoutContent {
    /// The line in which its element begins.
    package let line: Int
    /// Whether it is the first of its segment, so that the recording was interrupted before it.
    package let beginsSegment: Bool
    /// The numbers as written, degrees in a proper file; NaN if the attribute is missing or not a number.
    package let latitude, longitude: Double
    /// The time in the file.
    package var time = ReportedTime.missing
    /// `ele`, meters above mean sea level.
    package var altitude: Double?
    /// Meters per second; `nil` if negative.
    package var speed: Double?
    /// Degrees, 0 ≤ course < 360; `nil` if negative.
    package var course: Double?
    /// The accuracy in meters, from an extension; without one, ``quality`` gives an estimate.
    package var horizontalAccuracy: Double?
    /// The quality of the receiver's solution.
    package var quality = Quality()
    /// The accuracy of the altitude in meters, from an extension.
    package var verticalAccuracy: Double?
    /// The floor of the building, from an extension.
    package var floor: Int64?

    init(line: Int, beginsSegment: Bool, latitude: Double, longitude: Double) {
        (self.line, self.beginsSegment) = (line, beginsSegment)
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    /// The report of the point in WGS 84; `nil` for a point without time, which cannot be part of a history.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package func report(now: Timestamp) -> Report? {
        report(latitude: latitude, longitude: longitude, now: now)
    }

    /// The report of the point with a coordinate transformed to WGS 84.
    package func report(latitude: Double, longitude: Double, now: Timestamp) -> Report? {
        guard time != .missing else { return nil }
        var draft = FixDraft()
        (draft.latitude, draft.longitude, draft.time) = (latitude, longitude, time)
        (draft.horizontalAccuracy, draft.verticalAccuracy) = (
            horizontalAccuracy ?? quality.estimatedAccuracy, verticalAccuracy
        )
        (draft.altitude, draft.speed, draft.course, draft.floor) = (altitude, speed, course, floor)
        return draft.report(now: now)
    }
}

extension GPXPoint {
    /// The quality of a receiver's solution in GPX 1.1: `hdop`, `sat` and `src`.
    package struct Quality: Sendable {
        /// `hdop`, the horizontal dilution of precision.
        package var horizontalDilution: Double?
        /// `sat`, the number of satellites used.
        package var satellites: Double?
        /// `src` in lower case, for example `gps`, `network` or `cell`.
        package var source: String?

        /// No values.
        package init() {}

        /// The range error of a civil receiver (68 %), in meters. An `hdop` multiplies it to the error of the coordinate. The
        /// GPS Standard Positioning Service Performance Standard (2020) allows 7.8 m for 95 %; the atmosphere and echoes add
        /// to it.
        static let rangeErrorMeters = 5.0
        /// The satellites from which a receiver without `hdop` has a good solution, and those it needs for any solution.
        static let satellitesEnough = 6.0
        static let satellitesNeeded = 4.0
        static let manySatellitesMeters = 10.0
        static let fewSatellitesMeters = 25.0
        static let tooFewSatellitesMeters = 100.0
        /// The accuracy of a position by Wi-Fi, in meters, and by the cells of a phone network.
        static let networkMeters = 100.0
        static let cellMeters = 1000.0
        /// The least credible `hdop`; a receiver that does not know it writes 0.
        static let leastDilution = 0.3

        /// The estimated 68 % radius in meters; `nil` without any of the three.
        package var estimatedAccuracy: Double? {
            if let source {
                if source.contains("cell") { return Self.cellMeters }
                if source.contains("network") || source.contains("wifi") { return Self.networkMeters }
            }
            if let dilution = horizontalDilution, dilution >= Self.leastDilution {
                return dilution * Self.rangeErrorMeters
            }
            guard let satellites, satellites > 0 else { return nil }
            if satellites >= Self.satellitesEnough { return Self.manySatellitesMeters }
            return satellites >= Self.satellitesNeeded ? Self.fewSatellitesMeters : Self.tooFewSatellitesMeters
        }
    }
}
