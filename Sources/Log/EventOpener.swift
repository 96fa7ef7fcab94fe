import Cryptography
import SQLite
import Transparency
import Whereabouts

/// Opens the sealed parts of events in their stored form. One for each reader: it keeps keys and buffers.
///
/// A struct whose methods mutate it, so that the buffers and keys of an event need no checks of exclusive access.
struct EventOpener: ~Copyable {
    let keys: KeyRing
    private let cipher = AES256GCM()
    private var cache: [Int64: KeyRing.Key] = [:]
    private var cacheGeneration: Int
    private var head = CBORRoom(for: EventHeader.mostBytes)
    /// One for each part that an event can have.
    private let buffers = (0..<OpenedParts.most).map { _ in PlaintextBuffer() }
    private let sha256 = SHA256()
    /// The keys that did not open a part of an undamaged event. Such a key has the id of a lost one.
    private var mistaken: Set<Int64> = []
    /// The highest id of a key in the events opened since it was set to 0.
    var highestKey: Int64 = 0

    init(_ keys: KeyRing) {
        self.keys = keys
        cacheGeneration = keys.currentGeneration
    }

    /// Drops cached keys after a destruction of keys.
    mutating func forgetStaleKeys() {
        let generation = keys.currentGeneration
        if generation == cacheGeneration { return }
        (cache, mistaken, cacheGeneration) = ([:], [], generation)
        cipher.forgetKeys()
    }

    /// A part that does not open is lost if its event is undamaged: the id then means another key, as after a restore
    /// of an older `keys.sqlite`. Otherwise, the event is damaged.
    mutating func event(
        _ header: EventHeader, body: UnsafeRawBufferPointer, leaf: Digest, in connection: borrowing Connection
    ) throws(LogError) -> Event {
        guard let kind = EventKind(rawValue: header.kind) else {
            throw .newerKind(number: header.number, kind: header.kind)
        }
        do throws(CBORError) {
            var reader = CBORReader(body)
            let items = try reader.array()
            guard (1...1 + OpenedParts.most).contains(items) else { throw .unexpected }
            let clear = try reader.skip()
            head.replace { header.write(to: &$0) }
            var parts = OpenedParts()
            var wrongKeys: [Int64] = []
            for index in 0..<items - 1 {
                parts.append(try openPart(&reader, UInt8(index), &wrongKeys))
            }
            try reader.end()
            let event = try EventCoding.decode(
                kind: kind, in: header.stream, at: header.recordedAt, clear: clear, parts: parts)
            if !wrongKeys.isEmpty {
                guard try isWhole(header, body, leaf, in: connection) else { throw .unexpected }
                mistaken.formUnion(wrongKeys)
            }
            return event
        } catch {
            throw .damaged(number: header.number, "its body cannot be read (\(error)), or a later version wrote it")
        }
    }

    /// Whether the leaf is the hash of this header and body after the newest earlier event of the stream.
    ///
    /// Cost: reading the log back to that event.
    private func isWhole(
        _ header: EventHeader, _ body: UnsafeRawBufferPointer, _ leaf: Digest, in connection: borrowing Connection
    ) throws(CBORError) -> Bool {
        do throws(SQLiteError) {
            let previous = try connection.cached(
                "SELECT leaf FROM event WHERE stream = ? AND number < ? ORDER BY number DESC LIMIT 1"
            ) { (statement) throws(SQLiteError) -> Digest? in
                try statement.bind(header.stream.rawValue, at: 1)
                try statement.bind(header.number, at: 2)
                return try statement.step() ? statement.withBytes(at: 0) { Digest(bytes: $0) } : nil
            }
            var scratch = CBORRoom(for: EventHeader.mostBytes)
            return header.leaf(body: body, previous: previous, sha256, scratch: &scratch) == leaf
        } catch { throw .unexpected }
    }

    private mutating func cacheKey(_ id: Int64) throws(CBORError) -> KeyRing.Key {
        guard let key = try? keys.key(id) else { throw .unexpected }
        if cache.count >= KeyRing.mostKept { cache = [:] }
        cache[id] = key
        return key
    }

    /// Opens the next part into the buffer of its index, which stays valid until the next event is opened.
    ///
    /// - Parameter wrongKeys: Receives the key if it exists, does not open the part, and is not in ``mistaken``.
    private mutating func openPart(
        _ reader: inout CBORReader, _ index: UInt8, _ wrongKeys: inout [Int64]
    ) throws(CBORError) -> OpenedPart {
        guard try reader.array() == 3 else { throw .unexpected }
        let (id, nonce, ciphertext) = (try reader.integer(), try reader.byteString(), try reader.byteString())
        highestKey = max(highestKey, id)
        let key: KeyRing.Key
        if let cached = cache[id] { key = cached } else { key = try cacheKey(id) }
        switch key {
        case .destroyed: return .erased
        case .lost: return .keyLost
        case .key(let key):
            let plaintext = try? cipher.open(
                ciphertext, key: key, nonce: nonce, associated: head.items(and: index), into: buffers[Int(index)])
            if let plaintext { return .open(plaintext) }
            if !mistaken.contains(id) { wrongKeys.append(id) }
            return .keyLost
        }
    }
}
