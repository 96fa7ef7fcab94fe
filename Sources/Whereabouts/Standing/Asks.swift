/// The requests that one person may still make about another, and the reads in progress. Only requests by a grant are
/// limited, not those about the person's own data or the operator's recorded reads.
package struct Asks: Hashable, Sendable {
    /// A requester and a subject.
    package struct Pair: Hashable, Sendable, Comparable {
        /// The person who asks, and the person they ask about.
        package let asker, subject: PersonID

        package init(asker: PersonID, subject: PersonID) { (self.asker, self.subject) = (asker, subject) }

        package static func < (a: Pair, b: Pair) -> Bool { (a.asker, a.subject) < (b.asker, b.subject) }
    }

    /// A read that further pages may continue.
    package struct Begun: Hashable, Sendable {
        /// The request for its first page.
        package let id: RequestID
        /// The question of the read.
        package let question: LocationRead.Question
        /// The requested range.
        package let from, to: Timestamp?
        /// The time of the first page. Further pages show nothing from after it, so that continuing a read is no way to
        /// watch.
        package let at: Timestamp
    }

    /// The allowance that a question takes from.
    package enum Kind: Sendable {
        case push, read

        /// The limit for this kind.
        package var rate: Allowance.Rate {
            switch self {
            case .push: Limits.pushesPerAsker
            case .read: Limits.readsPerAsker
            }
        }
    }

    /// The rest of ``Limits/pushesPerAsker``.
    package internal(set) var pushes = Allowance()
    /// The rest of ``Limits/readsPerAsker``.
    package internal(set) var reads = Allowance()
    /// The latest reads, oldest first.
    package internal(set) var begun: [Begun] = []

    /// Full allowances, and no read begun.
    package init() {}

    /// The allowance of a kind.
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
    /// The seconds until a question of this kind is allowed; `nil` if it is allowed now.
    package func secondsUntil(
        _ kind: Asks.Kind, under verdict: Verdict, of requester: PrincipalID, about subject: PersonID, at now: Timestamp
    ) -> Int64? {
        guard case .granted = verdict else { return nil }
        let pair = Asks.Pair(asker: PersonID(rawValue: requester.rawValue), subject: subject)
        guard let asks = requests.asks[pair] else { return nil }
        let next = asks[kind].earliest(at: rate(of: kind, for: requester), now: now)
        return next <= now ? nil : max(1, (next.milliseconds - now.milliseconds + 999) / 1000)
    }

    /// The read that `question` continues: the same question about the same range, begun recently by the same
    /// requester.
    package func begun(
        _ question: ReadQuestion, under permit: Permit, by requester: PrincipalID, at now: Timestamp
    ) -> Asks.Begun? {
        guard let id = question.continuing else { return nil }
        let pair = Asks.Pair(asker: PersonID(rawValue: requester.rawValue), subject: permit.subject)
        return requests.asks[pair]?.begun.last {
            $0.id == id && $0.question == question.question && $0.from == question.from && $0.to == question.to
                && now <= $0.at.adding(seconds: Limits.readContinuedSeconds)
        }
    }

    /// Takes one from the allowance, if the verdict is a limited one.
    mutating func take(_ kind: Asks.Kind, under verdict: Verdict, of requester: PrincipalID, about subject: PersonID) {
        let rate = rate(of: kind, for: requester)
        change(under: verdict, of: requester, about: subject) { asks, now in asks[kind].take(at: rate, now: now) }
    }

    /// The limit for a requester. Everyone who has opened a share link reads as the same requester.
    func rate(of kind: Asks.Kind, for requester: PrincipalID) -> Allowance.Rate {
        kind == .read && links[LinkID(rawValue: requester.rawValue)] != nil ? Limits.readsPerLink : kind.rate
    }

    mutating func change(
        under verdict: Verdict, of requester: PrincipalID, about subject: PersonID,
        _ body: (inout Asks, Timestamp) -> Void
    ) {
        guard case .granted = verdict else { return }
        let pair = Asks.Pair(asker: PersonID(rawValue: requester.rawValue), subject: subject)
        let now = lastRecordedAt
        body(&requests.asks[pair, default: Asks()], now)
    }

    mutating func foldRead(_ recorded: RecordedEvent, _ read: LocationRead) {
        if read.verdict.isRefused { requests.countRefusal(by: read.reader, at: recorded.recordedAt) }
        guard read.continuing == nil, let subject = read.subject else { return }
        let rate = rate(of: .read, for: read.reader)
        change(under: read.verdict, of: read.reader, about: subject) { asks, now in
            asks.reads.take(at: rate, now: now)
            guard let content = read.content.content else { return }
            asks.begin(
                Asks.Begun(
                    id: recorded.correlation, question: read.question, from: content.from, to: content.to, at: now))
        }
    }
}

// MARK: - Rows

// Of one pair: 1 asker · 2 subject · 3 pushes · 4 reads · 5 the ids of the reads · 6 four numbers for each: the question,
// the range (extreme values for an open end), and the time
extension Asks {
    func write(_ pair: Pair, to fields: inout FieldWriter) {
        fields.integer(1, pair.asker.rawValue)
        fields.integer(2, pair.subject.rawValue)
        fields.timestamp(3, pushes.fullAt)
        fields.timestamp(4, reads.fullAt)
        fields.bytes(5, begun.isEmpty ? nil : begun.flatMap(\.id.bytes))
        fields.integers(
            6,
            begun.flatMap { read in
                [
                    read.question.rawValue, read.from?.milliseconds ?? .min, read.to?.milliseconds ?? .max,
                    read.at.milliseconds,
                ]
            })
    }

    static func read(from fields: inout FieldReader) throws(CBORError) -> (Pair, Asks) {
        let pair = Pair(
            asker: PersonID(rawValue: try require(try fields.integer(1))),
            subject: PersonID(rawValue: try require(try fields.integer(2))))
        var asks = Asks()
        asks.pushes.fullAt = try fields.timestamp(3)
        asks.reads.fullAt = try fields.timestamp(4)
        let ids = try fields.identifiers(5)
        let numbers = try fields.integers(6)
        guard numbers.count == ids.count * 4 else { throw .unexpected }
        for (index, id) in ids.enumerated() {
            let four = numbers[index * 4..<index * 4 + 4].map { $0 }
            asks.begun.append(
                Begun(
                    id: id, question: try require(LocationRead.Question(rawValue: four[0])),
                    from: four[1] == .min ? nil : Timestamp(milliseconds: four[1]),
                    to: four[2] == .max ? nil : Timestamp(milliseconds: four[2]),
                    at: Timestamp(milliseconds: four[3])))
        }
        return (pair, asks)
    }
}
