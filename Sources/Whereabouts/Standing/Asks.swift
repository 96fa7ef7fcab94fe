/// What one person may still ask about another, and the reads under way. Only who asks by a grant is limited: one's own
/// data and the operator's reads on record are not.
package struct Asks: Hashable, Sendable {
    /// Who asks about whom.
    package struct Pair: Hashable, Sendable, Comparable {
        package let asker, subject: PersonID

        package init(asker: PersonID, subject: PersonID) { (self.asker, self.subject) = (asker, subject) }

        package static func < (a: Pair, b: Pair) -> Bool { (a.asker, a.subject) < (b.asker, b.subject) }
    }

    /// A read that further pages may go on with.
    package struct Begun: Hashable, Sendable {
        /// The request that asked for its first page.
        package let id: RequestID
        package let question: LocationRead.Question
        package let from, to: Timestamp?
        /// Nothing from after this moment stands on its further pages: going on is no way to watch.
        package let at: Timestamp
    }

    /// What a question takes from.
    package enum Kind: Sendable {
        case push, read

        package var rate: Allowance.Rate {
            switch self {
            case .push: Limits.pushesPerAsker
            case .read: Limits.readsPerAsker
            }
        }
    }

    package internal(set) var pushes = Allowance()
    package internal(set) var reads = Allowance()
    /// The latest, oldest first.
    package internal(set) var begun: [Begun] = []

    package init() {}

    package subscript(_ kind: Kind) -> Allowance {
        get { kind == .push ? pushes : reads }
        set { if kind == .push { pushes = newValue } else { reads = newValue } }
    }

    mutating func begin(_ read: Begun) {
        begun.removeAll { $0.at.adding(seconds: Limits.readContinuedSeconds) < read.at }
        begun.append(read)
        if begun.count > Limits.readsContinued { begun.removeFirst() }
    }
}

extension Standing {
    /// Seconds until a question of this kind is let through; `nil` when it is now.
    package func secondsUntil(
        _ kind: Asks.Kind, under verdict: Verdict, of requester: PrincipalID, about subject: PersonID, at now: Timestamp
    ) -> Int64? {
        guard case .granted = verdict else { return nil }
        let pair = Asks.Pair(asker: PersonID(rawValue: requester.rawValue), subject: subject)
        guard let asks = asks[pair] else { return nil }
        let next = asks[kind].earliest(at: kind.rate, now: now)
        return next <= now ? nil : max(1, (next.milliseconds - now.milliseconds + 999) / 1000)
    }

    /// The read that `question` goes on with: the same question about the same range, begun by the same asker a short time
    /// ago.
    package func begun(
        _ question: ReadQuestion, under permit: Permit, by requester: PrincipalID, at now: Timestamp
    ) -> Asks.Begun? {
        guard let id = question.continuing else { return nil }
        let pair = Asks.Pair(asker: PersonID(rawValue: requester.rawValue), subject: permit.subject)
        return asks[pair]?.begun.last {
            $0.id == id && $0.question == question.question && $0.from == question.from && $0.to == question.to
                && now <= $0.at.adding(seconds: Limits.readContinuedSeconds)
        }
    }

    /// Takes one, if the verdict is one that is limited.
    mutating func take(_ kind: Asks.Kind, under verdict: Verdict, of requester: PrincipalID, about subject: PersonID) {
        change(under: verdict, of: requester, about: subject) { asks, now in asks[kind].take(at: kind.rate, now: now) }
    }

    mutating func change(
        under verdict: Verdict, of requester: PrincipalID, about subject: PersonID,
        _ body: (inout Asks, Timestamp) -> Void
    ) {
        guard case .granted = verdict else { return }
        let pair = Asks.Pair(asker: PersonID(rawValue: requester.rawValue), subject: subject)
        let now = lastRecordedAt
        body(&asks[pair, default: Asks()], now)
    }
}
