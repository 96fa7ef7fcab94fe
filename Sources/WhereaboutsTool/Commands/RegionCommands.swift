import Geodesy
import JSON
import Log
import Replies
import Whereabouts

/// `region add|list|remove`.
enum RegionCommands {
    private static let id = Options.text("id", "R", help: "the region's name, unique for the person")
    private static let circle = Option<CircleText>(
        name: "circle", placeholder: "LAT,LON,METERS", help: "center in degrees and radius in meters",
        form: "LAT,LON,METERS with a radius above 0, for example 48.2082,16.3738,150",
        read: { CircleText($0) })

    private static let polygon = Options.text(
        "polygon", "FILE.geojson", help: "a GeoJSON polygon with one ring, alone or in a feature")
    private static let silentEntry = Option.flag("no-entries", help: "do not report entries")
    private static let silentExit = Option.flag("no-exits", help: "do not report exits")

    /// A circle as text.
    private struct CircleText {
        let center: Coordinate
        let radiusMeters: Double

        init?(_ text: String) {
            guard let comma = text.lastIndex(of: ","), let center = try? Options.coordinate(text[..<comma]),
                let radius = Double(text[text.index(after: comma)...]), radius > 0, radius.isFinite
            else { return nil }
            (self.center, radiusMeters) = (center, radius)
        }
    }

    static let all = [
        Command(
            words: ["region", "add"], summary: "Watch when a person enters and leaves a circle or a polygon.",
            requires: [Options.person, id], accepts: [circle, polygon, silentEntry, silentExit, Options.json], run: add),
        Command(
            words: ["region", "list"], summary: "List a person's regions (recorded as a read).",
            requires: [Options.person], accepts: [Options.purpose, Options.json], run: list),
        Command(
            words: ["region", "remove"], summary: "Remove a region and its crossings.",
            requires: [Options.person, id], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let name = invocation.required(id)
                let person = invocation.required(Options.person)
                try invocation.remove("the region \(name)", APIPath.peopleRegion.parts(person.text, name))
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let circle = invocation[Self.circle]
        guard (circle == nil) != (invocation[polygon] == nil) else {
            throw .usage("Give the region as either --circle LAT,LON,METERS or --polygon FILE.geojson.")
        }
        var outline: JSONValue?
        if let file = invocation[polygon] { outline = try geometry(in: file) }
        let name = invocation.required(id)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleRegions.parts(person.text)) { body in
                body.field("id", name)
                if let circle {
                    body.object("circle") { object in
                        object.field("latitude", circle.center.latitude)
                        object.field("longitude", circle.center.longitude)
                        object.field("radiusMeters", circle.radiusMeters)
                    }
                }
                if let outline {
                    body.key("polygon")
                    body.value(outline)
                }
                if invocation.has(silentEntry) { body.field("notifyOnEntry", false) }
                if invocation.has(silentExit) { body.field("notifyOnExit", false) }
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("Added the region \(name) of \(person.text).")
    }

    /// The geometry of a GeoJSON file: the file's, its feature's, or that of its only feature.
    private static func geometry(in file: String) throws(ToolError) -> JSONValue {
        guard let bytes = DataDirectory.read(file, atMost: 1 << 20) else {
            throw .data("The file \(file) cannot be read, or has more than 1 MiB.")
        }
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument.parse(bytes).root } catch {
            throw .data("The file \(file) is not JSON: \(error)")
        }
        var value = root
        if let features = value["features"]?.array.map(Array.init) {
            guard features.count == 1 else {
                throw .data("The file \(file) has \(features.count) features, but a region is one feature.")
            }
            value = features[0]
        }
        return value["geometry"] ?? value
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let regions = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleRegions.parts(person.text))
        }
        let table = Table("REGION", ">LATITUDE", ">LONGITUDE", ">RADIUS")
        let sentence = "\(person.text) has no regions."
        try invocation.show(regions, as: "regions", in: table, orElse: sentence) { (region: RegionItem) in
            let points = region.shape?.points ?? []
            let (latitude, longitude) = points.first.map { Text.coordinate(of: $0) } ?? ("", "")
            let size =
                region.area.circle.map { Text.meters($0.radiusMeters) } ?? "polygon of \(max(0, points.count - 1))"
            return [region.id, latitude, longitude, size]
        }
    }
}
