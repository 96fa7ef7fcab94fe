import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// How long the reports of people's devices are kept. The keys of older ones are destroyed.
struct RetentionEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// `PUT /v1/people/*/retention`: sets the person's own rule. The body has `trackDays`, in ``Limits/retentionDays``; 0
    /// keeps the present UTC day only.
    ///
    /// Recorded as `RetentionSet`. For example, `{"trackDays":30}`.
    ///
    /// - Throws: 400 without `trackDays`, 422 for days out of range or more than the house's rule.
    func set(_ exchange: Exchange) throws(Problem) -> Command {
        .setRetention(of: try exchange.handle(0), days: try days(exchange))
    }

    /// `DELETE /v1/people/*/retention`: ends the person's own rule; the house's goes on. Keys that are destroyed stay so.
    func end(_ exchange: Exchange) throws(Problem) -> Command {
        .setRetention(of: try exchange.handle(0), days: nil)
    }

    /// `GET /v1/people/*/retention`: the rules for the person, a recorded read.
    func show(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.settings(exchange, context) { standing, person, _, page in
            let retention = standing.retention
            page.add(
                1,
                RetentionItem(
                    trackDays: retention.days(of: person), ownTrackDays: retention.persons[person]?.last?.days,
                    houseTrackDays: retention.house.last?.days,
                    goneBefore: retention.last[person].map { Moment($0.before) }))
        }
    }

    /// `PUT /v1/retention`: sets the house's rule, which holds for everyone.
    ///
    /// Recorded as `RetentionSet` in the stream of the house. Errors as for ``set(_:)``.
    func setForAll(_ exchange: Exchange) throws(Problem) -> Command { .setRetention(of: nil, days: try days(exchange)) }

    /// `DELETE /v1/retention`: ends the house's rule.
    func endForAll(_: Exchange) throws(Problem) -> Command { .setRetention(of: nil, days: nil) }

    /// `GET /v1/retention`: the house's rule.
    func showForAll(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
        return .reply(HouseRetention(trackDays: decisions.log.withStanding { $0.retention.house.last?.days }))
    }

    private func days(_ exchange: Exchange) throws(Problem) -> Int64 {
        guard let days = try exchange.object("trackDays").optionalInteger("trackDays") else {
            throw .invalid(
                "\"trackDays\" is missing: give the days to keep reports, for example 30; 0 keeps today only.")
        }
        return days
    }
}

extension RetentionEndpoints {
    /// Rules about the age of reports.
    var operations: [Operation] {
        let body = Operation.Body(
            Schema.body(["trackDays": Schema.integer(Limits.retentionDays)]), named: "NewRetention",
            example: ["trackDays": 30])
        return [
            .command(
                "PUT", APIPath.peopleRetention.text, decisions.done(by: set),
                group: .people, summary: "Set how long a person's reports are kept.",
                description:
                    "For the person (scope `manage`) or the operator. The keys of older reports are destroyed, at once and then daily. 0 keeps the present UTC day only. Not more days than the house's rule.",
                access: .token(.manage), body: body),
            .settings(
                APIPath.peopleRetention.text, show,
                group: .people, summary: "Show how long a person's reports are kept.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings, items: Schema.object(of: RetentionItem.self), named: "Retention", atMost: 1),
            .command(
                "DELETE", APIPath.peopleRetention.text, decisions.done(by: end),
                group: .people, summary: "End a person's own rule.",
                description:
                    "For the person (scope `manage`) or the operator. The house's rule stays in force. Destroyed reports do not come back.",
                access: .token(.manage)),
            .command(
                "PUT", APIPath.retention.text, decisions.done(by: setForAll),
                group: .operation, summary: "Set how long everyone's reports are kept.",
                description: "Only for the operator. Persons can choose fewer days.", access: .operator, body: body),
            Operation(
                "GET", APIPath.retention.text, .answer(showForAll),
                group: .operation, summary: "Show how long everyone's reports are kept.",
                description: "Only for the operator.", access: .operator, discloses: .noPerson("A number of days."),
                answer: Operation.Answer(Schema.object(of: HouseRetention.self), named: "HouseRetention")),
            .command(
                "DELETE", APIPath.retention.text, decisions.done(by: endForAll),
                group: .operation, summary: "End the house's rule.",
                description: "Only for the operator. Persons' own rules go on.", access: .operator),
        ]
    }
}
