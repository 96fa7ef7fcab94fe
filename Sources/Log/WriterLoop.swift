import Synchronization
import Threading
import Whereabouts

/// The writer's thread: decides, numbers and encodes commands, and has them committed. It is the only code that changes
/// the standing.
///
/// While a batch is being written (``Committer``), the next one is prepared. Each command is decided against a standing
/// that has all commands before it, durable or not. No caller gets an answer before everything up to it is durable,
/// because batches are committed and answered in order. If a commit fails, everything built on it fails.
///
/// Only the writer's thread uses it. It is no class, because each access to a class's property is checked at run time.
struct WriterLoop: ~Copyable {
    private let log: EventLog
    private let committer: Committer
    private var keys: SealingKeys
    private var tail: FixTail
    private var saving: Saving
    private let clock: @Sendable () -> Timestamp
    private var batch = Batch()
    private var sealer = EventSealer()
    /// The encoded events of the command that is being prepared.
    private var facts = FactWriter()
    /// The keys whose damage was reported.
    private var unreadable: Set<Int64> = []
    /// The news for pushes from the commands of this round.
    private var pushNews: PushNews = []
    /// Refusals that were only counted: the requester, their number, and since when.
    private var counted: [PrincipalID: (count: Int64, since: Timestamp, steadySince: Int64)] = [:]

    /// When and where the standing is saved.
    private struct Saving {
        let file: any SavedStanding
        let log: LogIdentity
        /// The events since the standing was last saved.
        var events = 0
        /// The time of the next save after a failed one, on the monotonic clock; `nil` if the last one succeeded.
        var retrySeconds: Double?

        /// Whether a save may be tried: always, but for a while after a failed one.
        var isDue: Bool { retrySeconds.map { $0 <= MonotonicClock.seconds } ?? true }
    }

    /// 2 MiB: enough for a checkpoint in an idle moment.
    private static let pagesPerIdleCheckpoint = 500
    /// The most events that a start after a crash folds: about a second of work.
    private static let eventsPerSave = 100_000
    /// The pause after a failed save, which may fail for long, as on a full disk.
    private static let pauseAfterFailedSaveSeconds = 60.0
    private static let idleMilliseconds = 200
    /// The writer's own thread commits this few commands: to wake the other thread would cost more.
    private static let fewCommands = 2

