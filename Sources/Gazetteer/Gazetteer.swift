package import Geodesy
import Glibc

/// Names for coordinates, offline: the nearest of the world's populated places, and the other fields of a placemark
/// (`placemark(at:accuracyMeters:using:)`), from mapped files.
///
/// Nearest is meant literally, by the geodesic, over whatever lies between: a point near a border may get a place
/// across it, and the high seas get the nearest shore. `distanceMeters` of the answer says how far that is.
///
/// Safe on every thread. A `GeocentricTransform` is not: each caller passes the one of its thread.
package final class Gazetteer: Sendable {
    private let mapping: MappedFile
    /// Points into `mapping`: code that reads it must keep `self` alive until it is done.
    let file: GazetteerFile
    /// Found beside the places; nil where there is no such file.
    let zones: Zones?
    let regions: Regions?
    let waters: Tiling?
    let airports: Circles?
    let cities: Circles?
    let names: NamesFile?
    private let translations: Translations?
    /// In the order of their names.
    let supplements: [Supplement]
    /// Contested land that this country claims is shown as its own.
    let worldview: CountryCode?
    /// By ``CountryCode/index``; ``noNumber`` where no place is in the country.
    private let countryNumbers: [UInt16]
    private static let noNumber = UInt16.max

    /// Maps a file of places made by `scripts/gazetteer/build`, and of the files `zones`, `regions`, `waters`,
    /// `airports`, `cities`, `names` and `translations.gazetteer` those that lie in the same folder, and of the
    /// supplements there. Reads their headers and nothing else: well under a millisecond.
    ///
    /// - Parameter worldview: The country by whose view contested land is shown: land that it claims belongs to it. All
    ///   other land, and all land if `nil`, belongs to the country that governs it, by OpenStreetMap.
    /// - Throws: ``GazetteerError`` if the file cannot be read or is not a gazetteer of this version and of the length
    ///   its header says. A file damaged further in is not noticed here; it gives wrong answers but no crash.
    package init(path: String, worldview: CountryCode? = nil) throws(GazetteerError) {
        mapping = try MappedFile(path: path)
        file = try GazetteerFile(mapping, path: path)
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        func beside(_ name: String) -> String? { access(folder + name, F_OK) == 0 ? folder + name : nil }
        zones = try beside("zones.gazetteer").map { path throws(GazetteerError) in try Zones(path: path) }
        regions = try beside("regions.gazetteer").map { path throws(GazetteerError) in
            Regions(tiling: try Tiling(path: path))
        }
        waters = try beside("waters.gazetteer").map { path throws(GazetteerError) in try Tiling(path: path) }
        airports = try beside("airports.gazetteer").map { path throws(GazetteerError) in try Circles(path: path) }
        cities = try beside("cities.gazetteer").map { path throws(GazetteerError) in try Circles(path: path) }
        let edition = file.edition
        names = try beside("names.gazetteer").map { path throws(GazetteerError) in
            try NamesFile(path: path, edition: edition)
        }
        translations = try beside("translations.gazetteer").map { path throws(GazetteerError) in
            try Translations(path: path)
        }
        supplements = try Supplement.all(in: folder.isEmpty ? "./" : String(folder))
        self.worldview = worldview
        var numbers = [UInt16](repeating: Self.noNumber, count: CountryCode.most)
        for number in 0..<file.countries.count {
            guard let code = file.string(file.countries.uint32(number, at: 0)).flatMap({ CountryCode($0) }) else {
                continue
            }
            numbers[code.index] = UInt16(truncatingIfNeeded: number)
        }
        countryNumbers = numbers
    }

    /// The attribution and licence of the data, a line for each file, to be shown wherever its names are shown.
    package var attribution: String {
        let others = [
            zones?.attribution, regions?.tiling.attribution, waters?.attribution, airports?.attribution,
            cities?.attribution, names?.attribution, translations?.attribution,
        ]
        let all = withExtendedLifetime(self) { [file.attribution] } + others.compactMap(\.self)
        let imported = supplements.map { "\($0.name): \($0.attribution) (\($0.licence))" }
        return (all + imported).joined(separator: "\n")
    }

    /// The number of a country; nil if no place is in it.
    func number(of country: CountryCode) -> Int? {
        let number = countryNumbers[country.index]
        return number == Self.noNumber ? nil : Int(number)
    }

    /// The name of a country in English, as GeoNames has it; nil if no place is in it, Antarctica apart.
    func name(of country: CountryCode) -> String? {
        if country == .antarctica { return "Antarctica" }
        return withExtendedLifetime(self) {
            number(of: country).flatMap { file.string(file.countries.uint32($0, at: 4)) }
        }
    }

    /// How many places there are.
    package var placeCount: Int { file.records.count }

    /// The place with the shortest geodesic from the coordinate; of several at one distance the most populous, then
    /// the one with the lowest `geonameID`.
    ///
    /// The poles and both ends of the longitudes are like everywhere else. A few µs.
    ///
    /// - Parameter transform: One of the calling thread's own.
    /// - Returns: nil only if the file is damaged.
    package func nearest(to coordinate: Coordinate, using transform: GeocentricTransform) -> Place? {
        nearest(to: coordinate, at: transform.point(coordinate), count: 1).first
    }

    /// The nearest places by rising distance, ties as in ``nearest(to:using:)``.
    ///
    /// - Parameter count: How many at most; fewer come only if there are fewer. Meant for small numbers: the cost grows
    ///   with its square. None for 0 or less.
    package func nearest(to coordinate: Coordinate, count: Int, using transform: GeocentricTransform) -> [Place] {
        nearest(to: coordinate, at: transform.point(coordinate), count: count)
    }

    private var tree: PlaceTree {
        PlaceTree(nodes: file.nodes, points: file.points, countries: file.countries)
    }

    func nearest(to coordinate: Coordinate, at point: GeocentricPoint, count: Int) -> [Place] {
        guard count > 0 else { return [] }
        return withExtendedLifetime(self) {
            var ranked = tree.candidates(for: point, count: count).compactMap { rank($0.index, from: coordinate) }
            if ranked.count > 1 { ranked.sort { $0.precedes($1) } }
            return ranked.prefix(count).compactMap(place)
        }
    }

    /// The places a coordinate may be named after, of one country, given by number, or of all.
    func nearPlaces(to point: GeocentricPoint, in country: Int?) -> NearPlaces {
        withExtendedLifetime(self) { tree.nearPlaces(to: point, in: country) }
    }

    /// The number of the place nearest to a coordinate, looked for now on the high seas.
    func nearest(of finding: Finding) -> Int? {
        if let nearest = finding.nearest { return nearest }
        guard let point = finding.besides.highSeas else { return nil }
        return nearest(of: nearPlaces(to: point, in: nil), to: finding.coordinate, at: point, in: nil)
    }

    /// The nearest of them, as the rule of the locality sees them.
    func neighbors(_ near: NearPlaces, count: Int) -> Neighbors {
        Neighbors(near: near, file: file, endIndex: count)
    }

    struct Neighbors: RandomAccessCollection {
        fileprivate let near: NearPlaces
        fileprivate let file: GazetteerFile
        let startIndex = 0
        let endIndex: Int

        subscript(rank: Int) -> LocalityRule.Neighbor {
            let candidate = near[rank]
            return LocalityRule.Neighbor(
                number: candidate.index, population: Int(file.population(candidate.index)),
                // Below 28 km a chord is less than 1 m from the geodesic.
                distanceSquareMeters: candidate.chordSquare, isQuarter: file.isQuarter(candidate.index))
        }
    }

    /// The number of the nearest of them by geodesic.
    func nearest(
        of near: NearPlaces, to coordinate: Coordinate, at point: GeocentricPoint, in country: Int?
    ) -> Int? {
        withExtendedLifetime(self) {
            // Most often one is nearest whichever way it is measured.
            if let ties = near.ties, ties.count < 2 { return ties.isEmpty ? nil : near[0].index }
            let ties =
                near.ties.map { $0.map { near[$0].index } }
                ?? tree.places(within: near.tieSquare, of: point, in: country)
            return ties.compactMap { rank($0, from: coordinate) }.min { $0.precedes($1) }?.index
        }
    }

    func name(numbered number: Int) -> String? {
        withExtendedLifetime(self) {
            number < file.records.count ? file.string(file.records.uint24(number, at: 11)) : nil
        }
    }

    /// The name of a place in the first of `languages` that has one, else its local name.
    func name(ofPlace number: Int, in languages: [Language]) -> String? {
        withExtendedLifetime(self) {
            guard number < file.records.count else { return nil }
            let geonameID = Int(file.records.uint24(number, at: 8))
            return translation(of: .place(geonameID: geonameID), in: languages) ?? name(numbered: number)
        }
    }

    /// The number of the city that a place is a quarter of; nil if the place is not a quarter.
    func city(ofQuarter number: Int) -> Int? { withExtendedLifetime(self) { file.city(ofQuarter: number) } }

    /// The name of a city in the first of `languages` that has one, else its local name.
    func cityName(_ city: Int, in languages: [Language]) -> String? {
        let geonameID = cities.flatMap { $0.geonameID(city) }
        return geonameID.flatMap { translation(of: .place(geonameID: $0), in: languages) } ?? cities?.name(city)
    }

    /// The name of a subject in the first of `languages` that has one, else its local name; nil if the local name is
    /// the one in the subject's own file.
    func translation(of subject: Translations.Subject, in languages: [Language]) -> String? {
        translations?.name(of: subject, in: languages)
    }

    /// Which of some languages, the best first, there are names in: tags of BCP 47, such as `de` or `zh-TW`, of which
    /// the longest beginning that is known counts (RFC 4647, section 3.4). Languages after English are dropped, because
    /// everything has an English name: where the translations list none, it is the local one.
    package func languages(_ tags: [String]) -> [Language] { translations?.languages(tags) ?? [] }

    /// The ISO 3166-2 code of an area of `places.gazetteer`, if it has one.
    func isoCode(ofArea area: Int) -> String? {
        withExtendedLifetime(self) { area < file.areas.count ? file.string(file.areas.uint32(area, at: 8)) : nil }
    }

    /// The name of an area of `places.gazetteer` in the first of `languages` that has one, else its local name.
    func name(ofArea area: Int, in languages: [Language]) -> String? {
        translation(of: .area(area), in: languages)
            ?? withExtendedLifetime(self) {
                area < file.areas.count ? file.string(file.areas.uint32(area, at: 4)) : nil
            }
    }

    /// The code of the country with a number in `places.gazetteer`.
    func countryCode(numbered number: Int) -> CountryCode? {
        withExtendedLifetime(self) {
            number < file.countries.count
                ? file.string(file.countries.uint32(number, at: 0)).flatMap { CountryCode($0) } : nil
        }
    }

    /// The number of the country that an area of `places.gazetteer` is in.
    func country(ofArea area: Int) -> Int? {
        withExtendedLifetime(self) { area < file.areas.count ? Int(file.areas.uint16(area, at: 12)) : nil }
    }

    /// GeoNames' code of a place's division.
    func areaCode(numbered number: Int) -> String? {
        withExtendedLifetime(self) {
            area(numbered: number).flatMap { file.string(file.areas.uint32($0.area, at: 0)) }
        }
    }
}

