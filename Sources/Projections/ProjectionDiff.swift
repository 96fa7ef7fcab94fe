package import SQLite
package import Whereabouts

/// The rows in which two generations of a projection differ, both folded up to the same number.
package struct ProjectionDiff: Sendable {
    /// A row that only one generation has, or that differs.
    package struct Row: Sendable {
        /// The table of the row.
        package let table: String
        /// The person whose data the row has; `nil` for a row without any.
        package let person: PersonID?
        /// The row's name, unique in its table.
        package let key: String
        /// The active generation's content; `nil` if it lacks the row.
        package fileprivate(set) var active: Content?
        /// The other generation's content; `nil` if it lacks the row.
        package fileprivate(set) var other: Content?

        /// The content of a row in one generation.
        package struct Content: Sendable {
            /// All of it in one text.
            package let summary: String
            fileprivate let columns: [ProjectionRow.Column]

            fileprivate init(_ row: ProjectionRow) { (summary, columns) = (row.summary, row.columns) }
        }

        /// A column and its values, as text.
        package struct Difference: Sendable {
            /// The column's name.
            package let column: String
            /// The active generation's value; `nil` for NULL, or if it lacks the row.
            package let active: String?
            /// The other generation's value; `nil` for NULL, or if it lacks the row.
            package let other: String?
        }

        /// What happened to the row, seen from the active generation.
        package enum Change: String, Sendable { case added, removed, changed }

        /// Whether only one generation has the row.
        package var change: Change { active == nil ? .added : other == nil ? .removed : .changed }

        /// The columns of a row that only one generation has, or those that differ.
        ///
        /// Empty for a changed row whose difference is in no compared column, for example in the bytes of `details`.
        package var differences: [Difference] {
            let (before, after) = (active?.columns ?? [], other?.columns ?? [])
            let names = before.map(\.name) + after.map(\.name).filter { name in !before.contains { $0.name == name } }
            return names.compactMap { name in
                let old = before.first { $0.name == name }?.value
                let new = after.first { $0.name == name }?.value
                return change == .changed && old == new ? nil : Difference(column: name, active: old, other: new)
            }
        }
    }

    /// The most rows that are listed; the rest is only counted.
    static let rowsTold = 1000

    /// The number up to which both files are folded.
    package let place: Int64
    /// The rows that only the other generation has.
    package private(set) var added = 0
    /// The rows that only the active generation has.
    package private(set) var removed = 0
    /// The rows with the same key and different content.
    package private(set) var changed = 0
    /// The differing rows by table and key, at most ``rowsTold``.
    package private(set) var rows: [Row] = []

    /// Whether the two generations have the same rows.
    package var isEqual: Bool { added + removed + changed == 0 }

    /// Compares two files read-only, each in one consistent view. If their fingerprints are equal, no row is read.
    /// Otherwise the active file is read twice and the other once.
    ///
    /// Memory: 16 bytes for each row of the active file, and the name of each row in which they differ.
    ///
    /// - Returns: `nil` if the files are not at the same place now.
    package static func between(_ kind: ProjectionKind, active: String, other: String) throws(SQLiteError)
        -> ProjectionDiff?
    {
        let activeFile = try ProjectionFile(path: active, access: .readOnly)
        let otherFile = try ProjectionFile(path: other, access: .readOnly)
        return try activeFile.connection.snapshot { () throws(SQLiteError) in
            let first = try FollowedProjection.readPlace(activeFile)
            return try otherFile.connection.snapshot { () throws(SQLiteError) in
                let second = try FollowedProjection.readPlace(otherFile)
                guard first.number == second.number, !first.isLoading, !second.isLoading else { return nil }
                var diff = ProjectionDiff(place: first.number)
                if first.fingerprint == second.fingerprint { return diff }
                try diff.compare(
                    kind.make(activeFile, first.version), kind.make(otherFile, second.version))
                return diff
            }
        }
    }

    private init(place: Int64) { self.place = place }

    /// Finds the differing rows: first by hash, then by name.
    private mutating func compare(_ active: any Projection, _ other: any Projection) throws(SQLiteError) {
        var onlyActive: Set<UInt128> = []
        try active.eachRow { (row) throws(SQLiteError) in onlyActive.insert(row.hash.sum) }
        // Rows of the other file that the active one lacks: the keys of all, to distinguish changed rows from new ones,
        // and the content of some.
        var extra: Set<String> = []
        var told: [String: Row] = [:]
        try other.eachRow { (row) throws(SQLiteError) in
            if onlyActive.remove(row.hash.sum) != nil { return }
            let name = "\(row.table) \(row.key)"
            extra.insert(name)
            if told.count < Self.rowsTold {
                told[name] = Row(
                    table: "\(row.table)", person: row.person, key: row.key, active: nil, other: Row.Content(row))
            }
        }
        try active.eachRow { (row) throws(SQLiteError) in
            guard onlyActive.contains(row.hash.sum) else { return }
            let name = "\(row.table) \(row.key)"
            if extra.remove(name) != nil {
                changed += 1
                told[name]?.active = Row.Content(row)
            } else {
                removed += 1
                if told.count < Self.rowsTold {
                    told[name] = Row(
                        table: "\(row.table)", person: row.person, key: row.key, active: Row.Content(row), other: nil)
                }
            }
        }
        added = extra.count
        rows = told.sorted { $0.key < $1.key }.map(\.value)
    }
}
