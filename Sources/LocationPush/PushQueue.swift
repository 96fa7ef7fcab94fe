/// The waiting pushes, those in flight, and the consequence of each answer: a value without socket and clock.
///
/// Every push handed in ends with exactly one outcome, from `answered`, `broken`, `fail`, `withdraw`,
/// `expire` or `endAll`.
struct PushQueue {
    typealias Number = UInt64

    /// The consequence of a finished try.
    struct Verdict: Equatable {
        /// The push's outcome, or nil when it will be tried again.
        var outcome: PushOutcome?
        /// Leave the connection for a new one.
        var needsNewConnection = false
        /// The operator should know; the queue or the topic is held.
        var alarm: PushReason?
    }

    private enum Place: Equatable {
        case ready, paused(untilMs: Int64), inFlight
    }

    private struct Entry {
        let push: LocationPushRequest
        let deadlineMs: Int64
        var place = Place.ready
        /// Tries made, for the record.
        var attempts = 0
        /// The repeated tries that count against ``retriesMax``.
        var retries = 0
        /// Those of them after which it was unknown whether APNs had accepted the push.
        var unknowns = 0
        var renewals = 0
        /// Refusals in a row without being processed, which do not count but slow the push down.
        var refusals = 0
    }

    private struct Hold {
        let reason: PushReason
        let lengthMs: Int64
        let untilMs: Int64
    }

    /// The most renewals of the provider token for one push: one for an expired token, one for a clock that is set
    /// meanwhile.
    private static let renewalsMax = 2
    /// The most repeated tries of a push, whatever its deadline. With the usual pauses, 15 minutes have 17.
    static let retriesMax = 24
    /// The most repeated tries after a lost one. They are fewer because each may wake the phone again.
    static let unknownRetriesMax = 3
    /// With fewer device holds than this, those that are over are not looked for.
    private static let deviceHoldsMin = 1024

    private let timing: PushTiming
    /// Numbers from 0 up to but not including 1.
    private let jitter: @Sendable () -> Double
    private var entries: [Number: Entry] = [:]
    private var ready = [LocationPushRequest.Priority.userAsked: NumberLine(), .serverAsked: NumberLine()]
    private var timers = TimerHeap()
    private(set) var inFlightCount = 0
    private var hold: Hold?
    private var topicHolds: [String: Hold] = [:]
    /// The device tokens to which too much was sent.
    private var deviceHolds: [[UInt8]: Hold] = [:]
    /// The number of device holds above which those that are over are dropped.
    private var deviceHoldsBound = PushQueue.deviceHoldsMin
    /// Why there is no connection at the moment, to explain deadlines that pass meanwhile.
    var connectFault: TransportFault?

    init(timing: PushTiming, jitter: @escaping @Sendable () -> Double) {
        self.timing = timing
        self.jitter = jitter
    }

    var count: Int { entries.count }
    var heldBecause: PushReason? { hold?.reason }

    /// The push with this number, which must not have ended.
    func push(_ number: Number) -> LocationPushRequest { entries[number]!.push }
    /// Tries of this push that have begun.
    func attempts(_ number: Number) -> Int { entries[number]?.attempts ?? 0 }

    /// When something is next due, on the clock of the `now` arguments.
    func nextDueMs(atMs now: Int64) -> Int64? {
        let held = hold.flatMap { $0.untilMs > now ? $0.untilMs : nil }
        return [timers.nextDueMs, held].compactMap { $0 }.min()
    }

    /// Takes a push in. How many may wait is the owner's to bound.
    mutating func submit(_ number: Number, _ push: LocationPushRequest, deadlineMs: Int64) {
        entries[number] = Entry(push: push, deadlineMs: deadlineMs)
        ready[push.priority]!.append(number)
        timers.insert(number, dueMs: deadlineMs)
        if timers.count > 2 * entries.count + 1024 { timers.sweep { entries[$0] != nil } }
    }

    /// Whether a push could be sent if there were a connection.
    mutating func hasReady(atMs now: Int64) -> Bool {
        settle(now)
        return !isHeld(now) && ready.values.contains { !$0.isEmpty }
    }

