package import Answers
import HTTPServer
import Log
import Projections
import SQLite
import Tables
package import Whereabouts

/// The time range of a read: `from` and `to`, or a local calendar `day`.
extension Views {
    /// The beginning and end that the request asks for; `nil` where it gives none. A `day` begins at local midnight, or
    /// when the clocks jump over it, at the first moment after it.
    ///
    /// Without `timeZone`, the day is that of the place where the person was (``zoneSeen(on:_:_:_:_:)``), or of UTC.
    ///
    /// - Parameter atLeast: The event that the view must have folded before the person's last place is looked up in it.
    package func asked(
        _ exchange: Exchange, _ context: AnswerContext, _ question: LocationRead.Question,
        _ atLeast: Int64
    ) throws(Problem) -> (from: Timestamp?, to: Timestamp?) {
        let (from, to) = (try exchange.time("from"), try exchange.time("to"))
        let named = exchange.request.parameter("timeZone")
        guard let text = exchange.request.parameter("day") else {
            guard named == nil else { throw .refused("\"timeZone\" is allowed only together with \"day\".") }
            return (from, to)
        }
        guard from == nil, to == nil else { throw .refused("Give \"day\" or a range, not both.") }
        guard let day = CalendarDay(text) else {
            throw Self.hasForm(ofDay: text)
                ? .refused("\"day\" must be a day of the calendar from 1900 to 2199, for example 2026-03-29.")
                : .invalid("\"day\" must be a date, for example 2026-03-29.")
        }
        let seen = named == nil ? try zoneSeen(on: day, exchange, context, question, atLeast) : nil
        let name = named ?? seen ?? "Etc/UTC"
        let next = CalendarDay(number: day.number + 1)
        guard let zone = timeZones.rules(name, from: day.earliestStart, to: next.latestStart) else {
            throw .refused("\"timeZone\" must be a name of the IANA database, for example Europe/Vienna.")
        }
        return (day.start(in: zone), next.start(in: zone))
    }

    /// Whether a text looks like `2026-03-29`. Decides between 400 and 422 for a day that does not exist.
    private static func hasForm(ofDay text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.enumerated().allSatisfy { index, byte in
                index == 4 || index == 7 ? byte == UInt8(ascii: "-") : (48...57).contains(byte)
            }
    }

    /// The time zone of the place where the person was last seen before noon UTC of a day, or else first seen after it.
    /// `nil` if the caller may not see that; the read is then refused.
    private func zoneSeen(
        on day: CalendarDay, _ exchange: Exchange, _ context: AnswerContext,
        _ question: LocationRead.Question, _ atLeast: Int64
    ) throws(Problem) -> String? {
        let asked = ReadQuestion(
            subject: try exchange.handle(0), question: question, from: nil, to: nil, purpose: nil)
        let found = decisions.log.withStanding { $0.authorize(exchange.caller, toRead: asked, at: decisions.clock()) }
        guard case .success(let permit) = found else { return nil }
        if permit.precision == .exact { try wait(for: atLeast, in: TimelineTable.name) }
        let seen = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) -> [ReportedFix] in
            let before = try permit.latestShown(atOrBefore: day.noon).map { (latest) throws(SQLiteError) in
                try TimelineReader.latestFix(of: permit.subject, atOrBefore: latest, in: connection)
            }
            let after = try TimelineReader.fixes(
                of: permit.subject, from: day.noon, to: nil, limit: 1, in: connection)
            return [before ?? nil].compactMap { $0 } + after
        }
        let shown = seen.value.first { permit.shows($0.fix) }
        return shown.flatMap { context.timeZone(at: $0.fix.coordinate) }
    }
}
