package import Answers
import Cryptography
import Log
import Projections
import Synchronization
import Threading
import Transparency
package import Whereabouts

/// Has the checkpoints of persons' logs cosigned by the configured witnesses: when a proof or a checkpoint is read, and
/// once a minute for logs that have grown.
///
/// A witness gets the origin, the size and the root of a log, and hashes. There is one round for a person at a time, so
/// that the sizes of its requests never go back.
package final class WitnessRounds: Sendable {
    /// How long a round may take, in milliseconds. A witness that has not answered by then is left out.
    static let boundMilliseconds = 3_000
    /// How much later than that a poster may say that the time is over.
    private static let slackMilliseconds: Int64 = 500
    /// The time from one round over all persons to the next, in milliseconds.
    static let pauseMilliseconds: Int64 = 60_000
    /// The most logs that one of these rounds sends; the others follow in the next.
    private static let logsPerRound = 200
    /// How long one of these rounds may take, in milliseconds: to read a long log again costs seconds.
    private static let roundMilliseconds: Int64 = 10_000
    /// How often the thread looks at the clock.
    private static let tickMilliseconds = 500

    private let cosigners: [Cosigner]
    /// A clock that is never set, in milliseconds.
    private let steady: @Sendable () -> Int64
    /// Persons whose round is under way.
    private let turns = Monitor<Set<PersonID>>([])
    private let stopping = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// The thread starts with `start`.
    package init(_ witnesses: [ServiceConfiguration.Witness], steady: @escaping @Sendable () -> Int64) {
        cosigners = witnesses.map { Cosigner($0) }
        self.steady = steady
    }

    /// Begins to ask. Throws if the log cannot be opened for reading.
    package func start(_ sources: FeedSources, _ logs: PersonLogs) throws {
        let reader = UncheckedBox(try LogReader.opened(sources.decisions.log))
        for cosigner in cosigners { cosigner.start() }
        thread.withLock {
            $0 = WorkerThread { [self] in
                let context = AnswerContext(
                    host: sources.views.host, reader: reader.value, gazetteer: sources.gazetteer)
                var patrol = Patrol(next: steady() + Self.pauseMilliseconds)
                while stopping.wait(milliseconds: Self.tickMilliseconds, for: { $0 ? true : nil }) == nil {
                    let now = steady()
                    guard now >= patrol.next else { continue }
                    patrol.next = now + Self.pauseMilliseconds
                    go(&patrol, sources.decisions.log, logs, context)
                }
            }
        }
    }

    /// Ends the threads. Requests under way are cut, and later ones end at once.
    package func stop() {
        stopping.change { $0 = true }
        for cosigner in cosigners { cosigner.stop() }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// The number of logs for which a witness cosigned another history, summed over all witnesses.
    package var contested: Int { cosigners.reduce(0) { $0 + $1.contested } }

    // MARK: One log

    /// Reads a log and has its checkpoint cosigned. Blocks for ``boundMilliseconds`` at most, and as long again while
    /// another caller has the turn of the same person; then the log is read without cosignatures.
    package func cosign(
        _ person: PersonID, _ read: () throws(Problem) -> PersonLogs.Signed
    ) throws(Problem) -> PersonLogs.Signed {
        let hasTurn = turns.wait(milliseconds: Self.boundMilliseconds) { $0.insert(person).inserted ? true : nil }
        guard hasTurn == true else { return try read() }
        defer { turns.change { _ = $0.remove(person) } }
        // In the turn: a log that was read before it could be shorter than the one that was cosigned last.
        var signed = try read()
        for signature in ask(for: person, signed) { signed.note.add(signature) }
        return signed
    }

    /// A request under way.
    private struct Request {
        let old: Int64
        let isRepeated: Bool
    }

    /// Asks all witnesses at once; the lines to add, all verified.
    private func ask(for person: PersonID, _ signed: PersonLogs.Signed) -> [SignedNote.Signature] {
        let log = signed.log
        guard log.size > 0 else { return [] }
        let subject = Cosigner.Subject(person: person, origin: log.origin, size: log.size, note: signed.note)
        let until = MonotonicClock.milliseconds + Int64(Self.boundMilliseconds)
        let replies = Monitor<[(index: Int, reply: Cosigner.Reply)]>([])
        var open: [Int: Request] = [:]

        func send(_ index: Int, from old: Int64, isRepeated: Bool) {
            let left = Int(until - MonotonicClock.milliseconds)
            guard left > 0, let proof = log.proof(from: old) else { return }
            open[index] = Request(old: old, isRepeated: isRepeated)
            let request = WitnessRequest(oldSize: old, proof: proof, note: signed.note)
            cosigners[index].send(request, milliseconds: left) { reply in
                replies.change { $0.append((index, reply)) }
            }
        }

        let now = steady()
        for (index, cosigner) in cosigners.enumerated() where cosigner.isReady(at: now) {
            send(index, from: cosigner.size(of: subject), isRepeated: false)
        }
        var signatures: [Int: [SignedNote.Signature]] = [:]
        while !open.isEmpty {
            let left = max(0, until - MonotonicClock.milliseconds) + Self.slackMilliseconds
            guard
                let (index, reply) = replies.wait(milliseconds: Int(left), for: { $0.isEmpty ? nil : $0.removeFirst() })
            else {
                for (index, request) in open {
                    _ = cosigners[index].take(.missing, to: subject, from: request.old, at: steady())
                }
                break
            }
            guard let request = open.removeValue(forKey: index) else { continue }
            switch cosigners[index].take(reply, to: subject, from: request.old, at: steady()) {
            case .cosigned(let lines): signatures[index] = lines
            case .again(let size):
                if request.isRepeated {
                    cosigners[index].giveUp(at: steady())
                } else {
                    send(index, from: size, isRepeated: true)
                }
            case .nothing: break
            }
        }
        return signatures.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    // MARK: All logs

    /// The state of the rounds over all persons; used by their thread only.
    private struct Patrol {
        /// The time of the next round.
        var next: Int64
        /// The person whose log was sent last.
        var last: PersonID?
        /// Until when a log that cannot be read is left out.
        var unreadable: [PersonID: Int64] = [:]
    }

    /// Sends the logs that have grown since a witness cosigned them.
    private func go(_ patrol: inout Patrol, _ log: EventLog, _ logs: PersonLogs, _ context: AnswerContext) {
        let sizes = log.withStanding { standing in
            Dictionary(
                uniqueKeysWithValues: standing.persons.all.lazy.filter { $0.value.handle != nil }.map { person, _ in
                    (person, standing.version(of: .audit(person)))
                })
        }
        for cosigner in cosigners { cosigner.keep { sizes[$0] != nil } }
        let now = steady()
        patrol.unreadable = patrol.unreadable.filter { $0.value > now && sizes[$0.key] != nil }
        func isBehind(_ person: PersonID) -> Bool {
            cosigners.contains { $0.isBehind(person, size: sizes[person] ?? 0, at: now) }
        }
        let behind = sizes.keys.filter { patrol.unreadable[$0] == nil && isBehind($0) }
            .sorted { $0.rawValue < $1.rawValue }
        // From where the last round ended, and around.
        let start = patrol.last.flatMap { last in behind.firstIndex { $0.rawValue > last.rawValue } } ?? 0
        let until = MonotonicClock.milliseconds + Self.roundMilliseconds
        for person in (behind[start...] + behind[..<start]).prefix(Self.logsPerRound) {
            if stopping.read({ $0 }) || MonotonicClock.milliseconds > until { return }
            // A reader has asked meanwhile, or the witness has failed.
            guard isBehind(person) else { continue }
            patrol.last = person
            do throws(Problem) { _ = try logs.checkpoint(of: person, after: 0, context) } catch {
                // A view that is being folded again can be read in the next round.
                if error.status != 503 { patrol.unreadable[person] = now + Cosigner.refusalMilliseconds }
            }
        }
    }
}

extension PersonLog {
    /// The proof that goes with a request from an old size; `nil` for a size that the log never had.
    fileprivate func proof(from old: Int64) -> [Digest]? {
        old == 0 || old == size ? [] : try? consistencyProof(from: old, to: size, SHA256())
    }
}