    /// The next push to be sent, which counts as on its way from now on; a person's before the service's own.
    mutating func next(atMs now: Int64) -> Number? {
        settle(now)
        guard !isHeld(now) else { return nil }
        for priority in [LocationPushRequest.Priority.userAsked, .serverAsked] {
            if let number = ready[priority]!.popFirst() {
                entries[number]!.place = .inFlight
                entries[number]!.attempts += 1
                inFlightCount += 1
                return number
            }
        }
        return nil
    }

    /// Takes an answer.
    ///
    /// - Parameter renewed: Whether there is a newer provider token, if the answer refuses the token.
    mutating func answered(_ number: Number, _ answer: PushAnswer, renewed: Bool, atMs now: Int64) -> Verdict {
        guard land(number) else { return Verdict() }
        let push = entries[number]!.push
        guard let rejection = answer.rejection else {
            if let hold, hold.untilMs <= now { self.hold = nil }
            topicHolds[push.topic] = nil
            if !deviceHolds.isEmpty { deviceHolds[push.deviceToken] = nil }
            return end(number, .accepted(apnsID: answer.apnsID ?? push.apnsID, uniqueID: answer.uniqueID))
        }
        let afterMs = (answer.retryAfterSeconds ?? 0) * 1000
        switch rejection.consequence {
        case .retry where rejection.status == 429:
            let heldMs = holdDevice(push.deviceToken, because: rejection.reason, atLeastMs: afterMs, atMs: now)
            return retry(number, or: .rejected(rejection), atLeastMs: heldMs, atMs: now)
        case .retry:
            return retry(number, or: .rejected(rejection), atLeastMs: afterMs, atMs: now)
        case .retryOnNewConnection:
            var verdict = retry(number, or: .rejected(rejection), atLeastMs: afterMs, atMs: now)
            verdict.needsNewConnection = true
            return verdict
        case .renewProviderToken where renewed && entries[number]!.renewals < Self.renewalsMax,
            .configurationAlarm where renewed && entries[number]!.renewals < Self.renewalsMax:
            entries[number]!.renewals += 1
            makeReady(number)
            return Verdict()
        case .renewProviderToken, .configurationAlarm:
            raiseHold(because: rejection.reason, topic: push.topic, atMs: now)
            var verdict = end(number, .rejected(rejection))
            verdict.alarm = rejection.reason
            return verdict
        case .retireDeviceToken, .wrongEnvironment, .bug:
            return end(number, .rejected(rejection))
        }
    }

    /// Decides the consequence of a try that ended without an answer.
    ///
    /// - Parameter notProcessed: `true` if APNs certainly did not process the push; `false` if it may have.
    mutating func broken(_ number: Number, notProcessed: Bool, why: String, atMs now: Int64) -> Verdict {
        guard land(number) else { return Verdict() }
        if now >= entries[number]!.deadlineMs { return end(number, .failed(.deadlinePassed)) }
        if notProcessed {
            // It may always go again, but not in a tight loop against a peer that refuses everything.
            let refusals = entries[number]!.refusals
            entries[number]!.refusals += 1
            if refusals == 0 {
                makeReady(number)
            } else {
                pause(number, untilMs: now + jittered(min(100 << Int64(min(refusals, 6)), 5000)))
            }
            return Verdict()
        }
        let outcome = PushOutcome.failed(.connectionLost(why))
        guard entries[number]!.unknowns < Self.unknownRetriesMax else { return end(number, outcome) }
        entries[number]!.unknowns += 1
        return retry(number, or: outcome, atLeastMs: 0, atMs: now)
    }

    /// Ends a push that has not ended yet, whatever it waits for.
    mutating func fail(_ number: Number, _ fault: PushFault) -> Verdict {
        guard land(number) else { return Verdict() }
        return end(number, .failed(fault))
    }

    /// The waiting pushes in the order they were handed in, without those in flight.
    var waiting: [Number] {
        entries.filter { $0.value.place != .inFlight }.keys.sorted()
    }

    /// Whether the push has neither ended nor is in flight.
    func isWaiting(_ number: Number) -> Bool { entries[number].map { $0.place != .inFlight } ?? false }

