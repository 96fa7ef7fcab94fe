package import Geodesy
import Glibc

extension Gazetteer {
    /// The places a name may mean, the likeliest first: by how the name fits, then by population.
    ///
    /// A name is found in any language GeoNames knows it in, in its own script or in Latin letters, with or without
    /// marks. Countries and first-order divisions before or behind it, with or without a comma, as names, codes or
    /// abbreviations, tell it from others ("Springfield, IL", "München Bayern", "Lyon, Frankreich"); so does a larger
    /// place that it lies in or by ("Kreuzberg, Berlin"). Where no name is just that, those that begin
    /// so are found, and where there are none, those up to two typing errors away. Where nothing is known of what stands
    /// behind a comma, the name before it is found alone.
    ///
    /// About 20 µs, half a millisecond to two where there are typing errors.
    ///
    /// - Parameters:
    ///   - text: At most 256 bytes and 12 words; nothing is found for more.
    ///   - limit: How many places at most, 1 or more.
    /// - Returns: Nothing if no place is called so, or if there is no `names.gazetteer`.
    package func places(named text: String, limit: Int = 10) -> [FoundPlace] {
        precondition(limit > 0, "A search asks for one place at least.")
        guard let names, let question = PlaceQuestion(text, fold: names.fold) else { return [] }
        return withExtendedLifetime(names) {
            var search = NameSearch(names: names, gazetteer: self, question: question, limit: limit)
            search.findExactly()
            if search.isEmpty, let plain = PlaceQuestion.withoutBrackets(text) {
                return places(named: plain, limit: limit)
            }
            if search.isEmpty { search.findSimilar() }
            return search.ranked.compactMap { candidate in
                place(numbered: candidate.number).map {
                    FoundPlace(place: $0, match: candidate.match, score: candidate.score)
                }
            }
        }
    }

    /// What is known of where a found place is, with that place as its locality or the part of it.
    package func placemark(of found: FoundPlace, using transform: GeocentricTransform) -> Placemark {
        placemark(at: found.place.coordinate, using: transform).naming(found.place)
    }
}

/// Answers one question by name.
private struct NameSearch {
    struct Candidate {
        let number: Int
        let match: FoundPlace.Match
        let score: Double
    }

    /// A place named in a qualifier is as populous as this or more, and more than what it qualifies, which lies within
    /// this many meters of it.
    private static let nearMeters = 40_000.0
    private static let nearPopulation = 20_000
    /// Logarithms: how many times the population a main name is worth, and a question that needs no qualifiers.
    private static let mainBonus = 1.6
    private static let wholeBonus = 0.5
    /// "MUC" is not the name of Munich for those who ask for Much.
    private static let abbreviationMalus = 3.0
    private static let editMalus = 1.5
    /// Few mistype the first letter.
    private static let firstUnitMalus = 1.0
    /// A place that few live in may be meant all the same.
    private static let leastPopulation = 10.0

    let names: NamesFile
    let gazetteer: Gazetteer
    let question: PlaceQuestion
    let limit: Int
    private var best: [Int: Candidate] = [:]
    private var known: [Range<Int>: Qualifier?] = [:]
    /// Whether a qualifier may be a beginning though it is also a name.
    private var loosely = false

    init(names: NamesFile, gazetteer: Gazetteer, question: PlaceQuestion, limit: Int) {
        self.names = names
        self.gazetteer = gazetteer
        self.question = question
        self.limit = limit
    }

    /// Countries, divisions and places of one name: a place qualified by it is in one of them.
    private struct Qualifier {
        var areas: Set<Int> = []
        var near: [(coordinate: Coordinate, population: Int)] = []

        var namesParts: Bool { areas.contains { $0 >= NamesFile.firstPart } }
    }

    var isEmpty: Bool { best.isEmpty }

    var ranked: [Candidate] {
        Array(best.values.sorted { ($0.score, $1.number) > ($1.score, $0.number) }.prefix(limit))
    }

    mutating func findExactly() {
        let whole = question.key(question.all)
        exact(whole)
        if best.isEmpty, let plain = Self.withoutUmlauts(whole) { exact(plain) }
        if best.isEmpty {
            // "Ger" is Germany, although some language calls Niger so.
            loosely = true
            known = [:]
            exact(whole)
        }
    }

    mutating func findSimilar() {
        beginning(question.key(question.all))
        if best.isEmpty { nameOnly() }
        if best.isEmpty { misspelled() }
    }

    private mutating func exact(_ whole: [UInt16]) {
        for entry in names.places.entries(of: whole) { offer(entry, .exact, bonus: Self.wholeBonus) }
        for (name, rest) in question.splits {
            let entries = names.places.entries(of: question.key(name))
            guard !entries.isEmpty else { continue }
            for qualifiers in qualifiers(rest) {
                for entry in entries where holds(entry.number, qualifiers) { offer(entry, .exact) }
            }
        }
    }

    private mutating func beginning(_ whole: [UInt16]) {
        names.places.eachKey(beginningWith: whole, while: { mayMatter(population: $0) }) { cursor in
            for entry in cursor.entries { offer(entry, .prefix) }
        }
        for (name, rest) in question.splits {
            let key = question.key(name)
            // "AR" is the country of a misspelled Buenos Aires, not the beginning of Arrecifes; in scripts of syllables two
            // are much.
            guard key.count > 2 || key.count == 2 && key.allSatisfy({ $0 > 0x7f }) else { continue }
            for qualifiers in self.qualifiers(rest) {
                names.places.eachKey(beginningWith: key, while: { mayMatter(population: $0) }) { cursor in
                    for entry in cursor.entries where holds(entry.number, qualifiers) { offer(entry, .prefix) }
                }
            }
        }
    }

