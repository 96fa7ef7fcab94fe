import Answers
import HTTPInterface
import HTTPServer
import Log
import Replies
import Whereabouts
import WireFormats

/// How many pushes the devices may still get: for the operator, who sees why a phone is not woken.
struct PushBudgetEndpoint: Sendable {
    let decisions: Decisions

    /// The most devices in an answer.
    private static let devicesMax: Int64 = 1000

    /// `GET /v1/push-budgets`: the devices with the fewest pushes left, at most `limit`.
    ///
    /// A device is in the list if it has a push token or its budget is not full. ``Limits/pushBudget`` is the budget.
    ///
    /// Cost: a look at each device, and sorting those with a budget.
    ///
    /// - Throws: 404 for a caller without the scope `operate`.
    func list(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try OperateEndpoints.requireOperator(exchange)
        let limit = Int(try exchange.integer("limit", in: 1...Self.devicesMax, default: 100))
        let now = decisions.clock()
        let (items, place) = decisions.log.withStanding { standing in
            (Self.items(of: standing, now: now, limit: limit), standing.place)
        }
        return .reply(Page(items: items, end: PageEnd(asOf: .number(place))))
    }

    private static func items(of standing: borrowing Standing, now: Timestamp, limit: Int) -> [PushBudgetItem] {
        var items: [PushBudgetItem] = []
        let rate = Limits.pushBudget
        for (_, device) in standing.devices.all where !device.isRemoved {
            let push = device.push
            let spent = push.allowance.spent(at: rate, now: now)
            guard push.token != nil || spent > 0, let handle = device.handle,
                let person = standing.persons[device.person]?.handle
            else { continue }
            // A question that comes within a minute of a push shares it.
            let free = push.lastAt.map { $0.adding(seconds: Limits.secondsBetweenPushes) } ?? now
            let next = push.allowance.earliest(at: rate, now: now)
            let scheduled = push.allowance.earliest(leaving: Limits.pushesKeptForPersons, at: rate, now: now)
            items.append(
                PushBudgetItem(
                    person: person.text, device: handle.text, left: max(0, rate.capacity - spent),
                    capacity: rate.capacity, next: Moment(max(next, free)), nextScheduled: Moment(max(scheduled, free)),
                    full: push.allowance.fullAt.flatMap { $0 > now ? Moment($0) : nil },
                    last: push.lastAt.map { Moment($0) }))
        }
        items.sort { ($0.left, $0.person, $0.device) < ($1.left, $1.person, $1.device) }
        return Array(items.prefix(limit))
    }

    /// The route.
    var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.pushBudgets.text, .answer(list),
                group: .operation, summary: "List the push budgets of devices.",
                description:
                    "Only for the operator. The devices with the fewest pushes left come first. A phone gets at most 360 pushes in 24 hours, one comes back every 240 seconds, and the service's own questions leave the last third.",
                access: .operator,
                discloses: .names("Handles of people and devices, for the operator, and how many pushes each may get."),
                query: [.limit(Self.devicesMax)],
                answer: Operation.Answer(Schema.page(of: PushBudgetItem.self), pageOf: "PushBudget"))
        ]
    }
}
