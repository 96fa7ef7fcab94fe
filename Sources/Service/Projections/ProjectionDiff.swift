import SQLite
import Whereabouts

/// The rows in which two generations of a projection differ, both folded up to the same number.
struct ProjectionDiff: Sendable {
    struct Row: Sendable {
        let table: String
        let person: PersonID?
        let key: String
        /// What the active generation says; `nil` for a row it does not have.
        var active: String?
        /// What the other one says.
        var other: String?
    }

    /// Rows told one by one; beyond that they are only counted.
    static let rowsTold = 1000

    let place: Int64
    private(set) var added = 0
    private(set) var removed = 0
    private(set) var changed = 0
    private(set) var rows: [Row] = []

    var isEqual: Bool { added + removed + changed == 0 }

    /// Compares two files read-only, each in one consistent view. Memory: 16 bytes for each row of the active file.
    ///
    /// - Returns: `nil` when the files are not at the same place at this moment.
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
        // Rows of the other file that the active one does not have, told by what names them.
        var differing: [String: Row] = [:]
        var extra = 0
        try other.eachRow { (row) throws(SQLiteError) in
            if onlyActive.remove(row.hash.sum) != nil { return }
            extra += 1
            if differing.count < Self.rowsTold {
                differing["\(row.table) \(row.key)"] = Row(
                    table: "\(row.table)", person: row.person, key: row.key, active: nil, other: row.summary)
            }
        }
        var missing = 0
        try active.eachRow { (row) throws(SQLiteError) in
            guard onlyActive.contains(row.hash.sum) else { return }
            missing += 1
            let name = "\(row.table) \(row.key)"
            if differing[name] != nil {
                differing[name]?.active = row.summary
                changed += 1
            } else if differing.count < Self.rowsTold {
                differing[name] = Row(
                    table: "\(row.table)", person: row.person, key: row.key, active: row.summary, other: nil)
            }
        }
        added = extra - changed
        removed = missing - changed
        rows = differing.sorted { $0.key < $1.key }.map(\.value)
    }
}
