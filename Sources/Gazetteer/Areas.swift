import Geodesy

/// The areas that contain a coordinate: the first-order division of a country, a lake, contested land.
///
/// Their outlines are about a kilometer coarse, so they never decide the country. Where no outline of the country holds
/// the coordinate, its nearest in the cell of half a degree answers, or the only one the file names there.
struct Regions: Sendable {
    /// The kind of an area.
    private enum Kind: UInt32 { case division, lake, contested }

    let tiling: Tiling

    /// How a coordinate lies to the land that the outlines draw, of whatever country.
    struct Answer {
        /// A label of the country's, with the one it is part of.
        var region: Int?
        /// The label of a lake.
        var lake: Int?
        /// All countries that claim the land, in alphabetical order; `nil` if only the governing country does.
        var claimants: [CountryCode]?
        /// Whether the outline of some division holds the coordinate.
        var isLand = false
        /// Meters to the nearest such outline in the cell, roughly; infinite if there is none.
        var metersToLand = Double.infinity
    }

    /// Meters in 1e-7 degrees of a meridian, near enough to say how far the coarse shore is.
    private static let metersPerUnit = 0.011132

    /// 20 to 100 ns where an outline of the country holds the coordinate, a few µs off its shore.
    func answer(at point: TilingPoint, latitude: Double, country: CountryCode?) -> Answer {
        var answer = Answer()
        tiling.eachHolding(point) { label in
            switch Kind(rawValue: tiling.kind(label)) {
            case .lake: answer.lake = answer.lake ?? label
            case .contested: answer.claimants = answer.claimants ?? claimants(label, governed: country)
            case .division, nil:
                answer.isLand = true
                if answer.region == nil, country != nil, tiling.country(label) == country { answer.region = label }
            }
            // Lakes and contested land are listed before divisions.
            return answer.region == nil
        }
        if answer.isLand { answer.metersToLand = 0 }
        if answer.region == nil { addNearest(to: &answer, point, latitude: latitude, country) }
        return answer
    }

    /// The nearest division of the country in the cell, and how far land is.
    private func addNearest(
        to answer: inout Answer, _ point: TilingPoint, latitude: Double, _ country: CountryCode?
    ) {
        var (own, ownSquare, landSquare) = (Int?.none, Double.infinity, Double.infinity)
        tiling.eachListed(at: point, eastScale: Self.eastScale(at: latitude)) {
            tiling.kind($0) == Kind.division.rawValue
        } _: { label, square in
            landSquare = min(landSquare, square)
            guard country != nil, tiling.country(label) == country else { return }
            // The first of equals, so that two labels without edges give the same answer every time.
            if own == nil || square < ownSquare { (own, ownSquare) = (label, square) }
        }
        answer.region = own
        answer.metersToLand = landSquare.squareRoot() * Self.metersPerUnit
    }

    /// The outlines are coarse, and count only where the country that governs is the one they are drawn for.
    private func claimants(_ label: Int, governed country: CountryCode?) -> [CountryCode]? {
        let codes = tiling.code(label)?.split(separator: " ").compactMap { CountryCode($0) } ?? []
        guard country != nil, codes.first == country else { return nil }
        return codes.sorted { $0.description < $1.description }
    }

    /// The length of a degree of longitude in degrees of latitude, exact enough to compare distances to coarse
    /// outlines.
    private static func eastScale(at latitude: Double) -> Double {
        eastScales[min(Int((latitude + 90) * rowsPerDegree), eastScales.count - 1)]
    }

    private static let rowsPerDegree = 2.0

    /// In the middle of each row of half a degree, from the south, by geodesics of a hundredth of a degree.
    private static let eastScales: [Double] = (0..<Int(180 * rowsPerDegree)).map { row in
        let latitude = (Double(row) + 0.5) / rowsPerDegree - 90
        guard let origin = try? Coordinate(latitude: latitude, longitude: 0),
            let east = try? Coordinate(latitude: latitude, longitude: 0.01),
            let north = try? Coordinate(latitude: latitude + 0.01, longitude: 0)
        else { return 1 }
        return Geodesic.distanceMeters(from: origin, to: east) / Geodesic.distanceMeters(from: origin, to: north)
    }
}
