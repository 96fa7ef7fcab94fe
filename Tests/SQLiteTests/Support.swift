import SQLite

extension Connection {
    /// The first column of all rows.
    borrowing func integers(_ sql: StaticString) throws(SQLiteError) -> [Int64] {
        let statement = try prepare(sql)
        var values: [Int64] = []
        while try statement.step() { values.append(statement.int(at: 0)) }
        return values
    }
}

/// The error that `body` throws.
func failure(_ body: () throws(SQLiteError) -> Void) -> SQLiteError? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
