package import Geodesy
import Glibc

/// Names for coordinates, offline: the nearest of the world's populated places, and what else is known of a coordinate
/// (``placemark(at:accuracyMeters:using:)``), from mapped files.
///
/// Nearest is meant literally, by the geodesic, over whatever lies between: a point near a border may get a place
/// across it, and the high seas get the nearest shore. `distanceMeters` of the answer says how far that is.
///
/// Safe on every thread; a ``GeocentricTransform`` is not, so the caller brings one of its own thread.
package final class Gazetteer: Sendable {
    private let mapping: MappedFile
    /// Points into `mapping`, so whoever reads it keeps `self` alive until the end.
    private let file: GazetteerFile
    /// Found beside the places; nil where there is no such file.
    let zones: Zones?
    let regions: Regions?
    let waters: Tiling?
    let airports: Circles?
    let cities: Circles?
    let names: NamesFile?

    /// Maps a file of places made by `scripts/build-gazetteer`, and of the files `zones`, `regions`, `waters`,
    /// `airports`, `cities` and `names.gazetteer` those that lie in the same folder. Reads their headers and nothing
    /// else: well under a millisecond.
    ///
    /// - Throws: ``GazetteerError`` if the file cannot be read or is not a gazetteer of this version and of the length
    ///   its header says. A file damaged further in is not noticed here; it gives wrong answers but no crash.
    package init(path: String) throws(GazetteerError) {
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
    }

    /// Who made the data, under which licence, a line for each file: to be shown wherever its names are shown.
    package var attribution: String {
        let others = [
            zones?.attribution, regions?.tiling.attribution, waters?.attribution, airports?.attribution,
            cities?.attribution, names?.attribution,
        ]
        let all = withExtendedLifetime(self) { [file.attribution] } + others.compactMap(\.self)
        return all.joined(separator: "\n")
    }

    /// The number of a country, which stand in the order of their codes; nil if no place is in it.
    func number(of country: CountryCode) -> Int? {
        withExtendedLifetime(self) {
            let code = country.description
            var (low, high) = (0, file.countries.count)
            while low < high {
                let middle = (low + high) / 2
                let found = file.string(file.countries.uint32(middle, at: 0)) ?? ""
                if found == code { return middle }
                if found < code { low = middle + 1 } else { high = middle }
            }
            return nil
        }
    }

    /// The name of a country in English, as GeoNames has it; nil if no place is in it, Antarctica apart.
    func name(of country: CountryCode) -> String? {
        if country.description == "AQ" { return "Antarctica" }
        return withExtendedLifetime(self) {
            number(of: country).flatMap { file.string(file.countries.uint32($0, at: 4)) }
        }
    }

    /// How many places there are.
    package var placeCount: Int { file.records.count }

    /// The place with the shortest geodesic from the coordinate; of several at one distance the most populous, then
    /// the one with the lowest `geonameID`.
    ///
    /// The poles and both ends of the longitudes are like everywhere else. About 2 µs near places, 4 µs far out.
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
        PlaceTree(nodes: file.nodes, points: file.points, levels: file.levels)
    }

    func nearest(to coordinate: Coordinate, at point: GeocentricPoint, count: Int) -> [Place] {
        guard count > 0 else { return [] }
        return withExtendedLifetime(self) {
            var ranked = tree.candidates(for: point, count: count).compactMap { rank($0.index, from: coordinate) }
            if ranked.count > 1 { ranked.sort { $0.precedes($1) } }
            return ranked.prefix(count).compactMap(place)
        }
    }

    /// What may be among the `count` nearest places, by rising chord: of one country, or of all.
    func candidates(at point: GeocentricPoint, count: Int, country: Int?) -> [PlaceTree.Candidate] {
        withExtendedLifetime(self) {
            tree.candidates(for: point, count: count).filter {
                country == nil || area(numbered: $0.index)?.country == country
            }
            .sorted { ($0.chordSquare, $0.index) < ($1.chordSquare, $1.index) }
        }
    }

    /// The nearest of candidates sorted by rising chord, by geodesic: looked at are those that chords cannot tell apart.
    func nearest(of candidates: [PlaceTree.Candidate], to coordinate: Coordinate) -> Place? {
        withExtendedLifetime(self) {
            guard let first = candidates.first else { return nil }
            let limit = PlaceTree.reachSquare(beyond: first.chordSquare)
            let ranked = candidates.prefix { $0.chordSquare <= limit }.compactMap { rank($0.index, from: coordinate) }
            return ranked.min { $0.precedes($1) }.flatMap(place)
        }
    }

    func name(numbered number: Int) -> String? {
        withExtendedLifetime(self) {
            number < file.records.count ? file.string(file.records.uint32(number, at: 16)) : nil
        }
    }

    /// GeoNames' code of a place's division.
    func areaCode(numbered number: Int) -> String? {
        withExtendedLifetime(self) {
            area(numbered: number).flatMap { file.string(file.areas.uint32($0.area, at: 0)) }
        }
    }
}

/// What decides between two places: read for every candidate, before any text is made.
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
    /// The place with a number below ``placeCount``, without a distance; nil for others.
    func place(numbered number: Int) -> Place? {
        withExtendedLifetime(self) { rank(number).flatMap(place) }
    }

    func coordinate(numbered number: Int) -> Coordinate? {
        withExtendedLifetime(self) { rank(number)?.coordinate }
    }

    func population(numbered number: Int) -> Int? {
        withExtendedLifetime(self) {
            number < file.records.count ? Int(file.records.uint32(number, at: 8)) : nil
        }
    }

    /// The numbers of a place's division and country.
    func area(numbered number: Int) -> (area: Int, country: Int)? {
        withExtendedLifetime(self) {
            guard number < file.records.count else { return nil }
            let area = Int(file.records.uint16(number, at: 20))
            return area < file.areas.count ? (area, Int(file.areas.uint16(area, at: 12))) : nil
        }
    }

    /// The label of the region a coordinate is in, of those of a country given by number.
    func region(at coordinate: Coordinate, country: Int) -> Int? {
        withExtendedLifetime(self) {
            guard country < file.countries.count else { return nil }
            let code = file.string(file.countries.uint32(country, at: 0)).flatMap { CountryCode($0) }
            return regions?.answer(at: coordinate, country: code).region
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
            population: record.uint32(index, at: 8), geonameID: record.uint32(index, at: 12))
    }

    /// nil if the file is damaged: no such area, country, zone or name.
    private func place(_ rank: Rank) -> Place? {
        let area = Int(file.records.uint16(rank.index, at: 20))
        guard area < file.areas.count else { return nil }
        let country = Int(file.areas.uint16(area, at: 12))
        let zone = Int(file.areas.uint16(area, at: 14))
        guard country < file.countries.count, zone < file.zones.count,
            let name = file.string(file.records.uint32(rank.index, at: 16)),
            let countryCode = file.string(file.countries.uint32(country, at: 0)),
            let countryName = file.string(file.countries.uint32(country, at: 4)),
            let timeZone = file.string(file.zones.uint32(zone, at: 0))
        else { return nil }
        return Place(
            name: name, countryCode: countryCode, country: countryName,
            administrativeAreaCode: file.string(file.areas.uint32(area, at: 0)),
            administrativeArea: file.string(file.areas.uint32(area, at: 4)),
            administrativeAreaISOCode: file.string(file.areas.uint32(area, at: 8)),
            timeZone: timeZone, coordinate: rank.coordinate, population: Int(rank.population),
            geonameID: Int(rank.geonameID), distanceMeters: rank.distanceMeters)
    }
}
