import Cryptography
import Whereabouts

/// Numbered events, sealed, and the callers that wait for them. The writer's thread hands a batch on.
struct Batch {
    /// A numbered event. Its bytes are in `Batch.bytes`.
    struct Event {
        let header: EventHeader
        /// The canonical header without its last item, and the body, which follows it.
        let head, body: Range<Int>
        let bodyHash: Digest
    }

    /// The answer to a caller. No tuple: a function in an array of tuples costs an allocation each.
    struct Answer {
        let completion: EventLog.Completion
        let result: Result<Receipt, AppendFailure>
    }

    var events: [Event] = []
    /// The bytes of ``events``, one after the other.
    var bytes = CBORWriter()
    /// The fixes among them, open. Other events can be written in fewer parts than they have in memory.
    var fixes: [RecordedEvent] = []
    /// The callers with their results, in the order in which they waited.
    var answers: [Answer] = []
    /// The persons whose keys are destroyed once the batch is durable.
    var erased: [PersonID] = []
    /// The keys of old reports that are destroyed then.
    var retired: [(person: PersonID, keys: [Int64])] = []
    /// The queries that end with this batch.
    var ended: [QueryID] = []

    /// Whether keys are destroyed once the batch is durable.
    var destroysKeys: Bool { !erased.isEmpty || !retired.isEmpty }

    /// Notes the answer to a command.
    mutating func answer(_ item: Waiting, _ result: Result<Receipt, AppendFailure>) {
        answers.append(Answer(completion: item.completion, result: result))
    }

    /// Empties the batch and keeps its capacity.
    mutating func empty() {
        events.removeAll(keepingCapacity: true)
        bytes.reset()
        fixes = []
        answers.removeAll(keepingCapacity: true)
        erased = []
        retired = []
        ended.removeAll(keepingCapacity: true)
    }
}

/// A key with its id.
typealias SealingKey = (id: Int64, key: SymmetricKey)

/// Today's keys by person and class, as the writer's thread needs them to prepare events.
struct SealingKeys {
    private let ring: KeyRing
    private var keys: [Int64: SealingKey] = [:]
    /// The keys of all parts of the events of a command, and how many were taken.
    private var found: [SealingKey] = []
    private var taken = 0
    private var highestID: Int64 = 0
    private var day = CalendarDay(number: .min)
    private var generation: Int

    init(_ ring: KeyRing) {
        self.ring = ring
        generation = ring.currentGeneration
    }

    /// Drops the keys, because a new rule may demand keys of days or of months.
    mutating func forget() { keys = [:] }

    /// Forgets the keys found so far.
    mutating func begin() {
        found.removeAll(keepingCapacity: true)
        taken = 0
    }

    /// The next keys of those found.
    mutating func take(_ count: Int) -> ArraySlice<SealingKey> {
        defer { taken += count }
        return found[taken..<taken + count]
    }

    /// The highest id of the keys found, unless it was given before.
    mutating func newHighestID() -> Int64? {
        let before = highestID
        for (id, _) in found { highestID = max(highestID, id) }
        return highestID > before ? highestID : nil
    }

    /// Finds the keys of the parts of an event; new ones become durable before the event does.
    ///
    /// - Parameter isDaily: Whether a person's track is sealed under keys of days.
    mutating func find(
        for parts: ArraySlice<PlainPart>, at time: Timestamp, isDaily: (PersonID) -> Bool = { _ in false }
    ) throws(LogError) {
        let (generation, day) = (ring.currentGeneration, CalendarDay(utc: time))
        if generation != self.generation || day != self.day {
            keys = [:]
            (self.generation, self.day) = (generation, day)
        }
        for part in parts {
            let slot = part.person.rawValue << 1 | part.keyClass.rawValue
            if let known = keys[slot] {
                found.append(known)
            } else {
                let key = try ring.sealingKey(
                    for: part.person, part.keyClass, at: time, isDaily: part.keyClass == .track && isDaily(part.person))
                if keys.count >= KeyRing.mostKept { keys = [:] }
                keys[slot] = key
                found.append(key)
            }
        }
    }
}

/// Seals events into the bytes of a batch. It belongs to the writer's thread.
struct EventSealer: ~Copyable {
    private let sha256 = SHA256()
    private let cipher = AES256GCM()
    private var nonces = NonceSource()
    private var head = CBORRoom(for: EventHeader.mostBytes)

    /// Forgets the schedules of keys that were destroyed.
    func forgetKeys() { cipher.forgetKeys() }

    /// Appends an event to the bytes of a batch.
    ///
    /// - Parameter keys: One for each part of `encoded`, which `facts` wrote.
    ///
    /// Cost: about 1.5 µs for a fix.
    mutating func seal(
        _ header: EventHeader, _ encoded: EventCoding.Encoded, of facts: borrowing FactWriter,
        keys: ArraySlice<SealingKey>, into bytes: inout CBORWriter
    ) -> Batch.Event {
        head.replace { header.write(to: &$0) }
        let start = bytes.count
        bytes.raw(head.items)
        let body = bytes.count
        bytes.array(1 + encoded.parts.count)
        facts.withClear(of: encoded) { bytes.raw($0) }
        for (index, part) in facts.parts(of: encoded).enumerated() {
            let (id, key) = keys[keys.startIndex + index]
            bytes.array(3)
            bytes.integer(id)
            nonces.withNext { nonce in
                bytes.byteString(nonce)
                facts.withPlaintext(of: part) { plaintext in
                    bytes.byteString(count: plaintext.count + AES256GCM.tagByteCount) { sealed in
                        cipher.seal(
                            plaintext, key: key, nonce: nonce, associated: head.items(and: UInt8(index)), into: sealed)
                    }
                }
            }
        }
        let end = bytes.count
        return Batch.Event(
            header: header, head: start..<body, body: body..<end,
            bodyHash: bytes.withBytes(in: body..<end) { sha256.hash($0) })
    }
}
