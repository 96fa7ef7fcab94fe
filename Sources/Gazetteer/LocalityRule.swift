/// Says which of the places around a coordinate a person would name.
///
/// A place reaches as far as its people would live at 5,000 to the square kilometer, and 1.5 km at the least. The
/// coordinate belongs to the place it is deepest in, measured in that reach, or, if no place reaches it, to the one
/// whose reach it is nearest to in that measure, within 25 km. Where it lies deep inside a large city at least ten times
/// as populous of the same division, the city is the locality and the place is a part of it.
enum LocalityRule {
    /// People in a square meter of a dense city, as in scripts/build_cities.py, which draws how deep is deep.
    private static let peoplePerSquareMeter = 0.005
    private static let leastReachMeters = 1500.0
    private static let mostDistanceMeters = 25_000.0
    /// How many times as populous the whole is as its part.
    private static let wholeToPart = 10

    /// A place around the coordinate; the names are made for those that answer, not for all.
    struct Neighbor {
        let number: Int
        let population: Int
        let distanceMeters: Double
        /// Its first-order division in GeoNames.
        let area: String?
    }

    /// A large city that the coordinate is deep in.
    struct City {
        let number: Int
        let population: Int
        let area: String?
    }

    enum Locality: Equatable {
        case place(Int)
        case city(Int)
    }

    struct Answer: Equatable {
        var locality: Locality?
        /// The number of a place.
        var subLocality: Int?
    }

    /// `places` are of one country, with their distances to the coordinate; `cities` too, the largest first.
    static func answer(among places: [Neighbor], in cities: [City]) -> Answer {
        let near = places.filter { $0.distanceMeters <= max(mostDistanceMeters, reachMeters($0)) }
        guard let deepest = near.min(by: { depth($0) < depth($1) }) else {
            return Answer(locality: cities.first.map { .city($0.number) })
        }
        let whole = cities.first {
            $0.population >= wholeToPart * deepest.population && $0.area == deepest.area
        }
        guard let whole else { return Answer(locality: .place(deepest.number)) }
        // Out of the part's reach, only the whole is right.
        return Answer(locality: .city(whole.number), subLocality: depth(deepest) <= 1 ? deepest.number : nil)
    }

    private static func depth(_ place: Neighbor) -> Double { place.distanceMeters / reachMeters(place) }

    private static func reachMeters(_ place: Neighbor) -> Double {
        max(leastReachMeters, (Double(place.population) / (.pi * peoplePerSquareMeter)).squareRoot())
    }
}
