package import SQLite
package import Whereabouts

/// Tables folded from the log into one file. The follower opens and commits a transaction in which rows, place and
/// fingerprint change together, so each event counts exactly once.
///
/// One thread at a time uses a projection. A projection never reads another projection, a clock or a setting.
package protocol Projection: AnyObject {
    /// The name in the catalog, in file names and in requests: letters only.
    static var name: String { get }
    /// Every version that can still be folded, oldest first. A new one comes with every change of the fold; a file of
    /// another version, or of other tables, is refolded from the log.
    static var versions: [Int64] { get }
    /// `CREATE TABLE … STRICT` statements for an empty file.
    static var schema: StaticString { get }
    /// Indexes, made after the rows when a file is folded from zero. May be empty.
    static var indexes: StaticString { get }
    /// Tables of earlier programs whose rows readers can still read while a new file is folded. None by default.
    static var olderForms: [OlderForm] { get }
    /// Its name in ``Fact/concerns``: batches may lack events of kinds that do not concern it. Without an own
    /// implementation: `nil`, and batches have all events.
    static var concerns: FactConcerns? { get }

    /// `version` is one of ``versions``.
    init(file: ProjectionFile, version: Int64)

    /// Folds events in the order of their numbers. Called inside a transaction.
    ///
    /// Rows may be kept in memory until ``flush()``; ``ProjectionFile/fingerprint`` must be right after that.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError)

    /// Writes the rows that are only in memory. Called before each commit.
    func flush() throws(SQLiteError)

    /// Drops everything kept in memory, because the transaction was rolled back or a person was erased in the file.
    func forget()

    /// Deletes every row about the person, for `erase`. The rest must equal a refold without the person's keys. Folding
    /// `PersonErased` calls the same code.
    func erase(_ person: PersonID) throws(SQLiteError)

    /// Gives each row as the fingerprint counts it, in key order: table, key and content. `key` distinguishes the rows
    /// of a table. Used to check the fingerprint and to compare two generations.
    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError)
}

extension Projection {
    package static var olderForms: [OlderForm] { [] }
    package static var concerns: FactConcerns? { nil }
}

/// One row for a comparison: its name and its content, by column.
package struct ProjectionRow {
    /// The table that the row is in, or that it stands for.
    let table: StaticString
    /// The person whose data the row has; `nil` for a row without any.
    let person: PersonID?
    /// The row's hash, as it is counted in the fingerprint.
    package let hash: Fingerprint
    // Made only on demand: a check of the fingerprint reads every row and needs neither.
    private let writeKey: () -> String
    private let writeSummary: () -> String
    private let writeColumns: () -> [Column]

    /// A content column as text.
    package struct Column: Sendable {
        /// The column's name, or that of a value made of several columns.
        let name: String
        /// The value; `nil` for NULL.
        let value: String?

        /// The column's name, and a value that is written as Swift describes it.
        package init(_ name: StaticString, _ value: (some CustomStringConvertible)?) {
            self.name = "\(name)"
            self.value = value.map { "\($0)" }
        }

        /// A time, in milliseconds since 1970.
        package init(_ name: StaticString, _ value: Timestamp?) { self.init(name, value?.milliseconds) }
    }

    /// - Parameters:
    ///   - key: ``key``.
    ///   - summary: ``summary``.
    ///   - columns: ``columns``.
    package init(
        table: StaticString, person: PersonID?, key: @escaping @autoclosure () -> String,
        summary: @escaping @autoclosure () -> String, columns: @escaping @autoclosure () -> [Column],
        hash: Fingerprint
    ) {
        (self.table, self.person, self.hash) = (table, person, hash)
        (writeKey, writeSummary, writeColumns) = (key, summary, columns)
    }

    /// The key columns in words, unique in the table.
    var key: String { writeKey() }
    /// The row's content columns in one text.
    var summary: String { writeSummary() }
    /// The row's content columns in the order of the table. They need not be all: the fingerprint decides whether two
    /// rows are equal.
    var columns: [Column] { writeColumns() }
}

/// The SQLite file of one generation of a projection.
///
/// `place` is its bookkeeping row. `form` is `ProjectionKind.form`, `fingerprint` the sum over the rows of all tables,
/// and `checksum` the first 128 bits of SHA-256 over the row's other columns, as a CBOR array that starts with
/// `"place"`. `leaf`, `log_id` and `epoch` bind the file to one log.
package final class ProjectionFile {
    /// One row.
    static let placeSchema: StaticString = """
        CREATE TABLE place (
            number INTEGER NOT NULL, leaf BLOB NOT NULL, log_id BLOB NOT NULL, epoch INTEGER NOT NULL,
            version INTEGER NOT NULL, form BLOB NOT NULL, fingerprint BLOB NOT NULL, is_loading INTEGER NOT NULL,
            checksum BLOB NOT NULL
        ) STRICT
        """

    /// The file's path, or `:memory:`.
    let path: String
    /// The connection: the follower's for writing, or a reader's.
    package let connection: Connection
    /// Changed by the projection's `fold`; read and written together with the place.
    package var fingerprint = Fingerprint()
    /// Hashes rows; it belongs to this connection's thread.
    package let hasher = RowHasher()

    /// Opens the file. A writer makes a missing one, without tables.
    package init(path: String, access: Connection.Access) throws(SQLiteError) {
        self.path = path
        connection = try Connection(path: path, access: access)
    }
}
