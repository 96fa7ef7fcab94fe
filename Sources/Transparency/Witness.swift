package import Cryptography

/// The state that a witness keeps of a log: the newest checkpoint that it cosigned.
package struct WitnessedState: Equatable, Sendable {
    package let size: Int64
    package let root: Digest

    package init(size: Int64, root: Digest) {
        self.size = size
        self.root = root
    }
}

/// Where a witness keeps its states. One file or one table of a database is enough.
package protocol WitnessStore {
    associatedtype Fault: Error

    /// The newest checkpoint cosigned for a log; `nil` if there was none.
    func state(of origin: LogOrigin) throws(Fault) -> WitnessedState?

    /// How many logs whose origin begins with this text have a state. A witness bounds them.
    func count(under prefix: String) throws(Fault) -> Int

    /// Replaces the state of a log in one step, if it still is `old`; durable when it returns.
    ///
    /// - Returns: `false` when it was another one, and nothing changed.
    mutating func replace(_ old: WitnessedState?, with new: WitnessedState, for origin: LogOrigin) throws(Fault) -> Bool
}

/// A witness of C2SP tlog-witness: it cosigns checkpoints of logs that it knows, if each continues the one before, and
/// never two that contradict each other.
package struct Witness: Sendable {
    /// Logs that a witness knows.
    package enum Known: Equatable, Sendable {
        /// One log, by its origin and the keys that sign for it. The name of a key may differ from the origin.
        case log(LogOrigin, keys: [NoteVerifier])
        /// All logs of a house: their origins begin with the prefix, and each signs with this public key under its origin
        /// as the name. At most so many are remembered.
        case house(prefix: String, publicKey: [UInt8], logsMax: Int)
    }

    private let signer: NoteSigner
    private let known: [Known]

    /// A witness with its key for cosignatures.
    package init(signer: NoteSigner, known: [Known]) {
        precondition(signer.verifier.kind == .cosignature, "A witness signs with a key for cosignatures.")
        self.signer = signer
        self.known = known
    }

    /// The key that verifiers need.
    package var verifier: NoteVerifier { signer.verifier }

    /// Answers `add-checkpoint`, and remembers the checkpoint if it cosigns it.
    ///
    /// - Parameters:
    ///   - body: the bytes of the request.
    ///   - timeSeconds: now, in seconds since 1970 UTC.
    /// - Throws: what the store throws. Then nothing was cosigned.
    package func addCheckpoint<Store: WitnessStore>(
        _ body: [UInt8], timeSeconds: Int64, store: inout Store
    ) throws(Store.Fault) -> WitnessAnswer {
        let request: WitnessRequest
        let checkpoint: Checkpoint
        do throws(TransparencyError) {
            request = try WitnessRequest(parsing: body)
            checkpoint = try Checkpoint(text: request.note.text)
        } catch {
            return .badRequest(error.description)
        }
        guard let (keys, house) = keys(of: checkpoint.origin) else { return .unknownLog }
        do throws(TransparencyError) {
            guard !(try request.note.verify(with: keys)).isEmpty else {
                return .badSignature("invalid signature: no known key has signed the checkpoint")
            }
        } catch {
            return .badSignature("invalid signature: \(error)")
        }
        let state = try store.state(of: checkpoint.origin)
        if let refusal = Self.refusal(of: request, checkpoint, state) { return refusal }
        if state == nil, let house, try store.count(under: house.prefix) >= house.logsMax { return .unknownLog }
        let new = WitnessedState(size: checkpoint.size, root: checkpoint.root)
        if new != state {
            guard try store.replace(state, with: new, for: checkpoint.origin) else {
                // Another request came in between; its size is the one to continue from.
                return .conflict(size: try store.state(of: checkpoint.origin)?.size ?? 0)
            }
        }
        return .cosigned([Cosignature.signature(of: checkpoint, timeSeconds: timeSeconds, by: signer)])
    }

    /// Why a checkpoint with a good signature is not cosigned; `nil` if it continues the state.
    static func refusal(
        of request: WitnessRequest, _ checkpoint: Checkpoint, _ state: WitnessedState?
    ) -> WitnessAnswer? {
        guard request.oldSize <= checkpoint.size else {
            return .badRequest("the old size is larger than that of the checkpoint")
        }
        let size = state?.size ?? 0
        guard request.oldSize == size else { return .conflict(size: size) }
        let sha256 = SHA256()
        if checkpoint.size == 0, checkpoint.root != sha256.hash([]) {
            return .inconsistent("the root of an empty log is SHA-256 of nothing")
        }
        if let state, size == checkpoint.size, state.root != checkpoint.root { return .conflict(size: size) }
        if size == 0 || size == checkpoint.size {
            return request.proof.isEmpty ? nil : .inconsistent("the consistency proof should be empty")
        }
        // A size of 0 was dealt with, so there is a state.
        let isContinued =
            state.map { state in
                MerkleProof.verifyConsistency(
                    from: size, root: state.root, to: checkpoint.size, root: checkpoint.root, proof: request.proof,
                    sha256)
            } ?? false
        guard isContinued else {
            return .inconsistent("the consistency proof does not lead from size \(size) to this checkpoint")
        }
        return nil
    }

    private func keys(of origin: LogOrigin) -> (keys: [NoteVerifier], house: (prefix: String, logsMax: Int)?)? {
        for known in known {
            switch known {
            case .log(let name, let keys) where name == origin: return (keys, nil)
            case .house(let prefix, let publicKey, let logsMax) where origin.text.utf8.starts(with: prefix.utf8):
                guard let name = try? KeyName(origin.text),
                    let key = try? NoteVerifier(name: name, kind: .ed25519, publicKey: publicKey)
                else { return nil }
                return ([key], (prefix, logsMax))
            default: continue
            }
        }
        return nil
    }
}
