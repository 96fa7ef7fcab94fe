import Cryptography
package import HTTPInterface
package import Log
package import PostgreSQLLog
import Synchronization
import Threading
package import Whereabouts

/// The work of a reader on its log, on two threads: one follows the log in the database, folds the standing and publishes
/// the head; the other has reads recorded by the process that writes the log.
package final class FollowerLoop: Sendable {
    /// What a reader follows, and whom it asks.
    package struct Parts: Sendable {
        let savedStanding: any SavedStanding
        let link: WriterLink
        let figures: ReaderFigures

        package init(savedStanding: any SavedStanding, link: WriterLink, figures: ReaderFigures) {
            (self.savedStanding, self.link, self.figures) = (savedStanding, link, figures)
        }
    }

    private let parts: Parts
    private let isStopping = Monitor(false)

    /// How often the database is asked for new events.
    private static let pollMilliseconds = 100
    /// The pause after the database could not be reached.
    private static let retryMilliseconds = 1000
    /// How often the process that writes the log is asked for its head, without a read to record.
    private static let askMilliseconds = 1000
    /// How soon it is asked if the database has events that it has not vouched for.
    private static let vouchMilliseconds = 50
    /// A start after a crash folds at most this many events.
    private static let eventsPerSave = 100_000

    package init(_ parts: Parts) { self.parts = parts }

    /// The log's work: returns when the log stops.
    ///
    /// - Parameter followed: Used by this loop alone from now on.
    package func run(_ log: EventLog, _ heads: StreamHeads, _ followed: FollowedLog) {
        let box = UncheckedBox((followed, heads))
        let follower = WorkerThread { [self] in follow(log, box.value.0, box.value.1) }
        record(log)
        isStopping.change { $0 = true }
        follower.join()
    }

    // MARK: Following

    private func follow(_ log: EventLog, _ followed: FollowedLog, _ heads: StreamHeads) {
        let figures = parts.figures
        var heads = heads
        var unsaved = 0
        do throws(LogError) {
            // A kill between an erasure's event and its consequences here left keys.
            let standing = log.standingCopy()
            try log.keys.destroyKeys(of: standing.persons.erased)
            try log.keys.finishRetention(standing)
            let reader = try log.reader()
            let identity = try reader.identity()
            defer { if log.failure == nil { save(log, heads, identity, reader) } }
            while true {
                var pause = Self.pollMilliseconds
                do throws(LogError) {
                    let place = try followed.follow(addingKeysTo: log.keys, acknowledged: figures.writersHead)
                    let before = log.head
                    if place.copy > before {
                        let mustSave = try fold(log, reader, &heads, upTo: place.copy)
                        unsaved += Int(place.copy - before)
                        log.publish(head: place.copy, ended: [])
                        pause = 1
                        if mustSave || unsaved >= Self.eventsPerSave {
                            save(log, heads, identity, reader)
                            unsaved = 0
                        }
                    } else if place.server > place.copy {
                        // The process that writes the log may vouch for the newest transaction at any moment.
                        figures.waitForWriter(after: place.copy, milliseconds: pause)
                        pause = 1
                    }
                    figures.note(own: log.head, trouble: nil)
                    wanted.store(place.server, ordering: .relaxed)
                } catch {
                    guard case .server = error else { throw error }
                    figures.note(own: log.head, trouble: "\(error)")
                    pause = Self.retryMilliseconds
                }
                if isStopping.wait(milliseconds: pause, for: { $0 ? true : nil }) == true { return }
            }
        } catch {
            log.fail(error)
            Diagnostics.fault("log.stopped", "The reader stopped: \(error)")
            log.tellFailure()
        }
    }

    /// The newest event that the database has.
    private let wanted = Atomic<Int64>(0)

    /// Folds the standing, and destroys the keys of erased persons and of old reports.
    ///
    /// - Returns: Whether keys were destroyed: the saved standing may have what they sealed.
    private func fold(
        _ log: EventLog, _ reader: LogReader, _ heads: inout StreamHeads, upTo head: Int64
    ) throws(LogError) -> Bool {
        var hasDestroyed = false
        var place = log.withStanding { $0.place }
        while place < head {
            let events = try reader.events(after: place, limit: Int(min(1024, head - place)))
            guard !events.isEmpty else { throw .damaged(number: place + 1, "it is missing") }
            for (event, leaf) in events {
                guard event.number == place + 1, event.version == (heads[event.stream]?.version ?? 0) + 1 else {
                    throw .damaged(number: event.number, "it does not continue the log and its stream")
                }
                place = event.number
                heads[event.stream] = StreamHead(number: event.number, version: event.version, leaf: leaf)
            }
            let highest = reader.highestKey
            log.changeStanding { standing in
                standing.note(key: highest)
                for (event, _) in events { standing.fold(event) }
            }
            for (event, _) in events {
                switch event.event {
                case .personErased:
                    guard let person = event.stream.person else { continue }
                    try log.keys.destroyKeys(of: person)
                    hasDestroyed = true
                case .retentionApplied(let applied, _):
                    guard let person = event.stream.person else { continue }
                    try log.keys.destroy(applied.keys, of: person)
                    hasDestroyed = true
                default: continue
                }
            }
        }
        return hasDestroyed
    }

    /// Saves the standing. It is a cache; one that cannot be replaced is removed, because it may name erased persons.
    private func save(_ log: EventLog, _ heads: StreamHeads, _ identity: LogIdentity, _ reader: LogReader) {
        var failure: LogError?
        do throws(LogError) {
            try parts.savedStanding.save(log.standingCopy(), heads, log: identity)
            log.changeStanding { $0.forgetChanges() }
        } catch {
            failure = error
            _ = parts.savedStanding.remove()
        }
        log.noteStanding(failure)
    }

    // MARK: Recording

    private func record(_ log: EventLog) {
        var asked = 0.0
        while true {
            let isBehind = wanted.load(ordering: .relaxed) > parts.figures.writersHead
            let pause = isBehind ? Self.vouchMilliseconds : Self.askMilliseconds
            guard let waiting = log.queue.take(atMost: RecordRequest.readsMax, milliseconds: pause) else { return }
            if !waiting.isEmpty {
                record(waiting, log)
                asked = MonotonicClock.seconds
            } else if MonotonicClock.seconds - asked >= Double(pause) / 1000 {
                _ = try? parts.link.send(RecordRequest(log: log.id.description, epoch: log.epoch, reads: []))
                asked = MonotonicClock.seconds
            }
        }
    }

    /// Has reads recorded, and gives each its receipt. Anything but a read is for the process that writes the log.
    private func record(_ waiting: [Waiting], _ log: EventLog) {
        var sent: [(Waiting, SentRead)] = []
        for item in waiting {
            if let read = Self.read(item, log) {
                sent.append((item, read))
            } else {
                item.completion(.failure(.elsewhere))
            }
        }
        send(sent[...], log)
    }

    private func send(_ sent: ArraySlice<(Waiting, SentRead)>, _ log: EventLog) {
        if sent.isEmpty { return }
        let request = RecordRequest(log: log.id.description, epoch: log.epoch, reads: sent.map(\.1))
        if request.bytes.count > RecordRequest.bytesMax {
            guard sent.count > 1 else { return sent.forEach { $0.0.completion(.failure(.elsewhere)) } }
            let middle = sent.startIndex + sent.count / 2
            send(sent[..<middle], log)
            return send(sent[middle...], log)
        }
        let counts = parts.figures
        do throws(WriterLink.RecordFault) {
            let answer = try parts.link.send(request)
            for ((item, _), recorded) in zip(sent, answer.reads) {
                guard let recorded else {
                    counts.count { $0.elsewhere += 1 }
                    item.completion(.failure(.elsewhere))
                    continue
                }
                counts.count { $0.recorded += 1 }
                item.completion(
                    .success(
                        .ofRead(recorded.number, at: recorded.at, promise: recorded.promise)))
            }
        } catch {
            counts.count { $0.unrecorded += Int64(sent.count) }
            for (item, _) in sent { item.completion(.failure(.notYet(Self.sentence(error), retryAfterSeconds: 1))) }
        }
    }

    private static func sentence(_ fault: WriterLink.RecordFault) -> String {
        switch fault {
        case .noAnswer: "The process that writes the log does not answer; send the same request again later."
        case .anotherLog: "The reader follows another epoch of the log; send the same request again later."
        }
    }

    /// The read of a command; `nil` for any other command, and for a caller without a token.
    private static func read(_ item: Waiting, _ log: EventLog) -> SentRead? {
        guard case .recordRead(let question, let permit, let asOf, let count, let hash, let envelopes) = item.command,
            let token = item.caller.token
        else { return nil }
        let mark = log.withStanding { $0.readingMark(permit) }
        return SentRead(
            request: item.correlation, token: token, question: question, mark: SHA256().hash(mark).bytes, asOf: asOf,
            count: count, hash: hash, envelopes: envelopes)
    }
}
