import Geodesy
import Glibc

/// Searches `names.gazetteer` for one question.
struct NameSearch {
    enum Subject: Hashable {
        case place(Int)
        /// The number of a ``NamesFile/Thing``.
        case thing(Int)

        /// Breaks ties between equal scores: the higher comes first, so places come before things.
        var order: Int {
            switch self {
            case .place(let number): 1 << 32 + number
            case .thing(let number): number
            }
        }
    }

    struct Candidate {
        let subject: Subject
        let match: FoundPlace.Match
        let score: Double
    }

    /// A place named in a qualifier has at least this population, and more than the place that it qualifies, which is
    /// within this many meters of it.
    private static let nearMeters = 40_000.0
    private static let nearPopulation = 20_000
    /// Logarithms: how many times the population a main name is worth, and a question that needs no qualifiers.
    private static let mainBonus = 1.6
    private static let wholeBonus = 0.5
    /// "MUC" must not find Munich if the text is "Much".
    private static let abbreviationMalus = 3.0
    private static let editMalus = 1.5
    /// Added to the logarithm of a country's population, subtracted from that of a division's.
    private static let countryBonus = 1.0
    private static let divisionMalus = 0.5
    /// A division comes after a city of the same name in it if it has at most this many times the city's people.
    private static let divisionToCity = 30
    /// "VIE" is Vienna's airport rather than the sixth arrondissement of Paris.
    private static let airportCodeBonus = 1.0
    /// Fewer Latin letters, or fewer characters of a syllabic script, begin too many names to guess one.
    private static let prefixLetters = 3
    private static let prefixSyllables = 2
    /// Names of airports and waters need more, because they are long and many begin alike.
    private static let sightPrefixLetters = 6
    /// The least population of a place that a misspelled name may mean, by typing errors and by UTF-16 units of the
    /// name: a short misspelled name resembles many words. With a country or division behind the name, which rules out
    /// most wrong guesses, only the typing errors count.
    private static let mistypedLeast = [
        1: [(units: 9, people: 0), (units: 7, people: 1000), (units: 5, people: 15_000), (units: 0, people: 100_000)],
        2: [(units: 10, people: 50_000), (units: 0, people: 200_000)],
    ]
    private static let mistypedQualifiedLeast = [1: 0, 2: 5000]
    /// The least population of a country or division that a misspelled name may mean.
    private static let mistypedAreaLeast = 100_000
    /// The score from which a result is good enough to stop: that of a place many people ask for.
    private static let goodScore = 5.0
    /// Added to every population, so that a place with few or unknown inhabitants can still be found.
    private static let leastPopulation = 10.0

    let names: NamesFile
    let gazetteer: Gazetteer
    let question: PlaceQuestion
    let limit: Int
    private var best: [Subject: Candidate] = [:]
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

    func ranked(placesAlone: Bool) -> [Candidate] {
        let candidates = best.values.filter { candidate in
            switch candidate.subject {
            case .place: true
            case .thing: !placesAlone
            }
        }
        let sorted = candidates.map { (candidate: $0, score: behindItsCity($0) ?? $0.score) }
            .sorted { ($0.score, $1.candidate.subject.order) > ($1.score, $0.candidate.subject.order) }
        return sorted.prefix(limit).map(\.candidate)
    }

    /// The score that puts a division right behind a city of the same name in it; nil for every other candidate.
    private func behindItsCity(_ candidate: Candidate) -> Double? {
        guard candidate.match == .exact, case .thing(let number) = candidate.subject, let thing = names.thing(number),
            thing.kind == .administrativeArea, let code = gazetteer.isoCode(ofArea: thing.number)
        else { return nil }
        return best.values.compactMap { other -> Double? in
            guard case .place(let place) = other.subject, other.match == .exact, other.score < candidate.score,
                let (area, _) = gazetteer.area(numbered: place), gazetteer.isoCode(ofArea: area) == code,
                let population = gazetteer.population(numbered: place),
                population * Self.divisionToCity >= thing.weight
            else { return nil }
            return other.score.nextDown
        }.min()
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
        // "Bavara" is more likely Bavaria than the beginning of a village in Iran.
        if (best.values.map(\.score).max() ?? 0) < Self.goodScore { misspelled() }
    }

