package import Answers
import Gazetteer
import Geodesy
package import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts

/// Names for coordinates and coordinates for names, offline.
///
/// A question about a free coordinate or name concerns no person. So it needs only a valid token and is not recorded,
/// and neither the question nor the answer reaches diagnostics.
///
/// Coordinates are WGS 84 in degrees, and distances meters. Callers must transform other datums.
package struct GeocodeEndpoints: Sendable {
    let decisions: Decisions
    let geocodingBudgets: GeocodingBudgets

    package init(decisions: Decisions, geocodingBudgets: GeocodingBudgets) {
        self.decisions = decisions
        self.geocodingBudgets = geocodingBudgets
    }

    /// The most coordinates in one request.
    static let coordinatesMax = 1000
    /// The most texts in one request. Fewer than coordinates: a name with typing errors takes milliseconds, a
    /// coordinate microseconds.
    static let textsMax = 50
    /// The most places in the answer to one text.
    static let placesMax: Int64 = 50

    /// The same work, paid from the budgets of the caller and of their invitation tree (``GeocodingBudgets``). The
    /// operator has no budget.
    ///
    /// - Throws: 429 while one of the budgets is used up.
    ///
    /// The cost is measured processor time, not a number of requests: two seconds of work at once use a person's
    /// budget up.
    package func budgeted(_ work: @escaping Route.Handler) -> Route.Handler {
        { (exchange, context) throws(Problem) in
            let (person, tree) = decisions.log.withStanding { standing in
                let person = standing.person(behind: exchange.caller.principal)
                return (person, person.map { standing.tree(of: $0) })
            }
            return try geocodingBudgets.spend(of: person, of: tree) { () throws(Problem) in
                try work(exchange, context)
            }
        }
    }

    /// `GET /v1/geocode/reverse`: the placemark of a coordinate, WGS 84 in degrees.
    ///
    /// `horizontalAccuracy`, in meters, makes the answer name other countries within reach. Names follow
    /// `Accept-Language`.
    ///
    /// For example `?latitude=48.2082&longitude=16.3738` is in Wien. Both poles and the antimeridian are valid.
    ///
    /// - Throws: 400 for a missing or impossible coordinate, 503 without a gazetteer.
    func reverse(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try Self.geocoder(context)
        guard let latitude = exchange.request.parameter("latitude").flatMap(Double.init),
            let longitude = exchange.request.parameter("longitude").flatMap(Double.init)
        else { throw .invalid("\"latitude\" and \"longitude\" must be numbers in degrees, for example 48.2 and 16.4.") }
        let coordinate = try Self.coordinate(latitude, longitude)
        let accuracy = try exchange.request.parameter("horizontalAccuracy").map { (text) throws(Problem) in
            guard let meters = Double(text), meters.isFinite, meters >= 0 else {
                throw .invalid("\"horizontalAccuracy\" must be a number of meters, at least 0.")
            }
            return meters
        }
        let languages = exchange.languages(context)
        return Self.answer { writer in
            let placemark = gazetteer.placemark(at: coordinate, accuracyMeters: accuracy, using: transform)
            writer.value(PlacemarkItem(placemark.speaking(languages)))
        }
    }

    /// `POST /v1/geocode/reverse`: the placemarks of at most ``coordinatesMax`` coordinates, in their order.
    ///
    /// Cost: under 1 µs each without supplements; less if neighbors follow one another.
    ///
    /// - Throws: 400 for more coordinates, and for the first that is out of range; nothing is answered then.
    func reverseBatch(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try Self.geocoder(context)
        guard let pairs = try exchange.object("coordinates")["coordinates"]?.array.map(Array.init),
            pairs.count <= Self.coordinatesMax
        else {
            throw .invalid(
                "\"coordinates\" must be an array of at most \(Self.coordinatesMax) pairs [latitude, longitude].")
        }
        var coordinates: [Coordinate] = []
        for pair in pairs {
            guard let numbers = pair.array.map(Array.init), numbers.count == 2, let latitude = numbers[0].double,
                let longitude = numbers[1].double
            else { throw .invalid("Each of \"coordinates\" must be a pair [latitude, longitude].") }
            coordinates.append(try Self.coordinate(latitude, longitude))
        }
        let placemarks = gazetteer.placemarks(at: coordinates, using: transform)
        let languages = exchange.languages(context)
        return Self.answer { writer in
            writer.beginObject()
            writer.array("items") { writer in
                for placemark in placemarks { writer.value(PlacemarkItem(placemark.speaking(languages))) }
            }
            writer.endObject()
        }
    }

    /// `GET /v1/geocode/forward`: the places with the name `q`, the likeliest first; at most `limit` of them, 10 by
    /// default.
    ///
    /// Names with typing errors are found too. An unknown name has an empty list.
    ///
    /// - Throws: 400 for an empty text, or one of more than ``Limits/searchCharacters`` Unicode scalars.
    func forward(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try Self.geocoder(context)
        guard let text = exchange.request.parameter("q"),
            (1...Limits.searchCharacters).contains(text.unicodeScalars.count)
        else {
            throw .invalid("\"q\" must be the name of a place in at most \(Limits.searchCharacters) characters.")
        }
        let limit = Int(try exchange.integer("limit", in: 1...Self.placesMax, default: 10))
        let found = gazetteer.found(named: text, limit: limit, using: transform)
        let languages = exchange.languages(context)
        return Self.answer { writer in
            writer.beginObject()
            writer.array("items") { writer in
                for found in found {
                    writer.value(PlacemarkItem(found, of: gazetteer, in: languages, using: transform))
                }
            }
            writer.endObject()
        }
    }

    /// `POST /v1/geocode/forward`: the likeliest place of each of at most ``textsMax`` names, in their order; null for
    /// a name without a place.
    ///
    /// Cost: some milliseconds for a name with typing errors, which the caller's budget pays.
    func forwardBatch(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (gazetteer, transform) = try Self.geocoder(context)
        guard let texts = try exchange.object("texts")["texts"]?.array?.map(\.string),
            texts.count <= Self.textsMax,
            texts.allSatisfy({ $0.map { $0.unicodeScalars.count <= Limits.searchCharacters } ?? false })
        else {
            throw .invalid("\"texts\" must be an array of at most \(Self.textsMax) names of places.")
        }
        let found = texts.map { $0.flatMap { gazetteer.found(named: $0, limit: 1, using: transform).first } }
        let languages = exchange.languages(context)
        return Self.answer { writer in
            writer.beginObject()
            writer.array("items") { writer in
                for found in found {
                    if let found {
                        writer.value(PlacemarkItem(found, of: gazetteer, in: languages, using: transform))
                    } else {
                        writer.null()
                    }
                }
            }
            writer.endObject()
        }
    }

    /// The gazetteer and this thread's transformation.
    ///
    /// - Throws: 503 if no gazetteer is installed.
    private static func geocoder(_ context: AnswerContext) throws(Problem) -> (Gazetteer, GeocentricTransform) {
        guard let gazetteer = context.gazetteer else {
            throw Problem(
                503, "Not available",
                "This service has no gazetteer; its operator must install the gazetteer's files.")
        }
        return (gazetteer, context.geocentric)
    }

    /// The coordinate; 400 with the sentence of `CoordinateError` if it is out of range.
    private static func coordinate(_ latitude: Double, _ longitude: Double) throws(Problem) -> Coordinate {
        do throws(CoordinateError) { return try Coordinate(latitude: latitude, longitude: longitude) } catch {
            throw .invalid("\(error)")
        }
    }

    /// The answer 200 with the JSON that `write` makes.
    private static func answer(_ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        write(&writer)
        return .json(writer.bytes)
    }
}
