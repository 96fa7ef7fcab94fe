package import Geodesy

extension Gazetteer {
    /// Farther than this from an address, a coordinate is in no street that we would know; a fix's accuracy is added to
    /// the distance, because the true place may be that much farther.
    private static let streetMeters = 100.0
    /// Likewise for the number of the house.
    private static let houseMeters = 50.0
    /// Postal codes of places of one name are those of one town up to this far from the coordinate,
    private static let townMeters = 30_000.0
    /// if one of them is as near as this.
    private static let postalMeters = 5_000.0
    /// A town with more records has more than one postal code.
    private static let recordsMax = 256

    /// The reach of a village of unknown population, as in ``LocalityRule``.
    private static let villageMeters = 1500.0
    /// So many things of interest are named at one place.
    private static let sightsMax = 5

    /// Adds the supplements' entries for a place; an address found before is kept.
    func addSupplements(to finding: inout Finding, accuracyMeters: Double?) {
        guard !supplements.isEmpty, let country = finding.country else { return }
        let accuracy = max(accuracyMeters ?? 0, 0)
        if finding.besides.address == nil {
            finding.besides.address = address(at: finding, in: country, accuracyMeters: accuracy)
        }
        finding.besides.village = village(at: finding)
        let reach = Self.streetMeters - accuracy
        guard reach > 0 else { return }
        var sights: [(spot: Spot, distanceMeters: Double)] = []
        for (number, supplement) in supplements.enumerated() {
            for (spot, meters) in supplement.spots(near: finding.coordinate, withinMeters: reach, ofInterest: true)
            where supplement.country(ofSpot: spot) == country {
                sights.append((Spot(supplement: number, number: spot), meters))
            }
        }
        sights.sort { $0.distanceMeters < $1.distanceMeters }
        finding.besides.sights = sights.prefix(Self.sightsMax).map(\.spot)
    }

    /// The village that a coordinate is deeper in than in the place found for it, or the part of the town that it is
    /// deeper in than in the part found, measured as ``LocalityRule`` does.
    private func village(at finding: Finding) -> Spot? {
        func depth(_ place: Int?) -> Double? {
            guard let place, let middle = coordinate(numbered: place), let people = population(numbered: place)
            else { return nil }
            let meters = Geodesic.distanceMeters(from: finding.coordinate, to: middle)
            return meters * meters / LocalityRule.reachSquareMeters(population: people)
        }
        let partDepth = depth(finding.locality.subLocality)
        var placeDepth = partDepth
        if case .place(let place) = finding.locality.locality, placeDepth == nil { placeDepth = depth(place) }

        var best: (spot: Spot, depth: Double)?
        for (number, supplement) in supplements.enumerated() {
            let near = supplement.spots(near: finding.coordinate, withinMeters: Self.villageMeters, ofInterest: false)
            for (spot, meters) in near where supplement.country(ofSpot: spot) == finding.country {
                let people = supplement.population(ofSpot: spot)
                let depth = meters * meters / LocalityRule.reachSquareMeters(population: people)
                let limit = supplement.kind(ofSpot: spot) == .part ? partDepth : placeDepth
                guard depth < min(limit ?? .infinity, best?.depth ?? .infinity) else { continue }
                best = (Spot(supplement: number, number: spot), depth)
            }
        }
        return best?.spot
    }

    /// The name of a supplement's place, in the first of the languages that has one.
    func name(of spot: Spot, in languages: [Language] = []) -> String? {
        let supplement = supplements[spot.supplement]
        return translation(of: .place(geonameID: supplement.geonameID(spot.number)), in: languages)
            ?? supplement.spotName(spot.number)
    }

    func division(of spot: Spot) -> String? { supplements[spot.supplement].division(ofSpot: spot.number) }
    func isPart(_ spot: Spot) -> Bool { supplements[spot.supplement].kind(ofSpot: spot.number) == .part }

