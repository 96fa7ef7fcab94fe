import Cryptography
import Whereabouts

/// Rows of events, sealed and hashed, in the order of their numbers, and who waits for them to be durable.
struct SealedBatch {
    struct Row {
        let header: EventHeader
        /// Where in ``bodies`` its body stands.
        let body: Range<Int>
        let leaf: Digest
    }

    var rows: [Row] = []
    var bodies: [UInt8] = []
    /// The log's own row after these.
    var size: Int64 = 0
    var compactRange: [UInt8] = []
    var answers: [(completion: EventLog.Completion, result: Result<Receipt, AppendFailure>)] = []
    /// Persons whose keys go once this is durable.
    var erased: [PersonID] = []

    var isEmpty: Bool { answers.isEmpty && rows.isEmpty }
}

/// Seals and hashes events: what the writer's thread does with a decision before the rows are written.
final class LogSealer {
    private let keys: KeyRing
    private let sha256 = SHA256()
    private let cipher = AES256GCM()
    private var nonces = NonceSource()
    private var head = CBORWriter()
    private var body = CBORWriter()
    private var ciphertext: [UInt8] = []
    private var range: CompactRange
    /// Leaf of the newest event; `nil` when there is none.
    private(set) var headLeaf: Digest?
    /// This month's keys, by person and class.
    private var sealing: [Int64: (id: Int64, key: SymmetricKey)] = [:]
    private var sealingPeriod: Int64 = 0
    private var sealingGeneration: Int
    /// The keys of the event at hand, one for each part.
    private var partKeys: [(id: Int64, key: SymmetricKey)] = []

    /// - Parameter identity: what the file says of itself; numbers and leaves go on from there.
    init(after identity: LogIdentity, keys: KeyRing) {
        self.keys = keys
        sealingGeneration = keys.currentGeneration
        (range, headLeaf) = (identity.range, identity.head)
    }

    /// Makes the keys that `encoded` needs durable, before it gets a number.
    func prepareKeys(for encoded: EventCoding.Encoded, at time: Timestamp) throws(LogError) {
        partKeys.removeAll(keepingCapacity: true)
        for part in encoded.parts { partKeys.append(try key(for: part, at: time)) }
    }

    private func key(for part: PlainPart, at time: Timestamp) throws(LogError) -> (id: Int64, key: SymmetricKey) {
        let generation = keys.currentGeneration
        let period = KeyRing.period(of: time)
        if generation != sealingGeneration || period != sealingPeriod {
            sealing = [:]
            cipher.forgetKeys()
            (sealingGeneration, sealingPeriod) = (generation, period)
        }
        let slot = part.person.rawValue << 1 | part.keyClass.rawValue
        if let known = sealing[slot] { return known }
        let key = try keys.sealingKey(for: part.person, part.keyClass, at: time)
        sealing[slot] = key
        return key
    }

    /// Seals and hashes the event whose keys were prepared, and adds its row to `batch`; returns its leaf.
    ///
    /// Cost: about 2 µs for a fix.
    func seal(
        _ header: EventHeader, _ encoded: EventCoding.Encoded, previous: Hash256?, into batch: inout SealedBatch
    ) -> Hash256 {
        head.reset()
        header.write(to: &head)
        body.reset()
        body.array(1 + encoded.parts.count)
        body.raw(encoded.clear)
        for (index, part) in encoded.parts.enumerated() {
            body.array(3)
            body.integer(partKeys[index].id)
            ciphertext.removeAll(keepingCapacity: true)
            nonces.withNext { nonce in
                body.byteString(nonce)
                part.plaintext.withUnsafeBytes { plaintext in
                    head.bytes.withUnsafeBytes { head in
                        cipher.seal(
                            plaintext, key: partKeys[index].key, nonce: nonce, associated: head, UInt8(index),
                            into: &ciphertext)
                    }
                }
            }
            body.byteString(ciphertext)
        }
        let leaf = body.bytes.withUnsafeBytes {
            EventHeader.leaf(headWithoutPrevious: &head, body: $0, previous: previous?.digest, sha256)
        }
        let start = batch.bodies.count
        batch.bodies.append(contentsOf: body.bytes)
        batch.rows.append(.init(header: header, body: start..<batch.bodies.count, leaf: leaf))
        range.append(leaf, sha256)
        headLeaf = leaf
        return Hash256(leaf)
    }

    /// Writes into `batch` what the log's own row will be.
    func finish(_ batch: inout SealedBatch) {
        batch.size = range.size
        batch.compactRange = range.bytes
    }
}
