import Log
import Posting
import Synchronization
import Threading
import Transparency
import Whereabouts

/// One configured witness: the last size of each log that it cosigned, and whether it answers.
///
/// All of this is in memory only. After a restart the house begins at size 0, and the witness says what it has (409).
final class Cosigner: Sendable {
    /// The result of a request.
    struct Reply: Sendable {
        let outcome: PostOutcome
        /// At most one byte more than `answerBytesMax`.
        let body: [UInt8]

        /// None came in time.
        static let missing = Reply(outcome: .failed(.timeout), body: [])
    }

    /// The next step after a reply.
    enum Step: Equatable {
        /// The lines to add, all verified.
        case cosigned([SignedNote.Signature])
        /// The witness is at another size; ask again from there.
        case again(from: Int64)
        /// Nothing this time.
        case nothing
    }

    /// The checkpoint that a request is about.
    struct Subject {
        let person: PersonID
        let origin: LogOrigin
        let size: Int64
        let note: SignedNote
    }

    /// The last size of a log that the witness cosigned.
    private struct Place {
        let origin: LogOrigin
        let size: Int64
    }

    private struct State {
        var places: [PersonID: Place] = [:]
        /// While it does not answer, or answers nonsense: when it may be asked again, in milliseconds of the steady clock.
        var pausedUntil: Int64?
        /// The time until which the rounds skip a log that the witness refused.
        var refusals: [PersonID: Int64] = [:]
        /// The logs for which the witness cosigned another history.
        var contested: Set<PersonID> = []
        /// Whether the operator knows that it lacks the key of a log.
        var isLackNamed = false
    }

    /// A witness that failed is not asked again for a minute.
    static let pauseMilliseconds: Int64 = 60_000
    /// The rounds send a log that was refused again after an hour; a reader's request asks nevertheless.
    static let refusalMilliseconds: Int64 = 3_600_000
    /// The longest answer in bytes. A cosignature is a line of about 150, a post-quantum one beside it of 3,300.
    private static let answerBytesMax = 16 << 10
    private static let sizeType = "text/x.tlog.size"

    private let url: PostURL
    private let key: NoteVerifier
    /// Each witness has a separate thread, so that a slow name look-up for one delays no other.
    private let poster: Poster
    private let state = Mutex(State())

    init(_ configuration: ServiceConfiguration.Witness) {
        (url, key) = (configuration.url, configuration.key)
        let allowsPrivate = configuration.allowsPrivateAddresses
        poster = Poster(trustFile: configuration.caFile) { origin in
            AddressRule(allowsLoopback: origin.isLoopback, allowsPrivate: allowsPrivate)
        }
    }

    func start() { poster.start() }

    /// Cuts the requests under way; they end as stopped.
    func stop() { poster.stop() }

    // MARK: State

    /// Whether it may be asked now. After a pause, the first caller may, and the others wait for how that ends: if the
    /// witness is still dead, it holds one thread.
    func isReady(at now: Int64) -> Bool {
        state.withLock { state in
            guard let until = state.pausedUntil else { return true }
            guard until <= now else { return false }
            state.pausedUntil = now + Self.pauseMilliseconds
            return true
        }
    }

    /// Whether it answers, takes a person's log, and has cosigned fewer entries of it than there are.
    func isBehind(_ person: PersonID, size: Int64, at now: Int64) -> Bool {
        state.withLock { state in
            (state.pausedUntil ?? now) <= now && (state.refusals[person] ?? now) <= now
                && (state.places[person]?.size ?? 0) < size
        }
    }

    /// The size that it cosigned last of a log, as far as the house knows.
    func size(of subject: Subject) -> Int64 {
        state.withLock { state in
            guard let place = state.places[subject.person], place.origin == subject.origin else { return 0 }
            return min(place.size, subject.size)
        }
    }

    /// The number of logs for which the witness cosigned another history.
    var contested: Int { state.withLock { $0.contested.count } }

    /// Forgets erased persons.
    func keep(where isThere: (PersonID) -> Bool) {
        state.withLock { state in
            state.places = state.places.filter { isThere($0.key) }
            state.refusals = state.refusals.filter { isThere($0.key) }
            state.contested = state.contested.filter(isThere)
        }
    }

    // MARK: Asking

    /// Sends `add-checkpoint`. `completion` is called once, within about `milliseconds`.
    func send(
        _ request: WitnessRequest, milliseconds: Int, _ completion: @escaping @Sendable (Reply) -> Void
    ) {
        let body = Monitor<[UInt8]>([])
        let post = Post(
            to: url, headers: ["Content-Type: text/plain; charset=utf-8"], body: request.bytes,
            milliseconds: milliseconds, wanting: ["Content-Type"])
        poster.send(
            post,
            reading: { piece in
                body.read { body in
                    body += piece.prefix(Self.answerBytesMax + 1 - body.count)
                    return body.count <= Self.answerBytesMax
                }
            }
        ) { outcome in completion(Reply(outcome: outcome, body: body.read { $0 })) }
    }

