package import Geodesy
import Projections
package import SQLite
package import Whereabouts

/// The changes that a batch makes to visits and crossings, as far as they are shown, collected until they are written.
///
/// A visit is news if it appears, if its arrival or departure changes, and if it is withdrawn, but not each time a fix
/// moves its place a little.
struct TimelineNews {
    /// A visit by its id, which its arrival decides.
    private struct VisitKey: Hashable {
        let person: PersonID
        let id: UInt64
    }

    /// A crossing by the columns that identify it.
    private struct CrossingKey: Hashable {
        let person: PersonID
        let region: RegionID
        let kind: Crossing.Kind
        let time: Timestamp
    }

    /// The row from before the batch, if it was removed, and the rows that were added and not removed again.
    private var visits: [VisitKey: (old: Visit?, new: [Visit])] = [:]
    /// The crossing from before the batch, if there was one, and the present one.
    private var crossings: [CrossingKey: (old: Crossing?, new: Crossing?)] = [:]
    /// The number of each person's newest event in the batch. The news get this number.
    /// A client that asks for news after event N gets those with a greater number.
    private var numbers: [PersonID: Int64] = [:]

    /// Notes the persons whose events are in a batch.
    ///
    /// Cost: one dictionary access for each change of person in the batch, not for each fix.
    mutating func note(_ batch: ArraySlice<RecordedEvent>) {
        var last: (person: PersonID, number: Int64)?
        for index in batch.indices {
            guard let person = batch[index].stream.person else { continue }
            if let last, last.person != person { numbers[last.person] = last.number }
            last = (person, batch[index].number)
        }
        if let last { numbers[last.person] = last.number }
    }

    /// Notes a change of a visit or a crossing; others are no news.
    ///
    /// A crossing that disappears and comes back within the batch is no news.
    mutating func note(_ change: TimelineChange) {
        switch change {
        case .visit(let person, let old, let new):
            // A visit that elapsed time alone will show is not news; answers compute it.
            let (old, new) = (old.flatMap(\.known), new.flatMap(\.known))
            // A removed row and an added one, in either order, may be the same visit, which its arrival identifies.
            if let old {
                let key = VisitKey(person: person, id: old.id)
                if let index = visits[key]?.new.firstIndex(of: old) {
                    visits[key]?.new.remove(at: index)
                } else {
                    visits[key, default: (nil, [])].old = old
                }
            }
            if let new { visits[VisitKey(person: person, id: new.id), default: (nil, [])].new.append(new) }
        case .crossing(let person, let old, let new):
            guard let any = new ?? old else { return }
            let key = CrossingKey(person: person, region: any.region, kind: any.kind, time: any.time)
            crossings[key] = (crossings[key].map(\.old) ?? old, new)
        case .region, .lead, .restart, .restartsVoid, .newestReceipt: return
        }
    }

    /// Drops the news of a person who is erased.
    mutating func forget(_ person: PersonID) {
        visits = visits.filter { $0.key.person != person }
        crossings = crossings.filter { $0.key.person != person }
    }

    /// The news to show, by person and time.
    ///
    /// Empties the collection. A visit that appeared and disappeared within the batch gives no item.
    mutating func take() -> [TimelineItem] {
        defer { self = TimelineNews() }
        if visits.isEmpty, crossings.isEmpty { return [] }
        var items: [TimelineItem] = []
        for (key, change) in visits {
            let new = change.new.last
            guard let visit = new ?? change.old, let number = numbers[key.person] else { continue }
            if let old = change.old, old.arrival == new?.arrival, old.departure == new?.departure { continue }
            items.append(
                TimelineItem(person: key.person, number: number, isWithdrawn: new == nil, what: .visit(visit)))
        }
        for (key, change) in crossings where (change.old == nil) != (change.new == nil) {
            guard let crossing = change.new ?? change.old, let number = numbers[key.person] else { continue }
            items.append(
                TimelineItem(
                    person: key.person, number: number, isWithdrawn: change.new == nil, what: .crossing(crossing)))
        }
        return items.sorted { ($0.person, $0.time) < ($1.person, $1.time) }
    }
}

