import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// Fixes, visits and crossings.
///
/// `fix` has one fix for each identity, some thirty of them in one row (``FixBlocks``). Twins have the same identity and
/// different contents; all but the first, in the order of their contents, are in `twin`, so that a fix without twins costs
/// nothing more. `withdrawn` has the fixes that no longer count. `reported` has the moments of visits that devices reported, with −1 for a missing accuracy, once for
/// each event that reports them; `withdrawn_reported` has those that no longer count. Rows of these tables are written as
/// they arrive, the others by the changes of `TimelineFold`.
///
/// Each table's primary key starts with the person, so that a person's rows are neighbours in the file: a read or an
/// erasure touches few pages, and no further index is needed.
package final class TimelineTable: Projection {
    static let name = "timeline"
    /// All versions of the rules that can be folded; the newest is the default. `VisitRules` says how they differ.
    static let versions: [Int64] = VisitRules.all.map(\.version)
    static let concerns: FactConcerns? = .timeline
    /// Not in the fingerprint, because they depend on the order in which fixes came: `number`, `received_after_ms`
    /// (receipt minus device time; NULL for an import without one), `first_reported_ms`, `departure_reported_ms`,
    /// `reported_ms`, the table `restart` (the state with which the derivation continues; each row has a checksum), and
    /// ``TimelineNews``.
    ///
    /// Times are milliseconds since 1970, UTC.
    /// - `fix`, `twin`, `withdrawn`: degrees are whole numbers of 10⁻⁷ degrees if they are exactly that, else doubles
    ///   (``FixColumns``). `details` is a CBOR array of the other members; NULL if there are none. `content`
    ///   distinguishes the twins of one identity. `following` of `fix` has the fixes up to the person's next row
    ///   (``FixPacking``); NULL if there are none.
    /// - `reported`, `withdrawn_reported`: `kind` is `ReportedMoment.Kind`, `until_ms` the end of the stay that begins at this time, or
    ///   this time.
    /// - `visit`: `id` is a hash as 64 bits, `fixes` the number of fixes inside, `last_seen_ms` the last moment with
    ///   evidence of presence, `tellable_from_ms` the time from which silence alone makes it a visit.
    /// - `crossing`: `kind` is 1 for an entry, 2 for an exit. `confirmed_ms` is the time of the fix that decides it.
    /// - `region`: `content` is the encoded region. A removed one stays, with `removed_at_ms`, for its earlier
    ///   crossings.
    /// - `lead`: from `from_ms` on, `device` represents the person.
    /// - `restart`: a state of the derivation, from which a late fix is worked in.
    /// - `receipt`: the newest time of receipt of the person's fixes.
    /// - `told_visit`, `told_crossing`: the news by `number` (the event that caused them) and `ordinal`.
    ///
    /// Coordinates are WGS 84, accuracies meters (68 %). `arrival_ms` and `departure_ms` are the device's time; a
    /// visit under way has no departure. `tells_entries` and `tells_exits` are 0 or 1. `seed_ms` of a restart is the
    /// time of the first fix to give to the derivation again, `closed_ms` the time of the newest fix that affected
    /// the state.
    static let schema: StaticString = """
        CREATE TABLE fix (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            following BLOB,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE twin (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            content INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees, content)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE withdrawn (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            content INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees, content)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE reported (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            until_ms INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            received_after_ms INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE withdrawn_reported (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            until_ms INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            received_after_ms INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE visit (
            person INTEGER NOT NULL,
            arrival_ms INTEGER NOT NULL,
            departure_ms INTEGER,
            id INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            fixes INTEGER NOT NULL,
            first_reported_ms INTEGER NOT NULL,
            departure_reported_ms INTEGER,
            last_seen_ms INTEGER,
            tellable_from_ms INTEGER,
            PRIMARY KEY (person, arrival_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE crossing (
            person INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            region INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            confirmed_ms INTEGER NOT NULL,
            reported_ms INTEGER NOT NULL,
            PRIMARY KEY (person, time_ms, region, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE region (
            person INTEGER NOT NULL,
            region INTEGER NOT NULL,
            identifier TEXT NOT NULL,
            content BLOB NOT NULL,
            tells_entries INTEGER NOT NULL,
            tells_exits INTEGER NOT NULL,
            removed_at_ms INTEGER,
            PRIMARY KEY (person, region)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lead (
            person INTEGER NOT NULL,
            from_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            PRIMARY KEY (person, from_ms, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE restart (
            person INTEGER NOT NULL,
            closed_ms INTEGER NOT NULL,
            seed_ms INTEGER NOT NULL,
            state BLOB NOT NULL,
            PRIMARY KEY (person, closed_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE receipt (
            person INTEGER PRIMARY KEY,
            newest_ms INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE told_visit (
            person INTEGER NOT NULL,
            number INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            is_withdrawn INTEGER NOT NULL,
            id INTEGER NOT NULL,
            arrival_ms INTEGER NOT NULL,
            departure_ms INTEGER,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            fixes INTEGER NOT NULL,
            first_reported_ms INTEGER NOT NULL,
            departure_reported_ms INTEGER,
            last_seen_ms INTEGER,
            tellable_from_ms INTEGER,
            PRIMARY KEY (person, number, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE told_crossing (
            person INTEGER NOT NULL,
            number INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            is_withdrawn INTEGER NOT NULL,
            region INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            confirmed_ms INTEGER NOT NULL,
            reported_ms INTEGER NOT NULL,
            PRIMARY KEY (person, number, ordinal)
        ) STRICT, WITHOUT ROWID
        """
    /// None: all searches are by primary keys.
    static let indexes: StaticString = ""

    let file: ProjectionFile
    /// The version of the rules by which this file is folded.
    private let rules: VisitRules
    /// The derivation: the state of the persons whose fixes came last.
    private var timeline: TimelineFold
    /// The fixes, as far as they are not in the file yet.
    let blocks: FixBlocks
    /// The changes to show, collected until `flush()`.
    var news = TimelineNews()

    /// `version` must be one of ``versions``.
    init(file: ProjectionFile, version: Int64) {
        self.file = file
        guard let rules = VisitRules.version(version) else {
            preconditionFailure("A projection is folded by one of its versions.")
        }
        self.rules = rules
        timeline = TimelineFold(rules)
        blocks = FixBlocks(file)
    }

    /// Folds the events between erasures and revisions of fixes together, and these one by one.
    ///
    /// The order inside a batch matters only for events that remove rows. A late fix costs the derivation from the
    /// restart point before it.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        var rest = batch[...]
        while let end = rest.firstIndex(where: { $0.removal != nil }), let removal = rest[end].removal {
            try fold(rest[..<end])
            switch removal {
            case .erasure(let person): try erase(person)
            case .retention(let numbers): try retire(rest[end], numbers)
            case .withdrawal(let fixes, let revision):
                news.note(rest[end...end])
                try revise(rest[end], fixes, revision, isWithdrawal: true)
            case .restoration(let fixes, let revision):
                news.note(rest[end...end])
                try revise(rest[end], fixes, revision, isWithdrawal: false)
            case .withdrawalOfVisits(let visits, let revision):
                news.note(rest[end...end])
                try reviseVisits(rest[end], visits, revision, isWithdrawal: true)
            case .restorationOfVisits(let visits, let revision):
                news.note(rest[end...end])
                try reviseVisits(rest[end], visits, revision, isWithdrawal: false)
            }
            rest = rest[(end + 1)...]
        }
        try fold(rest)
    }

    /// Derives everything from the first of these fixes on again, after their rows were moved.
    ///
    /// - Parameters:
    ///   - fixes: The moved fixes; the earliest decides where the derivation begins.
    ///   - isWithdrawal: Whether they were taken away; otherwise they came back.
    ///   - recordedAt: The time of the event, which is the `now` of the derivation.
    /// - Returns: The changes of rows, to be applied in this order.
    func refold(
        _ fixes: [StoredFix], of person: PersonID, isWithdrawal: Bool, at recordedAt: Timestamp
    ) throws(SQLiteError) -> [TimelineChange] {
        try timeline.revise(fixes, of: person, isWithdrawal: isWithdrawal, at: recordedAt, reading: self)
    }

    /// Folds events without an erasure or a revision among them.
    ///
    /// The rows of fixes are written after the derivation has read the table, which must not find the batch in it.
    private func fold(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        if batch.isEmpty { return }
        news.note(batch)
        let changes = try timeline.fold(batch, reading: self)
        try insertFixes(batch)
        if rules.usesReportedVisits { try insertReports(batch) }
        for change in changes { try apply(change) }
    }

    /// Settles the derivation, and writes the fixes and the news.
    func flush() throws(SQLiteError) {
        try settle()
        try blocks.write()
        try writeNews()
    }

    /// Derives with late fixes and updates provisional rows.
    func settle() throws(SQLiteError) {
        for change in try timeline.settle(reading: self) { try apply(change) }
    }

    /// Drops the derivation's state of one person.
    func forget(_ person: PersonID) { timeline.forget(person) }

    /// Drops the derivation's state and the news; the next fold starts from the restart points in the file.
    func forget() {
        timeline.forget()
        blocks.forget()
        news = TimelineNews()
    }

    /// Deletes the person's rows in all tables, and subtracts those that the fingerprint counts.
    func erase(_ person: PersonID) throws(SQLiteError) {
        timeline.forget(person)
        news.forget(person)
        var sum = Fingerprint()
        try eachRow(of: person) { row throws(SQLiteError) in sum.add(row.hash) }
        file.fingerprint.subtract(sum)
        try blocks.removeAll(of: person)
        try delete(from: "DELETE FROM twin WHERE person = ?", person)
        try delete(from: "DELETE FROM withdrawn WHERE person = ?", person)
        try delete(from: "DELETE FROM reported WHERE person = ?", person)
        try delete(from: "DELETE FROM withdrawn_reported WHERE person = ?", person)
        try delete(from: "DELETE FROM visit WHERE person = ?", person)
        try delete(from: "DELETE FROM crossing WHERE person = ?", person)
        try delete(from: "DELETE FROM region WHERE person = ?", person)
        try delete(from: "DELETE FROM lead WHERE person = ?", person)
        try delete(from: "DELETE FROM restart WHERE person = ?", person)
        try delete(from: "DELETE FROM receipt WHERE person = ?", person)
        try delete(from: "DELETE FROM told_visit WHERE person = ?", person)
        try delete(from: "DELETE FROM told_crossing WHERE person = ?", person)
    }

    /// Runs a deletion for a person.
    private func delete(from sql: StaticString, _ person: PersonID) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.run()
        }
    }

    /// The restart points and the news are not among the rows: they depend on the order in which fixes came.
    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try flush()
        try eachRow(of: nil, body)
    }
}

/// What an event does to rows of fixes or reported visits that are there already.
private enum FixRemoval {
    case erasure(PersonID)
    case retention(NumberSet)
    case withdrawal(FixNumbers, Part<FixRevision>)
    case restoration(FixNumbers, Part<FixRevision>)
    case withdrawalOfVisits(FixNumbers, Part<FixRevision>)
    case restorationOfVisits(FixNumbers, Part<FixRevision>)
}

extension RecordedEvent {
    /// How the event moves or removes rows of fixes; `nil` if it does not.
    fileprivate var removal: FixRemoval? {
        switch event {
        case .personErased(let person): return .erasure(person)
        case .retentionApplied(let applied, _): return .retention(applied.numbers)
        case .fixesWithdrawn(let fixes, let revision): return .withdrawal(fixes, revision)
        case .fixesRestored(let fixes, let revision): return .restoration(fixes, revision)
        case .visitsWithdrawn(let visits, let revision): return .withdrawalOfVisits(visits, revision)
        case .visitsRestored(let visits, let revision): return .restorationOfVisits(visits, revision)
        case .fixReported, .sightingReported(_, .visit, _), .regionAdded, .regionRemoved: return nil
        default:
            event.isPassedOver(by: .timeline)
            return nil
        }
    }
}
