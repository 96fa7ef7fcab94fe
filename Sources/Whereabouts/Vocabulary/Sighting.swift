package import Geodesy

/// A Core Location event other than a fix or an authorization, as the device reported it.
///
/// Visits and crossings here are the *device's* conclusions. A reported visit is evidence for its arrival and departure
/// if there are no fixes at those times (``StoredFix/moments(of:device:receivedAt:)``). Reported crossings are kept
/// beside those folded from fixes.
package enum Sighting: Hashable, Sendable {
    case heading(HeadingReport)
    case beacon(BeaconReport)
    case visit(VisitReport)
    case crossing(CrossingReport)

    /// The kinds, with the numbers of their events.
    package enum Kind: Int64, Sendable, CaseIterable {
        case heading = 36
        case beacon = 37
        case visit = 38
        case crossing = 39

        /// The name in `POST /v1/reports`.
        package var word: String { String(describing: self) }
    }

    /// The kind of the sighting.
    package var kind: Kind {
        switch self {
        case .heading: .heading
        case .beacon: .beacon
        case .visit: .visit
        case .crossing: .crossing
        }
    }
}

/// The direction in which the device pointed, a `CLHeading`.
package struct HeadingReport: Hashable, Sendable {
    /// When the device measured it.
    package let timestamp: Timestamp
    /// Degrees clockwise from magnetic north, 0 ≤ heading < 360.
    package let magneticHeading: Double
    /// Degrees from true north; `nil` if the device did not know its location.
    package let trueHeading: Double?
    /// Degrees; `nil` if unknown.
    package let headingAccuracy: Double?

    package init(timestamp: Timestamp, magneticHeading: Double, trueHeading: Double?, headingAccuracy: Double?) {
        (self.timestamp, self.magneticHeading) = (timestamp, magneticHeading)
        (self.trueHeading, self.headingAccuracy) = (trueHeading, headingAccuracy)
    }
}

/// A beacon that the device received, a `CLBeacon`.
package struct BeaconReport: Hashable, Sendable {
    /// When the device ranged the beacon.
    package let timestamp: Timestamp
    /// The proximity UUID of the beacon.
    package let uuid: Identifier128
    /// The beacon's major value.
    package let major: Int64
    /// The beacon's minor value.
    package let minor: Int64
    /// 0 unknown, 1 immediate, 2 near, 3 far.
    package let proximity: Int64
    /// One standard deviation in meters; `nil` if unknown.
    package let accuracy: Double?
    /// dBm, negative; 0 if nothing was received.
    package let rssi: Int64

    package init(
        timestamp: Timestamp, uuid: Identifier128, major: Int64, minor: Int64, proximity: Int64, accuracy: Double?,
        rssi: Int64
    ) {
        (self.timestamp, self.uuid, self.major, self.minor) = (timestamp, uuid, major, minor)
        (self.proximity, self.accuracy, self.rssi) = (proximity, accuracy, rssi)
    }
}

/// A visit that the device detected, a `CLVisit`.
package struct VisitReport: Hashable, Sendable {
    /// When the app got the visit.
    package let timestamp: Timestamp
    /// The center of the visit.
    package let coordinate: Coordinate
    /// Meters, the radius with a probability of 68 %; `nil` if unknown.
    package let horizontalAccuracy: Double?
    /// `nil` if it was not observed.
    package let arrival: Timestamp?
    /// `nil` while the visit goes on.
    package let departure: Timestamp?

    package init(
        timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double?, arrival: Timestamp?,
        departure: Timestamp?
    ) {
        (self.timestamp, self.coordinate, self.horizontalAccuracy) = (timestamp, coordinate, horizontalAccuracy)
        (self.arrival, self.departure) = (arrival, departure)
    }
}

/// An entry or exit that the device detected.
package struct CrossingReport: Hashable, Sendable {
    /// When the app got the crossing.
    package let timestamp: Timestamp
    /// The app's name for the region: 1 to ``Limits/regionNameCharacters`` characters.
    package let region: String
    /// Whether the device entered the region; otherwise it left.
    package let isEntry: Bool

    package init(timestamp: Timestamp, region: String, isEntry: Bool) {
        (self.timestamp, self.region, self.isEntry) = (timestamp, region, isEntry)
    }
}