extension Visit {
    /// The visit if its fixes alone make it one; `nil` if elapsed time must.
    fileprivate var known: Visit? { tellableFrom == nil ? self : nil }
}

/// A visit or a crossing as news: shown, or withdrawn.
struct TimelineItem {
    /// The visit or crossing.
    ///
    /// Which of the two it is, with its row as of the end of the batch; for a withdrawn one, as it was before.
    enum What {
        case visit(Visit)
        case crossing(Crossing)
    }
    /// The person whose news it is.
    let person: PersonID
    /// The person's newest event when it became known.
    let number: Int64
    /// Whether an item given earlier no longer holds.
    let isWithdrawn: Bool
    /// The visit or crossing.
    let what: What

    /// The time that orders items of one event: the departure of a visit, or its arrival while it is open.
    fileprivate var time: Timestamp {
        switch what {
        case .visit(let visit): visit.departure ?? visit.arrival
        case .crossing(let crossing): crossing.time
        }
    }
}

// `told_visit` and `told_crossing` keep the news in the order in which they came, so that a client that was away gets
// the missed news. They depend on how fixes came and were folded, so the fingerprint excludes them: a refold, with its
// larger batches, skips intermediate states.
extension TimelineTable {
    /// Writes the news of the batch. Items of one event are numbered, so that their order is kept.
    ///
    /// `told_visit` and `told_crossing` are keyed by person, number and ordinal. They are written on ``flush()``, in
    /// the same transaction as the rows that they describe.
    func writeNews() throws(SQLiteError) {
        for (ordinal, item) in news.take().enumerated() {
            switch item.what {
            case .visit(let visit):
                try file.connection.cached(
                    """
                    INSERT OR REPLACE INTO told_visit
                        (person, number, ordinal, is_withdrawn, id, arrival_ms, departure_ms, latitude_degrees,
                        longitude_degrees, horizontal_accuracy_meters, fixes, first_reported_ms, departure_reported_ms,
                        last_seen_ms, tellable_from_ms)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
                ) { (statement) throws(SQLiteError) in
                    try bind(item, ordinal, to: statement)
                    try visit.bind(to: statement, from: 5)
                    try statement.run()
                }
            case .crossing(let crossing):
                try file.connection.cached(
                    """
                    INSERT OR REPLACE INTO told_crossing
                        (person, number, ordinal, is_withdrawn, region, kind, time_ms, confirmed_ms, reported_ms)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
                ) { (statement) throws(SQLiteError) in
                    try bind(item, ordinal, to: statement)
                    try crossing.bind(to: statement, from: 5)
                    try statement.run()
                }
            }
        }
    }

    /// Binds person, number, ordinal and whether it was withdrawn.
    private func bind(
        _ item: TimelineItem, _ ordinal: Int, to statement: borrowing Statement
    ) throws(SQLiteError) {
        try statement.bind(item.person.rawValue, at: 1)
        try statement.bind(item.number, at: 2)
        try statement.bind(Int64(ordinal), at: 3)
        try statement.bind(item.isWithdrawn ? 1 : 0, at: 4)
    }
}

extension TimelineReader {
    /// A visit or crossing as news, with its place among all news.
    ///
    /// `number` and `ordinal` place it: the feed sends items in this order and continues after the last `number` that
    /// a client has.
    package struct Told {
        /// The visit as corrected, or the crossing with its region's name.
        package enum What {
            case visit(Visit)
            case crossing(NamedCrossing)
        }
        /// The person's newest event when it became known.
        package let number: Int64
        /// Orders the news of one event; ordinals rise, with gaps.
        fileprivate let ordinal: Int64
        /// Whether an item given earlier no longer holds.
        package let isWithdrawn: Bool
        /// The news.
        package let what: What
    }