    private mutating func exact(_ whole: [UInt16]) {
        for entry in names.places.entries(of: whole) { offer(entry, .exact, bonus: Self.wholeBonus) }
        for thing in things(of: whole) { offer(thing, .exact, bonus: Self.wholeBonus) }
        for (name, rest) in question.splits {
            let key = question.key(name)
            let entries = names.places.entries(of: key)
            let things = things(of: key)
            guard !entries.isEmpty || !things.isEmpty else { continue }
            for qualifiers in qualifiers(rest) {
                for entry in entries where holds(entry.number, qualifiers) { offer(entry, .exact) }
                for thing in things where isIn(thing.number, qualifiers) { offer(thing, .exact) }
            }
        }
    }

    /// A thing, with the kind of name it was found by.
    private struct NamedThing {
        let number: Int
        let kind: KeyList.Entry.Kind
    }

    /// The countries, divisions, airports and waters of a name.
    private func things(of key: [UInt16]) -> [NamedThing] {
        areas(names.areas.entries(of: key))
            + names.sights.entries(of: key).map { NamedThing(number: $0.number, kind: $0.kind) }
    }

    private func areas(_ entries: [KeyList.Entry]) -> [NamedThing] {
        entries.compactMap { entry in
            guard entry.kind != .qualifier, let thing = names.thing(ofArea: entry.number) else { return nil }
            return NamedThing(number: thing, kind: entry.kind)
        }
    }

    /// Whether a key is long enough to be searched as the beginning of a name.
    private func mayBegin(_ key: [UInt16]) -> Bool {
        if key.count(where: { $0 > 0x7f }) >= Self.prefixSyllables { return true }
        return key.count(where: { $0 > 0x7f || UInt16(ascii: "a")...UInt16(ascii: "z") ~= $0 }) >= Self.prefixLetters
    }

    private mutating func beginning(_ whole: [UInt16]) {
        if mayBegin(whole) {
            names.places.eachKey(beginningWith: whole, while: { mayMatter(population: $0) }) { cursor in
                for entry in cursor.entries { offer(entry, .prefix) }
            }
            names.areas.eachKey(beginningWith: whole, while: { _ in true }) { cursor in
                for thing in areas(cursor.entries) { offer(thing, .prefix) }
            }
            if whole.count >= Self.sightPrefixLetters {
                names.sights.eachKey(beginningWith: whole, while: { _ in true }) { cursor in
                    for entry in cursor.entries { offer(NamedThing(number: entry.number, kind: entry.kind), .prefix) }
                }
            }
        }
        for (name, rest) in question.splits {
            let key = question.key(name)
            // "AR" is the country of a misspelled Buenos Aires, not the beginning of Arrecifes.
            guard mayBegin(key) else { continue }
            for qualifiers in self.qualifiers(rest) {
                names.places.eachKey(beginningWith: key, while: { mayMatter(population: $0) }) { cursor in
                    for entry in cursor.entries where holds(entry.number, qualifiers) { offer(entry, .prefix) }
                }
            }
        }
    }

    /// Finds the name before the first comma if the words behind it name nothing known.
    private mutating func nameOnly() {
        guard let (name, rest) = question.parted, qualifiers(rest).isEmpty else { return }
        for entry in names.places.entries(of: question.key(name)) { offer(entry, .nameOnly) }
        for thing in things(of: question.key(name)) { offer(thing, .nameOnly) }
    }

    private mutating func misspelled() {
        var keys = question.splits.map {
            (key: question.key($0.name), words: $0.name.count, qualifiers: qualifiers($0.rest))
        }.filter { !$0.qualifiers.isEmpty }
        if question.parted == nil { keys.append((question.key(question.all), question.words.count, [])) }
        for limit in 1...2 {
            let malus = Self.editMalus * Double(limit - 1)
            for (key, words, qualifiers) in keys where key.count >= (limit == 1 ? 3 : 5) {
                names.places.eachKey(within: limit, of: key) { found, entries, edits in
                    guard edits == limit, beginAlike(found, key) else { return }
                    let least = leastPopulation(edits, of: key, isQualified: !qualifiers.isEmpty)
                    for entry in entries
                    where qualifiers.isEmpty || qualifiers.contains(where: { holds(entry.number, $0) }) {
                        guard entry.kind != .abbreviation,
                            (gazetteer.population(numbered: entry.number) ?? 0) >= least,
                            edits + spaces(between: entry, words) <= 2
                        else { continue }
                        offer(entry, .misspelled(edits: edits), bonus: -malus)
                    }
                }
                guard qualifiers.isEmpty, key.count >= (limit == 1 ? 5 : 8) else { continue }
                names.areas.eachKey(within: limit, of: key) { found, entries, edits in
                    guard edits == limit, beginAlike(found, key) else { return }
                    for thing in areas(entries) where thing.kind != .abbreviation {
                        guard names.weight(ofThing: thing.number) ?? 0 >= Self.mistypedAreaLeast else { continue }
                        offer(thing, .misspelled(edits: edits), bonus: -malus)
                    }
                }
            }
            // Two errors are looked for where one leads to no place that many would ask for.
            if let top = best.values.map(\.score).max(), top > Self.goodScore { return }
        }
    }

