package import Cryptography
import Synchronization
package import Threading
package import Whereabouts

/// The append-only log. One thread decides commands and numbers and seals their events; another hashes and commits them.
///
/// Commands wait in a bounded queue. The writer drains the queue into one transaction, so that one fsync makes many
/// commands durable; a commit waits at most for those whom the last one answered (`Gathering`). A fault of the disk
/// stops the log until a restart: a failed fsync is never retried, because the kernel may have dropped the unwritten data.
package final class EventLog: Sendable {
    /// The most commands that wait. Beyond this, callers get `AppendFailure.busy`.
    package static let queueBound = 16_384
    /// While a commit takes longer, as on a disk that hangs, callers get `AppendFailure.busy`.
    package static let longestCommitSeconds = 10.0
    /// The most commands in one transaction.
    static let batchBound = 1024

    /// Receives the outcome of a command, once.
    package typealias Completion = @Sendable (Result<Receipt, AppendFailure>) -> Void

    /// A closure in its own type: a bare closure taken out of a generic type would be wrapped once more each time.
    private struct Listener<News> {
        let call: @Sendable (News) -> Void
    }

    /// The commands that wait for the writer.
    package let queue = WriterQueue()
    private let standing: Mutex<Standing>
    private let headNumber: Atomic<Int64>
    private let headSignal = Monitor((number: Int64(0), isStopped: false, isReleased: false))
    private let whenEnded = Mutex<Listener<[QueryID]>?>(nil)
    private let whenFailed = Mutex<(@Sendable () -> Void)?>(nil)
    /// The remaining times of the open questions.
    package let questions: QuestionClock
    /// `nil` if no disk is watched.
    package let room: Room?
    /// The reason why the last save of the standing failed; `nil` if it did not.
    let standingTrouble = Mutex<String?>(nil)
    private let whenPushNews = Mutex<Listener<PushNews>?>(nil)
    private let writer: Mutex<WorkerThread?>
    /// The keys that seal the personal parts of events.
    package let keys: KeyRing
    /// The index from fixes to their events; `nil` for a log that is followed, which decides nothing.
    package let identities: FixIdentities?
    /// The path of `log.sqlite`.
    package let path: String
    /// The id of the log, made with the file.
    package let id: Identifier128
    /// The epoch: 1, and one more after each restore or accepted loss.
    package let epoch: Int64
    /// The events appended since the start, counted.
    let tally = Mutex(EventTally())
    /// The durations of transactions, from the first row to the end of the fsync.
    let commitSeconds = Mutex(Histogram())
    /// Since when the transaction under way runs, on the monotonic clock; `nil` without one.
    let commitBegan = Mutex<Double?>(nil)
    /// The commands refused since the start.
    let refusals = Atomic<Int64>(0)
    /// The newest durable fixes with the leaf of the last, for the folds of this process; of batches without other events.
    package let recentFixes = RecentBatches<RecordedEvent, Digest>(atMost: 8192)

    /// Opens or creates the log and starts its thread.
    ///
    /// - Parameters:
    ///   - savedStanding: The standing between starts, and the files that know how long the log must be.
    ///   - settings: The settings of the index of fix identities.
    ///   - server: The engine in which events become durable before the file has them; `nil` if the file is the only place.
    ///   - acceptingLoss: Whether to open a log that lacks durable events, and record the loss.
    ///   - room: The disk space; while it is short, reports are refused.
    ///   - clock: The time of the house.
    ///   - steady: Milliseconds of a monotonic clock; `clock` if not given.
    /// - Throws: ``LogError/lost(_:)`` if events are missing and the loss is not accepted.
    package init(
        path: String, keys: KeyRing, savedStanding: any SavedStanding, identities settings: FixIdentities.Settings,
        server: (any LogEngine)? = nil, acceptingLoss: Bool = false, room: Room? = nil,
        clock: @escaping @Sendable () -> Timestamp, steady: (@Sendable () -> Int64)? = nil
    ) throws(LogError) {
        questions = QuestionClock(steady ?? { @Sendable in clock().milliseconds })
        self.path = path
        self.room = room
        self.keys = keys
        let store = try LogStore(path: path, server: server)
        let reader = try LogReader(path: path, keys: keys)
        var loss = try LogWitness.loss(
            store.identity, reader, WitnessFile.read(WitnessFile.path(besideLog: path)) + savedStanding.witnesses())
        if let loss {
            guard acceptingLoss else { throw .lost(loss) }
            store.beginEpoch(after: loss)
        }
        var standing: Standing
        var heads: StreamHeads
        do throws(LogError) {
            (standing, heads) = try savedStanding.load(log: store.identity, reader: reader)
        } catch {
            guard acceptingLoss, case .lost(let found) = error else { throw error }
            loss = found
            store.beginEpoch(after: found)
            (standing, heads) = (Standing(), [:])
        }
        id = store.identity.id
        epoch = store.identity.epoch
        let saved = standing.place
        try Self.catchUp(&standing, &heads, to: store.identity.size, reader)
        try keys.goOn(after: standing)
        let tip = LogTip(after: store.identity, heads: heads)
        // A crash between the event of an erasure, or of retention, and its consequences leaves keys, and the person's rows in the saved
        // standing. They are removed first.
        let erased = standing.persons.erased
        try keys.destroyKeys(of: erased)
        try keys.finishRetention(standing)
        var unsaved: LogError?
        if saved < standing.place {
            do throws(LogError) {
                try savedStanding.save(standing, heads, log: store.identity)
                standing.forgetChanges()
            } catch {
                unsaved = error
                guard savedStanding.remove() else { throw error }
            }
        }
        let head = store.identity.size
        headNumber = Atomic(head)
        headSignal.change { $0.number = head }
        self.standing = Mutex(standing)
        writer = Mutex(nil)
        let index = FixIdentities(
            settings, path: path, keys: keys, identity: store.identity, erased: erased, reader: reader, room: room)
        identities = index
        if let unsaved { noteStanding(unsaved) }
        let tail = FixTail(index: index, reader: reader)
        let loop = OwnedByOneThread(
            WriterLoop(log: self, store: store, tip: tip, tail: tail, savedStanding: savedStanding, clock: clock))
        writer.withLock { $0 = WorkerThread { loop.value.run() } }
        if let loss {
            try keys.beginEpoch(epoch)
            do throws(AppendFailure) {
                _ = try appendAndWait(
                    .recordLoss(from: loss.from, to: loss.known, epoch: epoch, mark: .randomMark()), by: .house,
                    correlation: .random())
            } catch {
                if case .fault(let fault) = error { throw fault }
                throw .stopped
            }
            Diagnostics.note("log.loss", "Events \(loss.from) to \(loss.known) are lost; the log records this.")
        }
    }

    /// Opens the complete copy of a log that another process writes. `work` runs on the log's thread until the queue ends.
    package init(
        following path: String, keys: KeyRing, savedStanding: any SavedStanding,
        steady: @escaping @Sendable () -> Int64,
        work: @escaping @Sendable (EventLog, StreamHeads) -> Void
    ) throws(LogError) {
        questions = QuestionClock(steady)
        (self.path, self.keys, room, identities) = (path, keys, nil, nil)
        let reader = try LogReader(path: path, keys: keys)
        let identity = try reader.identity()
        (id, epoch) = (identity.id, identity.epoch)
        var (standing, heads) = try savedStanding.load(log: identity, reader: reader)
        try Self.catchUp(&standing, &heads, to: identity.size, reader)
        headNumber = Atomic(identity.size)
        headSignal.change { $0.number = identity.size }
        self.standing = Mutex(standing)
        writer = Mutex(nil)
        writer.withLock { [heads] in $0 = WorkerThread { work(self, heads) } }
    }

    /// The number of the newest durable event.
    package var head: Int64 { headNumber.load(ordering: .acquiring) }

    /// Waits until the log has an event after `number`. Returns the head, or `number` if `milliseconds` have passed or
    /// the log has stopped.
    package func waitForHead(after number: Int64, milliseconds: Int) -> Int64 {
        let head = headSignal.wait(milliseconds: milliseconds) { state in
            state.number > number || state.isStopped ? max(state.number, number) : nil
        }
        return head ?? number
    }

    /// As ``waitForHead(after:milliseconds:)``, for requests, whose wait also ends at ``releaseCallers()``.
    package func waitForCaller(after number: Int64, milliseconds: Int) {
        _ = headSignal.wait(milliseconds: milliseconds) { state in
            state.number > number || state.isStopped || state.isReleased ? true : nil
        }
    }

    /// Ends the wait of every request; later requests do not wait.
    package func releaseCallers() { headSignal.change { $0.isReleased = true } }

    /// Reads the newest standing. It may include events that are not durable yet, but an event appended because of them
    /// comes after them in the log.
    package func withStanding<R>(_ body: (borrowing Standing) -> R) -> R { standing.withLock { body($0) } }

    /// Whether the track of a person is sealed under keys of days.
    func hasDailyKeys(_ person: PersonID) -> Bool { withStanding { $0.retention.hasDailyKeys(person) } }

    /// A copy of the newest standing.
    package func standingCopy() -> Standing { standing.withLock { $0 } }

    /// Changes the newest standing. Only the writer's thread does.
    package func changeStanding<R>(_ body: (inout Standing) -> R) -> R { standing.withLock { body(&$0) } }

    /// Queues a command. `completion` is called once: when the events are durable, on the thread that committed them,
    /// or at once on this thread if the command is not taken. It must be quick and must not block.
    ///
    /// A command waits for those before it. It is refused, without being decided, while the queue is full (`busy`), the
    /// disk is full (`full`) or the log has stopped (`fault`).
    package func submit(
        _ command: Command, by caller: Caller, correlation: RequestID,
        _ completion: @escaping @Sendable (Result<Receipt, AppendFailure>) -> Void
    ) {
        let waiting = Waiting(command: command, caller: caller, correlation: correlation, completion: completion)
        let refusal = queue.enqueue(1, unless: refusal(of: command.isTakenWithoutRoom)) { $0.append(waiting) }
        if let refusal { completion(.failure(refusal)) }
    }

    /// Decides and appends each of several commands, in their order, so that they share commits. The queue takes all of
    /// them, or none because the log is stopping, short of room or busy. `completion` is called once with the outcome
    /// of each, when all are durable or refused; like that of ``submit(_:by:correlation:_:)``, it must be quick.
    ///
    /// - Parameter correlation: The same for all of them, so not that of a keyed request.
    package func submit(
        _ commands: [Command], by caller: Caller, correlation: RequestID,
        _ completion: @escaping @Sendable ([Result<Receipt, AppendFailure>]) -> Void
    ) {
        guard !commands.isEmpty else { return completion([]) }
        let results = Mutex([Result<Receipt, AppendFailure>]())
        let count = commands.count
        let collected: Completion = { result in
            // Commands are answered in the order in which they wait.
            let all = results.withLock { results -> [Result<Receipt, AppendFailure>]? in
                results.append(result)
                return results.count == count ? results : nil
            }
            if let all { completion(all) }
        }
        let refusal = queue.enqueue(count, unless: refusal(of: commands.allSatisfy(\.isTakenWithoutRoom))) { waiting in
            for command in commands {
                waiting.append(
                    Waiting(command: command, caller: caller, correlation: correlation, completion: collected))
            }
        }
        if let refusal { completion(commands.map { _ in .failure(refusal) }) }
    }

    /// Why the disk lets no commands be taken now; `nil` if it does. Some are taken without room on the disk.
    func refusal(of isTakenWithoutRoom: Bool) -> AppendFailure? {
        if secondsOfCommit > Self.longestCommitSeconds { return .busy(retryAfterSeconds: 5) }
        return room?.isShort == true && !isTakenWithoutRoom ? .full : nil
    }

    /// As ``submit(_:by:correlation:_:)``, for the service's own threads: blocks until the events are durable.
    package func appendAndWait(
        _ command: Command, by caller: Caller, correlation: RequestID
    ) throws(AppendFailure) -> Receipt {
        let box = Monitor<Result<Receipt, AppendFailure>?>(nil)
        submit(command, by: caller, correlation: correlation) { result in box.change { $0 = result } }
        guard let result = box.wait(for: { $0 }) else { throw .fault(.stopped) }
        return try result.get()
    }

    /// Finishes the waiting commands, saves the standing and closes the file.
    package func stop() {
        queue.stop()
        writer.withLock { thread in
            thread?.join()
            thread = nil
        }
        identities?.stop()
        // Waiting followers return.
        headSignal.change { $0.isStopped = true }
    }

    /// Publishes a new head after its commit, and wakes the threads that wait for it.
    package func publish(head: Int64, ended: [QueryID]) {
        headNumber.store(head, ordering: .releasing)
        headSignal.change { $0.number = head }
        if !ended.isEmpty { whenEnded.withLock { $0 }?.call(ended) }
    }

    /// Calls `body` with queries whose end has just become durable, on the thread that committed it: it must be quick.
    package func notifyOfEnds(_ body: @escaping @Sendable ([QueryID]) -> Void) {
        whenEnded.withLock { $0 = Listener(call: body) }
    }

    /// Calls `body` on the writer's thread after each decision that concerns pushes, before it is durable. `body` must
    /// be quick. The standing already has the decision.
    package func notifyOfPushNews(_ body: @escaping @Sendable (PushNews) -> Void) {
        whenPushNews.withLock { $0 = Listener(call: body) }
    }

    /// Hands news to the listener.
    func publish(_ news: PushNews) { whenPushNews.withLock { $0 }?.call(news) }

    /// Stops the log: waiting callers get the error, and no command is accepted any more.
    package func fail(_ error: LogError) {
        for item in queue.fail(error) { item.completion(.failure(.fault(error))) }
    }

    /// Calls `body` once after a fault has stopped the log and every waiting caller has its error; at once if the log
    /// has stopped already.
    package func notifyOfFailure(_ body: @escaping @Sendable () -> Void) {
        whenFailed.withLock { $0 = body }
        if failure != nil { tellFailure() }
    }

    /// Calls the body of ``notifyOfFailure(_:)``: every waiting caller has its error.
    package func tellFailure() { whenFailed.withLock { $0.take() }?() }

    /// Notes whether the standing was saved. If not, the next start refolds it.
    package func noteStanding(_ error: LogError?) {
        let isNew = standingTrouble.withLock { trouble in
            defer { trouble = error.map { "\($0)" } }
            return (trouble == nil) != (error == nil)
        }
        guard isNew else { return }
        if let error {
            Diagnostics.fault(
                "standing.unsaved",
                "The standing cannot be saved: \(error) Appending continues, and saving is tried again; until it succeeds, a start takes longer."
            )
        } else {
            Diagnostics.note("standing.saved", "The standing is saved again.")
        }
    }

    /// The fault that stopped the log; `nil` while it works.
    package var failure: LogError? { queue.failure }

    /// Folds the events from the standing's place up to `head`.
    ///
    /// - Throws: ``LogError/damaged(number:_:)`` if a number or a version of a stream is missing.
    package static func catchUp(
        _ standing: inout Standing, _ heads: inout StreamHeads, to head: Int64, _ reader: LogReader
    ) throws(LogError) {
        while standing.place < head {
            let events = try reader.events(after: standing.place, limit: Int(min(4096, head - standing.place)))
            guard !events.isEmpty else {
                throw .damaged(number: standing.place + 1, "the log says it has \(head) events")
            }
            standing.note(key: reader.highestKey)
            for (event, leaf) in events {
                guard event.number == standing.place + 1 else {
                    throw .damaged(number: standing.place + 1, "it is missing")
                }
                let due = (heads[event.stream]?.version ?? 0) + 1
                guard event.version == due else {
                    throw .damaged(
                        number: event.number, "it has version \(event.version) of its stream, and \(due) is due")
                }
                standing.fold(event)
                heads[event.stream] = StreamHead(number: event.number, version: event.version, leaf: leaf)
            }
        }
    }
}
