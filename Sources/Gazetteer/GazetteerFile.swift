// The file, version 5 of the format. Little-endian, fixed width, mapped into memory and never parsed; written by
// scripts/gazetteer/build_gazetteer.py, which specifies the same bytes. Sections follow one another in this order, each
// beginning at a multiple of 64; their places follow from the counts in the header.
//
//   header     64 bytes   magic "PLACES\r\n" | version u32 | nodes u32 | file bytes u64 | places u32 | areas u32 |
//                         countries u32 | zones u32 | string bytes u32 | attribution u32 (string) |
//                         edition u64, the first bytes of the SHA-256 of the rest | quarters u32 | 4 zero bytes
//   nodes      4 each     axis u8 (0 x, 1 y, 2 z) | split i24 (meters)
//   points     15 each    area u16 | geocentric x, y, z i24 (meters) | population u32: what a search looks at; its highest
//                         bit is set if the place is a quarter
//   records    14 each    latitude i32, longitude i32 (1e-7 degrees) | geonameid u24 | name u24 (string)
//   areas      16 each    code u32 (string) | name u32 (string) | code in ISO 3166-2 u32 (string) | country u16 |
//                         zone u16; a division with several zones stands here several times
//   countries  48 each    code u32 (string) | name u32 (string) | first place u32 | places u32 | first node u32 |
//                         levels u32 | least x, y, z i32 | greatest x, y, z i32 (meters) of its places
//   zones      4 each     name u32 (string)
//   quarters   6 each     place u24 | the city it is a part of u24, both numbers of places, in rising order
//   strings    bytes      length u16, then that many bytes of UTF-8; a string is named by the offset of its length;
//                         the empty string is at 0 and means "absent"
//
// Points and records are grouped by country, those of a country in the order of a static k-d tree over geocentric
// coordinates. With n places and l levels, node j of level k covers the places (j*n) >> k up to ((j+1)*n) >> k of the
// country and is at its first node + 2^k - 1 + j. Its left half holds no coordinate above, its right half none below
// the split on its axis. The ranges of level l are the leaves.
//
// Example: Vienna's record 24 08 bc 1c  60 2e c2 09  99 22 2a  d8 35 07 says 48.20849°, 16.37208°, geonameid 2761369
// and a name at string 472,536.

/// The sections of a mapped gazetteer, found and bounded once, when it is opened.
///
/// No read leaves its section, whatever the bytes say: an index or string offset that points elsewhere reads as absent.
/// Opening looks at the header only, so a file damaged further in opens and gives wrong or fewer answers, but no crash;
/// the hash in `data/manifest.json` detects it.
struct GazetteerFile: Sendable {
    static let version: UInt32 = 5
    private static let quarterBit: UInt32 = 1 << 31

    let nodes: Section
    let points: Section
    let records: Section
    let areas: Section
    let countries: Section
    let zones: Section
    private let quarters: Section
    private let strings: StringSection
    private let attributionOffset: UInt32
    /// Identifies this list of places, so that the file of names made with it can be recognized.
    let edition: UInt64

    /// Valid as long as the mapping; `path` is for the errors.
    init(_ file: borrowing MappedFile, path: String) throws(GazetteerError) {
        var layout = try FileLayout(file, path: path, magic: "PLACES\r\n", version: Self.version)
        let placeCount = layout.count(at: 24)
        nodes = layout.section(count: layout.count(at: 12), stride: 4)
        points = layout.section(count: placeCount, stride: 15)
        records = layout.section(count: placeCount, stride: 14)
        areas = layout.section(count: layout.count(at: 28), stride: 16)
        countries = layout.section(count: layout.count(at: 32), stride: 48)
        zones = layout.section(count: layout.count(at: 36), stride: 4)
        quarters = layout.section(count: layout.count(at: 56), stride: 6)
        strings = StringSection(layout.section(count: layout.count(at: 40), stride: 1))
        attributionOffset = layout.uint32(at: 44)
        edition = layout.uint64(at: 48)
        try layout.finish()
        guard placeCount > 0 else { throw .damaged(path: path, reason: "it holds no place") }
    }

    /// Inhabitants of a place; its number must be below the count.
    func population(_ number: Int) -> UInt32 { points.uint32(number, at: 11) & ~Self.quarterBit }

    /// Whether a place is a quarter of a city; its number must be below the count.
    func isQuarter(_ number: Int) -> Bool { points.uint32(number, at: 11) & Self.quarterBit != 0 }

    /// The number of the city that a quarter is a part of; nil if the place is not a quarter.
    func city(ofQuarter number: Int) -> Int? {
        func quarter(_ index: Int) -> Int { Int(quarters.uint32(index, at: 0) & 0xff_ffff) }
        let index = firstIndex(from: 0, to: quarters.count) { quarter($0) >= number }
        guard index < quarters.count, quarter(index) == number else { return nil }
        let city = Int(quarters.uint24(index, at: 3))
        return city < records.count ? city : nil
    }

    var attribution: String { string(attributionOffset) ?? "" }

    /// The string at an offset; nil if it is empty, or not wholly within the section.
    func string(_ offset: UInt32) -> String? { strings[offset] }
}
