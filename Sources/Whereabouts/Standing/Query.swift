extension Standing {
    /// A location query that was allowed.
    package struct Query: Hashable, Sendable {
        /// The person who is asked about.
        package let subject: PersonID
        /// The principal who asked, who alone may read the answer.
        package let requester: PrincipalID
        /// Why it was permitted when it was asked.
        package let verdict: Verdict
        /// Whether a person asked, or the service at intervals.
        package let initiation: LocationQuery.Initiation
        /// The number of the `LocationQueried` event.
        package let number: Int64
        /// When the question was recorded.
        package let askedAt: Timestamp
        /// When it ends unanswered, by the house's clock.
        package let deadline: Timestamp
        /// For a coarse query: the quarter of an hour of the newest fix that the requester could be shown when asking.
        package internal(set) var shownWhenAsked: Timestamp?
        /// The state of consent, if the grant requires it.
        package internal(set) var consent: Consent?
        /// The attempts to get a fix.
        package internal(set) var waking = Waking()
        /// How the query ended; `nil` while it is open.
        package internal(set) var outcome: Outcome?
        /// Whether the answer has been shown: to show it again counts as a read.
        package internal(set) var isDisclosed = false

        /// How the query ended; `nil` while it is open.
        package var end: QueryEnd? { outcome?.end }
        /// The number of the fix that answered.
        package var fix: Int64? { outcome?.fix }
        /// Whether the subject has yet to consent: before that nothing is pushed, and nothing answers.
        package var awaitsConsent: Bool { consent == .asked }
    }
}

extension Standing.Query {
    /// The state of the subject's consent.
    package enum Consent: Int64, Sendable {
        case asked = 1
        case given = 2
    }

    /// How a query ended.
    package struct Outcome: Hashable, Sendable {
        /// How it ended.
        package let end: QueryEnd
        /// When the end was recorded.
        package let at: Timestamp
        /// The number of the fix that answered.
        package let fix: Int64?
        /// The cell in which a coarse grant shows the fix that answered, if it was the newest then.
        package let cell: HeldCell?
    }

    /// The attempts to get a fix from the subject's devices.
    package struct Waking: Hashable, Sendable {
        /// The pushes to each device for which one was started.
        package internal(set) var pushes: [Push] = []
        /// The devices that got the command to report, in the answer to one of their messages.
        package internal(set) var commanded: [DeviceID] = []
        /// The pushes that were withheld, each once, in the order recorded.
        package internal(set) var withheld: [Withheld] = []
        /// Whether the log records that there is no device to wake.
        package internal(set) var hasNoDevice = false
    }

    /// The pushes to one device.
    package struct Push: Hashable, Sendable {
        /// The state of the pushes to one device.
        package enum State: Int64, Sendable {
            /// Started, without a recorded outcome.
            case underWay = 1
            /// APNs has accepted it.
            case accepted = 2
            /// Another try may follow the last recorded one: APNs did not answer, or answered 403, 429 or 5xx.
            case unsettled = 3
            /// APNs refused this device or its token.
            case refused = 4
            /// It was withdrawn or given up before another try.
            case unsent = 5
        }
        /// The device to wake.
        package let device: DeviceID
        /// The start of the last try.
        package internal(set) var startedAt: Timestamp
        /// The device's ``Standing/Device/Push/wokenAt`` before that start.
        package internal(set) var wokenBefore: Timestamp?
        /// The tries so far, including those that a restart left without a record.
        package internal(set) var tries: Int64 = 0
        /// How often the push was started; a restart can start it once more.
        package internal(set) var starts: Int64 = 1
        /// The state after the last recorded try.
        package internal(set) var state = State.underWay
        /// Whether APNs accepted a try, or may have accepted one.
        package internal(set) var mayHaveArrived = false
    }

    /// A push that was withheld, and why.
    package struct Withheld: Hashable, Sendable {
        /// The device that was not woken.
        package let device: DeviceID
        /// Why it was not.
        package let reason: PushWithheld
    }
}

extension Standing.Query.Waking {
    mutating func noteStart(_ device: DeviceID, at now: Timestamp, wokenBefore: Timestamp?) {
        guard let index = pushes.firstIndex(where: { $0.device == device }) else {
            return pushes.append(Standing.Query.Push(device: device, startedAt: now, wokenBefore: wokenBefore))
        }
        pushes[index].wokenBefore = wokenBefore
        if pushes[index].state == .underWay {
            pushes[index].tries += 1
            pushes[index].mayHaveArrived = true
        }
        pushes[index].startedAt = now
        pushes[index].starts += 1
        pushes[index].state = .underWay
    }

    mutating func note(_ attempt: LocationPushAttempt) {
        guard let index = pushes.firstIndex(where: { $0.device == attempt.device }) else { return }
        pushes[index].tries = max(pushes[index].tries, attempt.attempt)
        if !attempt.outcome.isCertainlyUnaccepted { pushes[index].mayHaveArrived = true }
        pushes[index].state = attempt.endState
    }

    mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        for index in pushes.indices {
            pushes[index].startedAt = pushes[index].startedAt.stepped(back: milliseconds)
            pushes[index].wokenBefore = pushes[index].wokenBefore?.stepped(back: milliseconds)
        }
    }
}

extension LocationPushAttempt {
    /// The state of the push after this try.
    fileprivate var endState: Standing.Query.Push.State {
        switch outcome {
        case .accepted: .accepted
        case .unknown, .notProcessed: .unsettled
        case .withheld, .withdrawn, .notSent: .unsent
        case .refused:
            // 403 concerns the service's own key; 429 and 5xx are temporary.
            switch status ?? 0 {
            case 403, 429, 500...: .unsettled
            default: .refused
            }
        }
    }
}

// MARK: - Rows

extension Standing.Query {
    /// - Parameter id: The query's id, which is a field because the row has the number of its place in the order asked.
    func write(_ id: QueryID, to fields: inout FieldWriter) {
        fields.identifier(1, id)
        fields.integer(2, subject.rawValue)
        fields.integer(3, requester.rawValue)
        fields.integer(4, verdict.code)
        fields.integer(5, initiation.rawValue)
        fields.integer(6, number)
        fields.timestamp(7, askedAt)
        fields.timestamp(8, deadline)
        fields.integer(9, outcome?.end.rawValue)
        fields.integer(10, outcome?.fix)
        fields.integers(11, waking.pushes.flatMap(\.stored))
        fields.integers(12, waking.withheld.flatMap { [$0.device.rawValue, $0.reason.rawValue] })
        fields.integer(13, consent?.rawValue)
        fields.bool(14, isDisclosed ? true : nil)
        fields.integers(15, waking.commanded.map(\.rawValue))
        fields.bool(16, waking.hasNoDevice ? true : nil)
        fields.timestamp(17, shownWhenAsked)
        fields.cell(18, outcome?.cell)
        fields.timestamp(19, outcome?.at)
    }

    /// Reads the fields after the id.
    init(from fields: inout FieldReader) throws(CBORError) {
        self.init(
            subject: PersonID(rawValue: try require(try fields.integer(2))),
            requester: PrincipalID(rawValue: try require(try fields.integer(3))),
            verdict: try require(Verdict(code: try require(try fields.integer(4)))),
            initiation: try require(LocationQuery.Initiation(rawValue: try require(try fields.integer(5)))),
            number: try require(try fields.integer(6)), askedAt: try require(try fields.timestamp(7)),
            deadline: try require(try fields.timestamp(8)))
        let end = try fields.integer(9).flatMap(QueryEnd.init(rawValue:))
        let fix = try fields.integer(10)
        waking.pushes = try Push.stored(try fields.integers(11))
        let withheld = try fields.integers(12)
        guard withheld.count % 2 == 0 else { throw .unexpected }
        for index in stride(from: 0, to: withheld.count, by: 2) {
            waking.withheld.append(
                Withheld(
                    device: DeviceID(rawValue: withheld[index]),
                    reason: try require(PushWithheld(rawValue: withheld[index + 1]))))
        }
        consent = try fields.integer(13).flatMap(Consent.init(rawValue:))
        isDisclosed = try fields.bool(14) ?? false
        waking.commanded = try fields.integers(15).map(DeviceID.init(rawValue:))
        waking.hasNoDevice = try fields.bool(16) ?? false
        shownWhenAsked = try fields.timestamp(17)
        let cell = try fields.cell(18)
        let at = try fields.timestamp(19)
        if let end { outcome = Outcome(end: end, at: try require(at), fix: fix, cell: cell) }
    }
}

extension Standing.Query.Push {
    /// Seven numbers; `Int64.min` means a missing time.
    fileprivate var stored: [Int64] {
        [
            device.rawValue, startedAt.milliseconds, tries, starts, state.rawValue, mayHaveArrived ? 1 : 0,
            wokenBefore?.milliseconds ?? .min,
        ]
    }

    /// Reads pushes from the concatenation of their ``stored`` numbers.
    fileprivate static func stored(_ numbers: [Int64]) throws(CBORError) -> [Self] {
        guard numbers.count % 7 == 0 else { throw .unexpected }
        var pushes: [Self] = []
        for start in stride(from: 0, to: numbers.count, by: 7) {
            guard let state = State(rawValue: numbers[start + 4]) else { throw .unexpected }
            let wokenBefore = numbers[start + 6]
            pushes.append(
                Self(
                    device: DeviceID(rawValue: numbers[start]), startedAt: Timestamp(milliseconds: numbers[start + 1]),
                    wokenBefore: wokenBefore == .min ? nil : Timestamp(milliseconds: wokenBefore),
                    tries: numbers[start + 2], starts: numbers[start + 3], state: state,
                    mayHaveArrived: numbers[start + 5] == 1))
        }
        return pushes
    }
}

/// The time that a query's deadline is compared with: the house's time, unless the clock was set after the query was
/// asked.
package typealias QuestionTime = (QueryID, Standing.Query) -> Timestamp