    /// Ends a push that is no longer wanted, whatever it waits for.
    mutating func withdraw(_ number: Number) -> Verdict {
        guard land(number) else { return Verdict() }
        return end(number, .withdrawn)
    }

    /// Ends the waiting pushes whose deadline has come, and readies those whose pause is over.
    ///
    /// - Returns: The ended pushes with their outcomes, and the late ones in flight. The caller gives up the tries of the
    ///   latter, which ends them by an answer or a break.
    mutating func expire(atMs now: Int64) -> (ended: [(number: Number, outcome: PushOutcome)], flying: [Number]) {
        var ended: [(number: Number, outcome: PushOutcome)] = []
        var flying: [Number] = []
        while let number = timers.popDue(atMs: now) {
            guard let entry = entries[number] else { continue }
            if entry.deadlineMs <= now {
                if entry.place == .inFlight {
                    flying.append(number)
                    continue
                }
                let fault = lateness(of: entry, atMs: now)
                _ = fail(number, fault)
                ended.append((number, .failed(fault)))
            } else if case .paused(let untilMs) = entry.place, untilMs <= now {
                makeReady(number)
            }
        }
        return (ended, flying)
    }

    /// Ends a hold early. As at its normal end, one push at a time is sent until one is accepted.
    mutating func liftHold(atMs now: Int64) {
        guard let hold, hold.untilMs > now else { return }
        self.hold = Hold(reason: hold.reason, lengthMs: hold.lengthMs, untilMs: now)
    }

    /// Ends everything; returns the numbers that had not ended.
    mutating func endAll() -> [Number] {
        let numbers = entries.keys.sorted()
        entries.removeAll()
        for priority in ready.keys { ready[priority] = NumberLine() }
        inFlightCount = 0
        return numbers
    }

    // MARK: - Private parts

    private func lateness(of entry: Entry, atMs now: Int64) -> PushFault {
        if let hold { return .held(hold.reason) }
        if let topicHold = topicHolds[entry.push.topic] { return .held(topicHold.reason) }
        if let deviceHold = deviceHolds[entry.push.deviceToken] { return .held(deviceHold.reason) }
        if let connectFault { return .unreachable(connectFault.description) }
        return .deadlinePassed
    }

    /// Takes a push off its way; false when it has ended meanwhile.
    private mutating func land(_ number: Number) -> Bool {
        guard let entry = entries[number] else { return false }
        if entry.place == .inFlight { inFlightCount -= 1 }
        entries[number]!.place = .ready
        return true
    }

    private mutating func end(_ number: Number, _ outcome: PushOutcome) -> Verdict {
        entries[number] = nil
        return Verdict(outcome: outcome)
    }

    /// Tries a push again after a pause, unless it has had all its tries or its deadline would pass meanwhile.
    private mutating func retry(
        _ number: Number, or outcome: PushOutcome, atLeastMs: Int64, atMs now: Int64
    ) -> Verdict {
        let entry = entries[number]!
        let leftMs = entry.deadlineMs - now
        let pauseMs = max(pauseMs(before: entry.retries, leftMs: leftMs), atLeastMs)
        guard entry.retries < Self.retriesMax, pauseMs < leftMs else { return end(number, outcome) }
        entries[number]!.retries += 1
        pause(number, untilMs: now + pauseMs)
        return Verdict()
    }

    /// The pause of a push before a repeated try, the first being 0; see ``PushTiming/retryMs``.
    private func pauseMs(before retry: Int, leftMs: Int64) -> Int64 {
        let last = timing.retryMs.last ?? timing.retryMsMax
        if retry < timing.retryMs.count { return jittered(timing.retryMs[retry]) }
        let doubled = min(last << Int64(min(retry - timing.retryMs.count + 1, 16)), timing.retryMsMax)
        return max(min(jittered(doubled), leftMs / 2), jittered(last))
    }

