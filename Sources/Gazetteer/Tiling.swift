import Geodesy

// A tiling, version 3 of the format: polygons cut into square cells, so that a question reads one cell. Little-endian,
// mapped into memory and never parsed; written by scripts/gazetteer/gazetteer_tiling.py, which specifies the same
// bytes. Sections follow one another in this order, each beginning at a multiple of 64; their places follow from the
// header's counts.
//
//   header   64 bytes   magic "TILING\r\n" | version u32 | cells per degree u32 | file bytes u64 | block bytes u32 |
//                       cells u32 | shape bytes u32 | labels u32 | string bytes u32 | attribution u32 (string) |
//                       16 zero bytes
//   degrees  4 each     180 x 360 entries from the south-west corner, row by row eastwards: below 0x80000000 the label
//                       of the whole square degree (0x7fffffff none), else 0x80000000 + the byte its block begins at
//   blocks   bytes      a block is: first cell u32 | labels u8 | that many labels u16, 0x7fff for none | one u8 a cell of
//                       the degree, row by row from the south-west: below 0x80 one of those labels, counted from 0,
//                       else 0x80 + k for cell (first cell + k)
//   cells    4 each     where the cell's shapes begin, in bytes
//   shapes   bytes      a cell is: candidates u8; then for each: label u16 | rings u16, plus 0x8000 if inverted; then
//                       for each ring: vertices u16 | that many times x and y, 12 bits each in three bytes, x in the
//                       low ones, in 1/4000 of the cell's side from its south-west corner. A candidate holds a point if
//                       an odd number of its edges lies north of it (an even number if inverted); one without rings
//                       holds every point if inverted, else none.
//   labels   16 each    name u32 (string) | code u32 (string) | country, two letters or two zero bytes |
//                       label it is part of u16, 0x7fff for none | kind u32, what the file needs
//   strings  bytes      length u16, then that many bytes of UTF-8; the empty one is at 0 and means "absent"
//
// Example: the cell bytes 02 | 07 00, 01 00, 03 00, 00 00 00, a0 0f 00, 00 00 fa | 09 00, 00 80 say that label 7 holds
// the south-western half of the cell and label 9 the rest.

/// Areas of the earth, each point in as many of them as the file says: found by cell, decided in integers.
///
/// A cell stores each border once, with the area on one side of it; the area listed last has the remainder of the cell.
/// So in a file that covers everything, such as that of the time zones, no simplification can open a gap or an overlap.
/// If several areas hold a point, the first listed answers.
///
/// No read leaves the file, whatever its bytes say. Safe on every thread.
final class Tiling: Sendable {
    static let version: UInt32 = 3
    private static let noLabel = 0x7fff
    /// 1e-7 degrees.
    static let unitsPerDegree = 10_000_000
    static let stepsPerCell = 4000

    private let mapping: MappedFile
    private let cellsPerDegree: Int
    /// Of a cell, in 1e-7 degrees.
    private let side: UInt32
    private let unitsPerStep: Int
    private let degrees: Section
    private let blocks: Section
    private let cells: Section
    private let shapes: Section
    private let labels: Section
    private let strings: StringSection
    private let attributionOffset: UInt32

    /// Maps a file made by `scripts/gazetteer/build`. Reads its header and nothing else.
    ///
    /// - Throws: ``GazetteerError`` if the file cannot be read or is not a tiling of this version and of the length its
    ///   header says. A file damaged further in is not noticed here; it gives wrong answers but no crash.
    init(path: String) throws(GazetteerError) {
        let file = try MappedFile(path: path)
        var layout = try FileLayout(file, path: path, magic: "TILING\r\n", version: Self.version)
        let cellsPerDegree = layout.count(at: 12)
        guard [1, 2, 5, 10].contains(cellsPerDegree) else {
            throw .damaged(path: path, reason: "its cells have an impossible size")
        }
        degrees = layout.section(count: 180 * 360, stride: 4)
        blocks = layout.section(count: layout.count(at: 24), stride: 1)
        cells = layout.section(count: layout.count(at: 28), stride: 4)
        shapes = layout.section(count: layout.count(at: 32), stride: 1)
        labels = layout.section(count: layout.count(at: 36), stride: 16)
        strings = StringSection(layout.section(count: layout.count(at: 40), stride: 1))
        attributionOffset = layout.uint32(at: 44)
        try layout.finish()
        self.cellsPerDegree = cellsPerDegree
        side = UInt32(Self.unitsPerDegree / cellsPerDegree)
        unitsPerStep = Self.unitsPerDegree / cellsPerDegree / Self.stepsPerCell
        mapping = file
    }

    /// The attribution and licence of the data, to be shown wherever its names are shown.
    var attribution: String { withExtendedLifetime(self) { strings[attributionOffset] ?? "" } }

    /// How many labels there are; a label is a number below.
    var labelCount: Int { labels.count }

    /// The label that answers for a point: the first listed that holds it; nil where none does.
    ///
    /// 20 to 60 ns; 15 in cells that one label fills.
    func label(at point: TilingPoint) -> Int? {
        switch content(at: point) {
        case .label(let label): return label < labels.count ? label : nil
        case .nothing: return nil
        case .cell(let begin, let at):
            var reader = CandidateReader(shapes: shapes, begin: begin)
            while let candidate = reader.next() {
                if candidate.label < labels.count, candidate.holds(at) { return candidate.label }
            }
            return nil
        }
    }

