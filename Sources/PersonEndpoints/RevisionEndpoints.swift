import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// Withdrawing single fixes of a person's track, and restoring them.
///
/// The fix is read from the log, because tables can be folded again and the log cannot.
///
/// For the person with the scope `manage`, and the operator; another caller gets 404. For example, a fix in another
/// country that a wrong clock caused is withdrawn, and the visits around it are derived again.
struct RevisionEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `DELETE /v1/people/*/track/*`: withdraws a fix by its `number`, for the `reason` given.
    ///
    /// Recorded as `FixesWithdrawn`, with the reason sealed. Reads that begin after the answer do not show the fix.
    ///
    /// - Throws: 400 without `reason`, 404 for a number that is not a fix of the person.
    func withdraw(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        // First, so that a caller without the right gets the same 404 whatever else is wrong.
        let (fixes, time) = try fix(exchange, context)
        guard let reason = exchange.request.parameter("reason") else {
            throw .invalid("\"reason\" is missing: say why the fix does not count, for example wrong%20clock.")
        }
        return try answer(
            exchange,
            .withdrawFixes(fixes, FixRevision(time: time...time, reason: reason), of: try exchange.handle(0)))
    }

    /// `POST /v1/people/*/track/*`: restores a withdrawn fix, for the `reason` in the body.
    ///
    /// Recorded as `FixesRestored`. A fix that is not withdrawn gets the same answer without an event.
    func restore(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let (fixes, time) = try fix(exchange, context)
        let reason = try exchange.object("reason").requiredText("reason")
        return try answer(
            exchange, .restoreFixes(fixes, FixRevision(time: time...time, reason: reason), of: try exchange.handle(0)))
    }

    /// Appends the command and answers with the number of its event.
    private func answer(_ exchange: Exchange, _ command: Command) throws(Problem) -> HTTPResponse {
        .done(try decisions.append(exchange, command), decisions.references(for: exchange.caller))
    }

    /// The fix in the path, as its event says.
    ///
    /// - Throws: 404 if the caller may not manage the person, or if the number is not that of one of their fixes.
    private func fix(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> (FixNumbers, at: Timestamp) {
        let handle = try exchange.handle(0)
        let permit = decisions.log.withStanding {
            $0.authorize(exchange.caller, to: .manage, about: handle, at: decisions.clock())
        }
        guard case .success(let permit) = permit else { throw .noSuchPerson }
        let number = try exchange.number(1, .event, decisions)
        let found: RecordedEvent?
        do throws(LogError) { found = try context.reader.event(number)?.event } catch { throw .broken }
        guard let found, found.stream == .track(permit.subject),
            case .fixReported(let device, _, .open(let fix)) = found.event
        else { throw .notFound }
        return (FixNumbers(device: device, numbers: number...number), fix.timestamp)
    }

    /// `GET /v1/people/*/withdrawn-fixes`: the fixes that are withdrawn, by time. A recorded read of settings, which
    /// only the person and the operator may read.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = try exchange.integer("limit", in: 1...ReadEndpoints.rowsPerPage, default: ReadEndpoints.rowsPerPage)
        let after = try Cursor(exchange, decisions)?.fix()
        return try views.read(exchange, context, .settings, from: TimelineTable.name) { (reading) throws(Problem) in
            let person = reading.permit.subject
            let (found, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                try TimelineReader.withdrawnFixes(
                    of: person, from: reading.from, to: reading.to, after: after, limit: Int(limit) + 1,
                    in: connection)
            }
            let rows = found.prefix(Int(limit))
            let handles = decisions.log.withStanding { $0.deviceHandles(of: person) }
            var page = PageWriter(rows: rows.count)
            for row in rows {
                page.add(
                    TrackPoint(
                        fix: FixItem(row.fix), device: handles.first { $0.0 == row.device }?.1.text,
                        number: reading.references.event(row.number)))
            }
            let next = found.count > rows.count ? rows.last.map(TimelineReader.FixKey.init) : nil
            return page.ended(next: next.map { Cursor.text($0, reading) }, asOf: asOf, reading.references)
        }
    }
}
