import Geodesy

// The names, version 3 of the format. Little-endian, mapped into memory and never parsed; written by
// scripts/gazetteer/build_names.py, which specifies the same bytes. Sections follow one another in this order, each
// beginning at a multiple of 64; their places follow from the counts in the header.
//
//   header     128 bytes  magic "NAMES\r\n\0" | version u32 | characters u32 | file bytes u64 | edition of the places
//                         u64 | latin bytes u32 | blocks of places u32 | bytes of places u32 | blocks of areas u32 |
//                         bytes of areas u32 | string bytes u32 | attribution u32 (string) | blocks of airports
//                         and waters u32 | bytes of them u32 | areas u32 | things u32 | 52 zero bytes
//   characters 4 each     UTF-16 unit u16 | begin of its replacement in `latin` u16, in rising order of units
//   latin      bytes      a character's replacement: length u8 and that many bytes of ASCII
//   codes      8 each     256 of them, the meaning of a byte of a key: length u8 | up to 7 bytes of ASCII; length 0
//                         means that the two bytes that follow are one UTF-16 unit
//   blocks     8 each     begin of the block in the bytes u32 | population of its most populous place u32
//   bytes      bytes      64 keys a block (fewer in the last), in rising order of their UTF-16 units
//   then blocks and bytes again, of areas; then blocks and bytes of airports and waters
//   area things 2 each    for each area of places.gazetteer the thing it is, or 65535
//   things     20 each    latitude i32, longitude i32 (1e-7 degrees) | weight u32, people where they are known | name u32
//                         (string) | kind u8 (0 country, 1 division, 2 airport, 3 water) | number u24: of the country or
//                         the area in places.gazetteer
//   strings    bytes      length u16, then that many bytes of UTF-8
//
// A key is: one byte, its high half the units it shares with the key before it in the block, its low half the bytes
// that follow (15: one more byte says how many); those bytes, each by `codes`; then for each place of the name three
// bytes: number in the low 18 bits, kind in the next two (0 another name, 1 the main name, 2 an abbreviation), and the
// highest bit set if another follows. A key of areas says countries (their number in places.gazetteer), areas (1000 and
// theirs) and divisions of divisions (10000 and their label in regions.gazetteer); kind 3 is a name that distinguishes
// places but does not find the area itself. Things are everything else that can be found by name: countries, in the
// order of places.gazetteer, first-order divisions, airports and waters.

/// The names that places are found by, mapped.
///
/// No read leaves the file, whatever its bytes say. Safe on every thread.
final class NamesFile: Sendable {
    private static let version: UInt32 = 3
    /// Areas are numbered from here, below are the countries.
    static let firstArea = 1000
    /// Labels of regions that are part of another are numbered from here.
    static let firstPart = 10_000

    private let mapping: MappedFile
    let fold: NameFold
    let places: KeyList
    let areas: KeyList
    /// Airports and waters.
    let sights: KeyList
    private let areaThings: Section
    private let things: Section
    private let strings: StringSection
    private let attributionOffset: UInt32

    /// - Parameter edition: That of the places; names made with others are refused, because they number them otherwise.
    /// - Throws: ``GazetteerError`` if the file cannot be read or is not one of names, of this version, of the length its
    ///   header says and of that edition. A file damaged further in gives wrong answers but no crash.
    init(path: String, edition: UInt64) throws(GazetteerError) {
        let file = try MappedFile(path: path)
        var layout = try FileLayout(file, path: path, magic: "NAMES\r\n\0", version: Self.version, headerByteCount: 128)
        fold = NameFold(
            characters: layout.section(count: layout.count(at: 12), stride: 4),
            latin: layout.section(count: layout.count(at: 32), stride: 1))
        let codes = layout.section(count: 256, stride: 8)
        places = KeyList(
            codes: codes, blocks: layout.section(count: layout.count(at: 36), stride: 8),
            bytes: layout.section(count: layout.count(at: 40), stride: 1))
        areas = KeyList(
            codes: codes, blocks: layout.section(count: layout.count(at: 44), stride: 8),
            bytes: layout.section(count: layout.count(at: 48), stride: 1))
        sights = KeyList(
            codes: codes, blocks: layout.section(count: layout.count(at: 60), stride: 8),
            bytes: layout.section(count: layout.count(at: 64), stride: 1))
        areaThings = layout.section(count: layout.count(at: 68), stride: 2)
        things = layout.section(count: layout.count(at: 72), stride: 20)
        strings = StringSection(layout.section(count: layout.count(at: 52), stride: 1))
        attributionOffset = layout.uint32(at: 56)
        let made = layout.uint64(at: 24)
        try layout.finish()
        guard made == edition else {
            throw .damaged(path: path, reason: "it was made for another places.gazetteer")
        }
        mapping = file
    }

    /// The number of the thing for a number of ``areas``; nil for second-order divisions, and for areas that only
    /// distinguish places.
    func thing(ofArea number: Int) -> Int? {
        if number < Self.firstArea { return number < things.count ? number : nil }
        guard number < Self.firstPart, number - Self.firstArea < areaThings.count else { return nil }
        let thing = Int(areaThings.uint16(number - Self.firstArea, at: 0))
        return thing < things.count ? thing : nil
    }

    /// The population of a country or division; for airports and waters, a population that ranks them among these.
    func weight(ofThing number: Int) -> Int? { number < things.count ? Int(things.uint32(number, at: 8)) : nil }

    /// nil if there is no thing of that number, or the file is damaged.
    func kind(ofThing number: Int) -> FoundArea.Kind? {
        number < things.count ? FoundArea.Kind(rawValue: Int(things.uint32(number, at: 16) & 0xff)) : nil
    }

    /// nil if there is no thing of that number, or the file is damaged.
    func thing(_ number: Int) -> Thing? {
        withExtendedLifetime(self) {
            guard let kind = kind(ofThing: number), let weight = weight(ofThing: number),
                let coordinate = try? Coordinate(
                    latitude: Double(things.int32(number, at: 0)) / Self.unitsPerDegree,
                    longitude: Double(things.int32(number, at: 4)) / Self.unitsPerDegree),
                let name = strings[things.uint32(number, at: 12)]
            else { return nil }
            return Thing(
                kind: kind, name: name, coordinate: coordinate, weight: weight,
                number: Int(things.uint24(number, at: 17)))
        }
    }

    /// A country, first-order division, airport or water.
    struct Thing {
        let kind: FoundArea.Kind
        /// The English name.
        let name: String
        /// As ``FoundArea/coordinate``.
        let coordinate: Coordinate
        /// As ``NamesFile/weight(ofThing:)``.
        let weight: Int
        /// The number of the country or area in `places.gazetteer`; 0 for airports and waters.
        let number: Int
    }

    private static let unitsPerDegree = 1e7

    /// The attribution and licence of the data, to be shown wherever its names are shown.
    var attribution: String { withExtendedLifetime(self) { strings[attributionOffset] ?? "" } }
}
