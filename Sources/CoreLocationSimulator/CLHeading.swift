public import Foundation

/// Which way the device points; where it moves is ``CLLocation/course``.
public final class CLHeading: NSObject, Sendable {
    /// Degrees clockwise from magnetic north, 0 ..< 360.
    public let magneticHeading: CLLocationDirection
    /// Degrees clockwise from true north, 0 ..< 360; negative where the location is not known.
    public let trueHeading: CLLocationDirection
    /// Degrees the magnetic heading may be wrong by; negative where it is invalid.
    public let headingAccuracy: CLLocationDirection
    /// The field in microteslas, by the device's own axes: to the right of the screen, to its top, out of it. All 0
    /// before the device's track has begun, because the field depends on the place.
    public let x, y, z: CLHeadingComponentValue
    public let timestamp: Date

    init(
        magneticHeading: Double, trueHeading: Double, headingAccuracy: Double, x: Double, y: Double, z: Double,
        timestamp: Date
    ) {
        (self.magneticHeading, self.trueHeading) = (magneticHeading, trueHeading)
        (self.headingAccuracy, self.timestamp) = (headingAccuracy, timestamp)
        (self.x, self.y, self.z) = (x, y, z)
    }
}

/// Microteslas.
public typealias CLHeadingComponentValue = Double
