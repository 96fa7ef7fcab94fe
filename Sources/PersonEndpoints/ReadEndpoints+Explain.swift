import Answers
import Geodesy
import HTTPInterface
import HTTPServer
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The explanation of a visit: the events that it is derived from.
extension ReadEndpoints {
    /// The number of fixes shown before a visit's first and after its last.
    private static let fixesAround = 3
    /// Fixes further away in time do not decide when a visit began or ended, unless there is no closer one.
    private static let aroundSeconds: Int64 = 86_400
    /// The most fixes read for each of the three parts.
    private static let fixesRead = 20_000

    /// A visit with the fixes before, during and after it, as rows of the track, and the devices that counted.
    ///
    /// The fixes include those of other devices, marked as not used.
    fileprivate struct Evidence {
        /// The visit as corrected.
        let visit: Visit
        /// The version of the rules of visits.
        let rules: Int64
        /// The device that led at each time.
        let leads: Leads
        /// Up to three fixes before the arrival, those of the visit up to a page, and up to three after the
        /// departure.
        let before, during, after: [ReportedFix]
    }

    /// `GET /v1/people/*/visits/*`: a visit, the rules it was folded by, and the fixes that decided it.
    ///
    /// If no visit has the id any more, `visit` is null and `successor` has the id of the visit that has its time now.
    /// A hidden visit looks like one that never existed.
    ///
    /// Recorded with the question `visits`. A visit under way has no fixes after it.
    ///
    /// - Throws: 400 for an id that is not 16 hexadecimal digits.
    package func visit(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        guard let id = UInt64(exchange.parameters[1], radix: 16), exchange.parameters[1].count == 16 else {
            throw .invalid("A visit's id must be 16 hexadecimal digits, for example from visits.")
        }
        return try views.readPlaces(exchange, context, .visits, from: TimelineTable.name) {
            (reading, form) throws(Problem) in
            let permit = reading.permit
            let corrections = decisions.corrections(of: reading.permit.subject)
            let now = reading.now
            let ((found, successor), asOf) = try context.read(TimelineTable.name) {
                (connection) throws(SQLiteError) -> (Evidence?, Visit?) in
                if let found = try Self.evidence(for: id, permit, corrections, context, now: now, in: connection) {
                    return (found, nil)
                }
                let successor = try TimelineReader.successor(
                    of: permit.subject, id: id, at: now, corrected: corrections, context.geocentric, in: connection)
                return (nil, successor.flatMap { permit.shows($0, at: now) ? $0 : nil })
            }
            var answer = ExplainedVisit(asOf: reading.references.place(asOf))
            if let found {
                let languages = exchange.languages(context)
                let name = Self.placeName(at: found.visit.coordinate, corrections, permit, context, languages)
                answer.visit = VisitItem(found.visit, placeName: name, context)
                answer.rules = found.rules
                answer.before = found.before.map { DecidingFixItem($0, of: found, reading.references) }
                answer.during = found.during.map { DecidingFixItem($0, of: found, reading.references) }
                answer.after = found.after.map { DecidingFixItem($0, of: found, reading.references) }
            } else {
                answer.successor = successor?.id.hexadecimal
            }
            return form.answer(
                answer, showing: "visit", answer.visit, count: found == nil && successor == nil ? 0 : 1, asOf: asOf)
        }
    }

    /// The visit and the fixes that may be shown; `nil` if there is no such visit for this permit.
    ///
    /// Reads at most ``fixesRead`` fixes for each part; a visit of a month with a fix each second shows its first
    /// ones.
    private static func evidence(
        for id: UInt64, _ permit: Permit, _ corrections: VisitCorrections, _ context: AnswerContext, now: Timestamp,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> Evidence? {
        guard
            let visit = try TimelineReader.visit(
                of: permit.subject, id: id, at: now, corrected: corrections, context.geocentric, in: connection),
            permit.shows(visit, at: now)
        else { return nil }
        func fixes(_ from: Timestamp, _ to: Timestamp?) throws(SQLiteError) -> [ReportedFix] {
            try TimelineReader.fixes(of: permit.subject, from: from, to: to, limit: Self.fixesRead, in: connection)
                .filter { permit.shows($0.fix) }
        }
        let before = visit.arrival.adding(seconds: -Self.aroundSeconds)
        let after = visit.departure.map { $0.adding(seconds: Self.aroundSeconds) }
        return Evidence(
            visit: visit, rules: try TimelineReader.rules(in: connection),
            leads: Leads(try TimelineReader.leads(of: permit.subject, from: before, to: after, in: connection)),
            before: try fixes(before, visit.arrival).suffix(Self.fixesAround),
            during: Array(
                try fixes(visit.arrival, visit.departure.map { Timestamp(milliseconds: $0.milliseconds + 1) })
                    .prefix(Int(Self.rowsPerPage))),
            after: try visit.departure.map { (departure) throws(SQLiteError) in
                Array(
                    try fixes(Timestamp(milliseconds: departure.milliseconds + 1), after).prefix(Self.fixesAround))
            } ?? [])
    }
}

extension DecidingFixItem {
    /// `metersOff` is the geodesic distance to the place of the visit, in meters.
    fileprivate init(_ reported: ReportedFix, of found: ReadEndpoints.Evidence, _ references: References) {
        let fix = reported.fix
        self.init(
            number: references.event(reported.number), timestamp: Moment(fix.timestamp),
            horizontalAccuracy: fix.horizontalAccuracy,
            metersOff: Geodesic.distanceMeters(from: found.visit.coordinate, to: fix.coordinate),
            isUsed: reported.stored.anomaly == nil && found.leads.leads(reported.device, at: fix.timestamp))
    }
}
