import Answers
import Gazetteer
import Geodesy
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts

/// Stored data about a person. The gate records each read before its bytes leave.
///
/// May call, for all reads: the person with the scope `query`, the operator, and requesters under their grants. A
/// grant limits the times and the precision; a person without one gets 404, and the attempt is recorded. Stored data
/// needs an exact grant with history; the newest location does not.
///
/// Ranges are half-open in the device's time: `from` ≤ time < `to`.
struct ReadEndpoints: Sendable {
    let decisions: Decisions
    let views: Views
    /// The persons' own logs, whose checkpoints the audit names.
    let logs: PersonLogs

    /// The most rows in a page, and the default.
    static let rowsPerPage: Int64 = 1000

    /// `GET /v1/people/*/location`: the newest location that may be shown, or null.
    ///
    /// Recorded with the question `location`. No push is sent: a query asks the phone, this reads its last report.
    /// Under a coarse grant the answer has the center of the cell and no `asOf`.
    func location(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.readPlaces(exchange, context, .location, from: CurrentTable.name) {
            (reading, form) throws(Problem) in
            let (found, asOf) = try context.newestFix(of: reading.permit.subject)
            let permit = reading.permit
            let languages = exchange.languages(context)
            let fix = try found.flatMap { (found) throws(Problem) in try Self.newestShown(found, permit, context) }
            let shown = fix.map { ShownLocation($0, under: permit, decisions, context, languages: languages) }
            let answer = LocationAnswer(
                location: shown?.item,
                asOf: permit.precision == .exact ? reading.references.place(asOf) : nil)
            return form.answer(
                answer, showing: "location", answer.location, count: shown == nil ? 0 : 1, asOf: asOf)
        }
    }

