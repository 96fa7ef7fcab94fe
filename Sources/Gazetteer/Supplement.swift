import Geodesy
import Glibc

// A supplement, version 1 of the format: the addresses, postal codes and places that one import brought. Little-endian,
// mapped into memory and never parsed; written by `gazetteer import`. Sections follow one another in this order, each
// beginning at a multiple of 64; their places follow from the counts in the header.
//
//   header     64 bytes   magic "SUPPLM\r\n" | version u32 | streets u32 | file bytes u64 | houses u32 |
//                         postal codes u32 | string bytes u32 | attribution u32 (string) | licence u32 (string) |
//                         characters u32 | latin bytes u32 | spots u32 | 8 zero bytes
//   characters 4 each     as in names.gazetteer, whose fold the keys below were made with
//   latin      bytes      likewise
//   streets    20 each    key u32 (string) | name u32 (string) | locality u32 (string) | postal code u32 (string) |
//                         first house u32; in rising order of keys, then names, localities, postal codes
//   houses     12 each    latitude i32, longitude i32 (1e-7 degrees) | number u32 (string); street by street, in rising
//                         order of the integer the number begins with (none: 0), then of the numbers
//   points     12 each    latitude i32, longitude i32 | house u32; band by band of 0.002° from the south, in each in rising
//                         order of longitudes, then latitudes
//   codes      32 each    key of the code u32 (string) | code u32 (string) | key of the name u32 (string) | name u32
//                         (string) | latitude i32, longitude i32 | country, two letters | accuracy u16 (GeoNames' 1 to 6,
//                         0 unknown) | 4 zero bytes; in rising order of the code's keys
//   towns      4 each     code u32 (its number above), in rising order of the name's keys
//   spots      36 each    key u32 (string) | name u32 (string) | second-order division u32 (string) | geonameid u32 |
//                         population u32 | latitude i32, longitude i32 | kind u16 (0 a populated place, 1 a part of one, 2
//                         something of interest) | country, two letters | 4 zero bytes; those of interest after the
//                         others, both in bands as points are, at last by geonameid
//   named      4 each     spot u32 (its number above), in rising order of keys, then falling of populations
//   strings    bytes      length u16, then that many bytes of UTF-8; the empty one is at 0 and means "absent"
//
// Keys and texts are in the order of their bytes. A street is here once for each locality and postal code it has.
//
// Example: the house  70 5f 21 1d  40 d3 67 01  0c 00 00 00  stands at 48.8726384° N, 2.3581504° E and bears the number
// whose length is at 12.

