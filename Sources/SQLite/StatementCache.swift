import CSQLite

/// The statements a connection keeps, by the address of the literal they were compiled from.
///
/// As many as there are literals in the program: SQL is never put together from strings, so that the cache needs no
/// bound.
final class StatementCache {
    /// A kept statement. The code that took it is its only user until it gives it back.
    final class Entry {
        let statement: Statement
        fileprivate var isTaken = false

        fileprivate init(_ handle: OpaquePointer) {
            statement = Statement(handle: handle)
        }
    }

    private var entries: [UnsafePointer<UInt8>: Entry] = [:]

    /// The statement for `sql`, compiled by `prepare` when there is none that is free.
    func take(_ sql: StaticString, _ prepare: () throws(SQLiteError) -> OpaquePointer) throws(SQLiteError) -> Entry {
        if let entry = entries[sql.utf8Start] {
            if !entry.isTaken {
                entry.isTaken = true
                return entry
            }
            // Used inside its own body: a second statement, which goes when it is given back.
            return Entry(try prepare())
        }
        let entry = Entry(try prepare())
        entry.isTaken = true
        entries[sql.utf8Start] = entry
        return entry
    }

    /// Makes `entry` ready for its next use.
    func giveBack(_ entry: Entry) {
        entry.statement.reset()
        entry.statement.clearBindings()
        entry.isTaken = false
    }

    /// Finalizes all statements.
    func removeAll() {
        entries.removeAll()
    }
}
