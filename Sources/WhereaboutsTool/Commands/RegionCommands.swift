import Geodesy
import JSON
import Whereabouts

/// `region add|list|remove`.
enum RegionCommands {
    private static let id = Options.text("id", "R", help: "the region's name, unique among the person's")
    private static let circle = Option<CircleText>(
        name: "circle", placeholder: "LAT,LON,METERS", help: "center in degrees and radius in meters",
        form: "LAT,LON,METERS with a latitude, a longitude and a radius above 0, as 48.2082,16.3738,150",
        read: { CircleText($0) })

    /// A circle as typed.
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
            words: ["region", "add"], summary: "Watch a person's entries to and exits from a circle.",
            requires: [Options.person, id, circle], accepts: [Options.json], run: add),
        Command(
            words: ["region", "list"], summary: "List a person's regions (recorded as a read).",
            requires: [Options.person], accepts: [Options.purpose, Options.json], run: list),
        Command(
            words: ["region", "remove"], summary: "Remove a region, and its crossings with it.",
            requires: [Options.person, id], accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let name = invocation.required(id)
                let person = invocation.required(Options.person)
                try invocation.remove("the region \(name)", "v1", "people", person.text, "regions", name)
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let circle = invocation.required(Self.circle)
        let name = invocation.required(id)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post("v1", "people", person.text, "regions") { body in
                body.field("id", name)
                body.object("circle") { object in
                    object.field("latitude", circle.center.latitude)
                    object.field("longitude", circle.center.longitude)
                    object.field("radiusMeters", circle.radiusMeters)
                }
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("Added the region \(name) of \(person.text).")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let regions = try House.withClient(invocation) { client throws(ToolError) in
            var client = client
            client.purpose = invocation[Options.purpose]
            return try client.items("v1", "people", person.text, "regions")
        }
        var table = Table("REGION", ">LATITUDE", ">LONGITUDE", ">RADIUS")
        for region in regions {
            let circle = region["circle"]
            table.add(
                region.text("id"), Text.degrees(circle?["latitude"]?.double),
                Text.degrees(circle?["longitude"]?.double),
                Text.meters(circle?["radiusMeters"]?.double))
        }
        invocation.show(regions, as: "regions", table, orElse: "\(person.text) has no regions.")
    }
}
