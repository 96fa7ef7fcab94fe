import Answers
import Geodesy
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts

/// A person's corrections of their derived visits and places: merge, split, remove, rename a place, join two places.
///
/// Corrections are events and are applied when visits are read; the derived rows stay as they are.
///
/// For example, a wait in a traffic jam that looks like a visit is corrected by `notVisit` with its time.
struct CorrectionEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `POST /v1/people/*/corrections`: records a correction.
    ///
    /// The body has `type` and its members: `merge` and `notVisit` take `from` and `to`, `split` takes `at`, `rename`
    /// takes `latitude`, `longitude` and `name`, `samePlace` takes `latitude`, `longitude`, `otherLatitude` and
    /// `otherLongitude`. Answers 201 with `id` and `number`.
    ///
    /// - Throws: 400 for an unknown type or a missing member, 422 if the writer refuses the correction.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as `CorrectionMade`, with its content
    /// sealed. At most ``Limits/correctionsPerPerson`` are in force at a time.
    func make(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let correction = try Self.correction(
            of: try exchange.object(
                "type", "from", "to", "at", "latitude", "longitude", "name", "otherLatitude", "otherLongitude"))
        let (id, receipt) = try decisions.append(exchange, .correct(correction, of: try exchange.handle(0)))
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references, MadeItem(id: references.name(id.rawValue, .correction)))
    }

    /// The correction in a body. −0 degrees becomes 0 (`positiveZero`).
    ///
    /// - Throws: 400 for an unknown type, a missing member, or degrees out of range.
    private static func correction(of body: JSONValue) throws(Problem) -> Correction {
        let word = try body.requiredText("type")
        switch Correction.Kind.allCases.first(where: { $0.word == word }) {
        case .merge: return .merge(try Self.time(of: body))
        case .notVisit: return .notVisit(try Self.time(of: body))
        case .split:
            guard let moment = try body.optionalTime("at") else {
                throw .invalid("\"at\" is missing: give the time at which the second of the two visits began.")
            }
            return .split(at: moment)
        case .rename:
            let coordinate = try Self.coordinate(of: body, "latitude", "longitude", ofThe: "place to rename")
            return .rename(coordinate, try body.requiredText("name"))
        case .samePlace:
            return .samePlace(
                try Self.coordinate(of: body, "latitude", "longitude", ofThe: "place that gives the name"),
                with: try Self.coordinate(of: body, "otherLatitude", "otherLongitude", ofThe: "other place"))
        case nil:
            let words = Correction.Kind.allCases.map(\.word).joined(separator: ", ")
            throw .invalid("\"type\" must be one of \(words).")
        }
    }

    /// - Throws: 400 without the two members, or for degrees out of range.
    private static func coordinate(
        of body: JSONValue, _ latitudeName: String, _ longitudeName: String, ofThe place: String
    ) throws(Problem) -> Coordinate {
        guard let latitude = body[latitudeName]?.double, let longitude = body[longitudeName]?.double else {
            throw .invalid(
                "\"\(latitudeName)\" and \"\(longitudeName)\" are missing: give the coordinate of the \(place) in degrees, for example 48.2083 and 16.3725."
            )
        }
        do throws(CoordinateError) {
            return try Coordinate(latitude: latitude.positiveZero, longitude: longitude.positiveZero)
        } catch {
            throw .invalid("\(error)")
        }
    }

    /// The range to correct, from `from` to before `to`.
    ///
    /// - Throws: 400 without the two members, 422 if the range is empty.
    private static func time(of body: JSONValue) throws(Problem) -> Range<Timestamp> {
        guard let from = try body.optionalTime("from"), let to = try body.optionalTime("to") else {
            throw .invalid("\"from\" and \"to\" are missing: give the time range to correct.")
        }
        guard from < to else { throw .refused("\"to\" must be later than \"from\".") }
        return from..<to
    }

    /// `GET /v1/people/*/corrections`: the corrections in force, a recorded read.
    ///
    /// For the person (scope `manage`) and the operator; other readers see corrected visits and not the corrections.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.settings(exchange, context) { standing, person, references, page in
            for (id, correction) in standing.corrections(of: person) {
                page.add(
                    id.rawValue,
                    CorrectionItem(
                        id: references.name(id.rawValue, .correction), content: CorrectionContent(correction)))
            }
        }
    }

    /// `DELETE /v1/people/*/corrections/*`: withdraws a correction. The visits are derived as before it from then on.
    ///
    /// Recorded as `CorrectionWithdrawn`.
    ///
    /// - Throws: 404 for a correction that is not in force or is another person's.
    func withdraw(_ exchange: Exchange) throws(Problem) -> Command {
        let id = CorrectionID(rawValue: try exchange.number(1, .correction, decisions))
        return .withdrawCorrection(id, of: try exchange.handle(0))
    }
}