    /// What stands before the first comma, where nothing is known of what stands behind it.
    private mutating func nameOnly() {
        guard let (name, rest) = question.parted, qualifiers(rest).isEmpty else { return }
        for entry in names.places.entries(of: question.key(name)) { offer(entry, .nameOnly) }
    }

    private mutating func misspelled() {
        var keys = question.splits.map { (key: question.key($0.name), qualifiers: qualifiers($0.rest)) }
            .filter { !$0.qualifiers.isEmpty }
        if question.parted == nil { keys.append((question.key(question.all), [])) }
        for limit in 1...2 {
            let malus = Self.editMalus * Double(limit - 1)
            for (key, qualifiers) in keys where key.count >= (limit == 1 ? 3 : 5) {
                names.places.eachKey(within: limit, of: key) { found, entries, edits in
                    guard edits == limit else { return }
                    let malus = malus + (found.first == key.first ? 0 : Self.firstUnitMalus)
                    for entry in entries
                    where qualifiers.isEmpty || qualifiers.contains(where: { holds(entry.number, $0) }) {
                        offer(entry, .misspelled(edits: edits), bonus: -malus)
                    }
                }
            }
            // Two errors are looked for where one leads to no place that many would ask for.
            if let top = best.values.map(\.score).max(), top > 5 { return }
        }
    }

    /// "Muenchen" for "München", as those write who have no such key.
    private static func withoutUmlauts(_ key: [UInt16]) -> [UInt16]? {
        let e = UInt16(ascii: "e")
        let before: Set<UInt16> = [UInt16(ascii: "a"), UInt16(ascii: "o"), UInt16(ascii: "u")]
        var plain: [UInt16] = []
        for unit in key {
            if unit == e, let last = plain.last, before.contains(last) { continue }
            plain.append(unit)
        }
        return plain.count == key.count ? nil : plain
    }

    private func mayMatter(population: UInt32) -> Bool {
        guard best.count >= limit else { return true }
        let most = log10(Double(population) + Self.leastPopulation) + Self.mainBonus
        return best.values.count { $0.score >= most } < limit
    }

    private mutating func offer(_ entry: KeyList.Entry, _ match: FoundPlace.Match, bonus: Double = 0) {
        guard let population = gazetteer.population(numbered: entry.number) else { return }
        let kind =
            switch entry.kind {
            // In another script the main name too is only what it sounds like: "Одесса" is not the one in Texas.
            case .main: question.isLatin ? Self.mainBonus : 0
            case .other: 0.0
            case .abbreviation: -Self.abbreviationMalus
            }
        let score = log10(Double(population) + Self.leastPopulation) + kind + bonus
        if let before = best[entry.number], before.score >= score { return }
        best[entry.number] = Candidate(number: entry.number, match: match, score: score)
    }

    private func holds(_ number: Int, _ qualifiers: [Qualifier]) -> Bool {
        guard let (area, country) = gazetteer.area(numbered: number) else { return false }
        return qualifiers.allSatisfy { qualifier in
            if qualifier.areas.contains(country) || qualifier.areas.contains(NamesFile.firstArea + area) { return true }
            guard !qualifier.near.isEmpty || qualifier.namesParts,
                let coordinate = gazetteer.coordinate(numbered: number),
                let population = gazetteer.population(numbered: number)
            else { return false }
            if qualifier.namesParts, let part = gazetteer.region(at: coordinate, country: country),
                qualifier.areas.contains(NamesFile.firstPart + part)
            {
                return true
            }
            return qualifier.near.contains {
                $0.population > population
                    && Geodesic.distanceMeters(from: $0.coordinate, to: coordinate) <= Self.nearMeters
            }
        }
    }

    /// Every way to understand a range of words as qualifiers; none if there is no such way.
    private mutating func qualifiers(_ range: Range<Int>) -> [[Qualifier]] {
        question.partitions(range).compactMap { parts in
            var all: [Qualifier] = []
            for part in parts {
                guard let qualifier = qualifier(part) else { return nil }
                all.append(qualifier)
            }
            return all
        }
    }

    private mutating func qualifier(_ range: Range<Int>) -> Qualifier? {
        if let known = known[range] { return known }
        let qualifier = understood(question.key(range))
        known[range] = .some(qualifier)
        return qualifier
    }

    private func understood(_ key: [UInt16]) -> Qualifier? {
        var qualifier = Qualifier(areas: Set(names.areas.entries(of: key).map(\.number)))
        // Two letters are the code of a country or division.
        let named = key.count > 2 || key.contains { $0 > 0x7f } ? names.places.entries(of: key) : []
        let places = named.compactMap { entry -> (Int, Int)? in
            guard entry.kind != .abbreviation, let population = gazetteer.population(numbered: entry.number),
                population >= Self.nearPopulation
            else { return nil }
            return (population, entry.number)
        }
        qualifier.near = places.sorted { $0 > $1 }.prefix(3).compactMap { population, number in
            gazetteer.coordinate(numbered: number).map { ($0, population) }
        }
        if loosely || qualifier.areas.isEmpty && qualifier.near.isEmpty {
            // An abbreviation such as "Ill." or "Calif.", or a typing error.
            if key.count >= 3 {
                names.areas.eachKey(beginningWith: key, while: { _ in true }) { cursor in
                    qualifier.areas.formUnion(cursor.entries.map(\.number))
                }
            }
            if qualifier.areas.isEmpty, key.count >= 5 {
                names.areas.eachKey(within: key.count >= 8 ? 2 : 1, of: key) { _, entries, _ in
                    qualifier.areas.formUnion(entries.map(\.number))
                }
            }
        }
        return qualifier.areas.isEmpty && qualifier.near.isEmpty ? nil : qualifier
    }
}
