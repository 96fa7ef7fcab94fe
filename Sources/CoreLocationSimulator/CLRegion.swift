public import Foundation

/// An area whose boundary crossings are reported. Two of one type with one identifier are the same region.
open class CLRegion: NSObject {
    public let identifier: String
    /// Whether the app wants to know of arrivals; true by default.
    open var notifyOnEntry = true
    /// Whether the app wants to know of departures; true by default.
    open var notifyOnExit = true

    init(identifier: String) { self.identifier = identifier }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLRegion else { return false }
        return type(of: other) == type(of: self) && other.identifier == identifier
    }
    open override var hash: Int { identifier.hashValue }

    /// Says nothing of the place: descriptions end in diagnostics.
    open override var description: String { "\(type(of: self))(…)" }
}

/// A circle on the ellipsoid.
open class CLCircularRegion: CLRegion {
    public let center: CLLocationCoordinate2D
    /// Meters; negative ones become 0.
    public let radius: CLLocationDistance

    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
        self.center = center
        self.radius = max(0, radius)
        super.init(identifier: identifier)
    }

    /// Whether the geodesic from the center is not longer than the radius; false when one of both is no place.
    open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
        center.distanceMeters(to: coordinate).map { $0 <= radius } ?? false
    }
}
