package import Cryptography
import Log
import Projections
package import Replies
import SQLite
import Synchronization
import Tables
package import Transparency
package import Whereabouts

/// The logs of all persons, each a Merkle tree over commitments to the events in one person's audit.
///
/// Nothing of them is stored. An entry is a function of its event and of the person's key: the content is
/// `ProvenFields`, and the salt follows from the key. So a log can be made again at any time, until the key is
/// destroyed with the person.
///
/// Cost: about 20 µs for an entry. The leaves of recent logs are kept, so that a checkpoint of a log that has grown costs
/// only its new entries.
package final class PersonLogs: Sendable {
    /// One entry with its salt and content.
    package struct Entry: Sendable {
        /// When the event was recorded.
        package let recordedAt: Timestamp
        /// The salt of the commitment.
        package let salt: EntrySalt
        /// The part of the event that the person may see, in CBOR.
        package let content: [UInt8]

        /// The entry of an event.
        ///
        /// - Parameter reference: How the person sees a number of the house.
        /// - Throws: `ProvenFields.Absence` if the event has no entry, or its parts cannot be opened.
        package init(
            of event: RecordedEvent, in origin: LogOrigin, under key: SymmetricKey,
            reference: (HouseNumber) -> String
        ) throws(ProvenFields.Absence) {
            recordedAt = event.recordedAt
            salt = EntrySalt(of: event.version, in: origin, key: key)
            content = try ProvenFields.content(of: event, reference: reference)
        }
    }

    /// An entry of a log, or its commitment if it cannot be opened because its key is lost.
    enum Listed: Sendable {
        case open(Entry)
        case unreadable(recordedAt: Timestamp, commit: Digest)
    }

    /// The entries of a log, and the names that they refer to.
    struct Listing: Sendable {
        var entries: [Listed] = []
        /// The names of the persons and devices in the entries, by their references.
        var names: [String: String] = [:]
    }

    /// A log with its signed checkpoint.
    package struct Signed: Sendable {
        /// The log of one person.
        package let log: PersonLog
        /// Its checkpoint, signed by the house and by the witnesses that answered.
        package var note: SignedNote
    }

    /// Has a log read, and adds the cosignatures of witnesses to its checkpoint. Without any, the checkpoint stays as it
    /// is. Blocks until the witnesses have answered or their time is over.
    package typealias Cosigning = @Sendable (PersonID, () throws(Problem) -> Signed) throws(Problem) -> Signed

    /// The logs that were read recently, without contents.
    private struct Known {
        var logs: [PersonID: PersonLog] = [:]
        /// The newest checkpoints, by size and witnesses.
        var checkpoints: [PersonID: Checkpoints] = [:]
        /// The generation of the keys for which they hold.
        var generation: Int
    }

    /// The newest checkpoints of a log that were signed since the start of the service.
    private struct Checkpoints {
        /// The entries of the newest one.
        var signed: Int64 = 0
        /// The entries of the newest one with cosignatures, and the witnesses' names.
        var witnessed: Int64 = 0
        var witnesses: [String] = []

        mutating func note(_ log: Signed) {
            signed = max(signed, log.log.size)
            let names = log.note.signatures.map(\.name.text).filter { $0 != log.log.origin.text }
            guard !names.isEmpty, log.log.size >= witnessed else { return }
            (witnessed, witnesses) = (log.log.size, names.sorted())
        }
    }

    /// The events of a person's audit that checkpoints cover, by their numbers in the house's log.
    package struct Coverage: Sendable {
        /// The last event that the newest checkpoint covers; 0 without one.
        var signedThrough: Int64 = 0
        /// The last event that a cosigned checkpoint covers; 0 without one.
        var witnessedThrough: Int64 = 0
        /// The names of the witnesses that cosigned it.
        var witnesses: [String] = []

        /// How far the event of a number is proven.
        ///
        /// - Parameter contents: As in `AuditProofItem`.
        package func state(of number: Int64, contents: String? = nil) -> AuditProofItem {
            if number <= witnessedThrough {
                return AuditProofItem(state: "witnessed", witnesses: witnesses, contents: contents)
            }
            return AuditProofItem(state: number <= signedThrough ? "signed" : "logged", contents: contents)
        }
    }

    /// The most entries of all kept logs; 64 bytes each.
    private static let mostKept: Int64 = 200_000

    private let views: Views
    private let seal: HouseSeal
    private let houseLog: HouseLog
    /// `nil` if no witness is configured.
    private let cosigning: Cosigning?
    private let known: Mutex<Known>

    package init(_ views: Views, seal: HouseSeal, houseLog: HouseLog, cosigning: Cosigning? = nil) {
        (self.views, self.seal, self.houseLog, self.cosigning) = (views, seal, houseLog, cosigning)
        known = Mutex(Known(generation: views.decisions.log.keys.currentGeneration))
    }

    /// All entries of a person's log, with the checkpoint over them.
    ///
    /// An entry that cannot be opened because its key is lost comes without its content. Its commitment is the one that the
    /// log has recorded for an auditor, or zeros; in the latter case the log no longer continues its earlier checkpoints.
    ///
    /// - Throws: 503 while the index of streams has not followed the log.
    package func proof(of person: PersonID, _ context: AnswerContext) throws(Problem) -> PersonProof {
        let key = try proofKey(of: person)
        let origin = seal.origin(under: key)
        var listing = Listing()
        let signed = try cosigned(person) { () throws(Problem) in
            listing = try entries(of: person, from: 1, in: origin, under: key, context)
            let sha256 = SHA256()
            var log = PersonLog(origin: origin)
            for entry in listing.entries { _ = log.append(entry, sha256) }
            return Signed(log: log, note: note(log, sha256))
        }
        return PersonProof(
            names: listing.names.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.compactMap {
                try? PersonProof.Name(reference: $0.key, text: $0.value)
            },
            entries: listing.entries.map {
                switch $0 {
                case .open(let entry):
                    .init(
                        recordedAtMs: entry.recordedAt.milliseconds,
                        opening: .whole(salt: entry.salt, content: entry.content))
                case .unreadable(let recordedAt, let commit):
                    .init(recordedAtMs: recordedAt.milliseconds, opening: .erased(commit: commit))
                }
            }, note: signed.note)
    }

    /// The present checkpoint of a person's log with its key, the key of the house's receipts, and the proof that the
    /// checkpoint continues the one of `older` entries.
    ///
    /// - Parameter older: 0 for no proof.
    /// - Throws: 422 if the log has fewer entries; otherwise as ``proof(of:_:)``.
    package func checkpoint(
        of person: PersonID, after older: Int64, _ context: AnswerContext
    ) throws(Problem) -> (note: SignedNote, key: NoteVerifier, house: NoteVerifier, consistency: [Digest]) {
        let key = try proofKey(of: person)
        let origin = seal.origin(under: key)
        let generation = views.decisions.log.keys.currentGeneration
        let sha256 = SHA256()
        let signed = try cosigned(person) { () throws(Problem) in
            var log = recent(person, generation).flatMap { $0.origin == origin ? $0 : nil } ?? PersonLog(origin: origin)
            for entry in try entries(of: person, from: log.size + 1, in: origin, under: key, context).entries {
                _ = log.append(entry, sha256)
            }
            guard older <= log.size else {
                throw Problem.refused("\"since\" is greater than the number of entries that this log has.")
            }
            return Signed(log: log, note: note(log, sha256))
        }
        let consistency: [Digest]
        do throws(TransparencyError) {
            consistency = try signed.log.consistencyProof(from: older, to: signed.log.size, sha256)
        } catch { throw .broken }
        keep(signed.log, of: person, generation)
        return (signed.note, seal.signer(of: origin).verifier, seal.signer.verifier, consistency)
    }

    /// The events that the last checkpoints of a person's log cover. A checkpoint is made when a proof or a checkpoint
    /// is read, and for witnesses once a minute; after a start of the service there is none.
    ///
    /// Cost: at most two searches in the index of streams.
    package func coverage(of person: PersonID, _ context: AnswerContext) throws(Problem) -> Coverage {
        guard let checkpoints = known.withLock({ $0.checkpoints[person] }) else { return Coverage() }
        return try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
            let signed = try StreamIndexReader.numbers(
                of: .audit(person), fromVersion: checkpoints.signed, count: 1, in: connection)
            let witnessed = try StreamIndexReader.numbers(
                of: .audit(person), fromVersion: checkpoints.witnessed, count: 1, in: connection)
            return Coverage(
                signedThrough: signed.first ?? 0, witnessedThrough: witnessed.first ?? 0,
                witnesses: checkpoints.witnesses)
        }.value
    }

    private func cosigned(_ person: PersonID, _ read: () throws(Problem) -> Signed) throws(Problem) -> Signed {
        let signed = if let cosigning { try cosigning(person, read) } else { try read() }
        let generation = views.decisions.log.keys.currentGeneration
        known.withLock { known in
            // The keys of another generation may be those of a person who was erased.
            if known.generation != generation { known = Known(generation: generation) }
            known.checkpoints[person, default: Checkpoints()].note(signed)
        }
        return signed
    }

    /// The log as it was read recently.
    private func recent(_ person: PersonID, _ generation: Int) -> PersonLog? {
        known.withLock { known in
            if known.generation != generation { known = Known(generation: generation) }
            return known.logs[person]
        }
    }

    private func keep(_ log: PersonLog, of person: PersonID, _ generation: Int) {
        known.withLock { known in
            guard known.generation == generation else { return }
            known.logs[person] = nil
            if known.logs.values.reduce(log.size, { $0 + $1.size }) > Self.mostKept { known.logs = [:] }
            known.logs[person] = log
        }
    }

    private func note(_ log: PersonLog, _ sha256: SHA256) -> SignedNote {
        do { return try log.checkpoint(sha256).signed(by: seal.signer(of: log.origin)) } catch {
            preconditionFailure("A checkpoint is the text of a note.")
        }
    }

    /// The person's key; 404 if the person was erased meanwhile.
    private func proofKey(of person: PersonID) throws(Problem) -> SymmetricKey {
        let key: SymmetricKey?
        do throws(LogError) { key = try views.decisions.log.proofKey(of: person) } catch { throw .broken }
        guard let key else { throw .noSuchPerson }
        return key
    }

    /// The entries from a version on, up to the newest durable event.
    private func entries(
        of person: PersonID, from version: Int64, in origin: LogOrigin, under key: SymmetricKey,
        _ context: AnswerContext
    ) throws(Problem) -> Listing {
        let decisions = views.decisions
        let head = decisions.log.head
        guard views.host.wait(for: head, in: [StreamIndexTable.name], milliseconds: 10_000) else { throw .busy(1) }
        let stream = StreamID.audit(person)
        let (numbers, _) = try context.read(StreamIndexTable.name) { (connection) throws(SQLiteError) in
            try StreamIndexReader.numbers(
                of: stream, fromVersion: version, count: PersonProof.entriesMax + 1, in: connection)
        }
        guard Int64(numbers.count) + version - 1 <= Int64(PersonProof.entriesMax) else { throw .tooManyEntries }
        let references = decisions.references(of: person)
        let names = PrincipalNames(decisions)
        var listing = Listing()
        for (offset, number) in numbers.enumerated() {
            let found: (event: RecordedEvent, leaf: Digest)?
            do throws(LogError) { found = try context.reader.event(number) } catch { throw .broken }
            guard let event = found?.event, event.version == version + Int64(offset) else { throw .broken }
            do throws(ProvenFields.Absence) {
                let entry = try Entry(of: event, in: origin, under: key) { number in
                    let reference = references.name(of: number)
                    if number.kind == .principal {
                        listing.names[reference] = names.name(PrincipalID(rawValue: number.rawValue))
                    }
                    return reference
                }
                listing.entries.append(.open(entry))
            } catch {
                let commit = try houseLog.recordedCommitment(of: event, context) ?? .zeros
                listing.entries.append(.unreadable(recordedAt: event.recordedAt, commit: commit))
            }
        }
        return listing
    }
}

extension PersonLog {
    /// Adds an entry.
    fileprivate mutating func append(_ listed: PersonLogs.Listed, _ sha256: SHA256) -> PersonLogEntry {
        switch listed {
        case .open(let entry):
            append(recordedAtMs: entry.recordedAt.milliseconds, salt: entry.salt, content: entry.content, sha256)
        case .unreadable(let recordedAt, let commit):
            append(recordedAtMs: recordedAt.milliseconds, commit: commit, sha256)
        }
    }
}

extension References {
    /// The name of a number of the house, in an entry of a person's log.
    package func name(of number: HouseNumber) -> String {
        name(number.rawValue, number.kind).text
    }
}

extension Problem {
    /// The person's log is longer than a proof can be.
    fileprivate static var tooManyEntries: Problem {
        Problem(
            413, "Too long", "The log has more than \(PersonProof.entriesMax) entries, which is the most of a proof.")
    }
}
