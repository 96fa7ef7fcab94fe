import CPostgreSQL

/// The result of a statement: its rows in binary form, and the number of rows that it changed.
package final class Rows {
    private let result: OpaquePointer

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    /// The number of rows.
    package var count: Int { Int(PQntuples(result)) }

    /// The number of rows that the statement changed; 0 for others.
    package var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Whether a value is NULL.
    package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(result, Int32(row), Int32(column)) == 1 }

    /// A `bigint`, `integer`, `smallint` or `boolean`; 0 for NULL, and for a value of another size.
    package func int(_ row: Int, _ column: Int) -> Int64 {
        withBytes(row, column) { bytes in
            guard let first = bytes.first, bytes.count <= 8 else { return 0 }
            let isNegative = bytes.count > 1 && first & 0x80 != 0
            return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        }
    }

    /// A `bytea`.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8] { withBytes(row, column) { Array($0) } }

    /// A `text`.
    package func text(_ row: Int, _ column: Int) -> String {
        withBytes(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the bytes of a value, valid during the call.
    package func withBytes<R>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, Int32(row), Int32(column)),
                count: Int(PQgetlength(result, Int32(row), Int32(column)))))
    }
}
