package import Cryptography
import Glibc
package import SQLite
import Synchronization
package import Whereabouts

// `keys.sqlite`: one random AES-256 key per person, class and UTC month, wrapped with AES-256-GCM under the
// key-encryption key: `wrapped` = nonce(12) ‖ ciphertext(32) ‖ tag(16), associated data = the text "whereabouts key
// <id> <person> <class> <period>". `destroyed` lists the ids of keys that were destroyed on purpose. Every copy of the
// file has the list, so that restoring an old copy cannot bring a person back. `period` is a month or a day of UTC.
//
// `kek_check` has one row: 32 zero bytes sealed in the same way, with the associated data "whereabouts key check". Only
// the key-encryption key of this file opens it. A row of `key` is never changed, only deleted.

/// The keys that seal and open the personal parts of events. Safe to use from any thread.
package final class KeyRing: Sendable {
    /// The person, class and month that have one key together.
    struct Slot: Hashable {
        let person: PersonID
        let keyClass: KeyClass
        /// The UTC month, for example 202611, or the UTC day, for example 20261124 (`KeyPeriod`).
        let period: Int64
    }

    /// The file and the state that the lock protects.
    final class Store {
        let connection: Connection
        /// The keys to seal with, by slot. Emptied when it is full.
        var current: [Slot: (id: Int64, key: SymmetricKey)] = [:]
        /// The keys that were looked up by id. Emptied when it is full.
        var known: [Int64: Key] = [:]
        let cipher = AES256GCM()
        var nonces = NonceSource()
        /// The keys that are not durable yet. Their transaction is open unless SQLite has rolled it back.
        var newKeys: [KeyRow] = []
        /// The keys that the record does not have yet.
        var unrecorded: [KeyRow] = []

        init(path: String, access: Connection.Access) throws(SQLiteError) {
            connection = try Connection(path: path, access: access)
        }

        /// Opens the transaction of the new keys. If SQLite has rolled it back, as on a full disk, the keys are
        /// inserted again, because they are in use.
        func openTransaction() throws(SQLiteError) {
            if connection.isInTransaction { return }
            try connection.begin()
            for key in newKeys { try KeyRing.insert(key, self) }
        }

        /// Makes the new keys durable. On a full disk this throws and may be called again.
        func commitNewKeys() throws(SQLiteError) {
            guard !newKeys.isEmpty else { return }
            try openTransaction()
            try connection.commit()
            newKeys = []
            // All of them are in the file now.
            if current.count >= KeyRing.mostKept { current = [:] }
            if known.count >= KeyRing.mostKept { known = [:] }
        }
    }

    /// The result of looking a key up.
    package enum Key: Sendable {
        /// The key opens.
        case key(SymmetricKey)
        /// The key was destroyed on purpose, for an erasure.
        case destroyed
        /// The key is missing or damaged without that.
        case lost
    }

    /// Keys that are kept in memory, about 30 MiB of them; more are read from the file again.
    static let mostKept = 100_000

    let state: Mutex<Store>
    let keyEncryptionKey: SymmetricKey
    /// Where keys are durable before the file has them; `nil` if the file is the only place.
    let record: (any KeyRecord)?
    /// Held by the thread that hands keys to the record.
    private let recording = Mutex(())
    /// Raised when keys are destroyed, so that copies of keys in other places are dropped.
    let generation = Atomic<Int>(0)

    /// Opens or creates `keys.sqlite`.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - keyEncryptionKey: The key that wraps the keys in it.
    ///   - keyFile: The origin of that key, for the error.
    ///   - record: Where keys are durable before the file has them.
    ///   - access: Anything except ``Connection/Access/readWrite`` is for look-ups only.
    /// - Throws: ``LogError/keyEncryptionKey(_:)`` if the file was made under another key. Nothing is written then.
    package init(
        path: String, keyEncryptionKey: SymmetricKey, from keyFile: String = "kek",
        record: (any KeyRecord)? = nil, access: Connection.Access = .readWrite
    ) throws(LogError) {
        (self.keyEncryptionKey, self.record) = (keyEncryptionKey, record)
        let isRight: Bool
        do throws(SQLiteError) {
            let store = try Store(path: path, access: access)
            if access == .readWrite {
                try store.connection.execute("PRAGMA secure_delete = ON; PRAGMA synchronous = FULL;")
            }
            isRight = try Self.isRight(keyEncryptionKey, store)
            state = Mutex(store)
        } catch { throw .sqlite(error) }
        guard isRight else {
            throw .keyEncryptionKey(
                "\(keyFile) does not open \(path), and nothing was changed. Put back the kek that belongs to this directory."
            )
        }
        guard access == .readWrite else { return }
        try withStore { (state) throws(SQLiteError) in try Self.prepare(state, keyEncryptionKey) }
    }

    /// 32 bytes derived from the key-encryption key for one purpose: HMAC-SHA-256 of `purpose`.
    package func secret(for purpose: String) -> [UInt8] {
        keyEncryptionKey.withBytes { hmacSHA256(key: Array($0), message: Array(purpose.utf8)).bytes }
    }

    /// Counts the destructions of keys. A cache of keys is stale if its count differs.
    package var currentGeneration: Int { generation.load(ordering: .acquiring) }

    /// The year and month of `time` as one number, 202611.
    static func period(of time: Timestamp) -> Int64 { KeyPeriod.month(of: CalendarDay(utc: time)) }

    /// The key that seals `keyClass` of `person` in the month of `time`, or in its day. A new key is on disk only after
    /// ``makeDurable()``, which must be called before anything sealed under it is written.
    ///
    /// - Parameter isDaily: Whether the key is for the UTC day alone, so that it can be destroyed the day after.
    /// - Throws: ``LogError/keyUnreadable(id:)`` if the key exists and does not open. It stays as it is, because a copy
    ///   of the file may have it undamaged.
    func sealingKey(
        for person: PersonID, _ keyClass: KeyClass, at time: Timestamp, isDaily: Bool = false
    ) throws(LogError) -> (id: Int64, key: SymmetricKey) {
        let period = isDaily ? KeyPeriod.day(CalendarDay(utc: time)) : Self.period(of: time)
        return try key(of: Slot(person: person, keyClass: keyClass, period: period))
    }

    /// The key from which the salts of a person's own log are derived; it is durable. ``EventLog/proofKey(of:)`` makes
    /// none for erased persons.
    ///
    /// - Throws: ``LogError/keyUnreadable(id:)`` as ``sealingKey(for:_:at:)``.
    func proofKey(of person: PersonID) throws(LogError) -> SymmetricKey {
        let (id, key) = try key(of: Slot(person: person, keyClass: .proof, period: 0))
        // Otherwise every call would commit the keys of events that the writer has only prepared, and delay the writer.
        let isNew = state.withLock { ($0.newKeys + $0.unrecorded).contains { $0.id == id } }
        if isNew { try makeDurable() }
        return key
    }

    /// Has the file and the state to itself, and reports a failure of SQLite as the log's.
    func withStore<R: Sendable>(_ body: (Store) throws(SQLiteError) -> R) throws(LogError) -> R {
        do throws(SQLiteError) {
            return try state.withLock { (state) throws(SQLiteError) in try body(state) }
        } catch { throw .sqlite(error) }
    }

    /// The key of a slot, which is made if there is none.
    private func key(of slot: Slot) throws(LogError) -> (id: Int64, key: SymmetricKey) {
        let found = try withStore { (state) throws(SQLiteError) -> Found in
            if let (id, key) = state.current[slot] { return .open(id, key) }
            let found =
                switch try Self.find(slot, state, keyEncryptionKey) {
                case .none: try Self.makeFirst(slot, state, keyEncryptionKey, isRecorded: record != nil)
                case let there: there
                }
            if case .open(let id, let key) = found {
                if state.newKeys.isEmpty, state.current.count >= Self.mostKept { state.current = [:] }
                state.current[slot] = (id, key)
                state.known[id] = .key(key)
            }
            return found
        }
        switch found {
        case .open(let id, let key): return (id, key)
        case .unreadable(let id): throw .keyUnreadable(id: id)
        case .none: preconditionFailure("A key that is not there is made.")
        }
    }

    /// The result of looking a slot up in the file.
    private enum Found {
        case none
        case open(Int64, SymmetricKey)
        case unreadable(Int64)
    }

    /// Makes all keys made since the last time durable, by one fsync; without new ones it costs nothing.
    func makeDurable() throws(LogError) {
        if let record {
            try recording.withLock { _ throws(LogError) in
                let keys = state.withLock { $0.unrecorded }
                if keys.isEmpty { return }
                try record.insert(keys)
                // Others may have been made meanwhile.
                let ids = Set(keys.map(\.id))
                state.withLock { $0.unrecorded.removeAll { ids.contains($0.id) } }
            }
        }
        try withStore { (state) throws(SQLiteError) in try state.commitNewKeys() }
    }

    /// The key with this id, or the reason why there is none.
    package func key(_ id: Int64) throws(SQLiteError) -> Key {
        try state.withLock { (state) throws(SQLiteError) -> Key in
            if let known = state.known[id] { return known }
            let key = try Self.load(id, state, keyEncryptionKey)
            if state.known.count >= Self.mostKept { state.known = [:] }
            state.known[id] = key
            return key
        }
    }

    /// Destroys every key of `person`. When this returns, no file has one of them.
    ///
    /// A second call destroys the remaining keys, so the next start completes an erasure that a crash interrupted.
    package func destroyKeys(of person: PersonID) throws(LogError) {
        try record?.destroy(nil, of: person)
        try withStore { (state) throws(SQLiteError) -> Void in
            try state.commitNewKeys()
            try state.connection.transaction { () throws(SQLiteError) in
                try state.connection.cached(
                    "INSERT OR IGNORE INTO destroyed (id) SELECT id FROM key WHERE person = ?"
                ) { (statement) throws(SQLiteError) in
                    try statement.bind(person.rawValue, at: 1)
                    try statement.run()
                }
                try state.connection.cached("DELETE FROM key WHERE person = ?") { (statement) throws(SQLiteError) in
                    try statement.bind(person.rawValue, at: 1)
                    try statement.run()
                }
            }
            _ = try state.connection.checkpoint(.truncate)
            state.unrecorded.removeAll { $0.person == person.rawValue }
            state.current = state.current.filter { $0.key.person != person }
            state.known = [:]
            state.cipher.forgetKeys()
        }
        generation.add(1, ordering: .releasing)
    }

    /// As ``destroyKeys(of:)``, for the persons of `erased` who still have keys; costs one look at each kept key.
    package func destroyKeys(of erased: Set<PersonID>) throws(LogError) {
        if erased.isEmpty { return }
        let holders = try withStore { (state) throws(SQLiteError) -> [PersonID] in
            try state.connection.cached("SELECT DISTINCT person FROM key") { (statement) throws(SQLiteError) in
                var persons: [PersonID] = []
                while try statement.step() { persons.append(PersonID(rawValue: statement.int(at: 0))) }
                return persons
            }
        }
        for person in holders where erased.contains(person) { try destroyKeys(of: person) }
    }

    /// The persons who hold one of these keys.
    package func persons(holding ids: Set<Int64>) throws(LogError) -> [PersonID] {
        if ids.isEmpty { return [] }
        return try withStore { (state) throws(SQLiteError) -> [PersonID] in
            try state.connection.cached("SELECT id, person FROM key ORDER BY person") {
                (statement) throws(SQLiteError) in
                var persons: [PersonID] = []
                while try statement.step() {
                    let person = PersonID(rawValue: statement.int(at: 1))
                    if ids.contains(statement.int(at: 0)), persons.last != person { persons.append(person) }
                }
                return persons
            }
        }
    }

    /// Gives new keys ids above those of earlier epochs. The list of keys destroyed in abandoned events then never
    /// means one of them.
    package func beginEpoch(_ epoch: Int64) throws(LogError) {
        // Room for sixteen million keys per epoch; larger steps would make every event longer.
        _ = try goOn(after: epoch << 24)
    }

    /// Gives new keys ids above `id`, the highest id in the log, so that an id never means another key.
    ///
    /// - Returns: The highest id in the file before. It is lower than `id` only if the file is an older copy.
    func goOn(after id: Int64) throws(LogError) -> Int64 {
        return try withStore { (state) throws(SQLiteError) -> Int64 in
            try state.commitNewKeys()
            let highest = try Self.highestID(in: state)
            try state.connection.execute(
                """
                INSERT INTO sqlite_sequence (name, seq)
                SELECT 'key', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'key')
                """)
            try state.connection.cached(
                "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'key' AND seq < ?1"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(max(id, highest), at: 1)
                try statement.run()
            }
            return highest
        }
    }

    /// The highest id that a key has had. Any key that an event names by now has it or a lower one.
    package func highestID() throws(LogError) -> Int64 { try withStore(Self.highestID(in:)) }

    private static func highestID(in state: Store) throws(SQLiteError) -> Int64 {
        try state.connection.cached(
            """
            SELECT max(
                ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'key'), 0),
                ifnull((SELECT max(id) FROM key), 0), ifnull((SELECT max(id) FROM destroyed), 0))
            """
        ) { (statement) throws(SQLiteError) in try statement.step() ? statement.int(at: 0) : 0 }
    }

    /// As ``goOn(after:)`` with the highest id in the log; reports if the file is an older copy.
    func goOn(after standing: borrowing Standing) throws(LogError) {
        let known = try goOn(after: standing.highestKey)
        guard known < standing.highestKey else { return }
        Diagnostics.fault(
            "keys.older",
            "keys.sqlite is an older copy: it knows keys up to \(known), and the log names keys up to \(standing.highestKey). Data sealed under the missing keys is lost unless you put back the newer file; verify counts it."
        )
    }

    /// Copies the file, as of one moment. Blocks other users of the keys meanwhile; the file is small.
    package func backup(to path: String) throws(SQLiteError) {
        try state.withLock { (state) throws(SQLiteError) in
            // SQLite copies nothing while the connection writes.
            try state.commitNewKeys()
            try state.connection.backup(to: path) { _, _ in }
        }
    }

    /// The key of a slot in the file.
    private static func find(_ slot: Slot, _ state: Store, _ kek: SymmetricKey) throws(SQLiteError) -> Found {
        let id = try state.connection.cached(
            "SELECT id FROM key WHERE person = ? AND class = ? AND period = ?"
        ) { (statement) throws(SQLiteError) -> Int64? in
            try statement.bind(slot.person.rawValue, at: 1)
            try statement.bind(slot.keyClass.rawValue, at: 2)
            try statement.bind(slot.period, at: 3)
            return try statement.step() ? statement.int(at: 0) : nil
        }
        guard let id else { return .none }
        guard case .key(let key) = try load(id, state, kek) else { return .unreadable(id) }
        return .open(id, key)
    }

    /// Makes the key of a slot. With a person's first key of the class `rest` it also makes the key of the person's own
    /// log. Otherwise the first answer about the person would make that key, and wait for a separate fsync.
    private static func makeFirst(
        _ slot: Slot, _ state: Store, _ kek: SymmetricKey, isRecorded: Bool
    ) throws(SQLiteError) -> Found {
        let made = try make(slot, state, kek, isRecorded: isRecorded)
        let proof = Slot(person: slot.person, keyClass: .proof, period: 0)
        if slot.keyClass == .rest, case .none = try find(proof, state, kek) {
            _ = try make(proof, state, kek, isRecorded: isRecorded)
        }
        return made
    }

    /// Makes a key and its row, in the transaction of the new keys. On failure the transaction stays open, because the
    /// keys made before in it are in use.
    private static func make(
        _ slot: Slot, _ state: Store, _ kek: SymmetricKey, isRecorded: Bool
    ) throws(SQLiteError) -> Found {
        let key = SymmetricKey.random()
        try state.openTransaction()
        // The id is authenticated with the key, so the row is written in two steps.
        try state.connection.cached(
            "INSERT INTO key (person, class, period, wrapped) VALUES (?, ?, ?, x'')"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(slot.person.rawValue, at: 1)
            try statement.bind(slot.keyClass.rawValue, at: 2)
            try statement.bind(slot.period, at: 3)
            try statement.run()
        }
        let id = state.connection.lastInsertRowID
        var wrapped: [UInt8] = []
        key.withBytes { seal(Array($0), associatedData(id: id, slot), state, kek, into: &wrapped) }
        try state.connection.cached("UPDATE key SET wrapped = ? WHERE id = ?") { (statement) throws(SQLiteError) in
            try statement.bind(wrapped, at: 1)
            try statement.bind(id, at: 2)
            try statement.run()
        }
        let row = KeyRow(
            id: id, person: slot.person.rawValue, keyClass: slot.keyClass.rawValue, period: slot.period,
            wrapped: wrapped)
        state.newKeys.append(row)
        if isRecorded { state.unrecorded.append(row) }
        return .open(id, key)
    }

    /// The key of a row, or why it cannot be used.
    private static func load(_ id: Int64, _ state: Store, _ kek: SymmetricKey) throws(SQLiteError) -> Key {
        enum Row {
            case none
            case damaged
            case there(Slot, [UInt8])
        }
        let row = try state.connection.cached(
            "SELECT person, class, period, wrapped FROM key WHERE id = ?"
        ) { (statement) throws(SQLiteError) -> Row in
            try statement.bind(id, at: 1)
            guard try statement.step() else { return .none }
            guard let slot = slot(statement, from: 0) else { return .damaged }
            return .there(slot, statement.bytes(at: 3))
        }
        switch row {
        case .there(let slot, let wrapped): return unwrap(id, slot, wrapped, state, kek).map { .key($0) } ?? .lost
        case .damaged: return .lost
        case .none:
            let isDestroyed = try state.connection.cached(
                "SELECT 1 FROM destroyed WHERE id = ?"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(id, at: 1)
                return try statement.step()
            }
            return isDestroyed ? .destroyed : .lost
        }
    }
}