    /// The person's news after event `number`, in order, at most `limit` of each kind. Visits are corrected as the
    /// person said; crossings that their region does not notify about are left out.
    ///
    /// - Parameters:
    ///   - number: The newest event whose news the client has; 0 for all.
    ///   - limit: The most visits and the most crossings.
    ///
    /// Two ranges of primary keys, and with corrections a read of visits for each item.
    package static func told(
        of person: PersonID, after number: Int64, limit: Int, corrected corrections: VisitCorrections,
        _ transform: GeocentricTransform?, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Told] {
        var found = try connection.cached(toldVisitsSQL) { (statement) throws(SQLiteError) -> [Told] in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(number, at: 2)
            try statement.bind(limit, at: 3)
            var found: [Told] = []
            while try statement.step() {
                found.append(Told(statement, .visit(try Visit(statement, from: 3))))
            }
            return found
        }
        found += try connection.cached(toldCrossingsSQL) { (statement) throws(SQLiteError) -> [Told] in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(number, at: 2)
            try statement.bind(limit, at: 3)
            var found: [Told] = []
            while try statement.step() {
                let named = try crossing(statement, from: 3, of: person, in: connection)
                found.append(Told(statement, .crossing(named)))
            }
            return found
        }
        found.sort { ($0.number, $0.ordinal) < ($1.number, $1.ordinal) }
        if corrections.keepsVisits { return found }
        return try found.map { (told) throws(SQLiteError) in
            guard case .visit(let visit) = told.what else { return told }
            let end = visit.departure ?? Timestamp(milliseconds: visit.arrival.milliseconds + 1)
            let there = try visits(
                of: person, from: visit.arrival, to: end, limit: correctedAtOnce,
                at: visit.departureReported ?? visit.firstReported, corrected: corrections, transform, in: connection)
            // Exactly one, so that an event has the same number of news whenever it is read: for a visit that a
            // correction cuts, the last part, in which it ends.
            guard let now = told.isWithdrawn ? there.first(where: { $0.id == visit.id }) : there.last else {
                return Told(number: told.number, ordinal: told.ordinal, isWithdrawn: true, what: told.what)
            }
            return Told(number: told.number, ordinal: told.ordinal, isWithdrawn: false, what: .visit(now))
        }
    }

    /// The most parts of one derived visit.
    private static let correctedAtOnce = 1000

    /// By the primary key: the cost is that of the news found.
    static let toldVisitsSQL: StaticString = """
        SELECT number, ordinal, is_withdrawn, id, arrival_ms, departure_ms, latitude_degrees, longitude_degrees,
            horizontal_accuracy_meters, fixes, first_reported_ms, departure_reported_ms, last_seen_ms, tellable_from_ms
        FROM told_visit
        WHERE person = ?1 AND number > ?2
        ORDER BY number, ordinal
        LIMIT ?3
        """

    /// As ``toldVisitsSQL``, with the present names and settings of the regions.
    static let toldCrossingsSQL: StaticString = """
        SELECT number, ordinal, is_withdrawn, told_crossing.region, kind, time_ms, confirmed_ms, reported_ms, identifier,
            tells_entries
        FROM told_crossing
        JOIN region ON region.person = told_crossing.person AND region.region = told_crossing.region
        WHERE told_crossing.person = ?1 AND number > ?2
            AND CASE kind WHEN 1 THEN tells_entries ELSE tells_exits END
        ORDER BY number, ordinal
        LIMIT ?3
        """
}

extension TimelineReader.Told {
    /// Reads number, ordinal and whether it was withdrawn.
    fileprivate init(_ statement: borrowing Statement, _ what: What) {
        self.init(
            number: statement.int(at: 0), ordinal: statement.int(at: 1), isWithdrawn: statement.int(at: 2) != 0,
            what: what)
    }
}
