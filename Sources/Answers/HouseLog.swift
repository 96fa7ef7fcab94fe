package import Cryptography
import Log
import LogVerifying
import Projections
import SQLite
import Synchronization
import Threading
package import Transparency
package import Whereabouts

/// The log of the house as a tiled log (C2SP tlog-tiles), for the operator and the auditors that they appoint: checkpoints,
/// tiles of hashes, bundles of entries, and the commitments to the persons' own logs.
///
/// An entry is the canonical header of an event and the SHA-256 of its body, so that it shows who did something about
/// whom and when, by numbers, and no content. Event *n* is leaf *n* − 1.
///
/// A checkpoint is made when it is requested, at most one a second. Before it, the log gets `HeadsCommitted`, if it has
/// other events since the last one. A house without an auditor has neither.
///
/// Cost: the first request after a start reads the leaves of the whole log, about 2 µs each, in pieces of two seconds
/// with 503 between them. Later ones read the events since. Each event of an audit is opened once, about 20 µs.
package final class HouseLog: Sendable {
    /// What has been read of the log.
    private struct State: Sendable {
        /// The newest event whose leaf is in the tree.
        var place: Int64 = 0
        /// The tree over the roots of 256 leaves each.
        var bundles = MerkleTree()
        /// The leaves after the last complete bundle, fewer than 256.
        var rest: [Digest] = []
        var heads = HouseHeads()
        /// The commitments in the log, in order.
        var commitments: [(number: Int64, after: Int64, upTo: Int64, name: String)] = []
        /// The checkpoint signed last, and when, on the monotonic clock.
        var signed: (note: SignedNote, size: Int64, atSeconds: Double)?
    }

    /// The longest time that a request reads the log before the caller has to come again.
    private static let longestCatchUpSeconds = 2.0
    private static let eventsPerRead = 1000
    /// The shortest time between two checkpoints.
    private static let secondsBetweenCheckpoints = 1.0

    private let decisions: Decisions
    private let host: ProjectionHost
    private let seal: HouseSeal
    private let state = Mutex(State())

    package init(_ views: Views, seal: HouseSeal) {
        (decisions, host, self.seal) = (views.decisions, views.host, seal)
    }

    /// The key that signs the checkpoints.
    package var key: NoteVerifier { seal.signer.verifier }

    // MARK: Requests

    /// The signed checkpoint over the log up to a commitment to all heads.
    ///
    /// - Throws: 503 while another request reads the log, or after two seconds of reading.
    package func checkpoint(_ context: AnswerContext) throws(Problem) -> SignedNote {
        try reading { (state) throws(Problem) in
            let now = MonotonicClock.seconds
            if let signed = state.signed, now - signed.atSeconds < Self.secondsBetweenCheckpoints { return signed.note }
            let head = decisions.log.head
            try catchUp(&state, through: head, context)
            if state.commitments.last?.number != head || state.heads.name != seal.name.text {
                try commit(&state, upTo: head, context)
            }
            if let signed = state.signed, signed.size == state.place { return signed.note }
            let sha256 = SHA256()
            let rest = MerkleTree(leaves: state.rest, sha256)
            let root = MerkleProof.root(over: 0..<state.place, sha256) { level, index in
                level >= 8
                    ? state.bundles.node(level: level - 8, index: index)
                    : rest.node(level: level, index: index - (state.bundles.size << Int64(8 - level)))
            }
            do throws(TransparencyError) {
                let checkpoint = Checkpoint(
                    origin: try LogOrigin(seal.name.text), size: state.place, root: root)
                let note = try checkpoint.signed(by: seal.signer)
                state.signed = (note, state.place, now)
                return note
            } catch { throw .broken }
        }
    }

    /// A tile of hashes or a bundle of entries; `nil` if the newest checkpoint does not cover it.
    ///
    /// - Throws: As ``checkpoint(_:)``; 500 if an event of the bundle does not give its leaf.
    package func tile(_ path: TilePath, _ context: AnswerContext) throws(Problem) -> [UInt8]? {
        let isThere = try reading { (state) throws(Problem) in
            try catchUp(&state, through: decisions.log.head, context)
            return path.exists(inLogOfSize: state.commitments.last?.number ?? 0)
        }
        guard isThere else { return nil }
        let first = path.index * Int64(TilePath.width)
        switch path.content {
        case .entries: return try entries(after: first, count: path.count, context)
        case .hashes(level: 0):
            return try stored(after: first, count: path.count, context).flatMap { $0.leaf.bytes }
        case .hashes(let level):
            return try reading { (state) throws(Problem) in
                (0..<Int64(path.count)).flatMap {
                    state.bundles.node(level: 8 * (level - 1), index: first + $0).bytes
                }
            }
        }
    }

    /// The stored body of a commitment; `nil` if the event is none.
    package func heads(_ number: Int64, _ context: AnswerContext) throws(Problem) -> [UInt8]? {
        guard number >= 1, number <= decisions.log.head,
            let event = try stored(after: number - 1, count: 1, context).first,
            event.header.kind == EventKind.headsCommitted.rawValue
        else { return nil }
        return event.body
    }

    /// The commitment to the entry of an event, as the log has it under the present name; `nil` if none covers it.
    package func recordedCommitment(of event: RecordedEvent, _ context: AnswerContext) throws(Problem) -> Digest? {
        let found = try reading { (state) throws(Problem) in
            try catchUp(&state, through: decisions.log.head, context)
            return state.commitments.last {
                $0.after < event.number && event.number <= $0.upTo && $0.name == seal.name.text
            }
        }
        guard let found, let body = try heads(found.number, context) else { return nil }
        var index = 0
        var place = found.after
        while place < event.number - 1 {
            let events = try stored(
                after: place, count: min(Self.eventsPerRead, Int(event.number - 1 - place)), context)
            guard let last = events.last else { throw .broken }
            index += events.count { $0.header.stream.isAudit }
            place = last.header.number
        }
        let commits = body.withUnsafeBytes { HeadsCommitment(stored: $0)?.commitments } ?? []
        return index < commits.count ? commits[index] : nil
    }

    /// The size of the log now, its root, and the proof that its first events are the log of size `older`; no proof if `older`
    /// is 0, or if the log is not longer.
    ///
    /// - Throws: As ``checkpoint(_:)``.
    package func growth(
        since older: Int64, _ context: AnswerContext
    ) throws(Problem) -> (size: Int64, root: Digest, proof: [Digest]) {
        try reading { (state) throws(Problem) in
            try catchUp(&state, through: decisions.log.head, context)
            let (size, sha256) = (state.place, SHA256())
            var fault: Problem?
            var read: (bundle: Int64, tree: MerkleTree)?
            func node(_ level: Int, _ index: Int64) -> Digest {
                if level >= 8 { return state.bundles.node(level: level - 8, index: index) }
                let bundle = index >> Int64(8 - level)
                if read?.bundle != bundle {
                    do throws(Problem) {
                        let first = bundle * Int64(TilePath.width)
                        let count = Int(min(Int64(TilePath.width), size - first))
                        let leaves = try stored(after: first, count: count, context).map(\.leaf)
                        if leaves.count < count { throw .broken }
                        read = (bundle, MerkleTree(leaves: leaves, sha256))
                    } catch { fault = error }
                }
                guard fault == nil, let read else { return .zeros }
                return read.tree.node(level: level, index: index - (bundle << Int64(8 - level)))
            }
            let root = MerkleProof.root(over: 0..<size, sha256, node: node)
            var proof: [Digest] = []
            if older > 0, older < size {
                do throws(TransparencyError) {
                    for part in try MerkleProof.parts(of: 0..<older, atSize: size) {
                        proof.append(MerkleProof.root(over: part, sha256, node: node))
                    }
                } catch { throw .broken }
            }
            if let fault { throw fault }
            return (size, root, proof)
        }
    }

    // MARK: Reading

    private func reading<R>(_ body: (inout State) throws(Problem) -> R) throws(Problem) -> R {
        let result: Result<R, Problem>? = state.withLockIfAvailable { state in
            do throws(Problem) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        guard let result else { throw .busy(1) }
        return try result.get()
    }

    private func stored(
        after number: Int64, count: Int, _ context: AnswerContext
    ) throws(Problem) -> [LogReader.StoredEvent] {
        do throws(LogError) { return try context.reader.storedEvents(after: number, limit: count) } catch {
            throw Problem(500, "Damaged", "\(error) Run `verify`.")
        }
    }

    /// Reads the leaves and the commitments up to an event.
    private func catchUp(_ state: inout State, through head: Int64, _ context: AnswerContext) throws(Problem) {
        let start = MonotonicClock.seconds
        let sha256 = SHA256()
        while state.place < head {
            let count = min(Int64(Self.eventsPerRead), head - state.place)
            let events = try stored(after: state.place, count: Int(count), context)
            guard !events.isEmpty else { throw .broken }
            for event in events {
                if event.header.kind == EventKind.headsCommitted.rawValue { try fold(event, &state, context) }
                state.rest.append(event.leaf)
                state.place = event.header.number
                if state.rest.count == TilePath.width {
                    state.bundles.append(MerkleTree(leaves: state.rest, sha256).root(sha256), sha256)
                    state.rest = []
                }
            }
            if MonotonicClock.seconds - start > Self.longestCatchUpSeconds { throw .busy(1) }
        }
    }

    /// Folds a commitment of the log into the heads.
    private func fold(
        _ event: LogReader.StoredEvent, _ state: inout State, _ context: AnswerContext
    ) throws(Problem) {
        let sha256 = SHA256()
        guard let given = event.body.withUnsafeBytes({ HeadsCommitment(stored: $0) }) else { throw .broken }
        state.heads.begin(as: given.name)
        let after = state.heads.upTo
        var commits = given.commitments[...]
        var place = after
        while place < given.upTo {
            let events = try stored(
                after: place, count: min(Self.eventsPerRead, Int(given.upTo - place)), context)
            guard let last = events.last else { throw .broken }
            for event in events where event.header.stream.isAudit {
                guard let commit = commits.popFirst() else { throw .broken }
                state.heads.append(commit, of: event.header, sha256)
            }
            place = last.header.number
        }
        let (size, root) = state.heads.commit(given.upTo, sha256)
        guard commits.isEmpty, size == given.size, root == given.root.digest else { throw .broken }
        state.commitments.append((event.header.number, after, given.upTo, given.name))
    }

    // MARK: Committing

    /// Appends commitments to the entries of all events up to `head`, one for each 2,000 entries, and reads them.
    private func commit(_ state: inout State, upTo head: Int64, _ context: AnswerContext) throws(Problem) {
        let (name, sha256) = (seal.name.text, SHA256())
        var makers: [PersonID: EntryMaker?] = [:]
        repeat {
            state.heads.begin(as: name)
            var heads = state.heads
            var commits: [UInt8] = []
            var place = heads.upTo
            scan: while place < head {
                let events = try stored(after: place, count: min(Self.eventsPerRead, Int(head - place)), context)
                guard !events.isEmpty else { throw .broken }
                for event in events {
                    if event.header.stream.isAudit, let person = event.header.stream.person {
                        if commits.count == HeadsCommitment.commitmentsMax * HeadsCommitment.commitmentBytes {
                            break scan
                        }
                        let maker: EntryMaker?
                        if let known = makers[person] {
                            maker = known
                        } else {
                            maker = try EntryMaker(of: person, decisions, seal)
                        }
                        makers.updateValue(maker, forKey: person)
                        let commit = try maker?.commitment(of: event, context, sha256) ?? .zeros
                        commits += commit.bytes
                        heads.append(commit, of: event.header, sha256)
                    }
                    place = event.header.number
                }
            }
            let (size, root) = heads.commit(place, sha256)
            let command = Command.commitHeads(
                HeadsCommitment(
                    name: name, upTo: place, size: size, root: Hash256(root), commits: commits))
            let receipt: Receipt
            do throws(AppendFailure) {
                receipt = try decisions.log.appendAndWait(command, by: .house, correlation: .random())
            } catch { throw Problem(error) }
            try catchUp(&state, through: receipt.last, context)
        } while state.heads.upTo < head
    }

    // MARK: Entries

    /// The entries of events, with their lengths.
    private func entries(after number: Int64, count: Int, _ context: AnswerContext) throws(Problem) -> [UInt8] {
        let events = try stored(after: number, count: count, context)
        guard events.count == count else { throw .broken }
        guard host.wait(for: number + Int64(count), in: [StreamIndexTable.name], milliseconds: 10_000) else {
            throw .busy(1)
        }
        let sha256 = SHA256()
        var leaves: [StreamID: Digest] = [:]
        var entries: [[UInt8]] = []
        for event in events {
            let header = event.header
            var previous = leaves[header.stream]
            if previous == nil, header.version > 1 {
                previous = try leaf(of: header.stream, version: header.version - 1, context)
            }
            let entry = header.entry(body: event.body, previous: previous, sha256)
            guard sha256.leaf(entry) == event.leaf else {
                throw Problem(500, "Damaged", "Event \(header.number) does not match its leaf. Run `verify`.")
            }
            leaves[header.stream] = event.leaf
            entries.append(entry)
        }
        do throws(TransparencyError) { return try EntryBundle.bytes(of: entries) } catch { throw .broken }
    }

    /// The leaf of an event of a stream.
    private func leaf(of stream: StreamID, version: Int64, _ context: AnswerContext) throws(Problem) -> Digest? {
        let (numbers, _) = try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
            try StreamIndexReader.numbers(of: stream, fromVersion: version, count: 1, in: connection)
        }
        guard let number = numbers.first else { return nil }
        return try stored(after: number - 1, count: 1, context).first?.leaf
    }
}

