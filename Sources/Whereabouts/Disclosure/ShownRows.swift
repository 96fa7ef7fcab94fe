/// Reads rows in pieces and takes those that may be shown.
///
/// Inlined into its callers, so that it is specialized for their rows: it runs once for each fix of a track.
package enum ShownRows {
    /// Takes rows that may be shown, up to `limit`.
    ///
    /// - Parameters:
    ///   - limit: At least 1.
    ///   - after: The key of the last row of the page before; `nil` for the first page.
    ///   - atOnce: The most rows that are in memory, however long the page; at least 1.
    ///   - key: The key of a row, by which rows are ordered.
    ///   - isShown: Whether a row may be shown. Called once for each row, in order.
    ///   - fetch: Reads up to `count` rows after a key. Fewer are the last ones.
    ///   - take: Gets each row of the page. What it throws ends the reading, as a failure of `fetch` does.
    /// - Returns: The key of the last row taken, after which a further page begins, or `nil` if there are no more rows
    ///   to show. A cursor never holds the key of a hidden row, and no empty page has one: both would disclose that
    ///   hidden rows exist.
    @inlinable
    package static func each<Row, Key, Failure: Error>(
        upTo limit: Int64, after: Key?, atOnce: Int64, key: (Row) -> Key, isShown: (Row) -> Bool,
        fetch: (_ after: Key?, _ count: Int) throws(Failure) -> [Row], take: (Row) throws(Failure) -> Void
    ) throws(Failure) -> Key? {
        let count = Int(min(limit, atOnce))
        var taken: Int64 = 0
        var after = after
        while true {
            let rows = try fetch(after, count)
            for row in rows where isShown(row) {
                try take(row)
                taken += 1
                if taken == limit { return key(row) }
            }
            guard rows.count == count, let last = rows.last else { return nil }
            after = key(last)
        }
    }

    /// The rows that ``each(upTo:after:atOnce:key:isShown:fetch:take:)`` takes.
    @inlinable
    package static func page<Row, Key, Failure: Error>(
        upTo limit: Int64, after: Key?, atOnce: Int64, key: (Row) -> Key, isShown: (Row) -> Bool,
        fetch: (_ after: Key?, _ count: Int) throws(Failure) -> [Row]
    ) throws(Failure) -> (rows: [Row], end: Key?) {
        var rows: [Row] = []
        let end = try each(upTo: limit, after: after, atOnce: atOnce, key: key, isShown: isShown, fetch: fetch) {
            (row) throws(Failure) in rows.append(row)
        }
        return (rows, end)
    }
}
