import Cryptography
package import SQLite
import Whereabouts

// The wrapping of keys under the key-encryption key, and the check value that identifies that key.

extension KeyRing {
    /// Creates the tables and the check value if they do not exist.
    static func prepare(_ store: Store, _ kek: SymmetricKey) throws(SQLiteError) {
        try store.connection.execute(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE IF NOT EXISTS key (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                person INTEGER NOT NULL,
                class INTEGER NOT NULL,
                period INTEGER NOT NULL,
                wrapped BLOB NOT NULL,
                UNIQUE (person, class, period)
            ) STRICT;
            CREATE TABLE IF NOT EXISTS destroyed (id INTEGER PRIMARY KEY) STRICT;
            CREATE TABLE IF NOT EXISTS kek_check (
                one INTEGER PRIMARY KEY CHECK (one = 1), sealed BLOB NOT NULL
            ) STRICT;
            """)
        if try opensCheck(store, kek) == true { return }
        var sealed: [UInt8] = []
        seal([UInt8](repeating: 0, count: 32), checkData, store, kek, into: &sealed)
        try store.connection.cached("INSERT OR REPLACE INTO kek_check (one, sealed) VALUES (1, ?)") {
            (statement) throws(SQLiteError) in
            try statement.bind(sealed, at: 1)
            try statement.run()
        }
    }

    /// Whether the file was made under `kek`.
    ///
    /// The check value decides. Files of earlier versions have none, and it may be damaged; then most of the keys must
    /// open. Cost: one look-up, or about 1 µs per key if the check value does not open.
    static func isRight(_ kek: SymmetricKey, _ store: Store) throws(SQLiteError) -> Bool {
        let check = try opensCheck(store, kek)
        if check == true { return true }
        guard try hasTable("key", store.connection) else { return check == nil }
        var (open, all) = (0, 0)
        try store.connection.cached("SELECT id, person, class, period, wrapped FROM key") {
            (statement) throws(SQLiteError) in
            while try statement.step() {
                all += 1
                if let slot = slot(statement, from: 1),
                    unwrap(statement.int(at: 0), slot, statement.bytes(at: 4), store, kek) != nil
                {
                    open += 1
                }
            }
        }
        return all == 0 ? check == nil : open > all / 2
    }

    /// Whether the check value opens; `nil` if there is none.
    static func opensCheck(_ store: Store, _ kek: SymmetricKey) throws(SQLiteError) -> Bool? {
        guard try hasTable("kek_check", store.connection) else { return nil }
        let sealed = try store.connection.cached("SELECT sealed FROM kek_check") {
            (statement) throws(SQLiteError) -> [UInt8]? in
            try statement.step() ? statement.bytes(at: 0) : nil
        }
        guard let sealed else { return nil }
        return unseal(sealed, checkData, store, kek) != nil
    }

    /// Whether the file has a table of this name. A file of an older version may lack one.
    package static func hasTable(_ name: String, _ connection: borrowing Connection) throws(SQLiteError) -> Bool {
        try connection.cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(name, at: 1)
            return try statement.step()
        }
    }

    static let checkData = Array("whereabouts key check".utf8)

    /// The columns `person`, `class` and `period`, beginning at `column`; `nil` if the class is unknown.
    static func slot(_ statement: borrowing Statement, from column: Int32) -> Slot? {
        KeyClass(rawValue: statement.int(at: column + 1)).map { keyClass in
            Slot(
                person: PersonID(rawValue: statement.int(at: column)), keyClass: keyClass,
                period: statement.int(at: column + 2))
        }
    }

    /// The key in a row; `nil` if the row is damaged or was written under another key-encryption key.
    static func unwrap(
        _ id: Int64, _ slot: Slot, _ wrapped: [UInt8], _ state: Store, _ kek: SymmetricKey
    ) -> SymmetricKey? {
        unseal(wrapped, associatedData(id: id, slot), state, kek).map { SymmetricKey(bytes: $0) }
    }

    /// Seals 32 bytes and appends `nonce ‖ ciphertext ‖ tag`.
    static func seal(
        _ plaintext: [UInt8], _ associated: [UInt8], _ state: Store, _ kek: SymmetricKey, into sealed: inout [UInt8]
    ) {
        state.nonces.withNext { nonce in
            sealed.append(contentsOf: nonce)
            plaintext.withUnsafeBytes { plaintext in
                associated.withUnsafeBytes {
                    state.cipher.seal(plaintext, key: kek, nonce: nonce, associated: $0, into: &sealed)
                }
            }
        }
    }

    /// The 32 sealed bytes; `nil` unless this key and associated data sealed them.
    static func unseal(
        _ sealed: [UInt8], _ associated: [UInt8], _ state: Store, _ kek: SymmetricKey
    ) -> [UInt8]? {
        let nonceBytes = AES256GCM.nonceByteCount
        guard sealed.count == nonceBytes + 32 + AES256GCM.tagByteCount else { return nil }
        var bytes: [UInt8] = []
        let isOpen = sealed.withUnsafeBytes { sealed in
            associated.withUnsafeBytes { associated in
                do throws(CryptographyError) {
                    try state.cipher.open(
                        UnsafeRawBufferPointer(rebasing: sealed[nonceBytes...]), key: kek,
                        nonce: UnsafeRawBufferPointer(rebasing: sealed[..<nonceBytes]), associated: associated,
                        into: &bytes)
                    return true
                } catch { return false }
            }
        }
        return isOpen && bytes.count == 32 ? bytes : nil
    }

    /// The text that binds a wrapped key to its row.
    static func associatedData(id: Int64, _ slot: Slot) -> [UInt8] {
        Array("whereabouts key \(id) \(slot.person.rawValue) \(slot.keyClass.rawValue) \(slot.period)".utf8)
    }
}
