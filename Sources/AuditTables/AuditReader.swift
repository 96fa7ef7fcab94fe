package import SQLite
package import Whereabouts

/// Reads the audit: requesters, subjects and disclosures. Lists are newest first; `before` is the number of the last
/// row of the page before, or `nil` for the first page.
///
/// All functions throw `SQLiteError` if the file cannot be read, and a damaged projection for a row that no fold
/// writes. Each reads by an index, so the cost is that of the rows found.
package enum AuditReader {
    /// A query by its id, allowed or refused.
    ///
    /// One search by `query_by_id`. Refused queries have a row too, for example one with the verdict
    /// `refused(noGrant)`, so a caller that shows the row to the requester must hide the reason.
    ///
    /// - Returns: `nil` for an id that is not in the log, and for a query whose subject was erased.
    package static func query(
        _ id: QueryID, in connection: borrowing Connection
    ) throws(SQLiteError) -> AuditedQuery? {
        try connection.cached(querySQL) { (statement) throws(SQLiteError) in
            try statement.bind(id.bytes, at: 1)
            return try statement.step() ? try AuditedQuery(statement) : nil
        }
    }

    /// The queries about a person.
    ///
    /// One search by `query_by_subject`. SQLite keeps the row's number in each index entry, so the index of one
    /// column already returns the page in order.
    ///
    /// - Parameters:
    ///   - before: Only queries with a smaller event number.
    ///   - limit: The most rows, at least 1.
    package static func queries(
        about subject: PersonID, before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedQuery] {
        try page(queriesAboutSQL, subject.rawValue, before, limit, connection)
    }

    /// The queries that a principal asked, also those about names that no person has.
    ///
    /// One search by `query_by_requester`. The rows about other persons carry their true verdicts and ends. Only the
    /// answer for the subject may show these; the requester's own answer shows pending, answered or no answer.
    package static func queries(
        by requester: PrincipalID, before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedQuery] {
        try page(queriesBySQL, requester.rawValue, before, limit, connection)
    }

    /// The attempts to wake a device for a query, oldest first.
    ///
    /// One search by `attempt_by_query`. The list is empty for a refused query. Each try of each device is a row, and
    /// so is a push that was withheld.
    package static func attempts(
        for query: QueryID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedAttempt] {
        try connection.cached(attemptsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(query.bytes, at: 1)
            return try rows(statement)
        }
    }

    /// The pushes under way for a query, oldest first: started, and without a recorded outcome.
    ///
    /// One search by `under_way_by_query`. After a crash a row may describe a push that APNs accepted. At the next
    /// start, the house records the outcome of such a push as unknown (`settlePushes`), which removes the row.
    package static func pushesUnderWay(
        for query: QueryID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedStart] {
        try connection.cached(underWaySQL) { (statement) throws(SQLiteError) in
            try statement.bind(query.bytes, at: 1)
            return try rows(statement)
        }
    }

    /// The disclosures in answer to a query, oldest first.
    ///
    /// One search by `disclosure_by_query`. Usually there is one row. There may be more: each answer that leaves is
    /// recorded on its own.
    package static func disclosures(
        for query: QueryID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedDisclosure] {
        try connection.cached(disclosuresForSQL) { (statement) throws(SQLiteError) in
            try statement.bind(query.bytes, at: 1)
            return try rows(statement)
        }
    }

    /// The disclosures about a person.
    ///
    /// One search by `disclosure_by_subject`. An erased subject has no rows.
    package static func disclosures(
        about subject: PersonID, before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedDisclosure] {
        try page(disclosuresAboutSQL, subject.rawValue, before, limit, connection)
    }

    /// The reads of stored data about a person.
    ///
    /// One search by `reading_by_subject`. Refused reads are among them, with the true reason, for example
    /// `historyNotGranted`. So are the subject's own reads, with the verdict `own`, unless only those `byOthers` are
    /// wanted: then the search passes over the own ones.
    package static func reads(
        about subject: PersonID, byOthers: Bool = false, before: Int64? = nil, limit: Int,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedRead] {
        try page(byOthers ? othersReadsAboutSQL : readsAboutSQL, subject.rawValue, before, limit, connection)
    }

    /// The reads that a principal made.
    ///
    /// One search by `reading_by_reader`. A read about a name that no person has is among them, with `subject` `nil`.
    package static func reads(
        by reader: PrincipalID, before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedRead] {
        try page(readsBySQL, reader.rawValue, before, limit, connection)
    }

    /// The changes of a person's devices, tokens, grants, regions and other settings.
    ///
    /// One search by `change_by_subject`. Changes made by the operator have the operator as `actor`. The erasure of
    /// the person is itself a row, the only one that stays after it.
    package static func changes(
        about subject: PersonID, before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [SettingsChange] {
        try page(changesAboutSQL, subject.rawValue, before, limit, connection)
    }

    /// The acts that concern everyone, for example a restore. `before` is the number of an event, not an ordinal.
    ///
    /// A search by the primary key from the end. All people see all acts, so the list takes no person.
    package static func acts(
        before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditedAct] {
        try connection.cached(actsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(before ?? .max, at: 1)
            try statement.bind(limit, at: 2)
            return try rows(statement)
        }
    }

    /// The number of the event of an act; `nil` if there is no act with this ordinal.
    ///
    /// One search by `act_by_ordinal`. Cursors of pages contain the ordinal, because the number of a house event
    /// would disclose the number of other people's events to a person.
    package static func numberOfAct(
        _ ordinal: Int64, in connection: borrowing Connection
    ) throws(SQLiteError) -> Int64? {
        try connection.cached(actSQL) { (statement) throws(SQLiteError) in
            try statement.bind(ordinal, at: 1)
            return try statement.step() ? statement.int(at: 0) : nil
        }
    }

    /// The refusals of a requester that were counted and not recorded one by one.
    ///
    /// One search by `refusals_by_requester`. The first ten refusals of a minute are recorded one by one
    /// (`Limits.refusalsRecordedAMinute`); a row counts the others of that minute.
    package static func refusals(
        of requester: PrincipalID, before: Int64? = nil, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [CountedRefusals] {
        try page(refusalsOfSQL, requester.rawValue, before, limit, connection)
    }

    /// The number of rejected reports of a person's devices, by device and reason.
    ///
    /// A range of the primary key (subject, device, reason), so at most one row for each of the reasons in
    /// `RejectionReason` and each device. Counts are over the whole log, not over a time.
    package static func rejected(
        of subject: PersonID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [RejectedReports] {
        try connection.cached(rejectedSQL) { (statement) throws(SQLiteError) in
            try statement.bind(subject.rawValue, at: 1)
            return try rows(statement)
        }
    }

    /// The newest rejected reports of a person's devices, in the order of their numbers, at most
    /// `Limits.rejectionsShown` of each device.
    ///
    /// - Parameter number: Only reports after this number.
    ///
    /// One search by `rejection_by_subject`. The row has the reason only. The report itself is sealed in the event of
    /// that number, which the caller opens through the log.
    package static func rejections(
        of subject: PersonID, after number: Int64 = 0, in connection: borrowing Connection
    ) throws(SQLiteError) -> [RejectedReport] {
        try connection.cached(rejectionsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(subject.rawValue, at: 1)
            try statement.bind(number, at: 2)
            return try rows(statement)
        }
    }

    /// One page of the rows with a key.
    ///
    /// - Parameters:
    ///   - sql: A query with the parameters key, number and limit, in this order.
    ///   - key: The raw value of the person or principal.
    private static func page<Row: AuditRow>(
        _ sql: StaticString, _ key: Int64, _ before: Int64?, _ limit: Int, _ connection: borrowing Connection
    ) throws(SQLiteError) -> [Row] {
        try connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(key, at: 1)
            try statement.bind(before ?? .max, at: 2)
            try statement.bind(limit, at: 3)
            return try rows(statement)
        }
    }

    /// All rows of a statement whose parameters are bound.
    private static func rows<Row: AuditRow>(_ statement: borrowing Statement) throws(SQLiteError) -> [Row] {
        var found: [Row] = []
        while try statement.step() { found.append(try Row(statement)) }
        return found
    }
}

// MARK: - SQL

/// Rows are read whole, in the order of the schema's columns.
extension AuditReader {
    static let querySQL: StaticString = "SELECT * FROM query WHERE query = ?"
    static let queriesAboutSQL: StaticString =
        "SELECT * FROM query WHERE subject = ? AND number < ? ORDER BY number DESC LIMIT ?"
    static let queriesBySQL: StaticString =
        "SELECT * FROM query WHERE requester = ? AND number < ? ORDER BY number DESC LIMIT ?"
    static let underWaySQL: StaticString = "SELECT * FROM under_way WHERE query = ? ORDER BY number"
    static let attemptsSQL: StaticString = "SELECT * FROM attempt WHERE query = ? ORDER BY number"
    static let disclosuresForSQL: StaticString = "SELECT * FROM disclosure WHERE query = ? ORDER BY number"
    static let disclosuresAboutSQL: StaticString =
        "SELECT * FROM disclosure WHERE subject = ? AND number < ? ORDER BY number DESC LIMIT ?"
    static let readsAboutSQL: StaticString =
        "SELECT * FROM reading WHERE subject = ? AND number < ? ORDER BY number DESC LIMIT ?"
    /// 0 is the code of the verdict `own`.
    static let othersReadsAboutSQL: StaticString =
        "SELECT * FROM reading WHERE subject = ? AND number < ? AND verdict <> 0 ORDER BY number DESC LIMIT ?"
    static let readsBySQL: StaticString =
        "SELECT * FROM reading WHERE reader = ? AND number < ? ORDER BY number DESC LIMIT ?"
    static let changesAboutSQL: StaticString =
        "SELECT * FROM change WHERE subject = ? AND number < ? ORDER BY number DESC LIMIT ?"
    static let actsSQL: StaticString = "SELECT * FROM act WHERE number < ? ORDER BY number DESC LIMIT ?"
    static let actSQL: StaticString = "SELECT number FROM act WHERE ordinal = ?"
    static let refusalsOfSQL: StaticString =
        "SELECT * FROM refusals WHERE requester = ? AND number < ? ORDER BY number DESC LIMIT ?"
    static let rejectionsSQL: StaticString =
        "SELECT * FROM rejection WHERE subject = ? AND number > ? ORDER BY number"
    static let rejectedSQL: StaticString = "SELECT * FROM rejected WHERE subject = ? ORDER BY device, reason"
}
