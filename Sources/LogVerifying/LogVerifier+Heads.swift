package import Cryptography
import Log
import SQLite
import Transparency
package import Whereabouts

/// Recomputes what `HeadsCommitted` says about the persons' own logs, from the events before it.
struct HeadsVerifier {
    private var heads = HouseHeads()

    /// An event of a person's audit.
    typealias Entry = (number: Int64, person: Int64, version: Int64, recordedAtMs: Int64)

    /// The columns that a fold of the heads needs, by the primary key.
    private static let sql: StaticString = """
        SELECT number, stream, version, recorded_at_ms
        FROM event
        WHERE number > ? AND number <= ? AND stream >= 5 AND stream & 1 = 1
        ORDER BY number
        """

    /// Folds a commitment. Cost: a look at each event since the previous one.
    ///
    /// - Returns: The fault as part of a sentence; `nil` if the commitment is right.
    mutating func check(
        _ body: UnsafeRawBufferPointer, number: Int64, _ connection: borrowing Connection, _ sha256: SHA256
    ) throws(SQLiteError) -> String? {
        guard let given = HeadsCommitment(stored: body) else { return "it is not a commitment to heads" }
        heads.begin(as: given.name)
        guard given.upTo >= heads.upTo, given.upTo < number else {
            return "it covers the events up to \(given.upTo), and up to \(heads.upTo) are covered before it"
        }
        var entries: [Entry] = []
        try connection.cached(Self.sql) { (statement) throws(SQLiteError) in
            try statement.bind(heads.upTo, at: 1)
            try statement.bind(given.upTo, at: 2)
            while try statement.step() {
                entries.append(
                    (
                        statement.int(at: 0), statement.int(at: 1) / 2, statement.int(at: 2), statement.int(at: 3)
                    ))
                if entries.count > HeadsCommitment.commitmentsMax { break }
            }
        }
        let commits = given.commitments
        guard entries.count == commits.count else {
            return "it has \(commits.count) commitments for \(entries.count) events of audits"
        }
        for (entry, commit) in zip(entries, commits) {
            // Each person takes an event, so a greater number would make the tree larger than the log.
            guard entry.person <= entry.number + 2 else { return "event \(entry.number) is about no person" }
            heads.append(
                commit, person: entry.person, version: entry.version, recordedAtMs: entry.recordedAtMs, sha256)
        }
        let (size, root) = heads.commit(given.upTo, sha256)
        guard size == given.size, root == given.root.digest else {
            return "the heads of the persons' logs are others than it says"
        }
        return nil
    }
}

extension HeadsCommitment {
    /// The commitments of its entries, in order.
    package var commitments: [Digest] {
        stride(from: 0, to: commits.count, by: Self.commitmentBytes).compactMap {
            Digest(bytes: commits[$0..<min($0 + Self.commitmentBytes, commits.count)])
        }
    }
}
