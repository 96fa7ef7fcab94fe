import Cryptography
import Glibc
package import Log
import Synchronization
import Threading
import Transparency
package import Whereabouts

/// Ships the events of the log to another place, on its own thread, at most a second after they are durable.
///
/// The thread has a connection to the log for itself, so a slow or missing target delays no append. After a
/// fault, it tries again after a second, and then at growing intervals of a minute at most.
package final class Shipper: Sendable {
    /// The intervals and bounds.
    package struct Pace: Sendable {
        /// Between two looks at the log. Events that come in between share a batch.
        var tickMilliseconds = 400
        /// After the first fault. Each further one doubles it.
        var retryMilliseconds = 1_000
        var retryMillisecondsMax = 60_000
        /// A batch that has so many bytes takes no further event.
        var batchBytes = 4 << 20
        /// The most events in a batch.
        var batchEvents = ShippedBatch.mostEvents
        /// A file in a directory that has so many bytes gets no further batch.
        var fileBytes: Int64 = 64 << 20
        /// A command that takes longer is killed.
        var commandMilliseconds = 120_000
        /// After so long without progress, shipping counts as failing, also if a system call does not return.
        var patienceSeconds = 60.0

        package init() {}
    }

    /// The progress of shipping: numbers and times, and nothing about a person.
    package struct Status: Sendable {
        /// The number of the last event that the target has; `nil` until that is known.
        package internal(set) var shipped: Int64?
        /// When the oldest event was recorded that the target lacks; `nil` if it lacks none.
        package internal(set) var behindSince: Timestamp?
        /// Whether the last try failed.
        package internal(set) var isFailing = false
        /// When a batch was shipped or nothing was left to ship, on the monotonic clock.
        var progressAt = MonotonicClock.seconds
    }

    private let state: Mutex<Status>
    private let log: EventLog
    private let clock: @Sendable () -> Timestamp
    private let stopping: Monitor<Bool>
    private let thread = Mutex<WorkerThread?>(nil)
    /// See ``Pace``.
    private let patienceSeconds: Double

    /// Starts the thread.
    ///
    /// - Throws: ``LogError`` if the log cannot be opened for reading.
    package convenience init(
        _ target: ShippingTarget, directory: DataDirectory, log: EventLog, clock: @escaping @Sendable () -> Timestamp,
        pace: Pace = Pace()
    ) throws(LogError) {
        try self.init(directory: directory, log: log, clock: clock, pace: pace) { stopping in
            switch target {
            case .directory(let path):
                ShippedDirectory(path, directory, log, fileBytes: pace.fileBytes, clock: clock)
            case .command(let words):
                ShippedObjects(
                    ShippingCommand(
                        words: words, milliseconds: pace.commandMilliseconds,
                        scratch: directory.shippingState + ".batch", stopping: stopping),
                    directory, log)
            }
        }
    }

    /// Starts the thread, which ships to the place that `place` makes on it.
    ///
    /// - Throws: As ``init(_:directory:log:clock:pace:)``.
    init(
        directory: DataDirectory, log: EventLog, clock: @escaping @Sendable () -> Timestamp, pace: Pace,
        to place: @escaping @Sendable (_ stopping: Monitor<Bool>) -> any ShippingPlace
    ) throws(LogError) {
        (self.log, self.clock, patienceSeconds) = (log, clock, pace.patienceSeconds)
        let stopping = Monitor(false)
        self.stopping = stopping
        state = Mutex(Status(behindSince: log.head > 0 ? clock() : nil))
        let reader = UncheckedBox(try log.reader())
        thread.withLock { [self] in
            $0 = WorkerThread { [weak self] in
                var run = ShippingRun(
                    place: place(stopping), log: log, reader: reader.value, directory: directory, pace: pace,
                    clock: clock, stopping: stopping)
                run.go { change in self?.state.withLock { change(&$0) } }
            }
        }
    }

    /// Ships the remaining events and ends the thread. Call it when the log has stopped.
    ///
    /// - Parameter milliseconds: How long to wait for the thread, which a share that hangs may hold up.
    /// - Returns: `false` if the thread is still working.
    package func stop(milliseconds: Int) -> Bool {
        stopping.change { $0 = true }
        return thread.withLock { $0.take() }?.join(milliseconds: milliseconds) ?? true
    }

    /// The progress of shipping.
    package var status: Status { state.withLock { $0 } }

    /// Whether the last try failed, or no batch was shipped for a minute although there are events to ship.
    package var isFailing: Bool {
        let status = self.status
        let isStuck = MonotonicClock.seconds - status.progressAt > patienceSeconds
        return status.isFailing || (status.behindSince != nil && isStuck)
    }

    /// The age of the oldest event that is not shipped; 0 if there is none.
    package var secondsBehind: Double { status.behindSince.map { max(0, clock().seconds(since: $0)) } ?? 0 }

    /// The number of events that are not shipped; `nil` until the target has been read.
    package var eventsBehind: Int64? { status.shipped.map { max(0, log.head - $0) } }
}

