/// A range of latitudes and a range of longitudes, which may cross the antimeridian.
///
/// Edges belong to the box. The longitudes run eastwards from `west` to `east`: `west > east` crosses the antimeridian
/// (RFC 7946 §5.2), −180 to 180 is every longitude, `west == east` a single meridian. A box that reaches a pole
/// contains the pole at every longitude.
package struct BoundingBox: Hashable, Sendable, DescribedWithoutContent {
    /// Degrees, −90…90, `south <= north`.
    package let south, north: Double
    /// Degrees, −180…180.
    package let west, east: Double

    /// The box between two corners.
    ///
    /// - Throws: ``ShapeError/southAboveNorth``.
    package init(southWest: Coordinate, northEast: Coordinate) throws(ShapeError) {
        guard southWest.latitude <= northEast.latitude else { throw .southAboveNorth }
        self.init(
            south: southWest.latitude, north: northEast.latitude,
            west: southWest.longitude, east: northEast.longitude)
    }

    /// A box of numbers known to be in range; without longitudes it spans all of them.
    init(south: Double, north: Double, west: Double = -180, east: Double = 180) {
        self.south = south
        self.north = north
        self.west = west
        self.east = east
    }

    /// Whether a place is in the box or on its edge; longitudes −180 and 180 are the same.
    package func contains(_ coordinate: Coordinate) -> Bool {
        guard south <= coordinate.latitude, coordinate.latitude <= north else { return false }
        if abs(coordinate.latitude) == 90 { return true }
        let longitude = coordinate.longitude
        guard west <= east else { return longitude >= west || longitude <= east }
        if west <= longitude, longitude <= east { return true }
        return abs(longitude) == 180 && (west == -180 || east == 180)
    }
}
