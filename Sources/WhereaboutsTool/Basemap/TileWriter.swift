import Cryptography
import Glibc
import SQLite
import WebPage

/// A new `RasterTiles` file.
final class TileWriter {
    /// The most tiles: a country at zoom 16 has about a million.
    static let tilesMax = 20_000_000
    /// The deepest zoom. A tile of 22 has 10 meters.
    static let zoomMax = 22
    /// The most bytes of one tile.
    private static let tileBytesMax = 4 << 20
    private static let tilesInTransaction = 5_000

    private let connection: Connection
    private(set) var count = 0
    private var zooms: ClosedRange<Int>?
    /// Columns and rows of the deepest zoom.
    private var columns = 0...0
    private var rows = 0...0

    init(path: String) throws(ToolError) {
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .readWrite)
            // The file takes its place only when it is complete, so that no crash matters before.
            try connection.execute("PRAGMA synchronous = OFF")
            try connection.execute(RasterTiles.makeTables)
            try connection.begin()
        } catch { throw .data("\(path) cannot be written: \(error)") }
    }

    /// Adds a tile, rows counted from the north. One of the same square replaces it.
    func add(zoom: Int, x: Int, y: Int, _ content: [UInt8]) throws(ToolError) {
        guard (0...Self.zoomMax).contains(zoom), (0..<1 << zoom).contains(x), (0..<1 << zoom).contains(y) else {
            return
        }
        guard RasterTiles.mediaType(of: content) != nil else {
            throw .data(
                "The tile of zoom \(zoom), column \(x), row \(y) is no PNG, JPEG or WebP picture; convert the file to pictures."
            )
        }
        guard content.count <= Self.tileBytesMax, count < Self.tilesMax else {
            throw .data("The file has more or larger tiles than fit; cut it to a region or to fewer zooms.")
        }
        do throws(SQLiteError) {
            try connection.cached("INSERT OR REPLACE INTO tile VALUES (?, ?, ?, ?)") { (row) throws(SQLiteError) in
                for (index, number) in [zoom, x, y].enumerated() { try row.bind(number, at: Int32(index + 1)) }
                try row.bind(content, at: 4)
                try row.run()
            }
            count += 1
            if count % Self.tilesInTransaction == 0 {
                try connection.commit()
                try connection.begin()
            }
        } catch { throw .data("The tiles cannot be written: \(error)") }
        note(zoom, x, y)
    }

    private func note(_ zoom: Int, _ x: Int, _ y: Int) {
        guard let known = zooms, zoom <= known.upperBound else {
            zooms = min(zooms?.lowerBound ?? zoom, zoom)...zoom
            (columns, rows) = (x...x, y...y)
            return
        }
        zooms = min(known.lowerBound, zoom)...known.upperBound
        guard zoom == known.upperBound else { return }
        columns = min(columns.lowerBound, x)...max(columns.upperBound, x)
        rows = min(rows.lowerBound, y)...max(rows.upperBound, y)
    }

    /// Completes the file.
    func finish(attribution: String) throws(ToolError) -> RasterTiles.About {
        guard let zooms else { throw .data("The file has no tiles.") }
        let across = Double(1 << zooms.upperBound)
        func longitude(_ column: Int) -> Double { Double(column) / across * 360 - 180 }
        func latitude(_ row: Int) -> Double { atan(sinh(.pi * (1 - 2 * Double(row) / across))) * 180 / .pi }
        let about = RasterTiles.About(
            minZoom: zooms.lowerBound, maxZoom: zooms.upperBound,
            bounds: [
                longitude(columns.lowerBound), latitude(rows.upperBound + 1), longitude(columns.upperBound + 1),
                latitude(rows.lowerBound),
            ], attribution: attribution, hash: Hex.encode(randomBytes(8)))
        do throws(SQLiteError) {
            try connection.cached("INSERT INTO about VALUES (?)") { (row) throws(SQLiteError) in
                try row.bind(about.json, at: 1)
                try row.run()
            }
            try connection.commit()
        } catch { throw .data("The tiles cannot be written: \(error)") }
        return about
    }
}
