package import Geodesy

/// The grid that a grant with the precision `kilometer` shows: rows of 0.01° of latitude (1.1 km), each cut into equal
/// cells about as wide.
///
/// A coordinate is snapped first and everything is computed from the result. So no number of questions distinguishes
/// two places in one cell.
package enum KilometerCell {
    private static let rows = 18_000

    /// The center of the cell that contains `coordinate`. Rows near a pole have fewer cells, the last row one.
    package static func center(of coordinate: Coordinate) -> Coordinate { HeldCell(around: coordinate).center }

    /// The degrees of latitude from one row to the next.
    fileprivate static let heightDegrees = 0.01

    fileprivate static func find(_ coordinate: Coordinate) -> (center: Coordinate, widthDegrees: Double) {
        let row = min(Int(((coordinate.latitude + 90) * 100).rounded(.down)), rows - 1)
        let latitude = (Double(row) + 0.5) / 100 - 90
        let columns = max(1, Int((36_000 * width(at: latitude)).rounded(.down)))
        let turned = coordinate.longitude == 180 ? -180 : coordinate.longitude
        let column = min(Int(((turned + 180) / 360 * Double(columns)).rounded(.down)), columns - 1)
        let longitude = (Double(column) + 0.5) * 360 / Double(columns) - 180
        // Both numbers are inside their ranges by construction, so this cannot fail.
        let center = (try? Coordinate(latitude: latitude, longitude: longitude)) ?? coordinate
        return (center, 360 / Double(columns))
    }

    /// The length of a degree of longitude at `latitude`, relative to the equator, on the ellipsoid.
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

extension Coordinate {
    /// The center of the square degree that contains the coordinate: what a grant with the precision `city` shows where
    /// no city is known.
    package var squareDegreeCenter: Coordinate {
        let latitude = min(latitude.rounded(.down), 89) + 0.5
        let longitude = min(longitude.rounded(.down), 179) + 0.5
        // Both numbers are inside their ranges by construction, so this cannot fail.
        return (try? Coordinate(latitude: latitude, longitude: longitude)) ?? self
    }
}

/// The cell in which a coarse grant shows a person. It is left late, so that its border does not disclose a place.
///
/// Otherwise a phone at rest on a border would change its cell with each fix, and disclose one coordinate to the width
/// of its noise. The cell is left only for a fix beyond its border by a quarter of a cell, at least ten minutes after
/// the last fix that was not. The standing's fold decides this once for all requesters, so that questions do not move
/// the cell.
package struct HeldCell: Hashable, Sendable {
    /// The center of the cell.
    package let center: Coordinate
    /// The width in degrees of longitude.
    package let widthDegrees: Double

    /// How far beyond its border a cell is kept, as a fraction of a cell.
    package static let marginCells = 0.25
    /// How long a cell is kept after the last fix within its margin, in seconds.
    package static let seconds: Double = 600

    /// The cell of the grid that contains the coordinate.
    package init(around coordinate: Coordinate) { (center, widthDegrees) = KilometerCell.find(coordinate) }

    /// A cell as stored.
    package init(center: Coordinate, widthDegrees: Double) { (self.center, self.widthDegrees) = (center, widthDegrees) }

    /// Whether a coordinate is in the cell with this center, without its margin. Cheap for a coordinate further away than
    /// the height of a row.
    package static func isCell(at center: Coordinate, around coordinate: Coordinate) -> Bool {
        abs(center.latitude - coordinate.latitude) <= KilometerCell.heightDegrees
            && KilometerCell.center(of: coordinate) == center
    }

    /// Whether a fix at `coordinate`, of any time, keeps the cell. Works across the antimeridian too.
    package func keeps(_ coordinate: Coordinate) -> Bool {
        let reach = 0.5 + Self.marginCells
        var east = abs(coordinate.longitude - center.longitude)
        if east > 180 { east = 360 - east }
        return abs(coordinate.latitude - center.latitude) <= reach * KilometerCell.heightDegrees
            && east <= reach * widthDegrees
    }
}
