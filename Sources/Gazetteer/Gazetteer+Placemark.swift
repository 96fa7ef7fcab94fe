package import Geodesy

extension Gazetteer {
    /// Natural Earth draws shores about this coarsely: nearer to land than this a coordinate is on it.
    private static let coarseShoreMeters = 3000.0
    /// A coordinate within this distance of a populated place is on land, whatever the sea outlines say.
    private static let villageMeters = 1500.0
    /// Azimuths in which the edge of a fix's accuracy is looked at.
    private static let azimuthCount = 16
    /// The least of the cities whose reach is drawn, as in scripts/gazetteer/build_cities.py.
    private static let leastCityPopulation = 100_000

    /// The placemark of a coordinate.
    ///
    /// Country and time zone come from the zones, so they are right up to the border; the region is that country's, and
    /// so are the locality and the nearest place. The fields whose file is not beside `places.gazetteer` are absent.
    /// About 1 µs, and some ten more with an accuracy or with supplements; names are read when they are asked for.
    ///
    /// - Parameters:
    ///   - accuracyMeters: If positive, the other countries and time zones at 16 points that far away and 16 half as
    ///     far are listed. Beyond 100 km it is taken for 100 km. A street must be nearer by as much.
    ///   - transform: One of the calling thread's own.
    package func placemark(
        at coordinate: Coordinate, accuracyMeters: Double? = nil, using transform: GeocentricTransform
    ) -> Placemark {
        var finding = finding(at: coordinate, transform.point(coordinate))
        addOthersWithin(accuracyMeters, to: &finding)
        addSupplements(to: &finding, accuracyMeters: accuracyMeters)
        return Placemark(finding, of: self)
    }

    /// The same of an address that is known.
    func placemark(
        at coordinate: Coordinate, as address: AddressFinding, using transform: GeocentricTransform
    ) -> Placemark {
        var finding = finding(at: coordinate, transform.point(coordinate))
        finding.besides.address = address
        addSupplements(to: &finding, accuracyMeters: nil)
        return Placemark(finding, of: self)
    }

    /// The placemarks of many coordinates, in order: under 1 µs each, less where neighbors follow one another.
    package func placemarks(at coordinates: [Coordinate], using transform: GeocentricTransform) -> Placemarks {
        let findings = withExtendedLifetime(self) {
            coordinates.map { coordinate in
                var finding = finding(at: coordinate, transform.point(coordinate))
                addSupplements(to: &finding, accuracyMeters: nil)
                return finding
            }
        }
        return Placemarks(findings, of: self)
    }

    /// The country that governs a coordinate, its territorial sea included: the fast path, under 100 ns. nil on the
    /// high seas, or if there is no `zones.gazetteer`.
    package func country(at coordinate: Coordinate) -> CountryCode? {
        zones?.number(at: coordinate).flatMap { country(ofZone: $0, at: coordinate) }
    }

    /// The name of the time zone at a coordinate, such as `Europe/Vienna`; nil only if there is no `zones.gazetteer`.
    package func timeZone(at coordinate: Coordinate) -> String? {
        guard let zones, let number = zones.number(at: coordinate) else { return nil }
        return zones.timeZone(number)
    }

    /// The country of a time zone. Land south of 60° S is Antarctica, even if its time zone belongs to a country or to
    /// none (Antarctic Treaty, article VI).
    private func country(ofZone zone: Int, at coordinate: Coordinate) -> CountryCode? {
        let own = zones?.country(zone)
        guard coordinate.latitude < -60 else { return own }
        let isLand =
            own != nil
            || regions?.answer(at: TilingPoint(coordinate), latitude: coordinate.latitude, country: .antarctica).isLand
                ?? false
        return isLand ? .antarctica : nil
    }

