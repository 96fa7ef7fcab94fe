import Answers
import FileFormats
import Glibc
import JSON
import SQLite
import WebPage

/// Copies the tiles of a PMTiles or MBTiles file into a new `RasterTiles` file, which then takes the place of the one
/// before.
struct TileImport {
    let file: String
    let path: String
    /// Replaces the attribution of the file.
    let attribution: String?

    struct Report {
        let about: RasterTiles.About
        let tiles: Int
    }

    func run() throws(ToolError) -> Report {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw .data("\(file.printable) cannot be read: \(lastSystemError()).") }
        defer { close(source) }
        let staged = path + ".new"
        unlink(staged)
        defer { unlink(staged) }
        let writer = try TileWriter(path: staged)
        let isPMTiles = Self.read(source, 0, 7).map { $0.elementsEqual("PMTiles".utf8) } ?? false
        let found = try isPMTiles ? copyPMTiles(source, to: writer) : copyMBTiles(to: writer)
        let about = try writer.finish(attribution: attribution ?? Self.plain(found))
        guard rename(staged, path) == 0 else { throw .data("\(path) cannot be written: \(lastSystemError()).") }
        return Report(about: about, tiles: writer.count)
    }

    /// So many bytes of a file; `nil` if it is shorter.
    private static func read(_ descriptor: CInt, _ offset: UInt64, _ count: Int) -> [UInt8]? {
        guard let place = off_t(exactly: offset) else { return nil }
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, written in
            while got < count {
                let more = pread(descriptor, room.baseAddress.map { $0 + got }, count - got, place + off_t(got))
                if more <= 0 { break }
                got += more
            }
            written = got
        }
        return got == count ? bytes : nil
    }

    /// An attribution without the tags that both formats allow in it.
    private static func plain(_ text: String) -> String {
        var plain = ""
        var isTag = false
        for character in text {
            switch character {
            case "<": isTag = true
            case ">" where isTag: isTag = false
            default: if !isTag { plain.append(character) }
            }
        }
        return plain.replacing("&copy;", with: "©").replacing("&amp;", with: "&")
    }

    // MARK: PMTiles

    /// - Returns: The attribution.
    private func copyPMTiles(_ source: CInt, to writer: TileWriter) throws(ToolError) -> String {
        var failure: ToolError?
        var attribution = ""
        do throws(PMTilesArchive.Fault) {
            let archive = try PMTilesArchive { offset, count in Self.read(source, offset, count) }
            attribution = (try? JSONDocument.parse(archive.metadata))?.root["attribution"]?.string ?? ""
            try archive.forEachEntry { entry in
                do throws(ToolError) {
                    try copy(entry, of: archive, to: writer)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch { throw .data("\(file.printable): \(error)") }
        if let failure { throw failure }
        return attribution
    }

    private func copy(
        _ entry: PMTilesArchive.Entry, of archive: PMTilesArchive, to writer: TileWriter
    ) throws(ToolError) {
        let content: [UInt8]
        do throws(PMTilesArchive.Fault) { content = try archive.content(of: entry) } catch {
            throw .data("\(file.printable): \(error)")
        }
        for index in 0..<min(entry.run, UInt64(TileWriter.tilesMax)) {
            guard let square = PMTilesArchive.square(of: entry.id &+ index) else { continue }
            try writer.add(zoom: square.zoom, x: square.x, y: square.y, content)
        }
    }

    // MARK: MBTiles

    /// A SQLite database with the tables `tiles` and `metadata` (github.com/mapbox/mbtiles-spec, version 1.3). Its rows
    /// are counted from the south.
    ///
    /// - Returns: The attribution.
    private func copyMBTiles(to writer: TileWriter) throws(ToolError) -> String {
        var failure: ToolError?
        do throws(SQLiteError) {
            let connection = try Connection(path: file, access: .readOnly)
            let tiles = try connection.prepare("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles")
            while failure == nil, try tiles.step() {
                let zoom = tiles.int(at: 0)
                guard (0...Int64(TileWriter.zoomMax)).contains(zoom) else { continue }
                let north = (Int64(1) << zoom) - 1 - tiles.int(at: 2)
                do throws(ToolError) {
                    try writer.add(zoom: Int(zoom), x: Int(tiles.int(at: 1)), y: Int(north), tiles.bytes(at: 3))
                } catch { failure = error }
            }
            if failure == nil {
                let about = try connection.prepare("SELECT value FROM metadata WHERE name = 'attribution'")
                return try about.step() ? about.text(at: 0) : ""
            }
        } catch {
            throw .data("\(file.printable) is neither a PMTiles nor an MBTiles file with tiles: \(error)")
        }
        throw failure ?? .data("\(file.printable) cannot be read.")
    }
}
