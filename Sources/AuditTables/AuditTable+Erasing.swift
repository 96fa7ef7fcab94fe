import Cryptography
import Projections
import SQLite
import Whereabouts

/// Erasing and comparing.
extension AuditTable {
    /// Deletes the rows about the person, the words that the person wrote about others, which are sealed under the
    /// person's own key, and the person's questions about unknown names. The fact of the erasure remains.
    ///
    /// Rows about others whom the person asked about stay, with the person's number and without the person's purpose,
    /// so that each subject's list of requesters stays complete. Answers show such a requester as an erased person.
    ///
    /// Cost: the person's rows, found by the indexes on `subject`, `requester` and `reader`.
    func erase(_ person: PersonID) throws(SQLiteError) {
        for sum in try hashes(AuditedQuery.self, Self.queriesOfSQL, person) { file.fingerprint.subtract(sum) }
        try run("DELETE FROM query WHERE subject = ?1 OR (subject IS NULL AND requester = ?1)", person)
        try run("UPDATE query SET purpose_for_requester = NULL WHERE requester = ?1", person)
        for sum in try hashes(AuditedQuery.self, Self.queriesOfSQL, person) { file.fingerprint.add(sum) }

        let attempts = try hashes(AuditedAttempt.self, "SELECT * FROM attempt WHERE subject = ?1", person)
        try run("DELETE FROM attempt WHERE subject = ?1", person)
        let starts = try hashes(AuditedStart.self, "SELECT * FROM under_way WHERE subject = ?1", person)
        try run("DELETE FROM under_way WHERE subject = ?1", person)
        let disclosures = try hashes(AuditedDisclosure.self, "SELECT * FROM disclosure WHERE subject = ?1", person)
        try run("DELETE FROM disclosure WHERE subject = ?1", person)
        let readings = try hashes(
            AuditedRead.self, "SELECT * FROM reading WHERE subject = ?1 OR (subject IS NULL AND reader = ?1)", person)
        try run("DELETE FROM reading WHERE subject = ?1 OR (subject IS NULL AND reader = ?1)", person)
        // 20 = PersonErased.
        let changes = try hashes(
            SettingsChange.self, "SELECT * FROM change WHERE subject = ?1 AND kind <> 20", person)
        try run("DELETE FROM change WHERE subject = ?1 AND kind <> 20", person)
        let rejected = try hashes(RejectedReports.self, "SELECT * FROM rejected WHERE subject = ?1", person)
        try run("DELETE FROM rejected WHERE subject = ?1", person)
        let rejections = try hashes(RejectedReport.self, "SELECT * FROM rejection WHERE subject = ?1", person)
        try run("DELETE FROM rejection WHERE subject = ?1", person)
        for sum in attempts + starts + disclosures + readings + changes + rejected + rejections {
            file.fingerprint.subtract(sum)
        }
    }

    /// Gives the rows of all tables. A row's hash also covers the numbers by which answers find it.
    ///
    /// The order within each table is that of the primary key, so that two generations can be merged row by row.
    ///
    /// Cost: reads every row of the projection once.
    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try each(AuditedQuery.self, "SELECT * FROM query ORDER BY number", body)
        try each(AuditedAttempt.self, "SELECT * FROM attempt ORDER BY number", body)
        try each(AuditedStart.self, "SELECT * FROM under_way ORDER BY number", body)
        try each(AuditedDisclosure.self, "SELECT * FROM disclosure ORDER BY number", body)
        try each(AuditedRead.self, "SELECT * FROM reading ORDER BY number", body)
        try each(SettingsChange.self, "SELECT * FROM change ORDER BY number", body)
        try each(AuditedAct.self, "SELECT * FROM act ORDER BY number", body)
        try each(CountedRefusals.self, "SELECT * FROM refusals ORDER BY number", body)
        try each(RejectedReport.self, "SELECT * FROM rejection ORDER BY number", body)
        try each(RejectedReports.self, "SELECT * FROM rejected ORDER BY subject, device, reason", body)
    }

    /// The queries about a person, and those that the person asked.
    private static let queriesOfSQL: StaticString = "SELECT * FROM query WHERE subject = ?1 OR requester = ?1"

    /// Gives the rows of one table, which the statement returns in the order of their keys.
    private func each<Row: AuditRow>(
        _: Row.Type, _ sql: StaticString, _ body: (ProjectionRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            while try statement.step() {
                let row = try Row(statement)
                try body(
                    ProjectionRow(
                        table: Row.table, person: row.person, key: row.key, summary: row.summary, columns: row.columns,
                        hash: file.hasher.hash(row)))
            }
        }
    }

    /// The hashes of the rows that a statement about a person finds.
    ///
    /// - Parameter sql: A query with the person as its parameter `?1`, which returns the columns in the order of the
    ///   schema.
    private func hashes<Row: AuditRow>(
        _: Row.Type, _ sql: StaticString, _ person: PersonID
    ) throws(SQLiteError) -> [Fingerprint] {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            var found: [Fingerprint] = []
            while try statement.step() { found.append(file.hasher.hash(try Row(statement))) }
            return found
        }
    }

    /// Runs a statement with the person as its parameter `?1`.
    private func run(_ sql: StaticString, _ person: PersonID) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.run()
        }
    }
}