    /// The bundle's entries for a coordinate, without the supplements'.
    func finding(at coordinate: Coordinate, _ point: GeocentricPoint) -> Finding {
        var finding = Finding(coordinate: coordinate)
        let tilingPoint = TilingPoint(coordinate)
        finding.zone = zones?.number(at: tilingPoint)
        let governed = finding.zone.flatMap { country(ofZone: $0, at: coordinate) }
        finding.country = governed
        var isSea = false
        if let regions {
            func answer(_ country: CountryCode?) -> Regions.Answer {
                regions.answer(at: tilingPoint, latitude: coordinate.latitude, country: country)
            }
            var area = answer(governed)
            finding.lake = area.lake
            if let claimants = area.claimants {
                finding.besides.claimants = claimants
                if let worldview, worldview != governed, claimants.contains(worldview) {
                    finding.country = worldview
                    area = answer(worldview)
                }
            }
            finding.region = area.region
            isSea = !area.isLand && area.lake == nil && area.metersToLand > Self.coarseShoreMeters
        }
        if isSea, let waters, let water = waters.label(at: tilingPoint) {
            if waters.code(water) == "lake" { finding.inlandSea = water } else { finding.sea = water }
        }
        if let airports {
            let found = airports.holding(coordinate, at: point)
            if !found.isEmpty {
                // By IATA code, which follows the country's.
                finding.besides.airports = found.sorted {
                    (airports.code($0)?.dropFirst(2) ?? "") < (airports.code($1)?.dropFirst(2) ?? "")
                }
            }
        }
        findPlaces(isSea: isSea, governed: governed, point, &finding)
        return finding
    }

    /// The locality and the nearest place, of the country that governs there.
    private func findPlaces(isSea: Bool, governed: CountryCode?, _ point: GeocentricPoint, _ finding: inout Finding) {
        guard let governed else { return finding.besides.highSeas = point }
        // A country without places has no number. It gets no place of another country.
        guard let country = number(of: governed) else { return }
        let near = nearPlaces(to: point, in: country)
        finding.nearest = nearest(of: near, to: finding.coordinate, at: point, in: country)
        let aroundCount = near.aroundCount
        var isSea = isSea
        if isSea, aroundCount > 0, near[0].chordSquare <= Self.villageMeters * Self.villageMeters {
            // The place is on an island that the outlines leave out.
            isSea = false
            (finding.sea, finding.inlandSea) = (nil, nil)
        }
        guard !isSea, finding.inlandSea == nil, aroundCount > 0 else { return }
        let neighbors = neighbors(near, count: aroundCount)
        // Where all places around are known and none is large, no city can reach.
        let mayBeInCity =
            aroundCount == NearPlaces.most || neighbors.contains { $0.population >= Self.leastCityPopulation }
        finding.locality = LocalityRule.answer(
            among: neighbors, in: mayBeInCity ? cities(holding: finding.coordinate, at: point, governed) : [],
            isOnLake: finding.lake != nil, areaCode: { areaCode(numbered: $0.number) },
            cityOfQuarter: { city(ofQuarter: $0) })
        if finding.locality.locality != nil { finding.lake = nil }
    }

    /// The cities of a country whose inner reach a coordinate is in, the largest first.
    private func cities(
        holding coordinate: Coordinate, at point: GeocentricPoint, _ country: CountryCode
    ) -> [LocalityRule.City] {
        guard let cities else { return [] }
        let found = cities.holding(coordinate, at: point)
        guard !found.isEmpty else { return [] }
        let country = country.description
        return found.compactMap { number in
            guard let code = cities.code(number), code.prefix(2) == country else { return nil }
            return LocalityRule.City(
                number: number, population: cities.population(number),
                area: code.count > 2 ? String(code.dropFirst(2)) : nil)
        }.sorted { ($0.population, $1.number) > ($1.population, $0.number) }
    }

    private func addOthersWithin(_ accuracyMeters: Double?, to finding: inout Finding) {
        guard let accuracyMeters, accuracyMeters > 0, let zones else { return }
        let accuracy = min(accuracyMeters, 100_000)
        var numbers: Set<Int> = []
        var countries: Set<CountryCode> = []
        for step in 0..<2 * Self.azimuthCount {
            let edge = Geodesic.direct(
                from: finding.coordinate, initialAzimuth: Double(step) * 360 / Double(Self.azimuthCount),
                distanceMeters: step < Self.azimuthCount ? accuracy : accuracy / 2)
            guard let number = zones.number(at: edge) else { continue }
            if numbers.insert(number).inserted || edge.latitude < -60, let country = country(ofZone: number, at: edge) {
                countries.insert(country)
            }
        }
        // Two zones of two countries may have one name.
        let name = finding.zone.flatMap { zones.timeZone($0) }
        var seen: Set<String?> = [name]
        finding.besides.otherZones = numbers.sorted().filter { seen.insert(zones.timeZone($0)).inserted }
        let others = countries.filter { $0 != finding.country }
        finding.besides.otherCountries = others.sorted { $0.description < $1.description }
    }
}
