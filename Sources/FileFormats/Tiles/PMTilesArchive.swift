import GZIP

// A file of map tiles (PMTiles, version 3, protomaps/PMTiles spec/v3/spec.md). Numbers are little-endian:
//
//     "PMTiles" version(1) rootOffset(8) rootLength(8) metadataOffset(8) metadataLength(8) leavesOffset(8)
//     leavesLength(8) dataOffset(8) dataLength(8) addressed(8) entries(8) contents(8) clustered(1)
//     internalCompression(1) tileCompression(1) tileType(1) minZoom(1) maxZoom(1) west(4) south(4) east(4) north(4)
//     centerZoom(1) centerLongitude(4) centerLatitude(4)                          127 bytes, degrees in 1e-7
//
// A directory is n, then the n differences of tile ids, the n run lengths, the n lengths and the n offsets, all as
// varints, compressed as `internalCompression` says (1 none, 2 gzip). An offset is stored plus 1; 0 continues where the
// entry before ends. An entry with run length 0 points to a leaf directory. Tile ids number the squares along
// a Hilbert curve, zoom after zoom: 0 is the world, 1 to 4 are its quarters.

/// The tiles of a PMTiles file, read in pieces.
package struct PMTilesArchive {
    /// The kind of the tiles, as the header numbers it.
    private enum TileType: UInt8 {
        case vector = 1
    }

    /// A tile, or a run of equal ones.
    package struct Entry: Equatable, Sendable {
        /// The first tile's number on the curve.
        package let id: UInt64
        /// How many tiles in a row have this content.
        package let run: UInt64
        /// The place of the content in the file.
        package let offset: UInt64
        /// The bytes of the content.
        package let length: UInt64
    }

    /// Why a file cannot be read.
    package enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case notPMTiles
        case otherVersion(UInt8)
        case compressedOtherwise
        case vectorTiles
        case damaged
        case tooLarge

        /// One sentence that says what to do.
        package var description: String {
            switch self {
            case .notPMTiles: "The file is no PMTiles file."
            case .otherVersion(let version): "The file is PMTiles version \(version); convert it to version 3."
            case .compressedOtherwise:
                "The file's directories are compressed by another method than gzip; write it again with gzip."
            case .vectorTiles: "The file has vector tiles; convert it to pictures (PNG, JPEG or WebP)."
            case .damaged: "The PMTiles file is damaged or cut off."
            case .tooLarge: "The PMTiles file has more tiles than fit; cut it to a region or to fewer zooms."
            }
        }
    }

    /// The metadata, JSON.
    package let metadata: [UInt8]
    private let isCompressed: Bool
    private let root: (offset: UInt64, length: UInt64)
    private let leaves: (offset: UInt64, length: UInt64)
    private let data: (offset: UInt64, length: UInt64)
    private let read: (UInt64, Int) -> [UInt8]?

    private static let headerBytes = 127
    /// The zooms of the format; 31 would not fit into 64 bits.
    package static let zoomMax = 26
    /// The most bytes of a directory after expansion; the format suggests 16 kB, writers make some hundred.
    private static let directoryBytesMax = 64 << 20
    /// The most entries of all directories.
    private static let entriesMax = 20_000_000
    /// Leaves of leaves: one step is usual.
    private static let depthMax = 4

    /// Reads the head.
    ///
    /// - Parameter read: Gives so many bytes from a place in the file, or `nil` if the file is shorter.
    package init(read: @escaping (_ offset: UInt64, _ count: Int) -> [UInt8]?) throws(Fault) {
        guard let head = read(0, Self.headerBytes), head.starts(with: "PMTiles".utf8) else { throw .notPMTiles }
        guard head[7] == 3 else { throw .otherVersion(head[7]) }
        func number(_ place: Int) -> UInt64 {
            head[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard head[97] == 1 || head[97] == 2 else { throw .compressedOtherwise }
        isCompressed = head[97] == 2
        // Images are compressed already; a writer that compresses them again is not known.
        guard TileType(rawValue: head[99]) != .vector else { throw .vectorTiles }
        guard head[98] <= 1 else { throw .compressedOtherwise }
        root = (number(8), number(16))
        leaves = (number(40), number(48))
        data = (number(56), number(64))
        self.read = read
        let length = number(32)
        guard length <= 1 << 20, let bytes = read(number(24), Int(length)) else { throw .damaged }
        metadata = try Self.expanded(bytes, isCompressed)
    }

    /// Calls `body` with each entry, in the order of the curve, until it gives `false`.
    package func forEachEntry(_ body: (Entry) -> Bool) throws(Fault) {
        var count = 0
        _ = try visit(root.offset, root.length, depth: 0, &count, body)
    }

    private func visit(
        _ offset: UInt64, _ length: UInt64, depth: Int, _ count: inout Int, _ body: (Entry) -> Bool
    ) throws(Fault) -> Bool {
        let entries = try directory(offset, length)
        count += entries.count
        guard count <= Self.entriesMax else { throw .tooLarge }
        for entry in entries {
            let section = entry.run == 0 ? leaves : data
            let (end, isOver) = entry.offset.addingReportingOverflow(entry.length)
            let (place, isFar) = entry.offset.addingReportingOverflow(section.offset)
            guard !isOver, !isFar, end <= section.length else { throw .damaged }
            if entry.run == 0 {
                guard depth < Self.depthMax else { throw .damaged }
                guard try visit(place, entry.length, depth: depth + 1, &count, body) else { return false }
            } else if !body(Entry(id: entry.id, run: entry.run, offset: place, length: entry.length)) {
                return false
            }
        }
        return true
    }

    /// The content of an entry.
    package func content(of entry: Entry) throws(Fault) -> [UInt8] {
        guard entry.length <= UInt64(Self.directoryBytesMax), let bytes = read(entry.offset, Int(entry.length))
        else { throw .damaged }
        return bytes
    }

    // MARK: Directories

    private func directory(_ offset: UInt64, _ length: UInt64) throws(Fault) -> [Entry] {
        guard length <= UInt64(Self.directoryBytesMax), let stored = read(offset, Int(length)) else {
            throw .damaged
        }
        let bytes = try Self.expanded(stored, isCompressed)
        var place = 0
        func varint() throws(Fault) -> UInt64 {
            var value: UInt64 = 0
            for shift in stride(from: 0, to: 64, by: 7) {
                guard place < bytes.count else { throw .damaged }
                let byte = bytes[place]
                place += 1
                guard shift < 63 || byte < 2 else { throw .damaged }
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
            }
            throw .damaged
        }
        let count = try varint()
        // Each entry takes four bytes at least.
        guard count <= UInt64(bytes.count / 4) else { throw .damaged }
        var ids: [UInt64] = []
        var last: UInt64 = 0
        for _ in 0..<count {
            let (id, isOver) = last.addingReportingOverflow(try varint())
            guard !isOver else { throw .damaged }
            ids.append(id)
            last = id
        }
        var columns: [[UInt64]] = []
        for _ in 0..<3 {
            var column: [UInt64] = []
            for _ in 0..<count { column.append(try varint()) }
            columns.append(column)
        }
        var entries: [Entry] = []
        entries.reserveCapacity(ids.count)
        for (index, id) in ids.enumerated() {
            let (run, length, stored) = (columns[0][index], columns[1][index], columns[2][index])
            let (next, isOver) = (entries.last?.offset ?? 0).addingReportingOverflow(entries.last?.length ?? 0)
            guard !isOver, stored > 0 || index > 0 else { throw .damaged }
            entries.append(Entry(id: id, run: run, offset: stored == 0 ? next : stored - 1, length: length))
        }
        return entries
    }

    private static func expanded(_ bytes: [UInt8], _ isCompressed: Bool) throws(Fault) -> [UInt8] {
        guard isCompressed else { return bytes }
        var inflater = Inflater(.gzip)
        var rest = bytes[...]
        var all: [UInt8] = []
        while !inflater.isAtEnd {
            do throws(Inflater.Fault) {
                let (output, used) = try inflater.expand(rest, capacity: 256 * 1024)
                guard used > 0 || !output.isEmpty else { throw Inflater.Fault.damaged }
                rest = rest.dropFirst(used)
                all += output
            } catch { throw .damaged }
            guard all.count <= directoryBytesMax else { throw .tooLarge }
        }
        return all
    }

    // MARK: The curve

    /// The square of a number on the curve: zoom, column from the west and row from the north; `nil` beyond
    /// ``zoomMax``.
    package static func square(of id: UInt64) -> (zoom: Int, x: Int, y: Int)? {
        var first: UInt64 = 0
        for zoom in 0...zoomMax {
            let count = UInt64(1) << (2 * UInt64(zoom))
            guard id - first >= count else {
                // Hilbert's curve from a number to a place, a quarter at a time from the smallest.
                var (rest, x, y) = (id - first, UInt64(0), UInt64(0))
                for level in 0..<UInt64(zoom) {
                    let size = UInt64(1) << level
                    let across = 1 & (rest / 2)
                    let along = 1 & (rest ^ across)
                    if along == 0 {
                        if across == 1 { (x, y) = (size - 1 - x, size - 1 - y) }
                        (x, y) = (y, x)
                    }
                    x += size * across
                    y += size * along
                    rest /= 4
                }
                return (zoom, Int(x), Int(y))
            }
            first += count
        }
        return nil
    }
}
