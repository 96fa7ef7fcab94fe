import Geodesy

extension Gazetteer {
    /// The addresses, streets and postal codes that a text may mean: "10 Rue de Rivoli, Paris", "Hauptstr. 5a, 1010
    /// Wien", "75001 Paris". Each word must be the street's, the number's, or of a town, postal code, division or
    /// country that it is in; nothing is found for a text with a word more, or a typing error.
    ///
    /// Some 100 µs; milliseconds where thousands of streets bear the name.
    func addresses(named text: String, limit: Int, using transform: GeocentricTransform) -> [FoundAddress] {
        var found: [FoundAddress] = []
        for (number, supplement) in supplements.enumerated() {
            guard let question = PlaceQuestion(text, fold: supplement.fold.fold) else { continue }
            let search = AddressSearch(
                gazetteer: self, supplement: supplement, number: number, question: question, transform: transform)
            found += withExtendedLifetime(supplement) { search.found(limit: limit) }
        }
        // Stable, so that supplements stay in their order.
        return Array((found.filter { !$0.isPartial } + found.filter(\.isPartial)).prefix(limit))
    }
}

/// Answers one question by the addresses of one supplement.
private final class AddressSearch {
    /// More streets of one name, or records of one postal code, are not looked at.
    private static let streetsMax = 20_000
    /// The most candidates that are compared by location, which costs microseconds each.
    private static let locatedMax = 2000
    /// A town's name covers addresses up to this distance from its middle, or up to the extent of its population
    /// (``LocalityRule``).
    private static let townMeters = 3000.0
    /// Places of one name that are compared with, the most populous.
    private static let townsMax = 16
    /// The longest suffix of a house number, for example "bis", "ter" or "a".
    private static let suffixUnits = 3

    let gazetteer: Gazetteer
    let supplement: Supplement
    let number: Int
    let question: PlaceQuestion
    let transform: GeocentricTransform
    private var named: [Range<Int>: Named] = [:]
    private var locatedCount = 0

    init(
        gazetteer: Gazetteer, supplement: Supplement, number: Int, question: PlaceQuestion,
        transform: GeocentricTransform
    ) {
        self.gazetteer = gazetteer
        self.supplement = supplement
        self.number = number
        self.question = question
        self.transform = transform
    }

    /// The bundle's entries for a name.
    private struct Named {
        let areas: Set<Int>
        let towns: [(number: Int, coordinate: Coordinate, reachMeters: Double)]
    }

    /// Where an address is, as far as qualifiers ask.
    private struct Surroundings {
        let areas: Set<Int>
        let places: Set<Int>
    }

    func found(limit: Int) -> [FoundAddress] {
        var partial: [FoundAddress] = []
        for street in ranges {
            let streets = supplement.streets(
                key: supplement.fold.streetKey(question.words[street]), atMost: Self.streetsMax)
            guard !streets.isEmpty else { continue }
            for house in numbers(beside: street) {
                let both = min(street.lowerBound, house.lowerBound)..<max(street.upperBound, house.upperBound)
                let rest = rest(without: both)
                let found = houses(of: streets, numbered: question.key(house), rest, limit: limit)
                if !found.isEmpty { return found }
                if partial.isEmpty { partial = middles(of: streets, rest, isPartial: true, limit: limit) }
            }
            let found = middles(of: streets, rest(without: street), isPartial: false, limit: limit)
            if !found.isEmpty { return found }
        }
        if !partial.isEmpty { return partial }
        let codes = postalCodes(limit: limit)
        return codes.isEmpty ? spots(limit: limit) : codes
    }

    /// Every range of words without a comma within, the longest first.
    private var ranges: [Range<Int>] {
        let count = question.words.count
        return (1...count).reversed().flatMap { length in
            (0...count - length).map { $0..<$0 + length }
        }.filter { !question.isParted($0) }
    }

    /// The words before or behind a street that may be the number of a house, the longer reading first: "10 bis" before
    /// "10".
    private func numbers(beside street: Range<Int>) -> [Range<Int>] {
        let (begin, end) = (street.lowerBound, street.upperBound)
        return [begin - 2..<begin, end..<end + 2, begin - 1..<begin, end..<end + 1].filter { range in
            guard range.lowerBound >= 0, range.upperBound <= question.words.count, !question.isParted(range),
                let first = question.words[range.lowerBound].first, Self.digits.contains(first)
            else { return false }
            return range.count == 1 || question.words[range.upperBound - 1].count <= Self.suffixUnits
        }
    }

