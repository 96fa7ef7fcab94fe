import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// Schedules by which the service asks for a person at regular intervals.
///
/// The queries have the initiation `server`: they leave `Limits.pushesKeptForPersons` of the push budget to people.
///
/// For the person with the scope `manage`, and the operator; another caller gets 404.
struct ScheduleEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `POST /v1/people/*/schedules`: adds a schedule. The body has `everySeconds`, in ``Limits/scheduleSeconds``, and
    /// optionally `until`. Answers 201 with `id` and `number`.
    ///
    /// Recorded as `ScheduleSet`. For example, `{"everySeconds":3600}` asks the person's phones each hour.
    ///
    /// - Throws: 400 without `everySeconds`, 422 for an interval out of range, an end in the past, or past
    ///   ``Limits/schedulesPerPerson`` schedules.
    func set(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("everySeconds", "until")
        guard let seconds = try body.optionalInteger("everySeconds") else {
            throw .invalid("\"everySeconds\" is missing: give the interval, for example 3600.")
        }
        let (id, receipt) = try decisions.append(
            exchange,
            .setSchedule(of: try exchange.handle(0), everySeconds: seconds, until: try body.optionalTime("until")))
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(receipt, references, MadeItem(id: references.name(id.rawValue, .schedule)))
    }

    /// `GET /v1/people/*/schedules`: the person's schedules, a recorded read. `next` is the time of the next query.
    ///
    /// The times are those of the service's clock, not of a calendar: a schedule does not move with daylight saving
    /// time.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.settings(exchange, context) { standing, person, references, page in
            for id in standing.persons[person]?.schedules ?? [] {
                guard let schedule = standing.schedules[id] else { continue }
                page.add(
                    id.rawValue,
                    ScheduleItem(
                        id: references.name(id.rawValue, .schedule), everySeconds: schedule.everySeconds,
                        until: schedule.until.map { Moment($0) }, next: Moment(schedule.nextAt)))
            }
        }
    }

    /// `DELETE /v1/people/*/schedules/*`: ends a schedule.
    ///
    /// Recorded as `ScheduleRemoved`. A query under way goes on.
    ///
    /// - Throws: 404 for a schedule that has ended or is another person's.
    func remove(_ exchange: Exchange) throws(Problem) -> Command {
        let id = ScheduleID(rawValue: try exchange.number(1, .schedule, decisions))
        return .removeSchedule(id, of: try exchange.handle(0))
    }
}
