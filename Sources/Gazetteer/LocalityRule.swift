/// Says which of the places around a coordinate a person would name.
///
/// A place reaches as far as its people would live at 5,000 to the square kilometer, and 1.5 km at the least. The
/// coordinate belongs to the place it is deepest in, measured in that reach, or, if no place reaches it, to the one
/// whose reach it is nearest to in that measure, within 25 km; of two alike, as at one point, to the more populous. Where
/// it lies deep inside a large city at least seven times as populous of the same division, the city is the locality and
/// the place is a part of it. If the place is that city itself, the part is the place that the coordinate is deepest in
/// of those nearer than the city's middle. A place that GeoNames lists as a section of a city is a part of that city
/// wherever it lies.
enum LocalityRule {
    /// People in a square meter of a dense city, as in scripts/gazetteer/build_cities.py, which draws how deep is deep.
    private static let peoplePerSquareMeter = 0.005
    private static let leastReachSquareMeters = 1500.0 * 1500
    private static let mostDistanceSquareMeters = 25_000.0 * 25_000
    /// A city has at least this many times the population of its part: Wien has eight times that of Favoriten.
    private static let wholeToPart = 7

    /// A place around the coordinate.
    struct Neighbor {
        let number: Int
        let population: Int
        let distanceSquareMeters: Double
        /// Whether GeoNames lists it as a section of a city.
        var isQuarter = false
    }

    /// A large city that the coordinate is deep in.
    struct City {
        let number: Int
        let population: Int
        /// Its first-order division in GeoNames.
        let area: String?
    }

    enum Locality: Hashable {
        case place(Int)
        case city(Int)
    }

    struct Answer: Hashable {
        var locality: Locality?
        /// The number of a place.
        @SmallNumber var subLocality: Int? = nil
    }

    /// `places` are of one country, with their distances to the coordinate; `cities` too, the largest first.
    /// On a lake nothing but a place's least reach counts: within it the shore is meant, which is drawn coarsely.
    /// `areaCode` gives the first-order division of a place and is called only if there are cities; `cityOfQuarter` gives
    /// the number of the city that a quarter is a part of.
    static func answer(
        among places: some Sequence<Neighbor>, in cities: [City], isOnLake: Bool = false,
        areaCode: (Neighbor) -> String?, cityOfQuarter: (Int) -> Int? = { _ in nil }
    ) -> Answer {
        guard let (place, depthSquare) = deepest(among: places, isOnLake: isOnLake) else {
            return Answer(locality: cities.first.map { .city($0.number) })
        }
        if place.isQuarter, let city = cityOfQuarter(place.number) {
            return Answer(locality: .place(city), subLocality: place.number)
        }
        guard !cities.isEmpty else { return Answer(locality: .place(place.number)) }
        let area = areaCode(place)
        if let whole = cities.first(where: { $0.population >= wholeToPart * place.population && $0.area == area }) {
            // Out of the part's reach, only the whole is right.
            return Answer(locality: .city(whole.number), subLocality: depthSquare <= 1 ? place.number : nil)
        }
        guard cities.contains(where: { $0.population == place.population && $0.area == area }) else {
            return Answer(locality: .place(place.number))
        }
        let others = places.filter {
            $0.distanceSquareMeters < place.distanceSquareMeters && place.population >= wholeToPart * $0.population
        }
        let part = deepest(among: others, isOnLake: isOnLake)
            .flatMap { $0.depthSquare <= 1 && areaCode($0.place) == area ? $0.place : nil }
        return Answer(locality: .place(place.number), subLocality: part?.number)
    }

    private static func deepest(
        among places: some Sequence<Neighbor>, isOnLake: Bool
    ) -> (place: Neighbor, depthSquare: Double)? {
        var deepest: (place: Neighbor, depthSquare: Double)?
        for place in places {
            let reachSquare = reachSquareMeters(population: place.population)
            let limit = isOnLake ? leastReachSquareMeters : max(mostDistanceSquareMeters, reachSquare)
            guard place.distanceSquareMeters <= limit else { continue }
            let depthSquare = place.distanceSquareMeters / reachSquare
            if let (best, least) = deepest {
                guard (depthSquare, best.population) < (least, place.population) else { continue }
            }
            deepest = (place, depthSquare)
        }
        return deepest
    }

    /// The square of how far the people of a place live.
    static func reachSquareMeters(population: Int) -> Double {
        max(leastReachSquareMeters, Double(population) / (.pi * peoplePerSquareMeter))
    }
}
