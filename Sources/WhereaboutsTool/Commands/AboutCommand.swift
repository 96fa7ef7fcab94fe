import Gazetteer
import JSON

/// The release, for `about`.
enum Version {
    static let text = "0.1.0"
}

/// `about`: the version, the attributions of the data, and the libraries.
enum AboutCommand {
    static let command = Command(
        words: ["about"], summary: "Show the version, the sources of the data and the libraries.",
        accepts: [Options.json],
        reach: .nothing, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let gazetteer = try? Geocoder().gazetteer
        let libraries = Library.all.compactMap { library in library.version.map { (library.name, $0) } }
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("version", Version.text)
            writer.field("gazetteerPlaces", gazetteer?.placeCount)
            writer.field("gazetteerAttribution", gazetteer?.attribution)
            writer.object("libraries") { object in for (name, version) in libraries { object.field(name, version) } }
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        let console = invocation.console
        console.line("Whereabouts \(Version.text), an auditable location history service.\n")
        if let gazetteer {
            for line in gazetteer.attribution.split(separator: "\n") {
                console.line(Text.wrapped(String(line), width: 100))
            }
            console.line("The gazetteer has \(Text.count(gazetteer.placeCount)) places.\n")
        } else {
            console.line("No gazetteer was found, so places have no names.\n")
        }
        console.line("Distances, bearings and reference systems are PROJ's (proj.org, MIT licence).")
        console.line("Built on " + libraries.map { "\($0.0) \($0.1)" }.joined(separator: ", ") + ".")
    }
}
