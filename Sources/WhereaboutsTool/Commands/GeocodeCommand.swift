import Answers
import Gazetteer
import Geodesy
import Glibc
import JSON
import Replies
import Service

/// `geocode reverse` and `geocode forward`: names for coordinates and coordinates for names, offline, without a service.
enum GeocodeCommand {
    private static let batch = Option.flag("batch", help: "read lines of LAT,LON from standard input")
    private static let names = Option.flag("batch", help: "read names from standard input, one per line")
    private static let accuracy = Options.number(
        "accuracy", "METERS", in: 0...100_000,
        help: "the radius of the fix: also name other countries and zones in it, and streets only if certain")
    private static let worldview = Option(
        name: "worldview", placeholder: "CC", help: "contested borders as this country sees them, for example IN",
        form: "a country's two letters in ISO 3166-1"
    ) { CountryCode($0) }
    /// A longer line is neither a pair of numbers nor a name.
    private static let lineBytesMax = 4096

    static let all = [reverse, forward]

    private static let forward = Command(
        words: ["geocode", "forward"], summary: "Find a place by its name; prints JSON lines.",
        operands: .optional("TEXT"), accepts: [names, Options.languages],
        details: """
            A country or region may come before or after the name: "Springfield, IL", "Lyon, Frankreich". Addresses such as
            "10 Rue de Rivoli, Paris" and postal codes are found if "gazetteer import" added them.

            The keys are those of CLPlacemark; latitude, longitude and geonameId are those of the place. match is exact,
            prefix, misspelled, nameOnly (the words after the comma are not known) or partial (the street is known, the
            house is not).

            A name that is not found gives {"error": …}, and the exit code is 3.
            """, reach: .nothing, run: runForward)

    private static func runForward(_ invocation: Invocation) throws(ToolError) {
        guard invocation.has(names) != (invocation.operands.count == 1) else {
            throw .usage("\"geocode forward\" takes either the name of a place, or --batch with one name per line.")
        }
        let geocoder = try Geocoder(languages: invocation[Options.languages])
        let nothing = "No place of this name is known."
        guard invocation.has(names) else {
            guard let line = geocoder.line(forName: invocation.operands[0]) else { throw .data(nothing) }
            return invocation.console.result(line)
        }
        var missing = 0
        while let line = readLine() {
            let found = line.utf8.count <= lineBytesMax ? geocoder.line(forName: line) : nil
            if found == nil { missing += 1 }
            invocation.console.result(found ?? Geocoder.line(error: nothing))
        }
        guard missing == 0 else {
            throw .data(missing == 1 ? "One name was not found." : "\(Text.count(missing)) names were not found.")
        }
    }

    private static let reverse = Command(
        words: ["geocode", "reverse"], summary: "Name the place at a coordinate; prints JSON lines.",
        operands: .optional("LAT,LON"), accepts: [batch, accuracy, Options.languages, worldview],
        details: """
            The keys are those of CLPlacemark. latitude, longitude, distance (in meters) and geonameId are those of the
            nearest populated place, even if name is an address. claimants are the countries that claim contested land.
            Streets, house numbers and postal codes are known if "gazetteer import" added them.

            With --batch, a bad line gives {"error": …}, and the exit code is 3.
            """, reach: .nothing, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        guard invocation.has(batch) != (invocation.operands.count == 1) else {
            throw .usage("\"geocode reverse\" takes either LAT,LON, or --batch with one LAT,LON per line.")
        }
        let geocoder = try Geocoder(
            languages: invocation[Options.languages], worldview: invocation[worldview],
            accuracyMeters: invocation[accuracy])
        guard invocation.has(batch) else {
            do throws(CoordinateError) {
                let coordinate = try Options.coordinate(invocation.operands[0][...])
                return invocation.console.result(geocoder.line(for: coordinate))
            } catch { throw .usage("\(error)") }
        }
        var bad = 0
        var lineNumber = 0
        while let line = readLine() {
            lineNumber += 1
            if lineNumber == 1 && isHeader(line) { continue }
            do throws(CoordinateError) {
                guard line.utf8.count <= lineBytesMax else { throw .notFinite }
                let coordinate = try Options.coordinate(line[...])
                invocation.console.result(geocoder.line(for: coordinate))
            } catch {
                bad += 1
                invocation.console.result(Geocoder.line(error: error.description))
            }
        }
        guard bad == 0 else {
            throw .data(
                bad == 1 ? "One line was not a coordinate." : "\(Text.count(bad)) lines were not coordinates.")
        }
    }

    /// `lat,lon` or `latitude,longitude`: column names, not a place.
    private static func isHeader(_ line: String) -> Bool { line.lowercased().hasPrefix("lat") }
}

/// The gazetteer and the objects needed to use it.
struct Geocoder {
    let gazetteer: Gazetteer
    private let transform = GeocentricTransform()
    private let languages: [Language]
    private let accuracyMeters: Double?

    static let missing = "There is no places.gazetteer beside the program; set WHEREABOUTS_GAZETTEER to its path."

    /// - Parameters:
    ///   - languages: The languages for names, as BCP 47 tags, the best first.
    ///   - worldview: The country whose view of contested borders is shown.
    ///   - accuracyMeters: Countries and time zones within this distance are named too; a street is named only if it is
    ///     nearer by more than this.
    init(
        languages: [String]? = nil, worldview: CountryCode? = nil, accuracyMeters: Int64? = nil
    ) throws(ToolError) {
        self.accuracyMeters = accuracyMeters.map(Double.init)
        guard let path = GazetteerLocation.find() else {
            throw .data(Self.missing)
        }
        do throws(GazetteerError) {
            gazetteer = try Gazetteer(path: path, worldview: worldview)
        } catch { throw .data("\(error)") }
        self.languages = gazetteer.languages(languages ?? [])
    }

    func nearest(to coordinate: Coordinate) -> Place? { gazetteer.nearest(to: coordinate, using: transform) }

    /// The placemark of a coordinate, in the first of the languages that has names.
    ///
    /// - Parameter accuracyMeters: As for the geocoder.
    func placemark(at coordinate: Coordinate, accuracyMeters: Double? = nil) -> Placemark {
        gazetteer.placemark(at: coordinate, accuracyMeters: accuracyMeters, using: transform).speaking(languages)
    }

    /// One placemark as a JSON line.
    func line(for coordinate: Coordinate) -> [UInt8] {
        Self.line { $0.value(PlacemarkItem(placemark(at: coordinate, accuracyMeters: accuracyMeters))) }
    }

    /// The likeliest place or address of a name as a JSON line; `nil` if there is none.
    func line(forName name: String) -> [UInt8]? {
        guard let found = gazetteer.found(named: name, limit: 1, using: transform).first else { return nil }
        return Self.line { writer in
            writer.value(PlacemarkItem(found, of: gazetteer, in: languages, using: transform))
        }
    }

    static func line(error: String) -> [UInt8] {
        line { writer in
            writer.beginObject()
            writer.field("error", error)
            writer.endObject()
        }
    }

    private static func line(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        write(&writer)
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
