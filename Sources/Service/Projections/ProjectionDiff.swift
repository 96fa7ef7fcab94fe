import SQLite
import Whereabouts

/// The rows in which two generations of a projection differ, both folded up to the same number.
struct ProjectionDiff: Sendable {
    struct Row: Sendable {
        let table: String
        let person: PersonID?
        let key: String
        /// The active generation's content; `nil` if it lacks the row.
        var active: String?
        /// The other generation's content; `nil` if it lacks the row.
        var other: String?
    }

    /// The most rows that are listed; the rest is only counted.
    static let rowsTold = 1000

    let place: Int64
    private(set) var added = 0
    private(set) var removed = 0
    private(set) var changed = 0
    private(set) var rows: [Row] = []

    var isEqual: Bool { added + removed + changed == 0 }

    /// Compares two files read-only, each in one consistent view. Memory: 16 bytes for each row of
    /// the active file, and the name of each row in which they differ.
    ///
    /// - Returns: `nil` if the files are not at the same place now.
    static func between(_ kind: ProjectionKind, active: String, other: String) throws(SQLiteError) -> ProjectionDiff? {
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
                    table: "\(row.table)", person: row.person, key: row.key, active: nil, other: row.summary)
            }
        }
        try active.eachRow { (row) throws(SQLiteError) in
            guard onlyActive.contains(row.hash.sum) else { return }
            let name = "\(row.table) \(row.key)"
            if extra.remove(name) != nil {
                changed += 1
                told[name]?.active = row.summary
            } else {
                removed += 1
                if told.count < Self.rowsTold {
                    told[name] = Row(
                        table: "\(row.table)", person: row.person, key: row.key, active: row.summary, other: nil)
                }
            }
        }
        added = extra.count
        rows = told.sorted { $0.key < $1.key }.map(\.value)
    }
}
