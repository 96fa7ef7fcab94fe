/// A location query as its requester may see it: pending, then answered, or unanswered at the deadline, whatever the
/// true reason.
package struct QueryView {
    /// The statuses that a requester can see.
    package enum Seen {
        /// The query may still be answered, or the requester may not see its end yet.
        case pending
        /// The deadline has passed without an answer that may be shown, or the requester canceled.
        case noAnswer
        /// A fix answered. `word` is the end's word, `fix` the number of the fix in the log, `permit` what it may be
        /// shown under now.
        case answer(word: String, fix: Int64, permit: Permit)

        /// The status of an open query, and of one whose end the caller may not see yet.
        package static let pendingWord = "pending"
        /// The status of every end without an answer, including a cancellation.
        package static let noAnswerWord = "noAnswer"
    }

    /// What answered a query.
    package enum Answer: Sendable {
        case open(Fix)
        /// An envelope, with the first and the last millisecond of the time that it does not hide.
        case sealed(SealedFix, from: Timestamp, to: Timestamp)
    }

    /// The status before the content of the fix is known; see ``status(_:)``.
    package let seen: Seen
    /// Whether the requester may see how long the log is, and so that events were appended. A coarse grant does not
    /// allow it.
    package let seesNumbers: Bool

    /// The cell in which a coarse grant shows the fix.
    package let cell: HeldCell?

    /// Whether the deadline has passed.
    package let isOver: Bool

    /// Whether the caller sees an open query.
    package var isPending: Bool { if case .pending = seen { true } else { false } }

    /// `nil` for a query that is not the caller's, or no longer known.
    ///
    /// - Parameters:
    ///   - hasTime: Whether time is left until the query's deadline.
    ///   - durable: The newest durable event. The writer folds before it commits, and an event that is not durable does
    ///     not count.
    package init?(
        _ id: QueryID, for caller: Caller, in standing: borrowing Standing, at now: Timestamp, durable: Int64,
        hasTime: (Standing.Query) -> Bool
    ) {
        guard let query = standing.queries[id], query.requester == caller.principal else { return nil }
        seesNumbers =
            if case .granted(let grant) = query.verdict { standing.grants[grant]?.precision == .exact } else { true }
        cell = query.outcome?.cell
        isOver = !hasTime(query)
        let unanswered: Seen = isOver ? .noAnswer : .pending
        switch query.end {
        case .answered, .answeredFromLastKnown:
            guard let fix = query.fix, let person = standing.persons[query.subject], let subject = person.handle,
                !person.withdrawn.numbers.contains(fix),
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

    /// The number of the fix that answered; `nil` for any other status.
    package var answer: Int64? { if case .answer(_, let number, _) = seen { number } else { nil } }

    /// The answer, if the grant shows it. A phone may answer with an old fix from before the grant. An envelope is shown if
    /// the grant shows an end of its quarter of an hour: the phone knew the exact time when it sealed.
    package func shown(_ answer: Answer) -> Answer? {
        guard case .answer(_, _, let permit) = seen else { return nil }
        return switch answer {
        case .open(let fix): permit.shows(fix.timestamp) ? answer : nil
        case .sealed(_, let from, let to): permit.shows(from) || permit.shows(to) ? answer : nil
        }
    }

    /// The number of the fix that answered, if it may not be shown and the query therefore looks pending.
    ///
    /// - Parameter fix: The fix that may be shown.
    package func hiddenFix(_ fix: Answer?) -> Int64? {
        guard fix == nil, case .answer(_, let number, _) = seen, !isOver else { return nil }
        return number
    }

    /// Whether the requester sees anything else than a pending query.
    ///
    /// - Parameter hidden: The number of a fix that may not be shown.
    package func isSettled(but hidden: Int64?) -> Bool {
        if case .answer(_, let number, _) = seen, number == hidden { isOver } else { !isPending }
    }

    /// The status that the requester sees, given the fix that may be shown.
    package func status(_ fix: Answer?) -> String {
        switch seen {
        case .pending: Seen.pendingWord
        case .noAnswer: Seen.noAnswerWord
        case .answer(let word, _, _):
            fix == nil ? (isOver ? Seen.noAnswerWord : Seen.pendingWord) : word
        }
    }
}
