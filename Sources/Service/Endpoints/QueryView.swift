import Cryptography
import Whereabouts

/// What the asker may see of a query: pending, then an answer, or none at the deadline, whatever the true reason.
struct QueryView {
    enum Seen {
        case pending
        case noAnswer
        case answer(word: String, fix: Int64, permit: Permit)

        static let pendingWord = "pending"
        static let noAnswerWord = "noAnswer"
    }

    let seen: Seen
    /// Whether the asker may also see how long the log is, and so that something happened in it: not under a coarse grant.
    let seesNumbers: Bool

    /// What a coarse asker sees of the fix that answered.
    let cell: HeldCell?

    /// Whether the query's time is over.
    let isOver: Bool

    var isPending: Bool { if case .pending = seen { true } else { false } }

    /// `nil` for a query that is not the caller's, or no longer known.
    ///
    /// - Parameters:
    ///   - questions: The clock that gives the time it has left.
    ///   - durable: The newest durable event. The writer folds before it commits, and an event that is not durable does
    ///     not count.
    init?(
        _ id: QueryID, for caller: Caller, in standing: borrowing Standing, at now: Timestamp,
        _ questions: QuestionClock, durable: Int64
    ) {
        guard let query = standing.queries[id], query.requester == caller.principal else { return nil }
        seesNumbers =
            if case .granted(let grant) = query.verdict { standing.grants[grant]?.precision == .exact } else { true }
        cell = query.cell
        isOver = questions.left(of: id, query, at: now) == 0
        let unanswered: Seen = isOver ? .noAnswer : .pending
        switch query.end {
        case .answered, .answeredFromLastKnown:
            guard let fix = query.fix, let subject = standing.persons[query.subject]?.handle,
                case .success(let permit) = standing.authorize(caller, to: .ask, about: subject, at: now),
                permit.verdict == query.verdict
            else {
                seen = unanswered
                return
            }
            seen = fix <= durable ? .answer(word: query.end?.word ?? "", fix: fix, permit: permit) : .pending
        case .cancelled: seen = .noAnswer
        case nil, .refused, .pushFailed, .timedOut: seen = unanswered
        }
    }

    /// The fix that answered, if it may be shown: a phone may answer with an old one, and what the grant does not show
    /// stays closed.
    func fix(_ reader: LogReader) throws(Problem) -> Fix? {
        guard case .answer(_, let number, let permit) = seen else { return nil }
        let found: (event: RecordedEvent, leaf: Digest)?
        do throws(LogError) { found = try reader.event(number) } catch { throw .broken }
        guard case .fixReported(_, _, .open(let fix)) = found?.event.event else { throw .notFound }
        return permit.shows(fix.timestamp) ? fix : nil
    }

    /// Number of the fix that answered when it may not be shown, and the query looks pending therefore.
    ///
    /// - Parameter fix: the one that may be shown.
    func hiddenFix(_ fix: Fix?) -> Int64? {
        guard fix == nil, case .answer(_, let number, _) = seen, !isOver else { return nil }
        return number
    }

    /// Whether there is something else to see than that the query is pending.
    ///
    /// - Parameter hidden: the number of a fix that may not be shown.
    func isSettled(but hidden: Int64?) -> Bool {
        if case .answer(_, let number, _) = seen, number == hidden { isOver } else { !isPending }
    }

    /// What the asker is told, given the fix that may be shown.
    func status(_ fix: Fix?) -> String {
        switch seen {
        case .pending: Seen.pendingWord
        case .noAnswer: Seen.noAnswerWord
        case .answer(let word, _, _):
            fix == nil ? (isOver ? Seen.noAnswerWord : Seen.pendingWord) : word
        }
    }
}
