public import Foundation
internal import Geodesy

/// One fix: where the device was, when, and how sure it is. Immutable; two are equal when all fields are.
///
/// A negative ``horizontalAccuracy`` makes the coordinate invalid, a ``verticalAccuracy`` of 0 or less the altitudes,
/// a negative ``speed`` or ``course`` themselves.
///
/// Sendable because it is immutable and its parts are: a subclass that adds a variable breaks this itself.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public let coordinate: CLLocationCoordinate2D
    /// Meters above mean sea level.
    public let altitude: CLLocationDistance
    /// Meters above the WGS 84 ellipsoid.
    public let ellipsoidalAltitude: CLLocationDistance
    public let floor: CLFloor?
    public let horizontalAccuracy: CLLocationAccuracy
    public let verticalAccuracy: CLLocationAccuracy
    public let course: CLLocationDirection
    public let courseAccuracy: CLLocationDirectionAccuracy
    public let speed: CLLocationSpeed
    public let speedAccuracy: CLLocationSpeedAccuracy
    public let timestamp: Date
    public let sourceInformation: CLLocationSourceInformation?

    /// A place alone: accuracy 0, no altitude, no course, no speed. The timestamp is 1970, because nothing in a
    /// simulation reads the wall clock, unless a simulated app makes it: then it is the simulated now.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: -1,
            timestamp: SimulatedApplication.current?.device.clock.now ?? Date(timeIntervalSince1970: 0))
    }

    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: course, courseAccuracy: -1, speed: speed, speedAccuracy: -1,
            timestamp: timestamp)
    }

    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date
    ) {
        self.init(
            all: coordinate, altitude: altitude, ellipsoidalAltitude: 0, floor: nil,
            horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy, course: course,
            courseAccuracy: courseAccuracy, speed: speed, speedAccuracy: speedAccuracy, timestamp: timestamp,
            sourceInformation: nil)
    }

    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date, sourceInfo: CLLocationSourceInformation
    ) {
        self.init(
            all: coordinate, altitude: altitude, ellipsoidalAltitude: 0, floor: nil,
            horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy, course: course,
            courseAccuracy: courseAccuracy, speed: speed, speedAccuracy: speedAccuracy, timestamp: timestamp,
            sourceInformation: sourceInfo)
    }

    /// With the fields that Apple lets no app set.
    init(
        all coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, ellipsoidalAltitude: CLLocationDistance,
        floor: CLFloor?, horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
        course: CLLocationDirection, courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
        speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date, sourceInformation: CLLocationSourceInformation?
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.ellipsoidalAltitude = ellipsoidalAltitude
        self.floor = floor
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.courseAccuracy = courseAccuracy
        self.speed = speed
        self.speedAccuracy = speedAccuracy
        self.timestamp = timestamp
        self.sourceInformation = sourceInformation
    }

    // MARK: Archives

    public static var supportsSecureCoding: Bool { true }

    /// An archive of this module's own: Apple's cannot be read, nor can Apple's read it.
    public required init?(coder: NSCoder) {
        func number(_ key: String) -> Double { coder.decodeDouble(forKey: key) }
        coordinate = CLLocationCoordinate2D(latitude: number("latitude"), longitude: number("longitude"))
        (altitude, ellipsoidalAltitude) = (number("altitude"), number("ellipsoidalAltitude"))
        (horizontalAccuracy, verticalAccuracy) = (number("horizontalAccuracy"), number("verticalAccuracy"))
        (course, courseAccuracy) = (number("course"), number("courseAccuracy"))
        (speed, speedAccuracy) = (number("speed"), number("speedAccuracy"))
        timestamp = Date(timeIntervalSinceReferenceDate: number("timestamp"))
        floor = coder.containsValue(forKey: "floor") ? CLFloor(level: coder.decodeInteger(forKey: "floor")) : nil
        sourceInformation =
            coder.containsValue(forKey: "isSimulatedBySoftware")
            ? CLLocationSourceInformation(
                softwareSimulationState: coder.decodeBool(forKey: "isSimulatedBySoftware"),
                andExternalAccessoryState: coder.decodeBool(forKey: "isProducedByAccessory")) : nil
    }

    open func encode(with coder: NSCoder) {
        for (key, number) in [
            ("latitude", coordinate.latitude), ("longitude", coordinate.longitude), ("altitude", altitude),
            ("ellipsoidalAltitude", ellipsoidalAltitude), ("horizontalAccuracy", horizontalAccuracy),
            ("verticalAccuracy", verticalAccuracy), ("course", course), ("courseAccuracy", courseAccuracy),
            ("speed", speed), ("speedAccuracy", speedAccuracy),
            ("timestamp", timestamp.timeIntervalSinceReferenceDate),
        ] { coder.encode(number, forKey: key) }
        if let floor { coder.encode(floor.level, forKey: "floor") }
        if let sourceInformation {
            coder.encode(sourceInformation.isSimulatedBySoftware, forKey: "isSimulatedBySoftware")
            coder.encode(sourceInformation.isProducedByAccessory, forKey: "isProducedByAccessory")
        }
    }

    /// Itself, because nothing in it changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Meters along the geodesic of the WGS 84 ellipsoid; NaN when a coordinate is none.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        coordinate.distanceMeters(to: location.coordinate) ?? .nan
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocation else { return false }
        return numbers == other.numbers && timestamp == other.timestamp && floor == other.floor
            && sourceInformation == other.sourceInformation
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(numbers)
        hasher.combine(timestamp)
        return hasher.finalize()
    }

    /// Says nothing of the place: descriptions end in diagnostics.
    open override var description: String { "CLLocation(…)" }

    private var numbers: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude, ellipsoidalAltitude, horizontalAccuracy,
            verticalAccuracy, course, courseAccuracy, speed, speedAccuracy,
        ]
    }
}

/// The storey of a building, 0 = ground floor.
public final class CLFloor: NSObject, Sendable {
    public let level: Int

    init(level: Int) { self.level = level }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CLFloor)?.level == level }
    public override var hash: Int { level.hashValue }
}

/// Where a fix came from.
public final class CLLocationSourceInformation: NSObject, Sendable {
    public let isSimulatedBySoftware: Bool
    public let isProducedByAccessory: Bool

    public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool) {
        (isSimulatedBySoftware, isProducedByAccessory) = (isSoftware, isAccessory)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocationSourceInformation else { return false }
        return other.isSimulatedBySoftware == isSimulatedBySoftware
            && other.isProducedByAccessory == isProducedByAccessory
    }
    public override var hash: Int { (isSimulatedBySoftware ? 1 : 0) + (isProducedByAccessory ? 2 : 0) }
}

extension CLLocationCoordinate2D {
    /// The place, or `nil` when this is none.
    var place: Coordinate? { try? Coordinate(latitude: latitude, longitude: longitude) }

    /// Meters along the geodesic; `nil` when one of both is no place.
    func distanceMeters(to other: CLLocationCoordinate2D) -> Double? {
        guard let here = place, let there = other.place else { return nil }
        return Geodesic.distanceMeters(from: here, to: there)
    }
}
