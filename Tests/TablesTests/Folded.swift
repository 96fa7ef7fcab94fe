import SQLite
import Testing

@testable import Projections
@testable import Whereabouts

/// A projection with its own in-memory database, folded as a follower would.
final class Folded<P: Projection> {
    let file: ProjectionFile
    let projection: P

    /// Folds by the newest rules by default.
    init(version: Int64? = nil) throws {
        file = try ProjectionFile(path: ":memory:", access: .readWrite)
        try file.connection.execute(P.schema)
        projection = P(file: file, version: version ?? P.versions[P.versions.count - 1])
    }

    convenience init(
        _ events: [RecordedEvent], batch: Int = 10_000, forgetting: Bool = false, version: Int64? = nil
    ) throws {
        try self.init(version: version)
        try fold(events, batch: batch, forgetting: forgetting)
    }

    /// Folds in transactions of `batch` events each; `forgetting` drops the state in memory after each, as a restart
    /// does.
    func fold(_ events: [RecordedEvent], batch: Int = 10_000, forgetting: Bool = false) throws {
        for start in stride(from: 0, to: events.count, by: batch) {
            try file.connection.begin()
            try projection.fold(Array(events[start..<min(start + batch, events.count)]))
            try projection.flush()
            try file.connection.commit()
            if forgetting { projection.forget() }
        }
    }

    func index() throws { try file.connection.execute(P.indexes) }

    /// Every row as people may read it; the fingerprint kept on the way must be the sum of the rows'.
    func rows() throws -> [String] {
        var rows: [String] = []
        var sum = Fingerprint()
        try projection.eachRow { row in
            rows.append("\(row.table) \(row.key): \(row.summary)")
            sum.add(row.hash)
        }
        #expect(sum == file.fingerprint)
        #expect(Set(rows).count == rows.count)
        return rows
    }
}