    /// Holds all pushes to one device token, longer with each refusal after a hold.
    ///
    /// - Returns: The milliseconds from now until the end of the hold.
    private mutating func holdDevice(
        _ token: [UInt8], because reason: PushReason, atLeastMs: Int64, atMs now: Int64
    ) -> Int64 {
        if deviceHolds.count >= deviceHoldsBound {
            deviceHolds = deviceHolds.filter { $0.value.untilMs + $0.value.lengthMs > now }
            deviceHoldsBound = max(Self.deviceHoldsMin, 2 * deviceHolds.count)
        }
        let before = deviceHolds[token]
        let untilMs = before?.untilMs ?? now
        var lengthMs = before?.lengthMs ?? jittered(timing.retryMs.first ?? timing.retryMsMax)
        if before != nil, untilMs <= now { lengthMs = min(2 * lengthMs, timing.retryMsMax) }
        let next = Hold(
            reason: reason, lengthMs: lengthMs,
            untilMs: max(before != nil && untilMs > now ? untilMs : now + lengthMs, now + atLeastMs))
        deviceHolds[token] = next
        return next.untilMs - now
    }

    private mutating func pause(_ number: Number, untilMs: Int64) {
        entries[number]!.place = .paused(untilMs: untilMs)
        timers.insert(number, dueMs: untilMs)
    }

    private mutating func makeReady(_ number: Number) {
        entries[number]!.place = .ready
        ready[entries[number]!.push.priority]!.append(number)
    }

    /// Holds the topic, or everything when the reason concerns more than a topic. Only a failed probe after a hold
    /// lengthens it: the pushes already on their way all report the same alarm.
    private mutating func raiseHold(because reason: PushReason, topic: String, atMs now: Int64) {
        let before = reason == .topicDisallowed ? topicHolds[topic] : hold
        if let before, before.untilMs > now { return }
        let lengthMs = before.map { min(2 * $0.lengthMs, timing.holdMsMax) } ?? timing.holdMs
        let next = Hold(reason: reason, lengthMs: lengthMs, untilMs: now + lengthMs)
        if reason == .topicDisallowed {
            topicHolds[topic] = next
        } else {
            hold = next
        }
    }

    /// Held: nothing goes. After the hold one push at a time goes until one is accepted.
    private func isHeld(_ now: Int64) -> Bool {
        guard let hold else { return false }
        return hold.untilMs > now || inFlightCount > 0
    }

    /// Brings a push that may go to the front of each line: drops the ended ones, sets held topics aside.
    private mutating func settle(_ now: Int64) {
        for priority in [LocationPushRequest.Priority.userAsked, .serverAsked] {
            while let number = ready[priority]!.first {
                guard let entry = entries[number], entry.place == .ready else {
                    _ = ready[priority]!.popFirst()
                    continue
                }
                guard let untilMs = heldUntilMs(entry.push), untilMs > now else { break }
                _ = ready[priority]!.popFirst()
                pause(number, untilMs: untilMs)
            }
        }
    }

    /// The end of the hold of the push's topic or device token, if it is held.
    private func heldUntilMs(_ push: LocationPushRequest) -> Int64? {
        let topicMs = topicHolds.isEmpty ? nil : topicHolds[push.topic]?.untilMs
        let deviceMs = deviceHolds.isEmpty ? nil : deviceHolds[push.deviceToken]?.untilMs
        return [topicMs, deviceMs].compactMap { $0 }.max()
    }

    private func jittered(_ ms: Int64) -> Int64 {
        Int64(Double(ms) * (0.75 + 0.5 * jitter()))
    }
}

/// A first-in, first-out line of push numbers; taking the first costs the same however long the line is.
private struct NumberLine {
    private var numbers: [PushQueue.Number] = []
    private var head = 0

    var first: PushQueue.Number? { head < numbers.count ? numbers[head] : nil }
    var isEmpty: Bool { head == numbers.count }

    mutating func append(_ number: PushQueue.Number) {
        numbers.append(number)
    }

    mutating func popFirst() -> PushQueue.Number? {
        guard let number = first else { return nil }
        head += 1
        if head == numbers.count || head > 1024 && head > numbers.count / 2 {
            numbers.removeFirst(head)
            head = 0
        }
        return number
    }
}
