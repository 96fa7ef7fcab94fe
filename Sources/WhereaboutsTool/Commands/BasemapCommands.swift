import Answers
import Glibc
import WebPage

/// `basemap import|remove`: the operator's own map of pictures beneath the page's lines.
enum BasemapCommands {
    static let all = [importCommand, removeCommand]

    private static let attribution = Options.text(
        "attribution", "TEXT", help: "whose map it is, as its licence requires (default: what the file says)")

    private static let importCommand = Command(
        words: ["basemap", "import"], summary: "Show the page's maps on your own map.",
        operands: .one("FILE"), accepts: [attribution, Options.json],
        details: """
            Reads PNG, JPEG or WebP tiles from a file .pmtiles (version 3) or .mbtiles and copies them into the data directory;
            the file itself is needed no longer. A running service uses them at once, and browsers get them from the service
            only. Files of vector tiles are refused. The map replaces an imported one; the page shows its own lines around it
            and at smaller zooms.
            """, reach: .files, run: runImport)

    private static let removeCommand = Command(
        words: ["basemap", "remove"], summary: "Show the page's own map again.", reach: .files, run: runRemove)

    private static func runImport(_ invocation: Invocation) throws(ToolError) {
        let path = RasterTiles.path(in: try House.path(of: invocation))
        let report = try TileImport(
            file: invocation.operands[0], path: path, attribution: invocation[attribution]
        ).run()
        guard !invocation.has(Options.json) else {
            return invocation.console.result(report.about.json + [UInt8(ascii: "\n")])
        }
        let about = report.about
        invocation.console.line(
            "\(Text.count(report.tiles)) tiles of zoom \(about.minZoom) to \(about.maxZoom), "
                + (about.attribution.isEmpty ? "without an attribution." : "by \(about.attribution.printable)."))
    }

    private static func runRemove(_ invocation: Invocation) throws(ToolError) {
        let path = RasterTiles.path(in: try House.path(of: invocation))
        guard unlink(path) == 0 else {
            throw .data(
                errno == ENOENT ? "No map was imported." : "\(path) cannot be removed: \(lastSystemError()).")
        }
        invocation.console.line("The map is removed.")
    }
}