    init(
        log: EventLog, store: LogStore, tip: consuming LogTip, tail: FixTail, savedStanding: any SavedStanding,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.log, self.tail, self.clock) = (log, tail, clock)
        saving = Saving(file: savedStanding, log: store.identity)
        committer = Committer(store: store, tip: tip, log: log)
        keys = SealingKeys(log.keys)
        if log.standingTrouble.withLock({ $0 != nil }) {
            saving.retrySeconds = MonotonicClock.seconds + Self.pauseAfterFailedSaveSeconds
        }
    }

    /// The thread. A fault stops the log: all waiting callers get it, and only a restart helps.
    mutating func run() {
        committer.start()
        defer { committer.stop() }
        do throws(LogError) {
            while true {
                switch log.queue.nextStep(lending: &batch, milliseconds: Self.idleMilliseconds) {
                case .commands(let commands):
                    try prepare(commands)
                    // The keys must be destroyed before any answer, and before anything is built on that.
                    if batch.destroysKeys { try commitDestruction() }
                    if saving.events >= Self.eventsPerSave, saving.isDue { try save() }
                case .turn(let othersWait): commit(othersWait: othersWait)
                case .nothing: try idle()
                case .stop:
                    try recordCounted(at: clock(), all: true)
                    try save()
                    handOverMarks()
                    try log.queue.withTurn { () throws(LogError) in try committer.store.checkpoint() }
                    return
                case .failed(let failure): throw failure
                }
            }
        } catch {
            log.fail(error)
            committer.answer(&batch, error)
            Diagnostics.fault("log.stopped", "The log stopped: \(error)")
            log.tellFailure()
        }
    }

    // MARK: Committing

    /// Commits the prepared commands. The writer has the turn.
    private mutating func commit(othersWait: Bool) {
        if batch.answers.count <= Self.fewCommands, !othersWait {
            log.queue.endTurn(committer.commit(&batch))
        } else {
            committer.handOver(&batch)
        }
    }

    /// Commits an erasure, or the end of old reports, and destroys the keys, before its caller or any later command gets
    /// an answer.
    private mutating func commitDestruction() throws(LogError) {
        var unfinished: LogError?
        try log.queue.withTurn { () throws(LogError) in
            try committer.write(batch)
            do throws(LogError) { try destroyKeys() } catch {
                guard error.isFull, log.room?.spend() == true else { throw error }
                try destroyKeys()
            }
            sealer.forgetKeys()
            log.recentFixes.removeAll()
            // A saved standing still names the erased people; if a new one cannot be saved, there must be none.
            if let error = saveDurable(), !saving.file.remove() { unfinished = error }
            if !batch.erased.isEmpty { log.identities?.erase(batch.erased) }
        }
        committer.answer(&batch, unfinished)
    }

    /// Destroys the keys of the batch. A second call destroys those that are left.
    private func destroyKeys() throws(LogError) {
        for person in batch.erased { try log.keys.destroyKeys(of: person) }
        for (person, keys) in batch.retired { try log.keys.destroy(keys, of: person) }
    }

    /// Saves the standing once its events are durable.
    private mutating func save() throws(LogError) {
        try log.queue.withTurn { () throws(LogError) in
            try committer.write(batch)
            saveDurable()
        }
        committer.answer(&batch, nil)
    }

    /// Saves the durable standing if possible. The standing file is a cache, so appending continues either way. Called
    /// in the writer's turn.
    @discardableResult
    private mutating func saveDurable() -> LogError? {
        var failure: LogError?
        do throws(LogError) {
            try saving.file.save(log.standingCopy(), committer.tip.heads, log: saving.log)
        } catch { failure = error }
        log.noteStanding(failure)
        if failure == nil {
            saving.events = 0
            log.changeStanding { $0.forgetChanges() }
        }
        saving.retrySeconds = failure.map { _ in MonotonicClock.seconds + Self.pauseAfterFailedSaveSeconds }
        return failure
    }

    /// Gives the index of fixes the marks since the last time.
    private mutating func handOverMarks() {
        tail.handOver(upTo: log.withStanding { $0.place }, durable: log.head)
    }

    /// The work of an idle moment: marks, a checkpoint, counted refusals, and a save that failed before.
    private mutating func idle() throws(LogError) {
        handOverMarks()
        try log.queue.withTurn { () throws(LogError) in
            if committer.store.pagesSinceCheckpoint >= Self.pagesPerIdleCheckpoint { try committer.store.checkpoint() }
            try committer.store.confirm()
        }
        try recordCounted(at: clock(), all: false)
        if saving.retrySeconds != nil, saving.isDue { try save() }
    }

    // MARK: Deciding

    /// Decides and numbers commands. If the clock has gone back since the last event, that is recorded first.
    private mutating func prepare(_ commands: [Waiting]) throws(LogError) {
        handOverMarks()
        let now = clock()
        if !counted.isEmpty { try recordCounted(at: now, all: false) }
        let before = log.withStanding { ($0.place, $0.lastRecordedAt) }
        if before.0 > 0, now < before.1 {
            let stepped = Event.clockSteppedBack(byMilliseconds: before.1.milliseconds - now.milliseconds)
            try write(stepped, to: .house, cause: 0, actor: .house, correlation: RequestID(high: 0, low: 0), at: now)
        }
        for item in commands {
            try prepare(item, at: now)
            // The disk should not wait for the rest of a long queue.
            if batch.answers.count >= Gathering.fewest, !batch.destroysKeys,
                log.queue.tryTurn(prepared: batch.answers.count)
            {
                commit(othersWait: true)
            }
        }
        if !pushNews.isEmpty {
            log.publish(pushNews)
            pushNews = []
        }
    }

    /// Decides one command, numbers its events, and notes its answer.
    private mutating func prepare(_ item: Waiting, at now: Timestamp) throws(LogError) {
        if item.correlation.isOfKeyedRequest, let outcome = earlierOutcome(of: item, at: now) {
            return batch.answer(item, outcome)
        }
        switch decide(item, at: now) {
        case .failure(let failure): batch.answer(item, .failure(failure))
        case .success(let decision):
            if let missing = try encode(decision, at: now) { return batch.answer(item, .failure(.fault(missing))) }
            var disclosed: RecordedEvent?
            // By index: the iterator of a collection from another module allocates for each element.
            for index in decision.drafts.indices {
                let draft = decision.drafts[index]
                let recorded = number(
                    draft.event, facts.written[index], to: draft.stream, cause: draft.cause,
                    actor: draft.actor(of: item.caller), correlation: draft.request(of: item.correlation), at: now)
                if recorded.event.isDisclosure { disclosed = recorded }
            }
            if case .erased(let person) = decision.reply { batch.erased.append(person) }
            batch.answer(item, outcome(decision, of: item, at: now, disclosed))
        }
    }

    /// Encodes the events of a decision and finds the keys of their parts before any of them gets a number.
    ///
    /// - Returns: The reason why the decision cannot be recorded: a key exists and does not open.
    private mutating func encode(_ decision: Decision, at now: Timestamp) throws(LogError) -> LogError? {
        facts.reset()
        keys.begin()
        for index in decision.drafts.indices {
            let draft = decision.drafts[index]
            let encoded = facts.write(draft.event, in: draft.stream, at: now)
            do throws(LogError) {
                try keys.find(for: facts.parts(of: encoded), at: now, isDaily: log.hasDailyKeys)
            } catch {
                guard case .keyUnreadable(let id) = error else { throw error }
                if unreadable.insert(id).inserted { Diagnostics.fault("key.unreadable", "\(error)") }
                return error
            }
        }
        if let highest = keys.newHighestID() { log.changeStanding { $0.note(key: highest) } }
        return nil
    }

    /// The outcome of the same request before; `nil` if this is the first one.
    private func earlierOutcome(of item: Waiting, at now: Timestamp) -> Result<Receipt, AppendFailure>? {
        log.withStanding { standing in
            do throws(Refusal) {
                return try standing.outcome(of: item.correlation, by: item.caller, at: now).map {
                    .success(Receipt(reply: $0.reply, last: $0.last, isOfEvent: true, recordedAt: $0.at))
                }
            } catch { return .failure(.refused(error)) }
        }
    }

    /// Decides a command against the newest standing. If a look-up of an older fix is not possible now, the command
    /// must be sent again.
    private mutating func decide(_ item: Waiting, at now: Timestamp) -> Result<Decision, AppendFailure> {
        tail.isBehind = false
        let result: Result<Decision, AppendFailure> = log.withStanding { standing in
            do throws(Refusal) {
                return .success(
                    try standing.decide(
                        item.command, by: item.caller, at: now,
                        questionTime: { log.questions.time(of: $0, $1, at: now) }, known: &tail))
            } catch { return .failure(.refused(error)) }
        }
        guard tail.isBehind else { return result }
        let sentence = log.identities?.sentenceWhileIncomplete ?? FixIdentities.sentenceOfAMoment
        return .failure(.notYet(sentence, retryAfterSeconds: 1))
    }

    /// The answer to a decided command: its receipt, or the refusal. A refusal may have events all the same.
    private mutating func outcome(
        _ decision: Decision, of item: Waiting, at now: Timestamp, _ disclosed: RecordedEvent?
    ) -> Result<Receipt, AppendFailure> {
        if decision.isCountedRefusal {
            let first = (count: Int64(0), since: now, steadySince: log.questions.now())
            counted[item.caller.principal, default: first].count += 1
        }
        if let refusal = decision.refusal {
            log.refusals.add(1, ordering: .relaxed)
            return .failure(.refused(refusal))
        }
        return .success(
            Receipt(
                reply: decision.reply, last: log.withStanding { $0.place }, isOfEvent: !decision.drafts.isEmpty,
                recordedAt: now, disclosed: disclosed))
    }

    /// Adds an event of the service's own to the batch.
    private mutating func write(
        _ event: Event, to stream: StreamID, cause: Int64, actor: PrincipalID, correlation: RequestID, at now: Timestamp
    ) throws(LogError) {
        facts.reset()
        let encoded = facts.write(event, in: stream, at: now)
        keys.begin()
        try keys.find(for: facts.parts(of: encoded), at: now, isDaily: log.hasDailyKeys)
        if let highest = keys.newHighestID() { log.changeStanding { $0.note(key: highest) } }
        number(event, encoded, to: stream, cause: cause, actor: actor, correlation: correlation, at: now)
    }

    /// Numbers and seals an event whose keys are found.
    @discardableResult
    private mutating func number(
        _ event: Event, _ encoded: EventCoding.Encoded, to stream: StreamID, cause: Int64, actor: PrincipalID,
        correlation: RequestID, at now: Timestamp
    ) -> RecordedEvent {
        let (place, version) = log.withStanding { ($0.place, $0.version(of: stream)) }
        let header = EventHeader(
            number: place + 1, stream: stream, version: version + 1, kind: encoded.kind.rawValue,
            recordedAt: now, actor: actor, correlation: correlation, cause: cause)
        batch.events.append(
            sealer.seal(header, encoded, of: facts, keys: keys.take(encoded.parts.count), into: &batch.bytes))
        if let (device, fix) = event.identified, let fix, let person = stream.person {
            tail.append(fix, device: device, person: person, number: header.number)
        }
        switch event {
        case .locationQueryEnded(let query, _, _): batch.ended.append(query)
        case .retentionSet: keys.forget()
        case .retentionApplied(let applied, _):
            if let person = stream.person { batch.retired.append((person, applied.keys)) }
        default: break
        }
        let recorded = RecordedEvent(
            number: header.number, stream: stream, version: header.version, recordedAt: now, actor: actor,
            correlation: correlation, cause: cause, event: event)
        if case .fixReported = event, log.recentFixes.isFollowed { batch.fixes.append(recorded) }
        log.changeStanding { $0.fold(recorded) }
        pushNews.formUnion(PushNews(event))
        if case .locationQueried(let asked) = event {
            // The time of a question begins now, not when the question is first read.
            log.withStanding { standing in
                if let query = standing.queries[asked.id] { log.questions.begin(asked.id, query, at: now) }
            }
        }
        log.tally.withLock { $0.fold(event, kind: encoded.kind, recordedAt: now) }
        saving.events += 1
        return recorded
    }

    /// Refusals beyond the rate become one event for each requester and minute.
    private mutating func recordCounted(at now: Timestamp, all: Bool) throws(LogError) {
        let steady = log.questions.now()
        for (principal, refused) in counted where all || steady - refused.steadySince >= 60_000 {
            counted[principal] = nil
            let item = Waiting(
                command: .countRefusals(by: principal, count: refused.count, since: refused.since), caller: .house,
                correlation: .random(), completion: { _ in })
            try prepare(item, at: now)
        }
    }
}