/// The work of the shipper's thread.
struct ShippingRun {
    let place: any ShippingPlace
    let log: EventLog
    let reader: LogReader
    let directory: DataDirectory
    let pace: Shipper.Pace
    let clock: @Sendable () -> Timestamp
    let stopping: Monitor<Bool>
    private let sha256 = SHA256()
    private var progress = Progress()

    /// The progress of the thread.
    private struct Progress {
        /// The tree over the shipped events; `nil` until the target is open.
        var range: CompactRange?
        /// The highest id of a key and the generation of the keys that the target has; `nil` if it is not known.
        var keys: (highest: Int64, generation: Int)?
        /// A batch whose outcome is unknown. The same bytes are shipped again.
        var pending: (batch: ShippedBatch, bytes: [UInt8])?
        var hasConfiguration = false
        /// How long to wait until the next look, in milliseconds.
        var rest = 0
    }

    /// The keys of a large service may take seconds. So much longer the thread then waits until it looks for new ones.
    private static let restPerKeysTime = 4.0
    /// The rows read at once.
    private static let rowsPerRead = 256

    init(
        place: any ShippingPlace, log: EventLog, reader: LogReader, directory: DataDirectory, pace: Shipper.Pace,
        clock: @escaping @Sendable () -> Timestamp, stopping: Monitor<Bool>
    ) {
        (self.place, self.log, self.reader, self.directory) = (place, log, reader, directory)
        (self.pace, self.clock, self.stopping) = (pace, clock, stopping)
    }

    /// Ships until the service stops, and once more then.
    mutating func go(_ change: ((inout Shipper.Status) -> Void) -> Void) {
        var (isFailing, isEnding, pause) = (false, false, 0)
        while true {
            if isFailing, isEnding { return }
            do throws(ShippingFault) {
                try round(change)
                if isFailing { Diagnostics.note("shipping.works", "Events are shipped again.") }
                (isFailing, pause) = (false, max(pace.tickMilliseconds, progress.rest))
                change { $0.isFailing = false }
            } catch {
                if !isFailing {
                    Diagnostics.fault(
                        "shipping.failing",
                        "Events are not shipped: \(error) The service works on, and shipping is tried again.")
                }
                pause = isFailing ? min(pause * 2, pace.retryMillisecondsMax) : pace.retryMilliseconds
                isFailing = true
                place.close()
                // Whether it has the batch is found out when it is opened again.
                (progress.range, progress.keys, progress.hasConfiguration) = (nil, nil, false)
                let now = clock()
                change { status in
                    status.isFailing = true
                    if status.behindSince == nil, status.shipped.map({ $0 < log.head }) ?? true {
                        status.behindSince = now
                    }
                }
            }
            if isEnding { return }
            isEnding = stopping.wait(milliseconds: pause) { $0 ? true : nil } ?? false
        }
    }

