import Cryptography
import SQLite
import Synchronization
package import Whereabouts

// The keys of old reports, which are destroyed while their person stays.

extension KeyRing {
    /// The ids and periods of the keys of one class, by person.
    ///
    /// Cost: a look at each key. Keys that are not durable yet are among them.
    package func periods(of keyClass: KeyClass) throws(LogError) -> [PersonID: [(id: Int64, period: Int64)]] {
        return try withStore { (state) throws(SQLiteError) -> [PersonID: [(id: Int64, period: Int64)]] in
            try state.connection.cached("SELECT id, person, period FROM key WHERE class = ? ORDER BY id") {
                (statement) throws(SQLiteError) -> [PersonID: [(id: Int64, period: Int64)]] in
                try statement.bind(keyClass.rawValue, at: 1)
                var found: [PersonID: [(id: Int64, period: Int64)]] = [:]
                while try statement.step() {
                    found[PersonID(rawValue: statement.int(at: 1)), default: []].append(
                        (statement.int(at: 0), statement.int(at: 2)))
                }
                return found
            }
        }
    }

    /// The persons who have a key in a file of keys.
    package static func holders(in path: String) throws(LogError) -> Set<PersonID> {
        do throws(SQLiteError) {
            return try Connection(path: path, access: .readOnly).cached("SELECT DISTINCT person FROM key") {
                (statement) throws(SQLiteError) -> Set<PersonID> in
                var persons: Set<PersonID> = []
                while try statement.step() { persons.insert(PersonID(rawValue: statement.int(at: 0))) }
                return persons
            }
        } catch { throw .sqlite(error) }
    }

    /// Destroys keys of `person` by their ids, as `destroyKeys(of:)` destroys all of them. Ids of other
    /// persons' keys, and of keys that do not exist, are ignored.
    package func destroy(_ ids: [Int64], of person: PersonID) throws(LogError) {
        if ids.isEmpty { return }
        try record?.destroy(ids, of: person)
        try withStore { (state) throws(SQLiteError) -> Void in
            try state.commitNewKeys()
            var isChanged = false
            try state.connection.transaction { () throws(SQLiteError) in
                for id in ids {
                    try state.connection.cached(
                        "INSERT OR IGNORE INTO destroyed (id) SELECT id FROM key WHERE id = ? AND person = ?"
                    ) { (statement) throws(SQLiteError) in
                        try statement.bind(id, at: 1)
                        try statement.bind(person.rawValue, at: 2)
                        try statement.run()
                    }
                    try state.connection.cached("DELETE FROM key WHERE id = ? AND person = ?") {
                        (statement) throws(SQLiteError) in
                        try statement.bind(id, at: 1)
                        try statement.bind(person.rawValue, at: 2)
                        try statement.run()
                    }
                    if state.connection.changes > 0 { isChanged = true }
                }
            }
            if !isChanged { return }
            _ = try state.connection.checkpoint(.truncate)
            state.current = state.current.filter { $0.key.person != person }
            state.known = [:]
            state.cipher.forgetKeys()
        }
        generation.add(1, ordering: .releasing)
    }

    /// Destroys keys whose destruction is on record in `standing` and which a crash left.
    package func finishRetention(_ standing: borrowing Standing) throws(LogError) {
        for (person, last) in standing.retention.last { try destroy(last.keys, of: person) }
    }
}
