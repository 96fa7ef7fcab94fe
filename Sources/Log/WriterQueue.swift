import Threading
package import Whereabouts

/// A command that waits to be decided, with its caller.
package struct Waiting: Sendable {
    package let command: Command
    package let caller: Caller
    package let correlation: RequestID
    package let completion: EventLog.Completion
}

/// The commands that wait for the writer's thread, and the turn to write the file, which one thread has at a time.
///
/// Callers never wait here; the writer's thread does. It is woken only when it has something to do, because being woken
/// costs as much as deciding two commands.
package final class WriterQueue: Sendable {
    fileprivate struct State {
        /// The commands in the order in which they are decided.
        var waiting: [Waiting] = []
        /// The commands that the writer has taken and no thread is writing.
        var prepared = 0
        /// The prepared batch while the writer waits (`isLent`), or an emptied one once another thread has taken it.
        var lent = Batch()
        var isLent = false
        /// Whether the lent batch was taken while commands waited, so that they are decided although they are few.
        var isBehind = false
        /// The writer is woken when so many commands wait.
        var wakingCount = 1
        var isStopping = false
        /// The fault that stopped the log; it stays until a restart.
        var failure: LogError?
        /// Whether a thread has the turn to write the file.
        var isCommitting = false
        var gathering = Gathering()
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

    private let state = Monitor(State())

    // MARK: Callers

    /// Adds commands, if the queue takes all of them.
    ///
    /// - Parameters:
    ///   - count: How many `append` adds.
    ///   - refusal: Another reason not to take them.
    /// - Returns: Why they are not taken: the log has stopped or is stopping, `refusal`, or the queue is full.
    func enqueue(
        _ count: Int, unless refusal: @autoclosure () -> AppendFailure?, _ append: (inout [Waiting]) -> Void
    ) -> AppendFailure? {
        let (refusal, wakes) = state.read { state -> (AppendFailure?, Bool) in
            if let failure = state.failure { return (.fault(failure), false) }
            if state.isStopping { return (.busy(retryAfterSeconds: 5), false) }
            if let refusal = refusal() { return (refusal, false) }
            if state.waiting.count + count > EventLog.queueBound { return (.busy(retryAfterSeconds: 1), false) }
            append(&state.waiting)
            return (nil, state.waiting.count >= state.wakingCount)
        }
        if wakes { state.wake() }
        return refusal
    }

    /// The commands that wait to be decided.
    var count: Int { state.read { $0.waiting.count } }

    /// The fault that stopped the log; `nil` while it works.
    var failure: LogError? { state.read { $0.failure } }

    /// Takes no more commands. The writer ends when those taken are durable.
    func stop() { state.change { $0.isStopping = true } }

    /// Takes no more commands, because of a fault; returns those that waited.
    func fail(_ error: LogError) -> [Waiting] {
        state.change { state in
            state.failure = error
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    // MARK: The writer

    /// The writer's next step: write the prepared commands when the turn is free and their callers' next ones are there
    /// (`Gathering`); meanwhile take waiting ones.
    ///
    /// While the writer waits, it lends its batch: a thread that ends its turn takes the batch and goes on at once, and the
    /// writer gets an emptied one back (`passTurn`).
    ///
    /// - Parameters:
    ///   - batch: The prepared commands that no thread is writing.
    ///   - milliseconds: After so long without a step the answer is `nothing`.
    func nextStep(lending batch: inout Batch, milliseconds: Int) -> Step {
        let end = MonotonicClock.seconds + Double(milliseconds) / 1000
        var deadline = end
        defer { state.read { $0.takeBack(&batch) } }
        while true {
            let found = state.wait(until: deadline) { state -> Look? in
                state.takeBack(&batch)
                let found = look(&state, prepared: batch.answers.count, waitingUntil: deadline)
                if found == nil { state.lend(&batch) }
                return found
            }
            switch found {
            case .step(let step): return step
            case .wait(let until): deadline = until
            case nil:
                guard deadline != end else { return .nothing }
                deadline = end
            }
        }
    }

    /// What the writer finds: a step, or until when to wait for the commands that are to be in the next commit.
    private enum Look {
        case step(Step)
        case wait(untilSeconds: Double)
    }

    /// A look at the state; `nil` if there is nothing to do before `deadline` or the next wake.
    private func look(_ state: inout State, prepared: Int, waitingUntil deadline: Double) -> Look? {
        state.prepared = prepared
        state.wakingCount = 1
        if let failure = state.failure { return .step(.failed(failure)) }
        if prepared > 0, !state.isCommitting {
            let missing = state.missing(prepared: prepared)
            if missing > 0 {
                state.wakingCount = state.waiting.count + missing
                return deadline == state.gathering.endSeconds ? nil : .wait(untilSeconds: state.gathering.endSeconds)
            }
            if state.waiting.isEmpty || prepared >= state.gathering.wanted {
                state.takeTurn(for: prepared)
                return .step(.turn(othersWait: !state.waiting.isEmpty))
            }
        }
        if !state.waiting.isEmpty, prepared < EventLog.batchBound {
            if state.isCommitting, !state.isBehind, state.waiting.count < Gathering.fewest {
                state.wakingCount = Gathering.fewest
                return nil
            }
            let commands = state.takeWaiting()
            state.prepared += commands.count
            return .step(.commands(commands))
        }
        return state.isStopping && prepared == 0 && !state.isCommitting ? .step(.stop) : nil
    }

    /// Takes the turn to write `prepared` commands if it is free and no others are waited for.
    func tryTurn(prepared: Int) -> Bool {
        state.read { state in
            if state.isCommitting || state.failure != nil || state.missing(prepared: prepared) > 0 { return false }
            state.takeTurn(for: prepared)
            return true
        }
    }

    /// Takes waiting commands for another process; `nil` once the queue is stopping or failed and none is left.
    package func take(atMost count: Int, milliseconds: Int) -> [Waiting]? {
        let taken: [Waiting]?? = state.wait(milliseconds: milliseconds) { state in
            state.wakingCount = 1
            if state.waiting.isEmpty { return state.isStopping || state.failure != nil ? .some(nil) : nil }
            defer { state.waiting.removeFirst(min(count, state.waiting.count)) }
            return Array(state.waiting.prefix(count))
        }
        return taken ?? []
    }

    /// Frees the turn to write the file.
    func endTurn(_ gathering: Gathering = Gathering()) {
        state.change { state in
            state.isCommitting = false
            state.gathering = gathering
        }
    }

    /// Takes the batch that the writer lends, for an emptied one, and keeps the turn to write it; frees the turn and returns
    /// `false` if there is none, or if the next commit waits for more callers.
    func passTurn(_ batch: inout Batch, for gathering: Gathering) -> Bool {
        let (goesOn, wakes) = state.read { state in
            (state.isCommitting, state.gathering) = (false, gathering)
            guard state.isLent, state.prepared > 0, state.failure == nil,
                state.missing(prepared: state.prepared) == 0
            else { return (false, true) }
            state.takeTurn(for: state.prepared)
            swap(&batch, &state.lent)
            state.isBehind = !state.waiting.isEmpty
            return (true, state.isBehind)
        }
        if wakes { state.wake() }
        return goesOn
    }

    /// The commands that are waited for after a commit. Called before its callers are answered, because some of them are
    /// back before the last of them is answered.
    ///
    /// - Parameters:
    ///   - answered: The number of the callers.
    ///   - commitSeconds: How long the commit took.
    ///   - workSeconds: How much of that was work of the processor.
    func gathering(answering answered: Int, commitSeconds: Double, workSeconds: Double) -> Gathering {
        state.read { state in
            Gathering(
                answered: answered, pending: state.prepared + state.waiting.count, commitSeconds: commitSeconds,
                workSeconds: workSeconds)
        }
    }

    /// Waits for the turn to write the file and runs `body` with it.
    func withTurn(_ body: () throws(LogError) -> Void) throws(LogError) {
        let failure: LogError? =
            state.wait { state -> LogError?? in
                if state.isCommitting { return nil }
                state.takeTurn(for: 0)
                return .some(state.failure)
            } ?? nil
        defer { endTurn() }
        if let failure { throw failure }
        try body()
    }
}

extension WriterQueue.State {
    /// How many commands the next commit still waits for, beside those that are prepared or wait.
    fileprivate func missing(prepared: Int) -> Int {
        isStopping ? 0 : gathering.missing(present: prepared + waiting.count)
    }

    fileprivate mutating func lend(_ batch: inout Batch) {
        swap(&batch, &lent)
        isLent = true
    }

    fileprivate mutating func takeBack(_ batch: inout Batch) {
        guard isLent else { return }
        swap(&batch, &lent)
        isLent = false
    }

    fileprivate mutating func takeTurn(for prepared: Int) {
        (isCommitting, gathering) = (true, Gathering())
        self.prepared = max(0, self.prepared - prepared)
    }

    /// Takes all waiting commands, or as many as are in one transaction.
    fileprivate mutating func takeWaiting() -> [Waiting] {
        isBehind = false
        guard waiting.count > EventLog.batchBound else {
            defer { waiting = [] }
            return waiting
        }
        defer { waiting.removeFirst(EventLog.batchBound) }
        return Array(waiting.prefix(EventLog.batchBound))
    }
}