/// The values that decide between two places, read for every candidate before any text is made.
private struct Rank {
    let index: Int
    let coordinate: Coordinate
    let distanceMeters: Double
    let population: UInt32
    let geonameID: UInt32

    func precedes(_ other: Rank) -> Bool {
        if distanceMeters != other.distanceMeters { return distanceMeters < other.distanceMeters }
        if population != other.population { return population > other.population }
        return geonameID < other.geonameID
    }
}

extension Gazetteer {
    /// The place with a number below ``placeCount``, nil for others; without an origin its distance is 0.
    func place(numbered number: Int, from origin: Coordinate? = nil) -> Place? {
        withExtendedLifetime(self) { rank(number, from: origin).flatMap(place) }
    }

    func coordinate(numbered number: Int) -> Coordinate? {
        withExtendedLifetime(self) { rank(number)?.coordinate }
    }

    func population(numbered number: Int) -> Int? {
        withExtendedLifetime(self) {
            number < file.points.count ? Int(file.population(number)) : nil
        }
    }

    /// The numbers of a place's division and country.
    func area(numbered number: Int) -> (area: Int, country: Int)? {
        withExtendedLifetime(self) {
            guard number < file.points.count else { return nil }
            let area = Int(file.points.uint16(number, at: 0))
            return area < file.areas.count ? (area, Int(file.areas.uint16(area, at: 12))) : nil
        }
    }

