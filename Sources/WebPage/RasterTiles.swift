import Glibc
import JSON
import SQLite

/// The operator's own map of pictures, beneath the page's lines: `whereabouts basemap import` makes its file, and the
/// service reads it from then on, without a restart. The tiles are those of Web Mercator, rows counted from the north.
///
/// The file is a SQLite database with the tables `tile` and `about` (``makeTables``). It is never changed: an import
/// makes another one in its place.
///
/// The pictures are sent as they are: a raster of PNG, JPEG or WebP. Nothing is drawn or scaled here.
package enum RasterTiles {
    /// The facts about the tiles that the page needs.
    package struct About: Equatable, Sendable {
        /// The zooms that have tiles.
        package var minZoom: Int
        /// The greatest zoom; the page enlarges its tiles for greater ones.
        package var maxZoom: Int
        /// West, south, east and north in degrees.
        package var bounds: [Double]
        /// Whose map it is, as its licence wants it shown: plain text.
        package var attribution: String
        /// A name of this set, which the addresses of its tiles carry.
        package var hash: String

        package init(minZoom: Int, maxZoom: Int, bounds: [Double], attribution: String, hash: String) {
            (self.minZoom, self.maxZoom, self.bounds) = (minZoom, maxZoom, bounds)
            (self.attribution, self.hash) = (attribution, hash)
        }

        /// The members, as JSON.
        package var json: [UInt8] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("minZoom", Int64(minZoom))
            writer.field("maxZoom", Int64(maxZoom))
            writer.array("bounds") { array in for degree in bounds { array.value(degree) } }
            writer.field("attribution", attribution)
            writer.field("hash", hash)
            writer.endObject()
            return writer.bytes
        }

        /// Reads what ``json`` writes; `nil` for anything else.
        package init?(json: [UInt8]) {
            guard let root = (try? JSONDocument.parse(json))?.root, let minZoom = root["minZoom"]?.int,
                let maxZoom = root["maxZoom"]?.int, let attribution = root["attribution"]?.string,
                let hash = root["hash"]?.string,
                let bounds = root["bounds"]?.array.map({ $0.compactMap(\.double) }), bounds.count == 4
            else { return nil }
            self.init(
                minZoom: Int(minZoom), maxZoom: Int(maxZoom), bounds: bounds, attribution: attribution, hash: hash)
        }
    }

    /// The file in a data directory.
    package static func path(in directory: String) -> String { directory + "/basemap.sqlite" }

    /// The tables of a new file.
    ///
    /// `zoom` is from 0 to 22; `x` counts columns from west, `y` rows from north, both from 0. `content` is one
    /// picture. `about` has one row.
    package static let makeTables: StaticString = """
        CREATE TABLE tile (
            zoom INTEGER NOT NULL,
            x INTEGER NOT NULL,
            y INTEGER NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (zoom, x, y)
        ) STRICT;
        CREATE TABLE about (json BLOB NOT NULL) STRICT;
        """

    /// The facts about the tiles of a file; `nil` if there is none, or it cannot be read.
    package static func about(in path: String) -> About? {
        guard access(path, R_OK) == 0 else { return nil }
        do throws(SQLiteError) {
            let connection = try Connection(path: path, access: .immutable)
            let statement = try connection.prepare("SELECT json FROM about")
            return try statement.step() ? About(json: statement.bytes(at: 0)) : nil
        } catch { return nil }
    }

    /// The picture of a square; `nil` if there is none.
    ///
    /// Cost: opens the file for each call, so that a new import is seen at once.
    static func tile(zoom: Int64, x: Int64, y: Int64, in path: String) -> [UInt8]? {
        guard access(path, R_OK) == 0 else { return nil }
        do throws(SQLiteError) {
            let connection = try Connection(path: path, access: .immutable)
            let statement = try connection.prepare(findTile)
            for (index, number) in [zoom, x, y].enumerated() { try statement.bind(number, at: Int32(index + 1)) }
            return try statement.step() ? statement.bytes(at: 0) : nil
        } catch { return nil }
    }

    /// By the primary key.
    static let findTile: StaticString = """
        SELECT content
        FROM tile
        WHERE zoom = ? AND x = ? AND y = ?
        """

    /// The media type of a picture by its first bytes; `nil` if it is none that browsers show.
    package static func mediaType(of picture: [UInt8]) -> String? {
        if picture.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if picture.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        let isWebP = picture.starts(with: "RIFF".utf8) && picture.dropFirst(8).starts(with: "WEBP".utf8)
        return isWebP ? "image/webp" : nil
    }

    /// A transparent picture of one pixel (PNG), for squares without a tile: browsers report a 404 as an error of the
    /// page.
    package static let nothing: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1F, 0x15, 0xC4, 0x89, 0x00, 0x00, 0x00,
        0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x00, 0x01, 0x00, 0x00, 0x05, 0x00, 0x01, 0x0D, 0x0A, 0x2D,
        0xB4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}
