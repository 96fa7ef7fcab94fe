public import Foundation

/// The larger of the two numbers of a beacon, as of all beacons of one house.
public typealias CLBeaconMajorValue = UInt16
/// The smaller of the two numbers of a beacon, as of one door.
public typealias CLBeaconMinorValue = UInt16

/// Which beacons an app looks for: those with this UUID and, where given, these numbers.
public final class CLBeaconIdentityConstraint: NSObject, Sendable {
    public let uuid: UUID
    /// `nil` for any.
    public let major: CLBeaconMajorValue?
    /// `nil` for any.
    public let minor: CLBeaconMinorValue?

    public convenience init(uuid: UUID) { self.init(uuid, nil, nil) }
    public convenience init(uuid: UUID, major: CLBeaconMajorValue) { self.init(uuid, major, nil) }
    public convenience init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
        self.init(uuid, major, minor)
    }

    init(_ uuid: UUID, _ major: CLBeaconMajorValue?, _ minor: CLBeaconMinorValue?) {
        (self.uuid, self.major, self.minor) = (uuid, major, minor)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLBeaconIdentityConstraint else { return false }
        return (uuid, major, minor) == (other.uuid, other.major, other.minor)
    }
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(uuid)
        hasher.combine(major)
        hasher.combine(minor)
        return hasher.finalize()
    }
}

/// The surroundings of beacons: entered when the first of them is heard, left when the last has been silent for a while.
open class CLBeaconRegion: CLRegion {
    public let beaconIdentityConstraint: CLBeaconIdentityConstraint
    /// Whether the app wants to hear that it is inside whenever the screen is lit; false by default.
    open var notifyEntryStateOnDisplay = false

    public convenience init(uuid: UUID, identifier: String) {
        self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid), identifier: identifier)
    }
    public convenience init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
        self.init(
            beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major), identifier: identifier)
    }
    public convenience init(
        uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
    ) {
        self.init(
            beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor),
            identifier: identifier)
    }

    public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
        self.beaconIdentityConstraint = beaconIdentityConstraint
        super.init(identifier: identifier)
    }

    /// The way before iOS 13.
    public convenience init(proximityUUID: UUID, identifier: String) {
        self.init(uuid: proximityUUID, identifier: identifier)
    }
    public convenience init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
        self.init(uuid: proximityUUID, major: major, identifier: identifier)
    }
    public convenience init(
        proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
    ) {
        self.init(uuid: proximityUUID, major: major, minor: minor, identifier: identifier)
    }
    open var proximityUUID: UUID { uuid }

    open var uuid: UUID { beaconIdentityConstraint.uuid }
    open var major: NSNumber? { beaconIdentityConstraint.major.map { NSNumber(value: $0) } }
    open var minor: NSNumber? { beaconIdentityConstraint.minor.map { NSNumber(value: $0) } }
}

/// A beacon that is heard, or was a moment ago.
public final class CLBeacon: NSObject, @unchecked Sendable {
    // Sendable: everything is constant, and numbers do not change.
    public let uuid: UUID
    public let major: NSNumber
    public let minor: NSNumber
    public let proximity: CLProximity
    /// Meters of one sigma; negative when nothing was heard since the last report.
    public let accuracy: CLLocationAccuracy
    /// Decibels above one milliwatt; 0 when nothing was heard.
    public let rssi: Int
    public let timestamp: Date

    /// The name before iOS 13.
    public var proximityUUID: UUID { uuid }

    init(_ identity: BeaconIdentity, _ signal: BeaconSignal?, at date: Date) {
        uuid = identity.uuid
        (major, minor) = (NSNumber(value: identity.major), NSNumber(value: identity.minor))
        proximity = signal?.proximity ?? .unknown
        accuracy = signal?.meters ?? -1
        rssi = signal?.rssi ?? 0
        timestamp = date
    }
}

extension CLMonitor {
    /// A beacon with this UUID and, where given, these numbers is heard.
    public struct BeaconIdentityCondition: CLCondition, Hashable, Sendable {
        public let uuid: UUID
        public let major: CLBeaconMajorValue?
        public let minor: CLBeaconMinorValue?

        public init(uuid: UUID) { (self.uuid, major, minor) = (uuid, nil, nil) }
        public init(uuid: UUID, major: CLBeaconMajorValue) { (self.uuid, self.major, minor) = (uuid, major, nil) }
        public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
            (self.uuid, self.major, self.minor) = (uuid, major, minor)
        }
    }
}