extension HouseHeads {
    /// Adds the entry of an event of a person's audit.
    fileprivate mutating func append(_ commit: Digest, of header: EventHeader, _ sha256: SHA256) {
        append(
            commit, person: header.stream.rawValue / 2, version: header.version,
            recordedAtMs: header.recordedAt.milliseconds, sha256)
    }
}

extension Digest {
    /// The commitment to an entry whose content can no longer be made.
    static let zeros = Digest(words: (0, 0, 0, 0))
}

/// Makes the commitments of one person's entries.
private struct EntryMaker {
    let key: SymmetricKey
    let origin: LogOrigin
    let references: References

    /// - Returns: `nil` for a person who was erased.
    init?(of person: PersonID, _ decisions: Decisions, _ seal: HouseSeal) throws(Problem) {
        let key: SymmetricKey?
        do throws(LogError) { key = try decisions.log.proofKey(of: person) } catch { throw .broken }
        guard let key else { return nil }
        (self.key, origin, references) = (key, seal.origin(under: key), decisions.references(of: person))
    }

    /// The commitment to the entry of an event; `nil` if the event cannot be opened.
    func commitment(
        of stored: LogReader.StoredEvent, _ context: AnswerContext, _ sha256: SHA256
    ) throws(Problem) -> Digest? {
        let event: RecordedEvent
        do throws(LogError) { event = try context.reader.open(stored) } catch {
            throw Problem(500, "Damaged", "\(error) Run `verify`.")
        }
        do throws(ProvenFields.Absence) {
            let entry = try PersonLogs.Entry(of: event, in: origin, under: key) { references.name(of: $0) }
            return PersonLogEntry.commit(salt: entry.salt, content: entry.content, sha256)
        } catch { return nil }
    }
}

extension EventHeader {
    /// The entry of the event in the tree: the canonical header and SHA-256 of the body. Its leaf is SHA-256(0x00 ‖ entry).
    fileprivate func entry(body: [UInt8], previous: Digest?, _ sha256: SHA256) -> [UInt8] {
        var writer = CBORWriter()
        writer.items(atMost: Self.mostBytes) { write(to: &$0, after: previous) }
        return writer.finish() + sha256.hash(body).bytes
    }
}
