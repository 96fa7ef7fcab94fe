import Glibc
import Synchronization
import Whereabouts

/// What the writer's thread does. Owns the file, the tail and the saving of the standing.
final class WriterLoop: @unchecked Sendable {
    // Made by `EventLog.init`, then used by the writer's thread alone. The log lives as long as its thread runs.
    private let log: EventLog
    private let store: LogStore
    private var tail: FixTail
    private let standingFile: StandingFile
    private let clock: @Sendable () -> Timestamp
    /// Events since the last saving of the standing.
    private var sinceSaved = 0
    /// Refusals that were only counted: by whom, how many, since when.
    private var counted: [PrincipalID: (count: Int64, since: Timestamp)] = [:]

    /// 64 MiB: beyond that a checkpoint is made between two batches even under load.
    private static let pagesPerCheckpoint = 16_000
    /// 2 MiB: enough for a checkpoint when nothing else is to be done.
    private static let pagesPerIdleCheckpoint = 500
    private static let eventsPerSave = 200_000
    private static let idleMilliseconds = 200

    init(
        log: EventLog, store: LogStore, tail: FixTail, standingFile: StandingFile,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.log, self.store, self.tail, self.standingFile, self.clock) = (log, store, tail, standingFile, clock)
    }

    func run() {
        do throws(LogError) {
            while true {
                guard let batch = log.nextBatch(milliseconds: Self.idleMilliseconds) else {
                    try idle()
                    continue
                }
                if batch.isEmpty { break }
                try process(batch)
                log.giveBack(batch)
                if store.pagesSinceCheckpoint >= Self.pagesPerCheckpoint { try store.checkpoint() }
                if sinceSaved >= Self.eventsPerSave { try save() }
            }
            try save()
            try store.checkpoint()
        } catch {
            Diagnostics.fault("log.stopped", "The log stopped: \(error)")
            log.fail(error)
        }
    }

    /// Makes a batch durable and tells its callers, who learn of a fault too.
    private func process(_ batch: [EventLog.Waiting]) throws(LogError) {
        var outcomes: [Result<Receipt, AppendFailure>] = []
        outcomes.reserveCapacity(batch.count)
        do throws(LogError) {
            try append(batch, &outcomes)
        } catch {
            log.fail(error)
            for item in batch { item.completion(.failure(.fault(error))) }
            throw error
        }
        for (item, result) in zip(batch, outcomes) { item.completion(result) }
    }

    private func append(
        _ batch: [EventLog.Waiting], _ outcomes: inout [Result<Receipt, AppendFailure>]
    ) throws(LogError) {
        tail.trim()
        let now = clock()
        var isOpen = false
        var erased: [PersonID] = []
        let before = log.withStanding { ($0.place, $0.lastRecordedAt) }
        if before.0 > 0, now < before.1 {
            try store.begin()
            isOpen = true
            let stepped = Event.clockSteppedBack(byMilliseconds: before.1.milliseconds - now.milliseconds)
            try write(stepped, to: .house, cause: 0, actor: .house, correlation: RequestID(high: 0, low: 0), at: now)
        }
        for item in batch {
            switch decide(item, at: now) {
            case .failure(let failure): outcomes.append(.failure(failure))
            case .success(let decision):
                if !decision.drafts.isEmpty, !isOpen {
                    try store.begin()
                    isOpen = true
                }
                for draft in decision.drafts {
                    try write(
                        draft.event, to: draft.stream, cause: draft.cause, actor: item.caller.principal,
                        correlation: item.correlation, at: now)
                }
                if case .erased(let person) = decision.reply { erased.append(person) }
                outcomes.append(outcome(decision, of: item, at: now))
            }
        }
        if isOpen {
            let start = microseconds()
            try store.commit()
            log.statistics.commits.add(1, ordering: .relaxed)
            log.statistics.commitMicroseconds.add(microseconds() - start, ordering: .relaxed)
        }
        for person in erased { try log.keys.destroyKeys(of: person) }
        if !erased.isEmpty { try save() }
        if isOpen { log.publish(head: log.withStanding { $0.place }) }
    }

    private func decide(_ item: EventLog.Waiting, at now: Timestamp) -> Result<Decision, AppendFailure> {
        tail.isBehind = false
        let result: Result<Decision, AppendFailure> = log.withStanding { standing in
            do throws(Refusal) {
                return .success(try standing.decide(item.command, by: item.caller, at: now, known: &tail))
            } catch { return .failure(.refused(error)) }
        }
        return tail.isBehind ? .failure(.busy(retryAfterSeconds: 1)) : result
    }

    private func outcome(
        _ decision: Decision, of item: EventLog.Waiting, at now: Timestamp
    ) -> Result<Receipt, AppendFailure> {
        if decision.isCountedRefusal {
            counted[item.caller.principal, default: (0, now)].count += 1
        }
        if let refusal = decision.refusal {
            log.statistics.refusals.add(1, ordering: .relaxed)
            return .failure(.refused(refusal))
        }
        return .success(Receipt(reply: decision.reply, last: log.withStanding { $0.place }, recordedAt: now))
    }

    private func write(
        _ event: Event, to stream: StreamID, cause: Int64, actor: PrincipalID, correlation: RequestID, at now: Timestamp
    ) throws(LogError) {
        let encoded = EventCoding.encode(event, in: stream)
        try store.prepareKeys(for: encoded, at: now)
        let (place, head) = log.withStanding { ($0.place, $0.heads[stream]) }
        let header = EventHeader(
            number: place + 1, stream: stream, version: (head?.version ?? 0) + 1, kind: encoded.kind.rawValue,
            recordedAt: now, actor: actor, correlation: correlation, cause: cause)
        let leaf = try store.insert(header, encoded, previous: head?.leaf)
        if case .fixReported(let device, _, .open(let fix)) = event {
            tail.append(fix, device: device, number: header.number)
        }
        let recorded = RecordedEvent(
            number: header.number, stream: stream, version: header.version, recordedAt: now, actor: actor,
            correlation: correlation, cause: cause, event: event)
        log.changeStanding { $0.fold(recorded, leaf: leaf) }
        log.statistics.events.add(1, ordering: .relaxed)
        sinceSaved += 1
    }

    private func idle() throws(LogError) {
        if store.pagesSinceCheckpoint >= Self.pagesPerIdleCheckpoint { try store.checkpoint() }
        let now = clock()
        for (principal, refused) in counted where now.seconds(since: refused.since) >= 60 {
            counted[principal] = nil
            log.submit(
                .countRefusals(by: principal, count: refused.count, since: refused.since), by: .house,
                correlation: .random()
            ) { _ in }
        }
    }

    private func save() throws(LogError) {
        try standingFile.save(log.standingCopy(), leaf: store.currentHead, log: store.identity)
        sinceSaved = 0
    }

    private func microseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
