import Projections
import SQLite
import Whereabouts

/// One kind of row in the audit.
///
/// The type reads a row from all columns of its table (`SELECT *`) and writes the same columns for the hash. Both
/// follow the order of the columns in ``AuditTable/schema``.
protocol AuditRow {
    /// The name of the table.
    ///
    /// The hash begins with it, so equal values in two tables have different hashes.
    static var table: StaticString { get }
    /// Reads the columns, which all start with the row's number or key.
    ///
    /// - Throws: A damaged projection for a code that no fold writes, for example an unknown verdict. The follower
    ///   then folds the file again.
    init(_ statement: borrowing Statement) throws(SQLiteError)
    /// The person it is about.
    ///
    /// `nil` for the house, and for a request that named no person.
    var person: PersonID? { get }
    /// The row's name in a comparison, unique in its table.
    var key: String { get }
    /// The row's content in a comparison, without personal words.
    var summary: String { get }
    /// The row's content in a comparison, by column, without personal words.
    var columns: [ProjectionRow.Column] { get }
    /// The columns with event numbers, by which rows are ordered and found.
    ///
    /// The hash includes them, because answers find and order rows by them.
    var numbers: [Int64?] { get }
    /// Writes the content columns, the table's name first, as one array.
    func write(to writer: inout CBORWriter)
}

extension RowHasher {
    /// The hash of a row: its content, then the numbers outside it.
    ///
    /// Cost: one SHA-256 over the row, about 0.4 µs for 100 bytes.
    func hash(_ row: some AuditRow) -> Fingerprint {
        hash { writer in
            row.write(to: &writer)
            for number in row.numbers { writer.optional(number) }
        }
    }
}

extension Statement {
    /// A Boolean stored as 1 or 0; `nil` for NULL.
    ///
    /// - Throws: A damaged projection for any other number, because a hash of the Boolean would not show the
    ///   difference.
    func optionalBool(at column: Int32) throws(SQLiteError) -> Bool? {
        switch optionalInt(at: column) {
        case nil: nil
        case 0: false
        case 1: true
        default: throw .damagedProjection
        }
    }
}
