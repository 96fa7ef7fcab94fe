package import Geodesy

extension Gazetteer {
    /// Places asked of the tree for one placemark: enough for the locality rule, and for one of the same country near
    /// a border.
    private static let placeCount = 8
    /// Natural Earth draws shores about this coarsely: nearer to land than this a coordinate is on it.
    private static let coarseShoreMeters = 3000.0
    /// Azimuths in which the edge of a fix's accuracy is looked at.
    private static let azimuthCount = 16

    /// What is known of a coordinate.
    ///
    /// Country and time zone come from the zones, so they are right up to the border; the region is that country's, and
    /// so are the locality and the nearest place. The fields whose file is not beside `places.gazetteer` are absent.
    /// A few microseconds, and some ten more with an accuracy.
    ///
    /// - Parameters:
    ///   - accuracyMeters: If positive, the other countries and time zones at 16 points that far away and 16 half as
    ///     far are listed. Beyond 100 km it is taken for 100 km.
    ///   - transform: One of the calling thread's own.
    package func placemark(
        at coordinate: Coordinate, accuracyMeters: Double? = nil, using transform: GeocentricTransform
    ) -> Placemark {
        let number = zones?.number(at: coordinate)
        let zone = number.flatMap { zones?.timeZone($0) }
        let country = number.flatMap { number in zones?.country(number) }.map { placed($0, at: coordinate) }
        let area = regions?.answer(at: coordinate, country: country)
        let region = area?.region
        let top = region.flatMap { regions?.tiling.parent($0) }
        let isSea = area.map { !$0.isLand && ($0.metersToLand > Self.coarseShoreMeters) } ?? false
        let water = isSea ? waters?.label(at: coordinate) : nil
        let isLake = water.flatMap { waters?.code($0) } == "lake"
        let waterName = water.flatMap { waters?.name($0) }

        let point = transform.point(coordinate)
        // A country without a place of its own has no number, and no place of another's.
        let countryNumber = country.map { self.number(of: $0) ?? -1 }
        let own = candidates(at: point, count: Self.placeCount, country: countryNumber)
        let named =
            isSea || country == nil
            ? (locality: nil, subLocality: nil) : locality(at: coordinate, point, country, among: own)
        let others = othersWithin(accuracyMeters, of: coordinate, zone: zone, country: country)
        return Placemark(
            isoCountryCode: country,
            country: country.flatMap { name(of: $0) },
            administrativeArea: (top ?? region).flatMap { regions?.tiling.name($0) },
            administrativeAreaCode: (top ?? region).flatMap { regions?.tiling.code($0) },
            subAdministrativeArea: top == nil ? nil : region.flatMap { regions?.tiling.name($0) },
            locality: named.locality, subLocality: named.subLocality,
            ocean: isLake ? nil : waterName, inlandWater: isLake ? waterName : nil,
            areasOfInterest: airports.map { airports in
                airports.holding(coordinate, at: point).compactMap { number in
                    airports.name(number).map { (iata: airports.code(number)?.dropFirst(2) ?? "", name: $0) }
                }.sorted { $0.iata < $1.iata }.map(\.name)
            } ?? [],
            timeZone: zone, otherCountryCodes: others.countries, otherTimeZones: others.zones,
            nearestPlace: nearest(of: own, to: coordinate))
    }

    /// The placemarks of many coordinates, in order.
    package func placemarks(at coordinates: [Coordinate], using transform: GeocentricTransform) -> [Placemark] {
        coordinates.map { placemark(at: $0, using: transform) }
    }

    /// The country at a coordinate, its territorial sea included: the fast path, under 100 ns. nil on the high seas, or
    /// if there is no `zones.gazetteer`.
    package func country(at coordinate: Coordinate) -> CountryCode? {
        guard let zones, let number = zones.number(at: coordinate) else { return nil }
        return zones.country(number).map { placed($0, at: coordinate) }
    }

    /// The name of the time zone at a coordinate, such as `Europe/Vienna`; nil only if there is no `zones.gazetteer`.
    package func timeZone(at coordinate: Coordinate) -> String? {
        guard let zones, let number = zones.number(at: coordinate) else { return nil }
        return zones.timeZone(number)
    }

    /// Land south of 60° S is Antarctica, whoever's clock it goes by (Antarctic Treaty, article VI).
    private func placed(_ country: CountryCode, at coordinate: Coordinate) -> CountryCode {
        coordinate.latitude < -60 ? CountryCode("AQ") ?? country : country
    }

    private func locality(
        at coordinate: Coordinate, _ point: GeocentricPoint, _ country: CountryCode?,
        among candidates: [PlaceTree.Candidate]
    ) -> (locality: String?, subLocality: String?) {
        var within: [LocalityRule.City] = []
        if let cities {
            for number in cities.holding(coordinate, at: point) {
                guard let code = cities.code(number), code.prefix(2) == (country?.description ?? "") else { continue }
                within.append(
                    LocalityRule.City(
                        number: number, population: cities.population(number),
                        area: code.count > 2 ? String(code.dropFirst(2)) : nil))
            }
            within.sort { ($0.population, $1.number) > ($1.population, $0.number) }
        }
        let neighbors = candidates.map { candidate in
            LocalityRule.Neighbor(
                number: candidate.index, population: population(numbered: candidate.index) ?? 0,
                distanceMeters: PlaceTree.meters(chordSquare: candidate.chordSquare),
                area: within.isEmpty ? nil : areaCode(numbered: candidate.index))
        }
        let answer = LocalityRule.answer(among: neighbors, in: within)
        let locality: String? =
            switch answer.locality {
            case .place(let number): name(numbered: number)
            case .city(let number): cities?.name(number)
            case nil: nil
            }
        return (locality, answer.subLocality.flatMap { name(numbered: $0) })
    }

    private func othersWithin(
        _ accuracyMeters: Double?, of coordinate: Coordinate, zone: String?, country: CountryCode?
    ) -> (countries: [CountryCode], zones: [String]) {
        guard let accuracyMeters, accuracyMeters > 0, let zones else { return ([], []) }
        let accuracy = min(accuracyMeters, 100_000)
        var numbers: Set<Int> = []
        for step in 0..<2 * Self.azimuthCount {
            let edge = Geodesic.direct(
                from: coordinate, initialAzimuth: Double(step) * 360 / Double(Self.azimuthCount),
                distanceMeters: step < Self.azimuthCount ? accuracy : accuracy / 2)
            if let number = zones.number(at: edge) { numbers.insert(number) }
        }
        let countries = Set(numbers.compactMap { zones.country($0) }.map { placed($0, at: coordinate) })
        return (
            countries.subtracting([country].compactMap(\.self)).sorted { $0.description < $1.description },
            Set(numbers.compactMap { zones.timeZone($0) }).subtracting([zone].compactMap(\.self)).sorted()
        )
    }
}