/// Streets with their houses, postal codes and places from outside the bundle, mapped.
///
/// No read leaves the file, whatever its bytes say: one damaged further in than its header gives wrong answers but no
/// crash. Safe on every thread.
package final class Supplement: Sendable {
    package static let magic = "SUPPLM\r\n"
    package static let version: UInt32 = 1
    /// 1e-7 degrees.
    package static let unitsPerDegree = 1e7
    /// The height of a band in 1e-7 degrees: 220 m, about as wide as a search.
    private static let bandUnits = 20_000
    /// Where more addresses are within reach, as where many were put in the middle of their town, the rest is not
    /// looked at.
    private static let lookedAtMax = 4096

    /// The operator's name for it.
    package let name: String
    private let mapping: MappedFile
    let fold: StreetFold
    let streets: Section
    let houses: Section
    private let points: Section
    let codes: Section
    private let towns: Section
    let spots: Section
    private let named: Section
    private let strings: StringSection
    private let attributionOffset, licenceOffset: UInt32

    /// - Throws: ``GazetteerError`` if the file cannot be read or is no supplement of this version and of the length its
    ///   header says.
    package init(path: String, name: String) throws(GazetteerError) {
        let file = try MappedFile(path: path)
        var layout = try FileLayout(file, path: path, magic: Self.magic, version: Self.version)
        fold = StreetFold(
            NameFold(
                characters: layout.section(count: layout.count(at: 44), stride: 4),
                latin: layout.section(count: layout.count(at: 48), stride: 1)))
        streets = layout.section(count: layout.count(at: 12), stride: 20)
        houses = layout.section(count: layout.count(at: 24), stride: 12)
        points = layout.section(count: layout.count(at: 24), stride: 12)
        codes = layout.section(count: layout.count(at: 28), stride: 32)
        towns = layout.section(count: layout.count(at: 28), stride: 4)
        spots = layout.section(count: layout.count(at: 52), stride: 36)
        named = layout.section(count: layout.count(at: 52), stride: 4)
        strings = StringSection(layout.section(count: layout.count(at: 32), stride: 1))
        (attributionOffset, licenceOffset) = (layout.uint32(at: 36), layout.uint32(at: 40))
        try layout.finish()
        mapping = file
        self.name = name
    }

    /// The supplements in a folder, in the order of their names.
    static func all(in folder: String) throws(GazetteerError) -> [Supplement] {
        var found: [Supplement] = []
        for name in names(in: folder) {
            found.append(try Supplement(path: path(of: name, in: folder), name: name))
        }
        return found
    }

    /// The names of the supplements in a folder, in their order.
    package static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let file = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if file.hasPrefix(prefix), file.hasSuffix(suffix), file.count > prefix.count + suffix.count {
                names.append(String(file.dropFirst(prefix.count).dropLast(suffix.count)))
            }
        }
        return names.sorted()
    }

    /// Where a supplement of a name lies; the folder's path ends with a slash, or is empty.
    package static func path(of name: String, in folder: String) -> String { folder + prefix + name + suffix }
    private static let prefix = "supplement-"
    private static let suffix = ".gazetteer"

    package var attribution: String { withExtendedLifetime(self) { strings[attributionOffset] ?? "" } }
    package var licence: String { withExtendedLifetime(self) { strings[licenceOffset] ?? "" } }
    package var addressCount: Int { houses.count }
    package var streetCount: Int { streets.count }
    package var postalCodeCount: Int { codes.count }
    package var placeCount: Int { spots.count }

    /// The band a latitude in 1e-7 degrees is in, 0 at the south pole.
    package static func band(ofLatitude latitude: Int) -> Int { (latitude + 900_000_000) / bandUnits }
}

// MARK: - Contents

extension Supplement {
    func text(_ offset: UInt32) -> String? { withExtendedLifetime(self) { strings[offset] } }

    /// Each of these wants a number below the count of its section.
    func streetName(_ street: Int) -> String? { text(streets.uint32(street, at: 4)) }
    func locality(ofStreet street: Int) -> String? { text(streets.uint32(street, at: 8)) }
    func postalCode(ofStreet street: Int) -> String? { text(streets.uint32(street, at: 12)) }
    func number(ofHouse house: Int) -> String? { text(houses.uint32(house, at: 8)) }
    func code(_ record: Int) -> String? { text(codes.uint32(record, at: 4)) }
    func town(_ record: Int) -> String? { text(codes.uint32(record, at: 12)) }
    func country(ofCode record: Int) -> CountryCode? { CountryCode(stored: codes.uint16(record, at: 24)) }
    func accuracy(ofCode record: Int) -> Int { Int(codes.uint16(record, at: 26)) }
    func spotName(_ spot: Int) -> String? { text(spots.uint32(spot, at: 4)) }
    func division(ofSpot spot: Int) -> String? { text(spots.uint32(spot, at: 8)) }
    func geonameID(_ spot: Int) -> Int { Int(spots.uint32(spot, at: 12)) }
    func population(ofSpot spot: Int) -> Int { Int(spots.uint32(spot, at: 16)) }
    func kind(ofSpot spot: Int) -> SpotKind { SpotKind(rawValue: spots.uint16(spot, at: 28)) ?? .interest }
    func country(ofSpot spot: Int) -> CountryCode? { CountryCode(stored: spots.uint16(spot, at: 30)) }
    func coordinate(ofSpot spot: Int) -> Coordinate? { coordinate(spots, spot, at: 20) }
    func coordinate(ofHouse house: Int) -> Coordinate? { coordinate(houses, house, at: 0) }
    func coordinate(ofCode record: Int) -> Coordinate? { coordinate(codes, record, at: 16) }