    private static let digits = UInt16(ascii: "0")...UInt16(ascii: "9")

    private func rest(without range: Range<Int>) -> [Range<Int>] {
        [0..<range.lowerBound, range.upperBound..<question.words.count].filter { !$0.isEmpty }
    }

    // MARK: Streets and houses

    private func houses(
        of streets: Range<Int>, numbered key: [UInt16], _ rest: [Range<Int>], limit: Int
    ) -> [FoundAddress] {
        let wanted = StreetFold.utf8(key)
        var found: [FoundAddress] = []
        for street in streets where found.count < limit {
            guard let house = house(numbered: wanted, inStreet: street),
                let coordinate = supplement.coordinate(ofHouse: house), holds(rest, street, coordinate)
            else { continue }
            found.append(
                FoundAddress(
                    finding: .street(supplement: number, street: street, house: house), coordinate: coordinate,
                    isPartial: false))
        }
        return found
    }

    private func house(numbered wanted: [UInt8], inStreet street: Int) -> Int? {
        let value = HouseNumber.value(wanted)
        let houses = supplement.houses(ofStreet: street)
        var house = supplement.firstIndex(in: houses) {
            HouseNumber.value((supplement.number(ofHouse: $0) ?? "").utf8) >= value
        }
        while house < houses.upperBound, let text = supplement.number(ofHouse: house),
            HouseNumber.value(text.utf8) == value
        {
            if supplement.fold.key(text) == wanted { return house }
            house += 1
        }
        return nil
    }

    /// Streets without a house: where their middle house is.
    private func middles(
        of streets: Range<Int>, _ rest: [Range<Int>], isPartial: Bool, limit: Int
    ) -> [FoundAddress] {
        var found: [FoundAddress] = []
        for street in streets where found.count < limit {
            let houses = supplement.houses(ofStreet: street)
            guard !houses.isEmpty,
                let coordinate = supplement.coordinate(ofHouse: houses.lowerBound + houses.count / 2),
                holds(rest, street, coordinate)
            else { continue }
            found.append(
                FoundAddress(
                    finding: .street(supplement: number, street: street, house: nil), coordinate: coordinate,
                    isPartial: isPartial))
        }
        return found
    }

    private func holds(_ rest: [Range<Int>], _ street: Int, _ coordinate: Coordinate) -> Bool {
        rest.isEmpty
            || holds(
                rest, own: [supplement.locality(ofStreet: street), supplement.postalCode(ofStreet: street)], coordinate)
    }

    // MARK: Postal codes

    private func postalCodes(limit: Int) -> [FoundAddress] {
        for range in ranges {
            let records = supplement.codes(
                key: StreetFold.utf8(question.key(range)), atMost: Self.streetsMax)
            // GeoNames lists a code once for each town that has it: the best located match represents all.
            var best: [String: (record: Int, coordinate: Coordinate)] = [:]
            for record in records {
                let country = supplement.country(ofCode: record)?.description ?? ""
                guard let coordinate = supplement.coordinate(ofCode: record),
                    holds(rest(without: range), own: [supplement.town(record), country], coordinate)
                else { continue }
                if let before = best[country],
                    supplement.accuracy(ofCode: before.record) >= supplement.accuracy(ofCode: record)
                {
                    continue
                }
                best[country] = (record, coordinate)
            }
            guard !best.isEmpty else { continue }
            return best.sorted { $0.key < $1.key }.prefix(limit).map { _, found in
                FoundAddress(
                    finding: .postalCode(supplement: number, record: found.record), coordinate: found.coordinate,
                    isPartial: false)
            }
        }
        return []
    }

    // MARK: Places

    private func spots(limit: Int) -> [FoundAddress] {
        for range in ranges {
            let spots = supplement.spots(key: StreetFold.utf8(question.key(range)), atMost: Self.streetsMax)
            let rest = rest(without: range)
            let found = spots.lazy.compactMap { [self] spot -> FoundAddress? in
                guard let coordinate = supplement.coordinate(ofSpot: spot),
                    holds(rest, own: [supplement.division(ofSpot: spot)], coordinate)
                else { return nil }
                return FoundAddress(
                    finding: .spot(Spot(supplement: number, number: spot)), coordinate: coordinate, isPartial: false,
                    geonameID: supplement.geonameID(spot))
            }.prefix(limit)
            if !found.isEmpty { return Array(found) }
        }
        return []
    }

