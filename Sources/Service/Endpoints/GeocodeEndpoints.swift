import Gazetteer
import Geodesy
import HTTPServer
import JSON
import Whereabouts

/// Names for coordinates and coordinates for names, offline.
///
/// A question about a free coordinate or name is about nobody, so nothing is recorded and any valid token will do; it
/// does not reach diagnostics either.
enum GeocodeEndpoints {
    static let coordinatesMax = 1000
    /// A name with typing errors takes milliseconds, where a coordinate takes microseconds.
    static let textsMax = 50
    static let placesMax: Int64 = 50

    static func reverse(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try geocoder(context)
        guard let latitude = exchange.request.parameter("latitude").flatMap(Double.init),
            let longitude = exchange.request.parameter("longitude").flatMap(Double.init)
        else { throw .invalid("\"latitude\" and \"longitude\" must be numbers of degrees.") }
        let coordinate = try coordinate(latitude, longitude)
        let accuracy = try exchange.request.parameter("horizontalAccuracy").map { (text) throws(Problem) in
            guard let meters = Double(text), meters.isFinite, meters >= 0 else {
                throw .invalid("\"horizontalAccuracy\" must be a number of meters, 0 or more.")
            }
            return meters
        }
        let languages = exchange.languages(context)
        return answer { writer in
            let placemark = gazetteer.placemark(at: coordinate, accuracyMeters: accuracy, using: transform)
            PlacemarkJSON.write(placemark.speaking(languages), into: &writer)
        }
    }

    static func reverseBatch(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try geocoder(context)
        guard let pairs = try exchange.object("coordinates")["coordinates"]?.array.map(Array.init),
            pairs.count <= coordinatesMax
        else {
            throw .invalid("\"coordinates\" must be an array of at most \(coordinatesMax) pairs [latitude, longitude].")
        }
        var coordinates: [Coordinate] = []
        for pair in pairs {
            guard let numbers = pair.array.map(Array.init), numbers.count == 2, let latitude = numbers[0].double,
                let longitude = numbers[1].double
            else { throw .invalid("Each of \"coordinates\" must be a pair [latitude, longitude].") }
            coordinates.append(try coordinate(latitude, longitude))
        }
        let placemarks = gazetteer.placemarks(at: coordinates, using: transform)
        let languages = exchange.languages(context)
        return answer { writer in
            writer.beginObject()
            writer.array("items") { writer in
                for placemark in placemarks { PlacemarkJSON.write(placemark.speaking(languages), into: &writer) }
            }
            writer.endObject()
        }
    }

    static func forward(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try geocoder(context)
        guard let text = exchange.request.parameter("q"),
            (1...Limits.searchCharacters).contains(text.unicodeScalars.count)
        else {
            throw .invalid("\"q\" must be the name of a place, of at most \(Limits.searchCharacters) characters.")
        }
        let limit = Int(try exchange.integer("limit", in: 1...placesMax, default: 10))
        let found = gazetteer.found(named: text, limit: limit, using: transform)
        let languages = exchange.languages(context)
        return answer { writer in
            writer.beginObject()
            writer.array("items") { writer in
                for found in found {
                    PlacemarkJSON.write(found, of: gazetteer, in: languages, using: transform, into: &writer)
                }
            }
            writer.endObject()
        }
    }

    static func forwardBatch(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try geocoder(context)
        guard let texts = try exchange.object("texts")["texts"]?.array?.map(\.string),
            texts.count <= textsMax,
            texts.allSatisfy({ $0.map { $0.unicodeScalars.count <= Limits.searchCharacters } ?? false })
        else {
            throw .invalid("\"texts\" must be an array of at most \(textsMax) names of places.")
        }
        let found = texts.map { $0.flatMap { gazetteer.found(named: $0, limit: 1, using: transform).first } }
        let languages = exchange.languages(context)
        return answer { writer in
            writer.beginObject()
            writer.array("items") { writer in
                for found in found {
                    if let found {
                        PlacemarkJSON.write(found, of: gazetteer, in: languages, using: transform, into: &writer)
                    } else {
                        writer.null()
                    }
                }
            }
            writer.endObject()
        }
    }

    private static func geocoder(_ context: AnswerContext) throws(Problem) -> (Gazetteer, GeocentricTransform) {
        guard let gazetteer = context.gazetteer, let transform = context.geocentric else {
            throw Problem(
                503, "Not available",
                "This service has no gazetteer; its operator must put the files of data beside it.")
        }
        return (gazetteer, transform)
    }

    private static func coordinate(_ latitude: Double, _ longitude: Double) throws(Problem) -> Coordinate {
        do throws(CoordinateError) { return try Coordinate(latitude: latitude, longitude: longitude) } catch {
            throw .invalid("\(error)")
        }
    }

    private static func answer(_ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        write(&writer)
        return .json(writer.bytes)
    }
}