    /// nil only if the file is damaged.
    private func coordinate(_ section: Section, _ index: Int, at offset: Int) -> Coordinate? {
        withExtendedLifetime(self) {
            try? Coordinate(
                latitude: Double(section.int32(index, at: offset)) / Self.unitsPerDegree,
                longitude: Double(section.int32(index, at: offset + 4)) / Self.unitsPerDegree)
        }
    }

    /// The houses of a street.
    func houses(ofStreet street: Int) -> Range<Int> {
        let begin = firstHouse(street)
        return begin..<max(begin, street + 1 < streets.count ? firstHouse(street + 1) : houses.count)
    }

    private func firstHouse(_ street: Int) -> Int { min(Int(streets.uint32(street, at: 16)), houses.count) }

    private func street(ofHouse house: Int) -> Int? {
        let after = firstIndex(in: 0..<streets.count) { firstHouse($0) > house }
        return after > 0 ? after - 1 : nil
    }

    /// The streets of a key, at most so many.
    func streets(key: [UInt8], atMost limit: Int) -> Range<Int> {
        range(in: streets, key: key, atMost: limit) { streets.uint32($0, at: 0) }
    }

    /// The records of a postal code, by its key, at most so many.
    func codes(key: [UInt8], atMost limit: Int) -> Range<Int> {
        range(in: codes, key: key, atMost: limit) { codes.uint32($0, at: 0) }
    }

    /// The numbers of the postal codes of places of one name, by its key, at most so many.
    func codes(ofTown key: [UInt8], atMost limit: Int) -> [Int] {
        let found = range(in: towns, key: key, atMost: limit) { index in
            code(ofTown: index).map { codes.uint32($0, at: 8) } ?? 0
        }
        return found.compactMap(code(ofTown:))
    }

    /// The spots of one name, by its key, the most populous first, at most so many.
    func spots(key: [UInt8], atMost limit: Int) -> [Int] {
        let found = range(in: named, key: key, atMost: limit) { index in
            spot(named: index).map { spots.uint32($0, at: 0) } ?? 0
        }
        return found.compactMap(spot(named:))
    }

    private func spot(named index: Int) -> Int? {
        let spot = Int(named.uint32(index, at: 0))
        return spot < spots.count ? spot : nil
    }

    private func code(ofTown index: Int) -> Int? {
        let code = Int(towns.uint32(index, at: 0))
        return code < codes.count ? code : nil
    }

    private func range(
        in section: Section, key: [UInt8], atMost limit: Int, keyAt: (Int) -> UInt32
    ) -> Range<Int> {
        withExtendedLifetime(self) {
            let first = firstIndex(in: 0..<section.count) {
                !strings.utf8(at: keyAt($0)).lexicographicallyPrecedes(key)
            }
            var end = first
            while end < section.count, end - first < limit, strings.utf8(at: keyAt(end)).elementsEqual(key) { end += 1 }
            return first..<end
        }
    }

