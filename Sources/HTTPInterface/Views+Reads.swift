package import Answers
import HTTPServer
import Log
import Projections
import Threading
package import Whereabouts

/// Reads of a person's stored data through the gate.
extension Views {
    /// Answers a read through the gate, after the view has folded the event that the caller wants to see.
    package func read(
        _ exchange: Exchange, _ context: AnswerContext, _ question: LocationRead.Question,
        from projection: String?, compute: (Gate.Reading) throws(Problem) -> Gate.Computed
    ) throws(Problem) -> Disclosed {
        let atLeast = try atLeast(exchange)
        let range = try asked(exchange, context, question, atLeast)
        let asked = ReadQuestion(
            subject: try exchange.handle(0), question: question, from: range.from, to: range.to,
            purpose: try exchange.purpose(), continuing: try Cursor(exchange, decisions)?.read)
        let asOf = try self.asOf(exchange)
        return try gate.read(exchange, asked) { (reading) throws(Problem) in
            if let asOf, let projection {
                return try computePast(reading, asOf, projection, context, compute)
            }
            // Only a caller who sees everything may measure how the log grows.
            if let projection, reading.permit.precision == .exact {
                try wait(for: atLeast, in: projection)
            }
            return try compute(reading)
        }
    }

    /// As ``read(_:_:_:from:compute:)``, with places in the requested form.
    package func readPlaces(
        _ exchange: Exchange, _ context: AnswerContext, _ question: LocationRead.Question,
        from projection: String?, compute: (Gate.Reading, AnswerForm) throws(Problem) -> Gate.Computed
    ) throws(Problem) -> Disclosed {
        let form = try AnswerForm(exchange, context)
        return try read(exchange, context, question, from: projection) { (reading) throws(Problem) in
            try compute(reading, form)
        }
    }

    /// The moment that a request names with `as-of` or, by the operator, `as-of-number`; `nil` if it names none.
    private func asOf(_ exchange: Exchange) throws(Problem) -> AsOf? {
        let time = try exchange.time("as-of")
        guard let text = exchange.request.parameter("as-of-number") else { return time.map { .time($0) } }
        guard time == nil else { throw .refused("Give \"as-of\" or \"as-of-number\", not both.") }
        // People do not see the numbers of the house.
        guard decisions.references(for: exchange.caller).isPlain, let number = Int64(text) else {
            throw .refused("\"as-of-number\" is a number of the log, for the operator; give a time as \"as-of\".")
        }
        return .number(number)
    }

    /// Computes an answer from the person's tables as they were, under the present rights of the reader. Refuses a
    /// reader under a grant: the person may have withdrawn fixes that were known then.
    private func computePast(
        _ reading: Gate.Reading, _ asOf: AsOf, _ projection: String, _ context: AnswerContext,
        _ compute: (Gate.Reading) throws(Problem) -> Gate.Computed
    ) throws(Problem) -> Gate.Computed {
        let verdict = reading.permit.verdict
        guard verdict == .own || verdict == .operatorOnRecord else {
            throw .refused("Answers as of an earlier moment are for the person, and for the operator.")
        }
        let past = try PastTables(
            of: reading.permit.subject, in: projection, at: asOf, now: reading.now, decisions.log, context)
        context.past = past
        defer { context.past = nil }
        return try compute(reading.asOf(past.moment))
    }

    /// The number of the event or place that a view must have folded before it is read, from `at-least`; 0 without it.
    ///
    /// A reference from before an older backup was restored may name a place beyond the head. The head then replaces
    /// it, because the caller may not learn how long the log is.
    private func atLeast(_ exchange: Exchange) throws(Problem) -> Int64 {
        guard let text = exchange.request.parameter("at-least") else { return 0 }
        let references = decisions.references(for: exchange.caller)
        guard let number = references.isPlain ? try exchange.logNumber("at-least") : references.place(text) else {
            throw .refused("\"at-least\" must be an \"asOf\" or \"number\" that this service gave you.")
        }
        if decisions.log.isFollowed { try waitForHead(number) }
        return references.isPlain ? number : min(number, decisions.log.head)
    }

    /// Waits until a followed log has an event.
    ///
    /// - Throws: 421 if it does not come soon: the process that writes the log has it, or knows that there is none.
    private func waitForHead(_ number: Int64) throws(Problem) {
        let until = MonotonicClock.milliseconds + Self.followingMilliseconds
        while decisions.log.head < number {
            let left = until - MonotonicClock.milliseconds
            guard left > 0 else { throw .elsewhere }
            decisions.log.waitForCaller(after: decisions.log.head, milliseconds: Int(left))
        }
    }

    /// How long an event may be on its way to a reader before the request is passed on.
    private static let followingMilliseconds: Int64 = 2000

    /// Waits until a projection has folded an event, for a bounded time.
    package func wait(for number: Int64, in projection: String) throws(Problem) {
        guard number > 0 else { return }
        // A number beyond the log would hold a thread for nothing. Only the operator can send one.
        guard number <= decisions.log.head else {
            throw .refused("\"at-least\" is beyond the newest event; give a number from an earlier answer.")
        }
        guard host.wait(for: number, in: [projection], milliseconds: 10_000) else {
            throw Problem(
                503, "Not yet",
                "This view has not reached \"at-least\" yet; send the same request again later.",
                retryAfterSeconds: 1)
        }
    }

    /// Answers with a page of a person's settings. The read is recorded like any other: a person's grants are personal
    /// data too.
    ///
    /// - Parameter rows: Adds all rows by ascending number, inside the standing's lock; ``RowPage`` keeps those of this
    ///   page.
    package func settings(
        _ exchange: Exchange, _ context: AnswerContext,
        _ rows: (borrowing Standing, PersonID, References, inout RowPage) -> Void
    ) throws(Problem) -> Disclosed {
        try read(exchange, context, .settings, from: nil) { (reading) throws(Problem) in
            var page = try RowPage(exchange, reading.references)
            let asOf = decisions.log.withStanding { standing in
                rows(standing, reading.permit.subject, reading.references, &page)
                return standing.place
            }
            return page.ended(asOf: asOf)
        }
    }
}
