// Core Location on Linux, with Apple's names, types, raw values and defaults, driven by a simulated device.
//
// This module is the one that says `public`: a file of an app or an extension that says `import CoreLocation` compiles
// unchanged against it, and Apple's declarations are public. This project's own declarations begin with `Simulated` or
// `Simulation`, or are documented as such.
//
// Sources of the values: Apple's SDK headers where they state one; the accuracy constants are those on which three
// independent re-implementations agree.
@_exported public import Foundation

/// Degrees, latitude or longitude, WGS 84.
public typealias CLLocationDegrees = Double
/// Meters.
public typealias CLLocationDistance = Double
/// Meters of one standard deviation; negative where the value it qualifies is invalid.
public typealias CLLocationAccuracy = Double
/// Meters per second; negative where invalid.
public typealias CLLocationSpeed = Double
/// Meters per second; negative where the speed is invalid.
public typealias CLLocationSpeedAccuracy = Double
/// Degrees clockwise from true north, 0 ..< 360; negative where invalid.
public typealias CLLocationDirection = Double
/// Degrees; negative where the course is invalid.
public typealias CLLocationDirectionAccuracy = Double

/// The best accuracy, with other sensors' help, for a device that is plugged in.
public let kCLLocationAccuracyBestForNavigation: CLLocationAccuracy = -2
/// The best accuracy of the receiver, the default.
public let kCLLocationAccuracyBest: CLLocationAccuracy = -1
/// Within ten meters.
public let kCLLocationAccuracyNearestTenMeters: CLLocationAccuracy = 10
/// Within a hundred meters.
public let kCLLocationAccuracyHundredMeters: CLLocationAccuracy = 100
/// Within a kilometer.
public let kCLLocationAccuracyKilometer: CLLocationAccuracy = 1000
/// Within three kilometers.
public let kCLLocationAccuracyThreeKilometers: CLLocationAccuracy = 3000
/// The accuracy that an app with reduced accuracy gets.
public let kCLLocationAccuracyReduced: CLLocationAccuracy = 6_380_000

/// Every movement is reported.
public let kCLDistanceFilterNone: CLLocationDistance = -1
/// Every turn is reported.
public let kCLHeadingFilterNone: CLLocationDegrees = -1
/// The largest distance there is.
public let CLLocationDistanceMax: CLLocationDistance = .greatestFiniteMagnitude
/// The longest time there is.
public let CLTimeIntervalMax: TimeInterval = .greatestFiniteMagnitude

/// A pair of degrees, valid or not; ``CLLocationCoordinate2DIsValid(_:)`` checks it.
public struct CLLocationCoordinate2D: Sendable {
    public var latitude: CLLocationDegrees
    public var longitude: CLLocationDegrees

    /// The coordinate (0, 0).
    public init() { (latitude, longitude) = (0, 0) }

    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        (self.latitude, self.longitude) = (latitude, longitude)
    }
}

/// The coordinate that is no place: (−180, −180).
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Whether both numbers are finite and in range, −90…90 and −180…180.
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    abs(coordinate.latitude) <= 90 && abs(coordinate.longitude) <= 180
}

/// A coordinate with both degrees given.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether an app may have locations.
public enum CLAuthorizationStatus: Int32, Sendable {
    /// The user has not been asked, or has not answered.
    case notDetermined = 0
    /// Imposed, by parents or an administrator; the user cannot change it.
    case restricted = 1
    /// The user said no, or location services are off for all.
    case denied = 2
    case authorizedAlways = 3
    case authorizedWhenInUse = 4

    /// The name of iOS 7 for ``authorizedAlways``.
    public static var authorized: CLAuthorizationStatus { .authorizedAlways }
}

/// How exact an app's locations may be.
public enum CLAccuracyAuthorization: Int, Sendable {
    case fullAccuracy = 0
    case reducedAccuracy = 1
}

/// The kind of movement that an app follows; it decides when updates pause.
public enum CLActivityType: Int, Sendable {
    case other = 1
    case automotiveNavigation = 2
    case fitness = 3
    case otherNavigation = 4
    case airborne = 5
}

/// How a device is held.
public enum CLDeviceOrientation: Int32, Sendable {
    case unknown = 0
    case portrait = 1
    case portraitUpsideDown = 2
    case landscapeLeft = 3
    case landscapeRight = 4
    case faceUp = 5
    case faceDown = 6
}

/// On which side of a region's boundary the device is.
public enum CLRegionState: Int, Sendable {
    case unknown = 0
    case inside = 1
    case outside = 2
}

/// How near a beacon is.
public enum CLProximity: Int, Sendable {
    case unknown = 0
    case immediate = 1
    case near = 2
    case far = 3
}
