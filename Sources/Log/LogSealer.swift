package import Cryptography
import Transparency
import Whereabouts

/// Numbered events with the keys of their parts, and the callers that wait for them. The writer's thread hands a batch
/// on to be sealed, hashed and written.
struct Batch {
    /// An event with its number, before sealing.
    struct Event {
        let header: EventHeader
        let encoded: EventCoding.Encoded
    }

    var events: [Event] = []
    /// The fixes among them, open. Other events can be written in fewer parts than they have in memory.
    var fixes: [RecordedEvent] = []
    /// The keys of the parts of all ``events``, in their order.
    var keys: [(id: Int64, key: SymmetricKey)] = []
    /// The callers with their results, in the order in which they waited.
    var answers: [(completion: EventLog.Completion, result: Result<Receipt, AppendFailure>)] = []
    /// The persons whose keys are destroyed once the batch is durable.
    var erased: [PersonID] = []
    /// The keys of old reports that are destroyed then.
    var retired: [(person: PersonID, keys: [Int64])] = []
    /// The queries that end with this batch.
    var ended: [QueryID] = []

    /// Whether keys are destroyed once the batch is durable.
    var destroysKeys: Bool { !erased.isEmpty || !retired.isEmpty }

    /// Whether there is nothing to write and no caller to answer.
    var isEmpty: Bool { answers.isEmpty && events.isEmpty }

    /// Empties the batch and keeps its capacity.
    mutating func empty() {
        events.removeAll(keepingCapacity: true)
        fixes = []
        keys.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        erased = []
        retired = []
        ended.removeAll(keepingCapacity: true)
    }
}

/// Today's keys by person and class, as the writer's thread needs them to prepare events.
struct SealingKeys {
    private let ring: KeyRing
    private var keys: [Int64: (id: Int64, key: SymmetricKey)] = [:]
    private var day = CalendarDay(number: .min)
    private var generation: Int

    init(_ ring: KeyRing) {
        self.ring = ring
        generation = ring.currentGeneration
    }

    /// Drops the keys, because a new rule may demand keys of days or of months.
    mutating func forget() { keys = [:] }

    /// Adds the keys of `encoded` to `batch`; new ones become durable before the batch does.
    ///
    /// - Parameter isDaily: Whether a person's track is sealed under keys of days.
    mutating func prepare(
        _ encoded: EventCoding.Encoded, at time: Timestamp, for batch: inout Batch,
        isDaily: (PersonID) -> Bool = { _ in false }
    ) throws(LogError) {
        let (generation, day) = (ring.currentGeneration, CalendarDay(utc: time))
        if generation != self.generation || day != self.day {
            keys = [:]
            (self.generation, self.day) = (generation, day)
        }
        for part in encoded.parts {
            let slot = part.person.rawValue << 1 | part.keyClass.rawValue
            if let known = keys[slot] {
                batch.keys.append(known)
            } else {
                let key = try ring.sealingKey(
                    for: part.person, part.keyClass, at: time, isDaily: part.keyClass == .track && isDaily(part.person))
                if keys.count >= KeyRing.mostKept { keys = [:] }
                keys[slot] = key
                batch.keys.append(key)
            }
        }
    }
}

extension StreamHead {
    /// The newest event of a stream, with its leaf.
    package init(number: Int64, version: Int64, leaf: Digest) {
        self.init(number: number, version: version, leafHash: Hash256(words: leaf.words))
    }

    /// The event's leaf.
    package var leaf: Digest { Digest(words: leafHash.words) }
}

/// Seals and hashes events, and keeps the heads of the streams and of the tree. Like the log's file, it belongs to the
/// thread with the turn to write.
struct LogSealer: ~Copyable {
    private let sha256 = SHA256()
    private let cipher = AES256GCM()
    private var nonces = NonceSource()
    private var head = CBORWriter()
    private var ciphertext: [UInt8] = []
    /// The body of the event sealed last.
    private(set) var body = CBORWriter()
    /// The tree over all leaves, including those of the batch under way.
    private(set) var range: CompactRange
    /// The number of events, with the batch under way.
    var size: Int64 { range.size }
    /// The leaf of the newest event; `nil` for an empty log.
    private(set) var headLeaf: Digest?
    /// The newest event of each stream.
    private(set) var heads: StreamHeads
    /// The state at ``begin()``, and the heads that were replaced since.
    private var mark: (range: CompactRange, headLeaf: Digest?)
    private var replaced: [(stream: StreamID, head: StreamHead?)] = []

    /// - Parameters:
    ///   - identity: The row `log` of the file, from which the tree continues.
    ///   - heads: The newest event of each stream.
    init(after identity: LogIdentity, heads: StreamHeads) {
        (range, headLeaf) = (identity.range, identity.head)
        mark = (identity.range, identity.head)
        self.heads = heads
    }

    /// Begins a batch that ``takeBack()`` can undo.
    mutating func begin() {
        mark = (range, headLeaf)
        replaced.removeAll(keepingCapacity: true)
    }

    /// Undoes everything since ``begin()`` after the batch did not become durable.
    mutating func takeBack() {
        (range, headLeaf) = mark
        for (stream, head) in replaced.reversed() { heads[stream] = head }
        replaced.removeAll(keepingCapacity: true)
    }

    /// Forgets the schedules of keys that were destroyed.
    func forgetKeys() { cipher.forgetKeys() }

    /// Seals and hashes an event; ``body`` then has its bytes.
    ///
    /// - Parameter keys: One key for each part.
    /// - Returns: The event's leaf.
    /// - Throws: ``LogError/damaged(number:_:)`` if the event does not continue the log or its stream.
    ///
    /// Cost: about 2 µs for a fix.
    mutating func seal(
        _ event: Batch.Event, keys: ArraySlice<(id: Int64, key: SymmetricKey)>
    ) throws(LogError) -> Digest {
        let previous = heads[event.header.stream]
        guard event.header.number == range.size + 1, event.header.version == (previous?.version ?? 0) + 1 else {
            throw .damaged(
                number: event.header.number,
                "it would be version \(event.header.version) of its stream, and version \(previous?.version ?? 0) "
                    + "is in the log; it was not written")
        }
        head.reset()
        event.header.write(to: &head)
        body.reset()
        body.array(1 + event.encoded.parts.count)
        body.raw(event.encoded.clear)
        for (index, part) in event.encoded.parts.enumerated() {
            let (id, key) = keys[keys.startIndex + index]
            body.array(3)
            body.integer(id)
            ciphertext.removeAll(keepingCapacity: true)
            nonces.withNext { nonce in
                body.byteString(nonce)
                part.plaintext.withUnsafeBytes { plaintext in
                    head.withBytes { head in
                        cipher.seal(
                            plaintext, key: key, nonce: nonce, associated: head, UInt8(index), into: &ciphertext)
                    }
                }
            }
            body.byteString(ciphertext)
        }
        let leaf = body.withBytes {
            EventHeader.leaf(headWithoutPrevious: &head, body: $0, previous: previous?.leaf, sha256)
        }
        range.append(leaf, sha256)
        headLeaf = leaf
        replaced.append((event.header.stream, previous))
        heads[event.header.stream] = StreamHead(
            number: event.header.number, version: event.header.version, leaf: leaf)
        return leaf
    }
}