    /// Goes through the labels that hold a point, in the order listed, while `body` wants more.
    func eachHolding(_ point: TilingPoint, _ body: (Int) -> Bool) {
        switch content(at: point) {
        case .label(let label): if label < labels.count { _ = body(label) }
        case .nothing: break
        case .cell(let begin, let at):
            var reader = CandidateReader(shapes: shapes, begin: begin)
            while let candidate = reader.next() {
                if candidate.label < labels.count, candidate.holds(at), !body(candidate.label) { return }
            }
        }
    }

    /// Goes through the wanted labels of a point's cell, in order, with the square of the offset of the label: 0
    /// if it holds the point, else to its nearest edge in the cell in 1e-7 degrees, a degree of longitude counted
    /// `eastScale` times; infinite for a label without edges there.
    func eachListed(
        at point: TilingPoint, eastScale: Double, where isWanted: (Int) -> Bool, _ body: (Int, Double) -> Void
    ) {
        switch content(at: point) {
        case .label(let label): if label < labels.count, isWanted(label) { body(label, 0) }
        case .nothing: break
        case .cell(let begin, let at):
            var reader = CandidateReader(shapes: shapes, begin: begin)
            while let candidate = reader.next() {
                guard candidate.label < labels.count, isWanted(candidate.label) else { continue }
                body(candidate.label, candidate.holds(at) ? 0 : candidate.offsetSquare(at, eastScale: eastScale))
            }
        }
    }

    /// The name of a label below ``labelCount``; nil if it has none.
    func name(_ label: Int) -> String? { withExtendedLifetime(self) { strings[labels.uint32(label, at: 0)] } }

    /// The code of a label below ``labelCount``; nil if it has none.
    func code(_ label: Int) -> String? { withExtendedLifetime(self) { strings[labels.uint32(label, at: 4)] } }

    /// The country of a label below ``labelCount``; nil if it has none.
    func country(_ label: Int) -> CountryCode? { CountryCode(stored: labels.uint16(label, at: 8)) }

    /// The label that a label below ``labelCount`` is part of; nil if it is of none.
    func parent(_ label: Int) -> Int? {
        let parent = Int(labels.uint16(label, at: 10))
        return parent < labels.count && parent != Self.noLabel ? parent : nil
    }

    /// The kind of a label below ``labelCount``: a number whose meaning depends on the kind of file.
    func kind(_ label: Int) -> UInt32 { labels.uint32(label, at: 12) }

    private enum Content {
        case label(Int)
        case cell(begin: Int, LocalPoint)
        case nothing
    }

    private func content(at point: TilingPoint) -> Content {
        // Coordinates are below 2^32, and divided faster as such, and by a constant.
        let (x, y, unit, perDegree) = (
            UInt32(point.x), UInt32(point.y), UInt32(Self.unitsPerDegree), UInt32(cellsPerDegree)
        )
        let (column, row) = (x / unit, y / unit)
        let entry = degrees.uint32(Int(row * 360 + column), at: 0)
        guard entry >= 0x8000_0000 else { return entry == 0x7fff_ffff ? .nothing : .label(Int(entry)) }
        let block = Int(entry & 0x7fff_ffff)
        let head = 5
        guard block + head <= blocks.count else { return .nothing }
        let bytes = blocks.start + block
        let known = Int(bytes.load(fromByteOffset: 4, as: UInt8.self))
        guard block + head + 2 * known + cellsPerDegree * cellsPerDegree <= blocks.count else { return .nothing }
        let (east, north) = (x - column * unit, y - row * unit)
        let (cellX, cellY) = (east * perDegree / unit, north * perDegree / unit)
        let number = Int(cellY * perDegree + cellX)
        let value = Int(bytes.load(fromByteOffset: head + 2 * known + number, as: UInt8.self))
        if value < 0x80 {
            guard value < known else { return .nothing }
            let label = Int(
                UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: head + 2 * value, as: UInt16.self)))
            return label == Self.noLabel ? .nothing : .label(label)
        }
        let first = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
        let cell = Int(first) + value - 0x80
        guard cell < cells.count else { return .nothing }
        let local = LocalPoint(
            x: Int(east - cellX * side), y: Int(north - cellY * side), unitsPerStep: unitsPerStep)
        return .cell(begin: Int(cells.uint32(cell, at: 0)), local)
    }
}

/// A coordinate as a whole number of 1e-7 degrees east of 180° W and north of the south pole.
///
/// Both ends of the longitudes are 0, and a pole is the point on Greenwich's meridian whatever its longitude.
struct TilingPoint: Hashable {
    let x: Int
    let y: Int

    init(_ coordinate: Coordinate) {
        let unit = Double(Tiling.unitsPerDegree)
        let longitude = abs(coordinate.latitude) == 90 ? 0 : coordinate.longitude
        // Rounded: the product is not negative, and so small that the sum is exact.
        let east = Int((longitude + 180) * unit + 0.5)
        x = east == 360 * Tiling.unitsPerDegree ? 0 : east
        y = min(Int((coordinate.latitude + 90) * unit + 0.5), 180 * Tiling.unitsPerDegree - 1)
    }
}

/// A point within a cell, in 1e-7 degrees from its south-west corner; vertices come in steps of `unitsPerStep`.
struct LocalPoint {
    let x: Int
    let y: Int
    let unitsPerStep: Int
}