    /// Ships everything up to the newest durable event.
    private mutating func round(_ change: ((inout Shipper.Status) -> Void) -> Void) throws(ShippingFault) {
        progress.rest = 0
        var range: CompactRange
        if let known = progress.range { range = known } else { range = try open() }
        progress.range = range
        let identity = try ShippingFault.logged { () throws(LogError) in try reader.identity() }
        // Not beyond the published head: what a reader sees is durable, and the head says so.
        let end = min(log.head, identity.size)
        let now = clock()
        change { status in
            status.shipped = range.size
            if range.size < end, status.behindSince == nil { status.behindSince = now }
        }
        try shipKeys()
        while range.size < end {
            let (batch, bytes) = try next(after: range, through: end)
            change { $0.behindSince = batch.events.first?.header.recordedAt }
            // A target must never get a tree to which the service has not committed.
            if batch.last == identity.size, batch.after.root(sha256) != identity.root(sha256) {
                progress.pending = nil
                throw .otherTree(number: batch.last)
            }
            try place.put(bytes, of: batch)
            progress.pending = nil
            range = batch.after
            progress.range = range
            change { ($0.shipped, $0.progressAt) = (range.size, MonotonicClock.seconds) }
        }
        change { ($0.behindSince, $0.progressAt) = (nil, MonotonicClock.seconds) }
    }

    /// Reads the last event of the target, and compares it with the log.
    private func open() throws(ShippingFault) -> CompactRange {
        let shipped = try place.open()
        let number = shipped.range.size
        guard let leaf = shipped.leaf else { return shipped.range }
        let head = log.head
        guard number <= head else {
            throw .ahead("The target", has: number, log: head)
        }
        let event = try ShippingFault.logged { () throws(LogError) in
            try reader.storedEvents(after: number - 1, limit: 1).first
        }
        guard event?.header.number == number, event?.leaf == leaf else { throw .otherHistory("The target") }
        return shipped.range
    }

    /// Ships the keys if the target lacks one that an event may need, or may have one that was destroyed. An event under
    /// a key is appended after the key is durable, so keys that are copied after the log was looked at are enough.
    private mutating func shipKeys() throws(ShippingFault) {
        while true {
            let highest = try ShippingFault.logged { () throws(LogError) in try log.keys.highestID() }
            if let keys = progress.keys, keys == (highest, log.keys.currentGeneration) { return }
            let start = MonotonicClock.seconds
            let copy = try Self.copy(log.keys, directory)
            guard try place.put(copy) else { continue }
            progress.keys = (copy.highest, copy.generation)
            if !progress.hasConfiguration, let bytes = DataDirectory.read(directory.configuration, atMost: 1 << 20) {
                try place.put(configuration: bytes)
                progress.hasConfiguration = true
            }
            progress.rest = Int((MonotonicClock.seconds - start) * Self.restPerKeysTime * 1000)
            return
        }
    }

    private static func copy(_ keys: KeyRing, _ directory: DataDirectory) throws(ShippingFault) -> KeysCopy {
        do throws(LogError) { return try KeysCopy(of: keys, in: directory) } catch { throw .log(error) }
    }

    /// The next batch: the one whose outcome is unknown, or the events after `range`.
    private mutating func next(
        after range: CompactRange, through end: Int64
    ) throws(ShippingFault) -> (batch: ShippedBatch, bytes: [UInt8]) {
        if let pending = progress.pending, pending.batch.first == range.size + 1 { return pending }
        var events: [LogReader.StoredEvent] = []
        var bytes = 0
        reading: while range.size + Int64(events.count) < end {
            let place = range.size + Int64(events.count)
            let limit = min(Self.rowsPerRead, pace.batchEvents - events.count, Int(end - place))
            let rows = try ShippingFault.logged { () throws(LogError) in
                try reader.storedEvents(after: place, limit: limit)
            }
            guard rows.first?.header.number == place + 1 else {
                throw .log(.damaged(number: place + 1, "it is missing"))
            }
            for event in rows {
                guard event.header.number == range.size + Int64(events.count) + 1 else { break reading }
                guard event.body.count <= ShippedBatch.mostBodyBytes else {
                    throw .tooLong(number: event.header.number)
                }
                bytes += event.body.count + ShippedBatch.eventBytes
                // Two of the longest events and the head fit into a batch.
                events.append(event)
                if bytes >= pace.batchBytes || events.count >= pace.batchEvents { break reading }
            }
        }
        let origin = ShippedBatch.Origin(log: log.id, epoch: log.epoch)
        let batch = ShippedBatch(origin, before: range, events: events, sha256)
        let made = (batch, batch.bytes(ShippedBatch.secret(of: log.keys), sha256))
        progress.pending = made
        return made
    }
}
