import Cryptography
import Synchronization
import Threading
package import Whereabouts

/// The append-only log. One thread decides commands and numbers their events; another seals, hashes and commits them.
///
/// Commands wait in a bounded queue. The writer drains the queue into one transaction, so that one fsync makes many
/// commands durable; there is no artificial delay. A fault of the disk stops the log until a restart: a failed fsync is
/// never retried, because the kernel may have dropped the unwritten data.
package final class EventLog: Sendable {
    /// The most commands that wait. Beyond this, callers get `AppendFailure.busy`.
    package static let queueBound = 16_384
    /// While a commit takes longer, as on a disk that hangs, callers get `AppendFailure.busy`.
    package static let longestCommitSeconds = 10.0
    /// The most commands in one transaction.
    static let batchBound = 1024

    /// Receives the outcome of a command, once.
    typealias Completion = @Sendable (Result<Receipt, AppendFailure>) -> Void

    /// A command that waits to be decided, with its caller.
    struct Waiting: Sendable {
        let command: Command
        let caller: Caller
        let correlation: RequestID
        let completion: Completion
    }

    /// The state that callers, the writer and the committing thread share.
    struct Queue {
        /// The commands in the order in which they are decided.
        var waiting: [Waiting] = []
        /// An empty array with capacity, given back by the writer, so that the queue does not grow anew for each batch.
        var spare: [Waiting] = []
        var isStopping = false
        /// The fault that stopped the log; it stays until a restart.
        var failure: LogError?
        /// Whether a thread has the turn to write the file.
        var isCommitting = false
    }

    /// A closure in its own type: a bare closure taken out of a generic type would be wrapped once more each time.
    private struct Listener {
        let call: @Sendable ([QueryID]) -> Void
    }

    /// Changes that concern waiting pushes.
    package struct PushNews: OptionSet {
        /// The bits of the set.
        package let rawValue: Int
        /// A push may no longer be wanted.
        package static let unwanted = PushNews(rawValue: 1)
        /// A device has a new push token.
        package static let newToken = PushNews(rawValue: 2)

        /// The set of these bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        init(_ event: Event) {
            self = event.mayForbidPushes ? .unwanted : []
            if case .locationPushTokenRegistered = event { insert(.newToken) }
        }
    }

    /// As ``Listener``, for news of pushes.
    private struct PushListener {
        let call: @Sendable (PushNews) -> Void
    }

    /// The writer thread's next step.
    enum Step {
        case commands([Waiting])
        /// The writer now has the turn to write the file; `othersWait` if commands wait meanwhile.
        case turn(othersWait: Bool)
        case nothing
        /// Everything is durable, and no more commands come.
        case stop
        case failed(LogError)
    }

    let queue = Monitor(Queue())
    /// A copy of ``Queue/isCommitting`` to read without the lock. The queue's own value decides.
    private let isCommittingHint = Atomic<Bool>(false)
    private let standing: Mutex<Standing>
    private let headNumber: Atomic<Int64>
    private let headSignal = Monitor((number: Int64(0), isStopped: false, isReleased: false))
    private let whenEnded = Mutex<Listener?>(nil)
    private let whenFailed = Mutex<(@Sendable () -> Void)?>(nil)
    /// The remaining times of the open questions.
    package let questions: QuestionClock
    /// `nil` if no disk is watched.
    package let room: Room?
    /// The reason why the last save of the standing failed; `nil` if it did not.
    let standingTrouble = Mutex<String?>(nil)
    private let whenPushNews = Mutex<PushListener?>(nil)
    private let writer: Mutex<WorkerThread?>
    /// The keys that seal the personal parts of events.
    package let keys: KeyRing
    /// The index from fixes to their events.
    package let identities: FixIdentities
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
        let sealer = LogSealer(after: store.identity, heads: heads)
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
        identities = FixIdentities(
            settings, path: path, keys: keys, identity: store.identity, erased: erased, reader: reader, room: room)
        if let unsaved { noteStanding(unsaved) }
        let tail = FixTail(index: identities, reader: reader)
        let loop = WriterLoop(
            log: self, store: store, sealer: sealer, tail: tail, savedStanding: savedStanding, clock: clock)
        writer.withLock { $0 = WorkerThread { loop.run() } }
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
    package func withStanding<R>(_ body: (borrowing Standing) -> R) -> R {
        standing.withLock { body($0) }
    }

    /// A copy of the newest standing.
    package func standingCopy() -> Standing { standing.withLock { $0 } }

    /// Changes the newest standing. Only the writer's thread does.
    func changeStanding<R>(_ body: (inout Standing) -> R) -> R {
        standing.withLock { body(&$0) }
    }

    /// Queues a command. `completion` is called once: when the events are durable, on the thread that committed them,
    /// or at once on this thread if the command is not taken. It must be quick and must not block.
    ///
    /// A command waits for those before it. It is refused, without being decided, while the queue is full (`busy`), the
    /// disk is full (`full`) or the log has stopped (`fault`).
    package func submit(
        _ command: Command, by caller: Caller, correlation: RequestID,
        _ completion: @escaping @Sendable (Result<Receipt, AppendFailure>) -> Void
    ) {
        let refusal: AppendFailure? = queue.change { queue in
            if let failure = queue.failure { return .fault(failure) }
            if queue.isStopping || secondsOfCommit > Self.longestCommitSeconds { return .busy(retryAfterSeconds: 5) }
            if room?.isShort == true, !command.isTakenWithoutRoom { return .full }
            if queue.waiting.count >= Self.queueBound { return .busy(retryAfterSeconds: 1) }
            queue.waiting.append(
                Waiting(command: command, caller: caller, correlation: correlation, completion: completion))
            return nil
        }
        if let refusal { completion(.failure(refusal)) }
    }

    /// As ``submit(_:by:correlation:_:)``, for tasks.
    package func append(
        _ command: Command, by caller: Caller, correlation: RequestID
    ) async throws(AppendFailure) -> Receipt {
        let result = await withCheckedContinuation { continuation in
            submit(command, by: caller, correlation: correlation) { continuation.resume(returning: $0) }
        }
        return try result.get()
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
        queue.change { $0.isStopping = true }
        writer.withLock { thread in
            thread?.join()
            thread = nil
        }
        identities.stop()
        // Waiting followers return.
        headSignal.change { $0.isStopped = true }
    }

    /// The writer's next step: write the prepared commands as soon as the turn is free; meanwhile take waiting ones.
    ///
    /// - Parameter prepared: The number of commands that are prepared and not being written.
    func nextStep(prepared: Int, milliseconds: Int) -> Step {
        queue.wait(milliseconds: milliseconds) { queue in
            if let failure = queue.failure { return .failed(failure) }
            if prepared > 0, !queue.isCommitting {
                takeTurn(&queue)
                return .turn(othersWait: !queue.waiting.isEmpty)
            }
            if !queue.waiting.isEmpty, prepared < Self.batchBound {
                guard queue.waiting.count > Self.batchBound else {
                    let batch = queue.waiting
                    queue.waiting = queue.spare
                    queue.spare = []
                    return .commands(batch)
                }
                let batch = Array(queue.waiting.prefix(Self.batchBound))
                queue.waiting.removeFirst(Self.batchBound)
                return .commands(batch)
            }
            return queue.isStopping && prepared == 0 && !queue.isCommitting ? .stop : nil
        } ?? .nothing
    }

    /// Takes the turn to write the file if it is free.
    func tryTurn() -> Bool {
        if isCommittingHint.load(ordering: .relaxed) { return false }
        return queue.read { queue in
            if queue.isCommitting || queue.failure != nil { return false }
            takeTurn(&queue)
            return true
        }
    }

    /// Frees the turn to write the file.
    func endTurn() {
        queue.change { queue in
            queue.isCommitting = false
            isCommittingHint.store(false, ordering: .relaxed)
        }
    }

    private func takeTurn(_ queue: inout Queue) {
        queue.isCommitting = true
        isCommittingHint.store(true, ordering: .relaxed)
    }

    /// Waits for the turn to write the file and runs `body` with it.
    func withTurn(_ body: () throws(LogError) -> Void) throws(LogError) {
        let failure: LogError? =
            queue.wait { queue -> LogError?? in
                if queue.isCommitting { return nil }
                takeTurn(&queue)
                return .some(queue.failure)
            } ?? nil
        defer { endTurn() }
        if let failure { throw failure }
        try body()
    }

    /// Takes back the array of a finished batch, so that its capacity is used again.
    func giveBack(_ batch: consuming [Waiting]) {
        batch.removeAll(keepingCapacity: true)
        queue.read { $0.spare = batch }
    }

    /// Publishes a new head after its commit, and wakes the threads that wait for it.
    func publish(head: Int64, ended: [QueryID]) {
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
        whenPushNews.withLock { $0 = PushListener(call: body) }
    }

    /// Hands news to the listener.
    func publish(_ news: PushNews) { whenPushNews.withLock { $0 }?.call(news) }

    /// Stops the log: waiting callers get the error, and no command is accepted any more.
    func fail(_ error: LogError) {
        let waiting = queue.change { queue in
            queue.failure = error
            defer { queue.waiting = [] }
            return queue.waiting
        }
        for item in waiting { item.completion(.failure(.fault(error))) }
    }

    /// Calls `body` once after a fault has stopped the log and every waiting caller has its error; at once if the log
    /// has stopped already.
    package func notifyOfFailure(_ body: @escaping @Sendable () -> Void) {
        whenFailed.withLock { $0 = body }
        if failure != nil { tellFailure() }
    }

    /// Calls the body of ``notifyOfFailure(_:)``: every waiting caller has its error.
    func tellFailure() { whenFailed.withLock { $0.take() }?() }

    /// Notes whether the standing was saved. If not, the next start refolds it.
    func noteStanding(_ error: LogError?) {
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
    package var failure: LogError? { queue.read { $0.failure } }

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