    /// Whether two keys have the same first letter, or the first two letters swapped: other typing errors in the first
    /// letter are rare.
    private func beginAlike(_ found: [UInt16], _ asked: [UInt16]) -> Bool {
        if found.first == asked.first { return true }
        return found.count > 1 && asked.count > 1 && found[0] == asked[1] && found[1] == asked[0]
    }

    private func leastPopulation(_ edits: Int, of key: [UInt16], isQualified: Bool) -> Int {
        if isQualified { return Self.mistypedQualifiedLeast[edits] ?? .max }
        return Self.mistypedLeast[edits]?.first { key.count >= $0.units }?.people ?? .max
    }

    /// The number of spaces that the question has too many or too few, compared with the main name. They count as
    /// typing errors: "my house" is three errors from Mulhouse, two letters and a space.
    private func spaces(between entry: KeyList.Entry, _ words: Int) -> Int {
        guard let name = gazetteer.name(numbered: entry.number) else { return 0 }
        let own = names.fold.words(name).count
        // Other names may have fewer words, but not more than were asked for.
        return entry.kind == .main ? abs(own - words) : max(words - own, 0)
    }

    /// "Muenchen" for "München", the spelling of keyboards without umlauts.
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

    private mutating func offer(_ thing: NamedThing, _ match: FoundPlace.Match, bonus: Double = 0) {
        // Codes count only in capitals: "DE" and "NSW", not "de" and "in".
        guard let weight = names.weight(ofThing: thing.number),
            thing.kind != .abbreviation || question.isInCapitals && match == .exact,
            let kind = names.kind(ofThing: thing.number)
        else { return }
        let rank =
            switch kind {
            case .country: Self.countryBonus
            case .administrativeArea: -Self.divisionMalus
            case .airport, .water: 0.0
            }
        let name =
            switch thing.kind {
            case .main: Self.mainBonus
            case .abbreviation where kind == .airport: Self.airportCodeBonus
            case .other, .qualifier, .abbreviation: 0.0
            }
        let score = log10(Double(weight) + Self.leastPopulation) + name + rank + bonus
        offer(.thing(thing.number), match, score)
    }

    private mutating func offer(_ entry: KeyList.Entry, _ match: FoundPlace.Match, bonus: Double = 0) {
        guard let population = gazetteer.population(numbered: entry.number) else { return }
        let kind =
            switch entry.kind {
            // In another script, the main name is only a transcription too: "Одесса" is not the one in Texas.
            case .main: question.isLatin ? Self.mainBonus : 0
            case .other, .qualifier: 0.0
            case .abbreviation: -Self.abbreviationMalus
            }
        offer(.place(entry.number), match, log10(Double(population) + Self.leastPopulation) + kind + bonus)
    }

    private mutating func offer(_ subject: Subject, _ match: FoundPlace.Match, _ score: Double) {
        if let before = best[subject], before.score >= score { return }
        best[subject] = Candidate(subject: subject, match: match, score: score)
    }

    /// Whether a thing is in every country that the qualifiers name; a country is in no other.
    private func isIn(_ number: Int, _ qualifiers: [Qualifier]) -> Bool {
        guard let thing = names.thing(number), thing.kind != .country else { return false }
        let country =
            thing.kind == .administrativeArea
            ? gazetteer.country(ofArea: thing.number)
            : gazetteer.country(at: thing.coordinate).flatMap(gazetteer.number)
        guard let country else { return false }
        return qualifiers.allSatisfy { $0.areas.contains(country) }
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
