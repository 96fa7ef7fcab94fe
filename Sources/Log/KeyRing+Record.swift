import Cryptography
import SQLite
import Synchronization
package import Whereabouts

/// Where keys become durable if the log is on a database server: there too, in the same wrapped form, so that another machine
/// that takes the log over can open its events. `keys.sqlite` is then a copy.
package protocol KeyRecord: Sendable {
    /// Adds keys; they are durable on return.
    func insert(_ keys: [KeyRow]) throws(LogError)

    /// Destroys the keys of a person, all of them or only those of these ids, and notes their ids.
    func destroy(_ ids: [Int64]?, of person: PersonID) throws(LogError)
}

/// A row of the table `key`: a key that is wrapped under the key-encryption key.
package struct KeyRow: Sendable {
    package let id: Int64
    package let person: Int64
    package let keyClass: Int64
    /// The UTC month or day.
    package let period: Int64
    /// Nonce, ciphertext and tag.
    package let wrapped: [UInt8]

    /// The row with these columns.
    package init(id: Int64, person: Int64, keyClass: Int64, period: Int64, wrapped: [UInt8]) {
        (self.id, self.person, self.keyClass, self.period) = (id, person, keyClass, period)
        self.wrapped = wrapped
    }
}

/// All rows of a file of keys, or of the keys on a server.
package struct KeyTable: Sendable {
    /// The keys.
    package var keys: [KeyRow]
    /// The ids of destroyed keys.
    package var destroyed: [Int64]
    /// The value by which the key-encryption key is recognized.
    package var check: [UInt8]

    /// A table with these rows.
    package init(keys: [KeyRow], destroyed: [Int64], check: [UInt8]) {
        (self.keys, self.destroyed, self.check) = (keys, destroyed, check)
    }
}

extension KeyRing {
    /// The rows of the file.
    package func table() throws(LogError) -> KeyTable {
        return try withStore { (state) throws(SQLiteError) -> KeyTable in
            try state.commitNewKeys()
            var table = KeyTable(keys: [], destroyed: [], check: [])
            try state.connection.cached("SELECT id, person, class, period, wrapped FROM key ORDER BY id") {
                (statement) throws(SQLiteError) in
                while try statement.step() {
                    table.keys.append(
                        KeyRow(
                            id: statement.int(at: 0), person: statement.int(at: 1), keyClass: statement.int(at: 2),
                            period: statement.int(at: 3), wrapped: statement.bytes(at: 4)))
                }
            }
            try state.connection.cached("SELECT id FROM destroyed ORDER BY id") {
                (statement) throws(SQLiteError) in
                while try statement.step() { table.destroyed.append(statement.int(at: 0)) }
            }
            try state.connection.cached("SELECT sealed FROM kek_check") { (statement) throws(SQLiteError) in
                if try statement.step() { table.check = statement.bytes(at: 0) }
            }
            return table
        }
    }

    /// Makes the file a copy of the keys on the server. Keys that only the file has are deleted: no event was stored under
    /// them, or they were destroyed.
    ///
    /// - Throws: ``LogError/keyEncryptionKey(_:)`` if the server's keys are wrapped under another key. Nothing is changed
    ///   then.
    package func copy(_ table: KeyTable) throws(LogError) {
        let isRight = state.withLock { Self.unseal(table.check, Self.checkData, $0, keyEncryptionKey) != nil }
        guard isRight else {
            throw .keyEncryptionKey(
                "kek does not open the keys on the log's database server, and nothing was changed. Put the kek of the machine that began this log here."
            )
        }
        try withStore { (state) throws(SQLiteError) -> Void in
            try state.commitNewKeys()
            try state.connection.transaction { () throws(SQLiteError) in
                try state.connection.execute("DELETE FROM key; DELETE FROM destroyed; DELETE FROM kek_check")
                for key in table.keys { try Self.insert(key, state) }
                for id in table.destroyed {
                    try state.connection.cached("INSERT INTO destroyed (id) VALUES (?)") {
                        (statement) throws(SQLiteError) in
                        try statement.bind(id, at: 1)
                        try statement.run()
                    }
                }
                try state.connection.cached("INSERT INTO kek_check (one, sealed) VALUES (1, ?)") {
                    (statement) throws(SQLiteError) in
                    try statement.bind(table.check, at: 1)
                    try statement.run()
                }
            }
            _ = try state.connection.checkpoint(.truncate)
            (state.current, state.known) = ([:], [:])
            state.cipher.forgetKeys()
        }
        generation.add(1, ordering: .releasing)
    }

    /// Adds keys of the server to the copy, which has none of them.
    package func add(_ keys: [KeyRow]) throws(LogError) {
        try withStore { (state) throws(SQLiteError) -> Void in
            try state.connection.transaction { () throws(SQLiteError) in
                for key in keys { try Self.insert(key, state) }
            }
        }
    }

    static func insert(_ key: KeyRow, _ state: Store) throws(SQLiteError) {
        try state.connection.cached("INSERT INTO key (id, person, class, period, wrapped) VALUES (?, ?, ?, ?, ?)") {
            (statement) throws(SQLiteError) in
            try statement.bind(key.id, at: 1)
            try statement.bind(key.person, at: 2)
            try statement.bind(key.keyClass, at: 3)
            try statement.bind(key.period, at: 4)
            try statement.bind(key.wrapped, at: 5)
            try statement.run()
        }
    }
}