    /// The first index for which something is so that stays so.
    func firstIndex(in range: Range<Int>, where isSo: (Int) -> Bool) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isSo(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

// MARK: - Nearby entries

extension Supplement {
    /// An address near a coordinate.
    struct NearAddress {
        let street: Int
        /// `nil` if houses with several numbers are at one coordinate, or if the house has none.
        var house: Int?
        let distanceMeters: Double
    }

    /// The address nearest by geodesic of those that are wanted, within some meters. None where addresses of several
    /// streets are nearest.
    ///
    /// A few µs and one more for each address within 20 m, or, if there is none, within the limit.
    func nearestAddress(
        to coordinate: Coordinate, withinMeters limit: Double, where isWanted: (Coordinate) -> Bool
    ) -> NearAddress? {
        withExtendedLifetime(self) {
            let near = min(limit, 20)
            let found = nearest(to: coordinate, withinMeters: near, where: isWanted)
            return found.isEmpty && near < limit
                ? address(nearest(to: coordinate, withinMeters: limit, where: isWanted)) : address(found)
        }
    }

    private struct NearHouse {
        let house: Int
        let distanceMeters: Double
    }

    /// All houses that are nearest.
    private func nearest(
        to coordinate: Coordinate, withinMeters reach: Double, where isWanted: (Coordinate) -> Bool
    ) -> [NearHouse] {
        guard let circle = try? Circle(center: coordinate, radiusMeters: reach) else { return [] }
        var best: [NearHouse] = []
        eachIndex(of: points, latitudeAt: 0, among: 0..<points.count, in: circle.boundingBox) { point in
            guard let place = self.coordinate(points, point, at: 0), isWanted(place) else { return }
            let distance = Geodesic.distanceMeters(from: coordinate, to: place)
            let house = Int(points.uint32(point, at: 8))
            guard distance <= best.first?.distanceMeters ?? reach, house < houses.count else { return }
            if distance < best.first?.distanceMeters ?? .infinity { best = [] }
            best.append(NearHouse(house: house, distanceMeters: distance))
        }
        return best
    }

    private func address(_ nearest: [NearHouse]) -> NearAddress? {
        guard let first = nearest.first, let street = street(ofHouse: first.house) else { return nil }
        var address = NearAddress(street: street, house: first.house, distanceMeters: first.distanceMeters)
        if number(ofHouse: first.house) == nil { address.house = nil }
        for other in nearest.dropFirst() {
            guard let otherStreet = self.street(ofHouse: other.house),
                otherStreet == street || streetName(otherStreet) == streetName(street)
            else { return nil }
            if number(ofHouse: other.house) != number(ofHouse: first.house) { address.house = nil }
        }
        return address
    }

    /// The spots within some meters, by rising distance: those of interest, or the others.
    func spots(
        near coordinate: Coordinate, withinMeters reach: Double, ofInterest: Bool
    ) -> [(spot: Int, distanceMeters: Double)] {
        guard spots.count > 0, let circle = try? Circle(center: coordinate, radiusMeters: reach) else { return [] }
        return withExtendedLifetime(self) {
            let firstOfInterest = firstIndex(in: 0..<spots.count) { kind(ofSpot: $0) == .interest }
            let own = ofInterest ? firstOfInterest..<spots.count : 0..<firstOfInterest
            var found: [(spot: Int, distanceMeters: Double)] = []
            eachIndex(of: spots, latitudeAt: 20, among: own, in: circle.boundingBox) { spot in
                guard let place = self.coordinate(ofSpot: spot) else { return }
                let distance = Geodesic.distanceMeters(from: coordinate, to: place)
                if distance <= reach { found.append((spot, distance)) }
            }
            return found.sorted { ($0.distanceMeters, $0.spot) < ($1.distanceMeters, $1.spot) }
        }
    }

    /// Goes through the entries in a box a few bands high, in a part of a section that is in bands.
    private func eachIndex(
        of section: Section, latitudeAt offset: Int, among part: Range<Int>, in box: BoundingBox, _ body: (Int) -> Void
    ) {
        func units(_ degrees: Double, _ rule: FloatingPointRoundingRule) -> Int {
            Int((degrees * Self.unitsPerDegree).rounded(rule))
        }
        let (south, north) = (units(box.south, .down), units(box.north, .up))
        let (west, east) = (units(box.west, .down), units(box.east, .up))
        let ranges = west <= east ? [west...east] : [west...1_800_000_000, -1_800_000_000...max(east, -1_800_000_000)]
        var left = Self.lookedAtMax
        for band in Self.band(ofLatitude: south)...max(Self.band(ofLatitude: south), Self.band(ofLatitude: north)) {
            for longitudes in ranges {
                var index = firstIndex(in: part) { index in
                    let latitude = Int(section.int32(index, at: offset))
                    return (Self.band(ofLatitude: latitude), Int(section.int32(index, at: offset + 4)))
                        >= (band, longitudes.lowerBound)
                }
                while index < part.upperBound, left > 0 {
                    let latitude = Int(section.int32(index, at: offset))
                    let longitude = Int(section.int32(index, at: offset + 4))
                    guard Self.band(ofLatitude: latitude) == band, longitude <= longitudes.upperBound else { break }
                    left -= 1
                    if latitude >= south, latitude <= north { body(index) }
                    index += 1
                }
            }
        }
    }
}

/// The kind of a supplement's place.
package enum SpotKind: UInt16, Sendable {
    case populated, part, interest
}