    /// The label of the region a coordinate is in, of those of a country given by number.
    func region(at coordinate: Coordinate, country: Int) -> Int? {
        withExtendedLifetime(self) {
            guard country < file.countries.count else { return nil }
            let code = file.string(file.countries.uint32(country, at: 0)).flatMap { CountryCode($0) }
            return regions?.answer(at: TilingPoint(coordinate), latitude: coordinate.latitude, country: code).region
        }
    }

    /// 1e-7 degrees, the unit of the file. Dividing by it gives the double nearest to the source's decimal number.
    private static let unitsPerDegree = 1e7

    /// nil if the file is damaged: no such coordinate. Without an origin the distance is 0.
    private func rank(_ index: Int, from origin: Coordinate? = nil) -> Rank? {
        let record = file.records
        guard index < record.count,
            let coordinate = try? Coordinate(
                latitude: Double(record.int32(index, at: 0)) / Self.unitsPerDegree,
                longitude: Double(record.int32(index, at: 4)) / Self.unitsPerDegree)
        else { return nil }
        return Rank(
            index: index, coordinate: coordinate,
            distanceMeters: origin.map { Geodesic.distanceMeters(from: $0, to: coordinate) } ?? 0,
            population: file.population(index), geonameID: record.uint24(index, at: 8))
    }

    /// nil if the file is damaged: no such area, country, zone or name.
    private func place(_ rank: Rank) -> Place? {
        let area = Int(file.points.uint16(rank.index, at: 0))
        guard area < file.areas.count else { return nil }
        let country = Int(file.areas.uint16(area, at: 12))
        let zone = Int(file.areas.uint16(area, at: 14))
        guard country < file.countries.count, zone < file.zones.count,
            let name = file.string(file.records.uint24(rank.index, at: 11)),
            let countryCode = file.string(file.countries.uint32(country, at: 0)),
            let countryName = file.string(file.countries.uint32(country, at: 4)),
            let timeZone = file.string(file.zones.uint32(zone, at: 0))
        else { return nil }
        return Place(
            name: name, countryCode: countryCode, country: countryName,
            administrativeAreaCode: file.string(file.areas.uint32(area, at: 0)),
            administrativeArea: file.string(file.areas.uint32(area, at: 4)),
            administrativeAreaISOCode: file.string(file.areas.uint32(area, at: 8)), areaNumber: area,
            timeZone: timeZone, coordinate: rank.coordinate, population: Int(rank.population),
            geonameID: Int(rank.geonameID), distanceMeters: rank.distanceMeters)
    }
}