    // MARK: Qualifiers

    /// Whether every word of the ranges names something that contains the address: one of the address's texts, such as
    /// its town, or an area or town that the bundle knows around its coordinate.
    private func holds(_ ranges: [Range<Int>], own texts: [String?], _ coordinate: Coordinate) -> Bool {
        let keys = Set(texts.compactMap { $0.map(supplement.fold.key) })
        var surroundings: Surroundings?
        func isNamed(_ part: Range<Int>) -> Bool {
            if keys.contains(StreetFold.utf8(question.key(part))) { return true }
            let named = named(part)
            guard !named.areas.isEmpty || !named.towns.isEmpty else { return false }
            if surroundings == nil {
                guard locatedCount < Self.locatedMax else { return false }
                locatedCount += 1
                surroundings = self.surroundings(of: coordinate)
            }
            guard let known = surroundings else { return false }
            return !known.areas.isDisjoint(with: named.areas)
                || named.towns.contains { town in
                    known.places.contains(town.number)
                        || Geodesic.distanceMeters(from: town.coordinate, to: coordinate) <= town.reachMeters
                }
        }
        return ranges.allSatisfy { isMade(of: isNamed, $0) }
    }

    /// Whether a range falls into parts, none across a comma, that are all so.
    private func isMade(of isSo: (Range<Int>) -> Bool, _ range: Range<Int>) -> Bool {
        // Whether the words up to each one can be parted so.
        var reached: Set<Int> = [range.lowerBound]
        for end in range.lowerBound + 1...range.upperBound {
            for begin in range.lowerBound..<end where reached.contains(begin) {
                if !question.isParted(begin..<end), isSo(begin..<end) {
                    reached.insert(end)
                    break
                }
            }
        }
        return reached.contains(range.upperBound)
    }

    private func named(_ range: Range<Int>) -> Named {
        if let known = named[range] { return known }
        let found = lookUp(question.key(range))
        named[range] = found
        return found
    }

    private func lookUp(_ key: [UInt16]) -> Named {
        guard let names = gazetteer.names else { return Named(areas: [], towns: []) }
        return withExtendedLifetime(names) {
            let towns = names.places.entries(of: key).filter { $0.kind != .abbreviation }.map { entry in
                (number: entry.number, population: gazetteer.population(numbered: entry.number) ?? 0)
            }.sorted { ($1.population, $0.number) < ($0.population, $1.number) }
            return Named(
                areas: Set(names.areas.entries(of: key).map(\.number)),
                towns: towns.prefix(Self.townsMax).compactMap { number, population in
                    guard let coordinate = gazetteer.coordinate(numbered: number) else { return nil }
                    let reach = LocalityRule.reachSquareMeters(population: population).squareRoot()
                    return (number, coordinate, max(Self.townMeters, reach))
                })
        }
    }

    private func surroundings(of coordinate: Coordinate) -> Surroundings {
        let finding = gazetteer.finding(at: coordinate, transform.point(coordinate))
        var areas: Set<Int> = []
        if let country = finding.country.flatMap({ gazetteer.number(of: $0) }) { areas.insert(country) }
        if let area = finding.nearest.flatMap({ gazetteer.area(numbered: $0) }) {
            areas.insert(NamesFile.firstArea + area.area)
        }
        if let region = finding.region { areas.insert(NamesFile.firstPart + region) }
        var places: Set<Int> = []
        if case .place(let place) = finding.locality.locality { places.insert(place) }
        if let part = finding.locality.subLocality { places.insert(part) }
        return Surroundings(areas: areas, places: places)
    }
}

/// The numbers of houses, as they are put in order.
package enum HouseNumber {
    /// The integer that a number begins with, 0 if with none; of more than nine digits the first nine count.
    package static func value(_ number: some Sequence<UInt8>) -> Int {
        var value = 0
        for (index, byte) in number.enumerated() {
            guard index < 9, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            value = 10 * value + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