    /// The nearest address of the supplements in the country of a finding.
    private func address(
        at finding: Finding, in country: CountryCode, accuracyMeters accuracy: Double
    ) -> AddressFinding? {
        // The country of a whole neighborhood is mostly one zone's, and asked for once a zone.
        func isOwn(_ place: Coordinate) -> Bool {
            zones.map { $0.number(at: place) == finding.zone } ?? true || self.country(at: place) == country
        }
        var best: (supplement: Int, address: Supplement.NearAddress)?
        for (number, supplement) in supplements.enumerated() {
            let limit = min(Self.streetMeters - accuracy, best?.address.distanceMeters ?? .infinity)
            guard limit > 0 else { continue }
            let found = supplement.nearestAddress(to: finding.coordinate, withinMeters: limit, where: isOwn)
            guard let found, best.map({ found.distanceMeters < $0.address.distanceMeters }) ?? true else { continue }
            best = (number, found)
        }
        return best.map { supplement, address in
            let isCertain = address.distanceMeters + accuracy <= Self.houseMeters
            return .street(supplement: supplement, street: address.street, house: isCertain ? address.house : nil)
        }
    }

    func thoroughfare(of address: AddressFinding) -> String? {
        guard case .street(let supplement, let street, _) = address else { return nil }
        return supplements[supplement].streetName(street)
    }

    func subThoroughfare(of address: AddressFinding) -> String? {
        guard case .street(let supplement, _, let house?) = address else { return nil }
        return supplements[supplement].number(ofHouse: house)
    }

    func postalCode(of address: AddressFinding) -> String? {
        switch address {
        case .street(let supplement, let street, _): supplements[supplement].postalCode(ofStreet: street)
        case .postalCode(let supplement, let record): supplements[supplement].code(record)
        case .spot: nil
        }
    }

    /// The town an address belongs to by its source.
    func locality(of address: AddressFinding) -> String? {
        switch address {
        case .street(let supplement, let street, _): supplements[supplement].locality(ofStreet: street)
        case .postalCode(let supplement, let record): supplements[supplement].town(record)
        case .spot: nil
        }
    }

    /// The postal code of a town, if it has one only: a point has the postal code of its town then, and of larger towns
    /// none is known, because the nearest of several would be a guess.
    func postalCode(ofTown name: String, country: CountryCode?, at coordinate: Coordinate) -> String? {
        for supplement in supplements where supplement.postalCodeCount > 0 {
            let records = supplement.codes(ofTown: supplement.fold.key(name), atMost: Self.recordsMax)
            guard records.count < Self.recordsMax else { continue }
            let distances = records.compactMap { record -> (code: String, meters: Double)? in
                guard supplement.country(ofCode: record) == country, let code = supplement.code(record),
                    let place = supplement.coordinate(ofCode: record)
                else { return nil }
                let meters = Geodesic.distanceMeters(from: coordinate, to: place)
                return meters <= Self.townMeters ? (code, meters) : nil
            }
            let codes = Set(distances.map(\.code))
            if codes.count == 1, distances.contains(where: { $0.meters <= Self.postalMeters }) { return codes.first }
        }
        return nil
    }

    /// Whether two names are one, marks, spaces and capitals aside.
    func isSame(_ one: String, _ other: String?) -> Bool {
        guard let other else { return false }
        guard let fold = names?.fold else { return one == other }
        return withExtendedLifetime(names) { fold.words(one).joined().elementsEqual(fold.words(other).joined()) }
    }

    /// The folding that makes the keys of a supplement; `nil` if there is no `names.gazetteer`.
    package var streetFold: StreetFold? { names.map { StreetFold($0.fold, of: $0) } }

    /// The possible meanings of a text, the likeliest first.
    ///
    /// If a place, country, division, airport or water has exactly this name, only these are found. Otherwise
    /// addresses, postal codes and places of the supplements come before places whose name begins with the text or is
    /// misspelled in it.
    ///
    /// - Parameter transform: One of the calling thread's own.
    package func found(named text: String, limit: Int = 10, using transform: GeocentricTransform) -> [Found] {
        let named = placesAndAreas(named: text, limit: limit)
        guard !supplements.isEmpty, named.first?.match != .exact else { return named }
        let addresses = addresses(named: text, limit: limit, using: transform)
        return Array((addresses.map { .address($0) } + named).prefix(limit))
    }

    /// The placemark of a found address, with its street, number and postal code.
    package func placemark(of found: FoundAddress, using transform: GeocentricTransform) -> Placemark {
        placemark(at: found.coordinate, as: found.finding, using: transform)
    }
}
