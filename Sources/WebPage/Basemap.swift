import Cryptography
import JSON
import Log

/// The lines of the map beneath everything: coasts, borders, lakes and rivers, in cells by zoom. The file is made by
/// `scripts/gazetteer/build_basemap.py`, which specifies the same bytes, and is read once: it has about 3 MB. Numbers
/// are little-endian:
///
///     "WHBMAP1\n" (8) | bytes of the index u32 | cells u32 | index (JSON) |
///     for each cell, by band and cell: band u16, cell u16, offset in the file u32, bytes u32 | bodies (gzip each)
///
/// The member `hash` of the index names the whole set. For example, cell 7 of band 2 is at `/basemap/2/7?v=HASH`.
struct Basemap: Sendable {
    /// The index, as it is sent.
    let index: [UInt8]
    /// The name of this set of cells.
    let hash: String
    /// The entity tag of the index.
    let tag: String
    /// The whole file.
    private let bytes: [UInt8]
    /// The range of a cell's compressed lines in the file, by band (the high 16 bits) and cell.
    private let cells: [UInt32: Range<Int>]

    /// The first eight bytes of the file: its format and version.
    private static let magic = Array("WHBMAP1\n".utf8)
    /// The file has 3 MB.
    private static let bytesMax = 64 << 20

    /// `nil` if there is no such file, or it is not one of this format; the map then has no lines.
    init?(path: String) {
        guard let bytes = DataDirectory.read(path, atMost: Self.bytesMax) else { return nil }
        self.init(bytes)
    }

    /// Reads a file's bytes. No range leaves them, whatever they say.
    ///
    /// - Returns: `nil` for another magic, an index that is no JSON, or a range outside the file. A service with a
    ///   damaged file starts, and its map has no lines.
    ///
    /// Cost: one pass over the table of cells; the lines stay compressed.
    init?(_ bytes: [UInt8]) {
        func number(at place: Int, bytes count: Int) -> Int? {
            guard place >= 0, place + count <= bytes.count else { return nil }
            return bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.starts(with: Self.magic), let length = number(at: 8, bytes: 4),
            let count = number(at: 12, bytes: 4),
            16 + length + 12 * count <= bytes.count,
            let root = (try? JSONDocument.parse(Array(bytes[16..<16 + length])))?.root
        else { return nil }
        index = Array(bytes[16..<16 + length])
        tag = "\"\(Hex.encode(SHA256().hash(index).bytes.prefix(16)))\""
        hash = root["hash"]?.string ?? ""
        var cells: [UInt32: Range<Int>] = [:]
        for cell in 0..<count {
            let place = 16 + length + 12 * cell
            guard let band = number(at: place, bytes: 2), let name = number(at: place + 2, bytes: 2),
                let offset = number(at: place + 4, bytes: 4), let size = number(at: place + 8, bytes: 4),
                offset + size <= bytes.count
            else { return nil }
            cells[UInt32(band) << 16 | UInt32(name)] = offset..<offset + size
        }
        (self.bytes, self.cells) = (bytes, cells)
    }

    /// The compressed lines of a cell; `nil` if there are none.
    func cell(_ band: UInt16, _ cell: UInt16) -> [UInt8]? {
        cells[UInt32(band) << 16 | UInt32(cell)].map { Array(bytes[$0]) }
    }

    /// The headers of an answer, the content's type first.
    ///
    /// - Parameter isImmutable: Whether the address has the hash of this set, so that a browser may keep the answer
    ///   for a year.
    func headers(isImmutable: Bool) -> [(name: String, value: String)] {
        [
            ("Content-Type", "application/octet-stream"), ("ETag", tag),
            ("Cache-Control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache"),
            ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
    }
}