    /// The newest fix that the permit shows.
    ///
    /// If the newest fix is from a time that the permit hides, for example outside its weekly hours, it is the latest
    /// one that it shows. `nil` if there is none.
    ///
    /// Cost: usually nothing; otherwise a search in the timeline for each hidden time.
    static func newestShown(
        _ newest: ReportedFix, _ permit: Permit, _ context: AnswerContext
    ) throws(Problem) -> ReportedFix? {
        try permit.newestShown(newest, time: \.fix.timestamp) { (moment) throws(Problem) in
            try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                try TimelineReader.latestFix(of: permit.subject, atOrBefore: moment, in: connection)
            }.value
        }
    }

    /// `GET /v1/people/*/visits`: the visits that overlap the range, by arrival, as the person has corrected them.
    ///
    /// Recorded with the question `visits`. A visit is shown only if its whole time may be shown. The present visit
    /// has no `departure`.
    ///
    /// - Throws: 422 for a cursor that this caller was not given, or an empty range.
    func visits(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = try exchange.integer("limit", in: 1...Self.rowsPerPage, default: Self.rowsPerPage)
        let after = try Cursor(exchange, decisions)?.arrival()
        return try views.readPlaces(exchange, context, .visits, from: TimelineTable.name) {
            (reading, form) throws(Problem) in
            let range = try Self.range(reading)
            let now = reading.now
            let corrections = context.corrections(of: reading.permit.subject, decisions)
            let ((visits, end), asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                let permit = reading.permit
                return try ShownRows.page(
                    upTo: limit, after: after, atOnce: Self.rowsPerPage, key: \Visit.arrival
                ) {
                    permit.shows($0, at: now)
                } fetch: { (after, count) throws(SQLiteError) in
                    try TimelineReader.visits(
                        of: permit.subject, from: range.from, to: range.to, arrivingAfter: after, limit: count, at: now,
                        corrected: corrections, context.geocentric, in: connection)
                }
            }
            let languages = exchange.languages(context)
            let next = end.map { Cursor.text($0, reading) }
            return PageWriter.page(visits, next: next, asOf: asOf, reading.references, in: form) { visit in
                let name = Self.placeName(at: visit.coordinate, corrections, reading.permit, context, languages)
                return VisitItem(visit, placeName: name, context)
            }
        }
    }

    /// The name of a place: the person's own name, if the person or the operator reads it, otherwise the gazetteer's, a
    /// district with its city. For example "Favoriten, Wien".
    static func placeName(
        at coordinate: Coordinate, _ corrections: VisitCorrections, _ permit: Permit, _ context: AnswerContext,
        _ languages: [Language]
    ) -> String? {
        // Others see the name of the place itself: that of a joined place may be of one that their grant hides.
        let naming = permit.showsOwnNames ? corrections.namingCoordinate(at: coordinate) : coordinate
        return permit.ownName(of: coordinate, in: corrections)
            ?? context.placemark(at: naming, in: languages)?.shortAddress
    }

    /// `GET /v1/people/*/crossings`: entries to and exits from the person's regions, by time.
    ///
    /// Recorded with the question `crossings`. A crossing is shown only if the fixes on both sides of it may be
    /// shown, since its time discloses both.
    func crossings(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = try exchange.integer("limit", in: 1...Self.rowsPerPage, default: Self.rowsPerPage)
        let after = try Cursor(exchange, decisions)?.crossing()
        return try views.read(exchange, context, .crossings, from: TimelineTable.name) { (reading) throws(Problem) in
            let range = try Self.range(reading)
            let ((crossings, end), asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                let permit = reading.permit
                var untold: Set<Crossing> = []
                return try ShownRows.page(
                    upTo: limit, after: after, atOnce: Self.rowsPerPage, key: \TimelineReader.NamedCrossing.crossing
                ) {
                    permit.shows($0.crossing.time) && !untold.contains($0.crossing)
                } fetch: { (after, count) throws(SQLiteError) in
                    let found = try TimelineReader.crossings(
                        of: permit.subject, from: range.from, to: range.to, after: after, limit: count, in: connection)
                    for named in found where try !Self.restsOnShown(named.crossing, permit, in: connection) {
                        untold.insert(named.crossing)
                    }
                    return found
                }
            }
            let next = end.map { Cursor.text($0, reading) }
            return PageWriter.page(crossings, next: next, asOf: asOf, reading.references) { named in
                var named = named
                named.entered = reading.permit.shownEntry(named.entered, before: named.crossing.time)
                return CrossingItem(named)
            }
        }
    }

    /// Whether the fixes before and after a crossing may both be shown.
    private static func restsOnShown(
        _ crossing: Crossing, _ permit: Permit, in connection: borrowing Connection
    ) throws(SQLiteError) -> Bool {
        if permit.showsEveryMoment { return true }
        let before = try TimelineReader.latestFix(of: permit.subject, atOrBefore: crossing.time, in: connection)
        let after = try TimelineReader.fixes(
            of: permit.subject, from: crossing.time, to: nil, limit: 1, in: connection
        ).first
        return permit.showsCrossing(between: before?.fix.timestamp, and: after?.fix.timestamp)
    }

    /// `GET /v1/people/*/regions`: the person's regions, on one page.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as a read of settings. Regions are
    /// shown as they were given, a circle by its center and radius in meters.
    func regions(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.readPlaces(exchange, context, .settings, from: nil) { (reading, form) throws(Problem) in
            let (regions, asOf) = decisions.log.withStanding { standing in
                (
                    (standing.persons[reading.permit.subject]?.regions ?? []).compactMap { standing.regions[$0] },
                    standing.place
                )
            }
            return PageWriter.page(regions, next: nil, asOf: asOf, reading.references, in: form) { region in
                RegionItem(id: region.identifier, area: RegionAreaItem(region))
            }
        }
    }

    // MARK: Shapes

    /// The requested range, cut to the permitted times and, on further pages, to the data that existed when the read
    /// began.
    ///
    /// - Throws: 422 if `to` is not later than `from`.
    static func range(_ reading: Gate.Reading) throws(Problem) -> (from: Timestamp?, to: Timestamp?) {
        if let from = reading.from, let to = reading.to, to <= from {
            throw .refused("\"to\" must be later than \"from\".")
        }
        return reading.permit.range(from: reading.from, to: reading.to, begun: reading.begun?.at)
    }
}
