package import SQLite
package import Whereabouts

/// Reads the event numbers of a stream. Versions count from 1.
///
/// The index is folded from the log: an event that was just appended may not be in it yet.
package enum StreamIndexReader {
    /// The numbers of up to `count` events of a stream, beginning with a version. Fewer if the folded stream ends
    /// before.
    ///
    /// - Returns: The numbers in rising order. Empty for a version below 1, a count below 1, or a stream without
    ///   events.
    ///
    /// Cost: one search by the primary key and one block of 128 versions for each 128 numbers.
    package static func numbers(
        of stream: StreamID, fromVersion version: Int64, count: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Int64] {
        guard version >= 1, count > 0 else { return [] }
        let size = StreamIndexTable.blockVersions
        let first = (version - 1) / size * size + 1
        var skip = Int(version - first)
        var found: [Int64] = []
        try connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(stream.rawValue, at: 1)
            try statement.bind(first, at: 2)
            while found.count < count, try statement.step() {
                let numbers = try StreamIndexTable.numbers(statement.bytes(at: 0))
                found += numbers.dropFirst(skip).prefix(count - found.count)
                skip = 0
            }
        }
        return found
    }

    /// The version of a stream's first event after `number`, or `last` + 1 without one; `last` is the stream's newest
    /// version, folded or not. Cost: the logarithm of the stream's length.
    package static func version(
        after number: Int64, in stream: StreamID, last: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        var (low, high) = (Int64(1), last + 1)
        while low < high {
            let middle = (low + high) / 2
            let found = try numbers(of: stream, fromVersion: middle, count: 1, in: connection).first
            // Events that are not folded yet come later than all folded ones.
            if let found, found <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// By the primary key (stream, first_version). The first block is the one that contains the version.
    static let sql: StaticString = """
        SELECT numbers
        FROM block
        WHERE stream = ? AND first_version >= ?
        ORDER BY first_version
        """
}
