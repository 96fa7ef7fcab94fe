package import Geodesy

/// The grid a kilometer grant sees: rows of 0.01° of latitude (1.1 km), each cut into equal cells about as wide.
///
/// A coordinate is snapped first and everything is computed from the snapped one, so that nothing an asker sees, however
/// often they ask, tells two places in one cell apart.
package enum KilometerCell {
    private static let rows = 18_000

    /// The center of the cell that holds `coordinate`. Near a pole a row has fewer cells, the last row one.
    package static func center(of coordinate: Coordinate) -> Coordinate {
        let row = min(Int(((coordinate.latitude + 90) * 100).rounded(.down)), rows - 1)
        let latitude = (Double(row) + 0.5) / 100 - 90
        let columns = max(1, Int((36_000 * width(at: latitude)).rounded(.down)))
        let turned = coordinate.longitude == 180 ? -180 : coordinate.longitude
        let column = min(Int(((turned + 180) / 360 * Double(columns)).rounded(.down)), columns - 1)
        let longitude = (Double(column) + 0.5) * 360 / Double(columns) - 180
        // Both lie inside their ranges by construction, so this cannot fail.
        return (try? Coordinate(latitude: latitude, longitude: longitude)) ?? coordinate
    }

    /// How much shorter a degree of longitude is at `latitude` than on the equator, on the ellipsoid.
    private static func width(at latitude: Double) -> Double {
        func step(_ latitude: Double) -> Double {
            guard let from = try? Coordinate(latitude: latitude, longitude: 0),
                let to = try? Coordinate(latitude: latitude, longitude: 0.01)
            else { return 0 }
            return Geodesic.distanceMeters(from: from, to: to)
        }
        return step(latitude) / step(0)
    }
}
