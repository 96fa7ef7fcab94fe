import Geodesy

/// The first-order divisions of countries: which one of a country's a coordinate is in.
///
/// Their outlines are about a kilometer coarse, so they never decide the country. Where no outline of the country holds
/// the coordinate, its nearest in the cell of half a degree answers, or the only one the file names there.
struct Regions: Sendable {
    let tiling: Tiling

    /// How a coordinate lies to the land that the outlines draw, of whatever country.
    struct Answer {
        /// A label of the country's, with the one it is part of.
        var region: Int?
        /// Whether some outline holds the coordinate.
        var isLand: Bool
        /// Meters to the nearest outline in the cell, roughly; infinite if there is none.
        var metersToLand: Double
    }

    /// Meters in 1e-7 degrees of a meridian, near enough to say how far the coarse shore is.
    private static let metersPerUnit = 0.011132

    func answer(at coordinate: Coordinate, country: CountryCode?) -> Answer {
        let listed = tiling.listed(at: coordinate) { Self.eastScale(at: coordinate) }
        let nearestSquare = listed.map(\.offsetSquare).min() ?? .infinity
        let own = listed.filter { country != nil && tiling.country($0.label) == country }
        // The first of equals, so that two labels without edges give the same answer every time.
        let region = own.min { $0.offsetSquare < $1.offsetSquare }?.label
        return Answer(
            region: region, isLand: nearestSquare == 0, metersToLand: nearestSquare.squareRoot() * Self.metersPerUnit)
    }

    /// The length of a degree of longitude in degrees of latitude, by geodesics of a hundredth of a degree.
    private static func eastScale(at coordinate: Coordinate) -> Double {
        let latitude = min(max(coordinate.latitude, -89.9), 89.9)
        guard let origin = try? Coordinate(latitude: latitude, longitude: 0),
            let east = try? Coordinate(latitude: latitude, longitude: 0.01),
            let north = try? Coordinate(latitude: latitude + 0.01, longitude: 0)
        else { return 1 }
        return Geodesic.distanceMeters(from: origin, to: east) / Geodesic.distanceMeters(from: origin, to: north)
    }
}
