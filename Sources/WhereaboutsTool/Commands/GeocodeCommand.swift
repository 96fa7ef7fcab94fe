import Gazetteer
import Geodesy
import Glibc
import JSON
import Service

/// `geocode reverse`: names for coordinates, offline, without a service.
enum GeocodeCommand {
    private static let batch = Option.flag("batch", help: "read lines of LAT,LON from standard input")
    /// A longer line is no pair of numbers.
    private static let lineBytesMax = 4096

    static let command = Command(
        words: ["geocode", "reverse"], summary: "Say where a coordinate is, a JSON line a coordinate.",
        operands: .optional("LAT,LON"), accepts: [batch],
        details: """
            Keys are those of CLPlacemark, as far as the gazetteer knows; latitude, longitude, distance (in meters) and
            geonameId are those of the nearest populated place.
            With --batch a bad line gives {"error": …} in its place, and the exit code is 3 at the end.
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        guard invocation.has(batch) != (invocation.operands.count == 1) else {
            throw .usage("\"geocode reverse\" takes either LAT,LON or --batch with lines of LAT,LON.")
        }
        let geocoder = try Geocoder()
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
                invocation.console.result(geocoder.line(for: try Options.coordinate(line[...])))
            } catch {
                bad += 1
                var writer = JSONWriter()
                writer.beginObject()
                writer.field("error", error.description)
                writer.endObject()
                invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
            }
        }
        guard bad == 0 else {
            throw .data(bad == 1 ? "One line was no coordinate." : "\(Text.count(bad)) lines were no coordinates.")
        }
    }

    /// `lat,lon`, `latitude,longitude`: the names of the columns, not a place.
    private static func isHeader(_ line: String) -> Bool { line.lowercased().hasPrefix("lat") }
}

/// The gazetteer with what asking it needs.
struct Geocoder {
    let gazetteer: Gazetteer
    private let transform: GeocentricTransform

    init() throws(ToolError) {
        guard let path = GazetteerLocation.find() else {
            throw .data("There is no places.gazetteer beside the program; set WHEREABOUTS_GAZETTEER to its path.")
        }
        do throws(GazetteerError) { gazetteer = try Gazetteer(path: path) } catch { throw .data("\(error)") }
        do throws(GeodesyError) { transform = try GeocentricTransform() } catch { throw .data("\(error)") }
    }

    func nearest(to coordinate: Coordinate) -> Place? { gazetteer.nearest(to: coordinate, using: transform) }

    /// One placemark as a line. What the gazetteer does not know is absent; `latitude`, `longitude`, `distance` and
    /// `geonameId` are those of the nearest populated place.
    func line(for coordinate: Coordinate) -> [UInt8] {
        let placemark = gazetteer.placemark(at: coordinate, using: transform)
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("name", placemark.name)
        writer.field("subLocality", placemark.subLocality)
        writer.field("locality", placemark.locality)
        writer.field("subAdministrativeArea", placemark.subAdministrativeArea)
        writer.field("administrativeArea", placemark.administrativeArea)
        writer.field("administrativeAreaCode", placemark.administrativeAreaCode)
        writer.field("isoCountryCode", placemark.isoCountryCode?.description)
        writer.field("country", placemark.country)
        writer.field("inlandWater", placemark.inlandWater)
        writer.field("ocean", placemark.ocean)
        if !placemark.areasOfInterest.isEmpty {
            writer.array("areasOfInterest") { writer in for area in placemark.areasOfInterest { writer.value(area) } }
        }
        writer.field("timeZone", placemark.timeZone)
        if let place = placemark.nearestPlace {
            writer.field("latitude", place.coordinate.latitude)
            writer.field("longitude", place.coordinate.longitude)
            // A millimeter is less than anything the source knows.
            writer.field("distance", (place.distanceMeters * 1000).rounded() / 1000)
            writer.field("geonameId", place.geonameID)
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
