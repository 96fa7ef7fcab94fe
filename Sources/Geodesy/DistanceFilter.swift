/// Drops fixes that moved too little to matter, as `CLLocationManager.distanceFilter` does on the device.
package struct DistanceFilter: Sendable {
    /// Meters a device must move from the last kept fix before the next one is kept.
    package let meters: Double
    private var lastKept: Coordinate?

    /// Any number but NaN; zero or less (`kCLDistanceFilterNone` is −1) keeps every fix.
    package init(meters: Double) {
        precondition(!meters.isNaN, "A distance filter has a number of meters.")
        self.meters = meters
    }

    /// Whether a fix at `coordinate` is kept.
    ///
    /// Distances are geodesics on the WGS 84 ellipsoid (Karney 2013, DOI 10.1007/s00190-012-0578-z,
    /// error below 15 nm), not great circles: a sphere is wrong by up to 0.56 %.
    ///
    /// - Parameter coordinate: WGS 84 latitude and longitude, in degrees.
    /// - Returns: `true` for the first fix and for each fix at least ``meters`` from the last kept one.
    package mutating func keeps(_ coordinate: Coordinate) -> Bool {
        if let lastKept, Geodesic.distanceMeters(from: lastKept, to: coordinate) < meters { return false }
        lastKept = coordinate
        return true
    }
}
