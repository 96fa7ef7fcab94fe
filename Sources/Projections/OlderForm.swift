package import Cryptography
import SQLite

/// Tables that an earlier program made, and that the readers of this program can still read. They answer while the
/// newest version is folded.
///
/// A changed table needs one of these for each form that a release has written. Without one, requests for the
/// projection get 503 until the fold is done. A changed fold over unchanged tables needs none.
///
/// ``lift`` gives the old rows the columns of the new tables. It is run on each reading connection and makes temporary
/// views; an unqualified name in a query finds a temporary view before the table in the file. For example, a column
/// that became meters, and one that was added:
///
///     CREATE TEMP VIEW visit AS
///     SELECT person, arrival_ms, distance_km * 1000 AS distance_meters, NULL AS floor FROM main.visit;
///
/// SQLite merges such a view into the query, so searches use the indexes of the table.
package struct OlderForm: Sendable {
    /// The version of the fold that wrote these tables.
    package let version: Int64
    /// `CREATE TEMP VIEW` statements over `main.…`, one for each table whose columns differ; may be empty.
    package let lift: StaticString
    /// SHA-256 of the statements that made its tables and indexes, as ``ProjectionKind/form`` of that program and the
    /// column `form` of its files.
    let form: Digest

    package init(version: Int64, form: Digest, lift: StaticString) {
        (self.version, self.form, self.lift) = (version, form, lift)
    }
}

extension Connection {
    /// Makes temporary views over the tables of a file that is open for reading. The file is not written.
    ///
    /// - Parameter views: `CREATE TEMP VIEW` statements, or nothing.
    func lift(_ views: StaticString) throws(SQLiteError) {
        guard views.utf8CodeUnitCount > 0 else { return }
        // `query_only` forbids temporary tables and views as well. The file stays open for reading only.
        try execute("PRAGMA query_only = OFF")
        try execute(views)
        try execute("PRAGMA query_only = ON")
    }

    /// The columns of every table and view, temporary ones first found, by name.
    func columns() throws(SQLiteError) -> [String: Set<String>] {
        var columns: [String: Set<String>] = [:]
        let statement = try prepare(
            """
            SELECT t.name, c.name
            FROM (SELECT name FROM temp.sqlite_schema WHERE type = 'view'
                UNION SELECT name FROM main.sqlite_schema WHERE type = 'table') AS t, pragma_table_info(t.name) AS c
            """)
        while try statement.step() { columns[statement.text(at: 0), default: []].insert(statement.text(at: 1)) }
        return columns
    }
}