    /// The next step after the reply to a request. Updates the state of the witness.
    ///
    /// - Parameter old: The old size of the request.
    func take(_ reply: Reply, to subject: Subject, from old: Int64, at now: Int64) -> Step {
        guard case .answered(let status, _, let headers) = reply.outcome else {
            if case .failed(let fault) = reply.outcome, fault != .stopped {
                pause("does not answer (\(fault.rawValue))", at: now)
            }
            return .nothing
        }
        guard reply.body.count <= Self.answerBytesMax,
            let answer = try? WitnessAnswer(status: status, body: reply.body)
        else {
            pause("gives an answer that is none of a witness (status \(status))", at: now)
            return .nothing
        }
        switch answer {
        case .cosigned(let signatures):
            let own = verified(signatures, on: subject.note)
            guard !own.isEmpty else {
                pause("does not sign with its key", at: now)
                return .nothing
            }
            settle(subject)
            return .cosigned(own)
        case .conflict(let size):
            guard headers["Content-Type"]?.hasPrefix(Self.sizeType) == true else {
                pause("gives no size with status 409", at: now)
                return .nothing
            }
            // A larger size, or the same with another root.
            guard size <= subject.size, size != old else { return contest(subject, at: now) }
            return .again(from: size)
        case .inconsistent: return contest(subject, at: now)
        case .unknownLog, .badSignature: return lack(subject, at: now)
        case .badRequest:
            pause("refuses the form of a request (status \(status))", at: now)
            return .nothing
        }
    }

    /// Notes that a witness gave two sizes for one checkpoint.
    func giveUp(at now: Int64) { pause("gives one size after the other", at: now) }

    /// The lines by the key of the witness; none if one of them is wrong.
    private func verified(_ signatures: [SignedNote.Signature], on note: SignedNote) -> [SignedNote.Signature] {
        let own = signatures.filter { $0.name == key.name && $0.keyID == key.id }
        guard var bare = try? SignedNote(text: note.text) else { return [] }
        for signature in own { bare.add(signature) }
        let areGood = (try? bare.verify(with: [key]))?.isEmpty == false
        return areGood ? bare.signatures : []
    }

    // MARK: Diagnostics

    /// Leaves the witness out for a while, and names it once until it cosigns again.
    private func pause(_ what: String, at now: Int64) {
        let wasPaused = state.withLock { state in
            defer { state.pausedUntil = now + Self.pauseMilliseconds }
            return state.pausedUntil != nil
        }
        guard !wasPaused else { return }
        Diagnostics.fault(
            "cosigning.paused", "The witness \(key.name) \(what). Proofs lack its cosignature until it gives one.")
    }

    private func settle(_ subject: Subject) {
        let wasPaused = state.withLock { state in
            defer { state.pausedUntil = nil }
            state.places[subject.person] = Place(origin: subject.origin, size: subject.size)
            state.refusals[subject.person] = nil
            state.contested.remove(subject.person)
            return state.pausedUntil != nil
        }
        if wasPaused { Diagnostics.note("cosigning.resumed", "The witness \(key.name) cosigns again.") }
    }

    /// The witness answers, and has seen another history.
    private func contest(_ subject: Subject, at now: Int64) -> Step {
        let isNew = state.withLock { state in
            state.pausedUntil = nil
            state.refusals[subject.person] = now + Self.refusalMilliseconds
            return state.contested.insert(subject.person).inserted
        }
        guard isNew else { return .nothing }
        Diagnostics.fault(
            "cosigning.refused",
            "The witness \(key.name) refuses a person's log, because it has cosigned another history of it: entries are lost "
                + "or changed, or another service signs with the same key. Run \"whereabouts verify\".")
        return .nothing
    }

    /// The witness answers, and does not know the log.
    private func lack(_ subject: Subject, at now: Int64) -> Step {
        let isNew = state.withLock { state in
            defer { state.isLackNamed = true }
            state.pausedUntil = nil
            state.refusals[subject.person] = now + Self.refusalMilliseconds
            return !state.isLackNamed
        }
        guard isNew else { return .nothing }
        Diagnostics.note(
            "cosigning.unknown",
            "The witness \(key.name) does not know the key of a person's log. Its owner adds the key to the file \"logs\"."
        )
        return .nothing
    }
}
