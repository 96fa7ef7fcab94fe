public import Foundation
internal import Whereabouts

/// A transmitter that sends only its identity.
public struct SimulatedBeacon: Sendable {
    public let uuid: UUID
    public let major: UInt16
    public let minor: UInt16
    public let coordinate: CLLocationCoordinate2D
    /// The signal that a phone receives at one meter, in decibels above one milliwatt.
    public let measuredPower: Int

    public init(
        uuid: UUID, major: UInt16, minor: UInt16, coordinate: CLLocationCoordinate2D, measuredPower: Int = -59
    ) {
        (self.uuid, self.major, self.minor) = (uuid, major, minor)
        (self.coordinate, self.measuredPower) = (coordinate, measuredPower)
    }

    var identity: BeaconIdentity { BeaconIdentity(uuid: uuid, major: major, minor: minor) }
}

/// The identity that a beacon transmits.
struct BeaconIdentity: Hashable {
    let uuid: UUID
    let major, minor: UInt16

    func satisfies(_ constraint: CLBeaconIdentityConstraint) -> Bool {
        uuid == constraint.uuid && constraint.major ?? major == major && constraint.minor ?? minor == minor
    }

    static func comesFirst(_ one: BeaconIdentity, _ other: BeaconIdentity) -> Bool {
        (one.uuid.uuidString, one.major, one.minor) < (other.uuid.uuidString, other.major, other.minor)
    }
}

/// How a beacon is heard: by the path-loss model with the exponent of the profile, to whole decibels.
struct BeaconSignal {
    let rssi: Int
    /// The distance that the strength speaks for.
    let meters: Double
    let proximity: CLProximity

    /// `nil` out of range, or where one of both is no place.
    init?(of beacon: SimulatedBeacon, at place: CLLocationCoordinate2D, profile: SimulationProfile) {
        guard let distance = place.distanceMeters(to: beacon.coordinate), distance <= profile.beaconRangeMeters
        else { return nil }
        let loss = 10 * profile.beaconPathLossExponent
        rssi = beacon.measuredPower - Int((loss * log10(max(distance, profile.beaconMetersMin))).rounded())
        meters = pow(10, Double(beacon.measuredPower - rssi) / loss)
        proximity =
            switch meters {
            case ..<profile.beaconImmediateMeters: .immediate
            case ..<profile.beaconNearMeters: .near
            default: .far
            }
    }
}

/// Whether any beacon of a kind is about: it is as soon as one is heard, and is not when all have been silent for a
/// while.
struct BeaconPresence {
    private(set) var side: CrossingDetector.Side?
    private var silentSince: Timestamp?

    init(side: CrossingDetector.Side? = nil) { self.side = side }

    /// Takes the present reception; returns the side if it has changed or is known for the first time.
    mutating func take(isHeard: Bool, at moment: Timestamp, exitSeconds: Double) -> CrossingDetector.Side? {
        let new: CrossingDetector.Side
        if isHeard {
            silentSince = nil
            new = .inside
        } else if side == .inside {
            let since = silentSince ?? moment
            silentSince = since
            guard moment.seconds(since: since) >= exitSeconds else { return nil }
            new = .outside
        } else {
            new = .outside
        }
        guard new != side else { return nil }
        self = BeaconPresence(side: new)
        return new
    }
}
