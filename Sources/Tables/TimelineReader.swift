import Cryptography
package import Geodesy
import Projections
package import SQLite
package import Whereabouts

/// Reads fixes, visits, crossings and leads of persons.
///
/// Nothing here checks a grant: callers filter the rows by their permit. Times are those of devices; ranges are
/// half-open. All functions throw `SQLiteError`, and a damaged projection for a row that no fold writes.
///
/// A missing bound is an open end: `from: nil` reads from the person's first row, `to: nil` to the last. All queries
/// are ranges of a primary key that starts with the person, unless they say otherwise, so the cost is that of the
/// rows read.
package enum TimelineReader {
    /// The end of a page of fixes: the key of its last one, by which fixes are ordered.
    ///
    /// The order is by time, then device, then the stored latitude and longitude. It is the order of the primary key
    /// of `fix`, which makes a page a range of it.
    package struct FixKey: Hashable, Sendable {
        /// The device time of the fix.
        package let timestamp: Timestamp
        /// The device that reported it.
        package let device: DeviceID
        /// The coordinate in degrees.
        package let latitude, longitude: Double

        /// The place of a fix in the order of pages.
        package init(timestamp: Timestamp, device: DeviceID, latitude: Double, longitude: Double) {
            (self.timestamp, self.device, self.latitude, self.longitude) = (timestamp, device, latitude, longitude)
        }

        /// The key of a fix.
        package init(_ fix: ReportedFix) {
            self.init(
                timestamp: fix.fix.timestamp, device: fix.device, latitude: fix.fix.coordinate.latitude,
                longitude: fix.fix.coordinate.longitude)
        }

        /// The key of a fix that is not decoded.
        package init(_ row: FixRow) {
            self.init(
                timestamp: row.columns.timestamp, device: row.device, latitude: row.columns.latitude.value,
                longitude: row.columns.longitude.value)
        }
    }

    /// A crossing with the name of its region.
    ///
    /// The region's name is the present one: a crossing of last year shows the name that the region has now.
    package struct NamedCrossing: Sendable {
        /// The crossing; its `reported` is the receipt of the fix that confirmed it.
        package let crossing: Crossing
        /// `Region.identifier`, also if the region has been removed since.
        package let region: String
        /// For an exit: the time of the entry before it, if it is known and may be shown.
        package var entered: Timestamp?
    }

    /// The person's fixes with `from` ≤ timestamp < `to`, by time, device and place, after a page's end. Of twins, the
    /// first by content.
    ///
    /// - Parameters:
    ///   - after: The key of the last fix of the page before; `nil` for the first page.
    ///   - limit: The most rows, at least 1.
    ///
    /// Cost: one range of the primary key of `fix`. Twins and withdrawn fixes are in other tables and do not appear.
    package static func fixes(
        of person: PersonID, from: Timestamp?, to: Timestamp?, after: FixKey? = nil, limit: Int,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> [ReportedFix] {
        var found: [ReportedFix] = []
        found.reserveCapacity(min(limit, 1000))
        try eachRow(of: person, from: from, to: to, after: after, limit: limit, in: connection) {
            (row) throws(SQLiteError) in found.append(try ReportedFix(row))
        }
        return found
    }

    /// As ``fixes(of:from:to:after:limit:in:)``, row by row and without decoding the details.
    package static func eachRow(
        of person: PersonID, from: Timestamp?, to: Timestamp?, after: FixKey? = nil, limit: Int,
        in connection: borrowing Connection, _ body: (FixRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let after = after.map(FixIdentity.init)
        var left = limit
        try FixBlocks.eachFix(
            of: person, from: max(from?.milliseconds ?? .min, after?.timestamp.milliseconds ?? .min),
            through: to.map { $0.milliseconds - 1 } ?? .max, in: connection
        ) { (fix) throws(SQLiteError) in
            if let after, fix.identity <= after { return true }
            try body(fix)
            left -= 1
            return left > 0
        }
    }

    /// The fixes of the device that led at their time, up to a limit.
    ///
    /// The limit counts fixes before the choice, so fewer may come back although more follow. Fixes of other devices
    /// are dropped: the track of a tablet at home does not interrupt the phone's.
    package static func followedFixes(
        of person: PersonID, from: Timestamp?, to: Timestamp?, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [ReportedFix] {
        let leads = Leads(try leads(of: person, from: from, to: to, in: connection))
        return try fixes(of: person, from: from, to: to, limit: limit, in: connection).filter {
            leads.leads($0.device, at: $0.fix.timestamp)
        }
    }

    /// The leading devices in `from` ≤ time < `to`. The first lead may have begun before.
    ///
    /// One range of the primary key of `lead` (person, from, device). Empty for a person without usable fixes.
    package static func leads(
        of person: PersonID, from: Timestamp?, to: Timestamp?, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Lead] {
        try connection.cached(leadsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(from?.milliseconds ?? .min, at: 2)
            try statement.bind(to?.milliseconds ?? .max, at: 3)
            var found: [Lead] = []
            while try statement.step() { found.append(Lead(statement, from: 0)) }
            return found
        }
    }

    /// The person's latest fix with a valid coordinate, at or before a time.
    ///
    /// Cost: a search from the end of the primary key. Fixes that a device marked as invalid are skipped, so a person all
    /// of whose fixes are invalid costs a look at each.
    package static func latestFix(
        of person: PersonID, atOrBefore moment: Timestamp, in connection: borrowing Connection
    ) throws(SQLiteError) -> ReportedFix? {
        var found: ReportedFix?
        try FixBlocks.eachFixBackwards(of: person, through: moment.milliseconds, in: connection) {
            (fix) throws(SQLiteError) in
            if let accuracy = fix.columns.horizontalAccuracy, accuracy < 0 { return true }
            found = try ReportedFix(fix)
            return false
        }
        return found
    }

    /// The derived visits of the person that overlap `from` … `to` and arrive after `arrivingAfter`, in order of
    /// arrival. An open visit overlaps everything after its arrival.
    ///
    /// - Parameter now: The moment of the answer, for which the visits are computed (``Visit/told(at:)``).
    ///
    /// One range of the primary key of `visit` (person, arrival).
    package static func derivedVisits(
        of person: PersonID, from: Timestamp?, to: Timestamp?, arrivingAfter: Timestamp? = nil, limit: Int,
        at now: Timestamp, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Visit] {
        try connection.cached(visitsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(from?.milliseconds ?? .min, at: 2)
            try statement.bind(to?.milliseconds ?? .max, at: 3)
            try statement.bind(arrivingAfter?.milliseconds ?? .min, at: 4)
            try statement.bind(limit, at: 5)
            var found: [Visit] = []
            while try statement.step() {
                // Only the last visit can depend on elapsed time, so only the last page can be one row short.
                guard let visit = try Visit(statement, from: 0).told(at: now) else { continue }
                if let from, let departure = visit.departure, departure <= from { continue }
                found.append(visit)
            }
            return found
        }
    }

    /// As ``derivedVisits``, with the person's corrections.
    ///
    /// Cost: with corrections, visits are read from the one before `from` that a correction may join, 200 at a time,
    /// and the fixes of each part of a split visit.
    ///
    /// - Parameters:
    ///   - limit: The most visits after correction.
    ///   - corrections: The person's own, in force. With none, this is
    ///     ``derivedVisits(of:from:to:arrivingAfter:limit:at:in:)``.
    ///   - transform: For the distances within a split visit; without it, no such distance is computed.
    package static func visits(
        of person: PersonID, from: Timestamp?, to: Timestamp?, arrivingAfter: Timestamp? = nil, limit: Int,
        at now: Timestamp, corrected corrections: VisitCorrections, _ transform: GeocentricTransform?,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> [Visit] {
        if corrections.keepsVisits {
            return try derivedVisits(
                of: person, from: from, to: to, arrivingAfter: arrivingAfter, limit: limit, at: now, in: connection)
        }
        var start = [from, arrivingAfter].compactMap { $0 }.max()
        if let moment = start {
            let there = try derivedVisits(
                of: person, from: moment, to: Timestamp(milliseconds: moment.milliseconds + 1), limit: 1, at: now,
                in: connection)
            start = corrections.start(for: moment, arrival: there.first?.arrival)
        }
        var corrected = CorrectedVisits(corrections)
        var found: [Visit] = []
        var isOver = false
        func take(_ visit: Visit) {
            isOver = isOver || to.map { visit.arrival >= $0 } ?? false
            let isLater = from.map { from in visit.departure.map { $0 > from } ?? true } ?? true
            guard !isOver, isLater, arrivingAfter.map({ visit.arrival > $0 }) ?? true else { return }
            found.append(visit)
        }
        var last: Timestamp?
        while !isOver, found.count < limit {
            // Reads beyond `to`: a visit that arrives later may belong to one that arrives before.
            let derived = try derivedVisits(
                of: person, from: start, to: nil, arrivingAfter: last, limit: derivedAtOnce, at: now,
                in: connection)
            for visit in derived where !isOver {
                let told = try corrected.add(visit) { (from, to) throws(SQLiteError) in
                    try transform.flatMap { (transform) throws(SQLiteError) in
                        try spot(of: person, from: from, to: to, transform, in: connection)
                    }
                }
                told.forEach(take)
            }
            last = derived.last?.arrival
            guard derived.count == derivedAtOnce else {
                if let end = corrected.end() { take(end) }
                break
            }
        }
        return Array(found.prefix(limit))
    }

    /// The derived visits read at a time while corrections are applied.
    private static let derivedAtOnce = 200

    /// Where the person was in a part of a visit, from the leading device's fixes; `nil` without any.
    private static func spot(
        of person: PersonID, from: Timestamp, to: Timestamp?, _ transform: GeocentricTransform,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> VisitSpot? {
        let fixes = try followedFixes(of: person, from: from, to: to, limit: VisitSpot.fixesMax, in: connection)
        return VisitSpot(of: fixes.map(\.stored), transform)
    }

    /// The visit with this id; `nil` if it does not exist, or no longer does.
    ///
    /// Cost: with corrections, a read of visits for each moment of a correction.
    ///
    /// The id of a derived visit is searched among the person's visits; the ids of parts, which corrections make, are
    /// tried by computing them.
    package static func visit(
        of person: PersonID, id: UInt64, at now: Timestamp, corrected corrections: VisitCorrections,
        _ transform: GeocentricTransform?, in connection: borrowing Connection
    ) throws(SQLiteError) -> Visit? {
        let derived = try connection.cached(visitSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(Int64(bitPattern: id), at: 2)
            return try statement.step() ? try Visit(statement, from: 0).told(at: now) : nil
        }
        if corrections.keepsVisits { return derived }
        // A visit begins where it was derived, or at a time where a correction cuts one.
        for moment in (derived.map { [$0.arrival] } ?? []) + corrections.moments {
            let told = try visits(
                of: person, from: moment, to: Timestamp(milliseconds: moment.milliseconds + 1), limit: 2,
                at: now, corrected: corrections, transform, in: connection)
            if let visit = told.first(where: { $0.id == id }) { return visit }
        }
        return nil
    }

    /// The visit at the time of one that no longer exists; `nil` if there is none.
    ///
    /// A visit's id contains the time of a fix, so this works whether or not the visit was ever shown, in any order of
    /// arrival and under any version of the rules. Cost: a search through the person's fixes, the latest first.
    ///
    /// For example, a link to a visit from yesterday, before a late fix moved its arrival, leads to the visit that
    /// has the time now.
    package static func successor(
        of person: PersonID, id: UInt64, at now: Timestamp, corrected corrections: VisitCorrections,
        _ transform: GeocentricTransform?, in connection: borrowing Connection
    ) throws(SQLiteError) -> Visit? {
        var moment: Timestamp?
        // Whether to look further.
        func look(
            _ time: Timestamp, _ latitude: FixColumns.Degrees, _ longitude: FixColumns.Degrees
        ) throws(SQLiteError) -> Bool {
            guard let place = try? Coordinate(latitude: latitude.value, longitude: longitude.value) else {
                throw .damagedProjection
            }
            let made = Visit.id(of: person, at: place, time)
            let cut = corrections.moments.first { Visit.id(ofPartFrom: $0, of: made) == id }
            moment = made == id ? time : cut
            return moment == nil
        }
        try FixBlocks.eachFixBackwards(of: person, in: connection) { (fix) throws(SQLiteError) in
            try look(fix.columns.timestamp, fix.columns.latitude, fix.columns.longitude)
        }
        if moment == nil {
            try connection.cached(reportedPlacesSQL) { (statement) throws(SQLiteError) in
                try statement.bind(person.rawValue, at: 1)
                while try statement.step() {
                    let time = Timestamp(milliseconds: statement.int(at: 0))
                    let latitude = FixColumns.Degrees(statement, at: 1)
                    guard try look(time, latitude, FixColumns.Degrees(statement, at: 2)) else { return }
                }
            }
        }
        guard let moment else { return nil }
        return try visits(
            of: person, from: moment, to: moment.adding(seconds: approachSeconds), limit: 1, at: now,
            corrected: corrections, transform, in: connection
        ).first
    }

    /// The fix in a visit's id may be from the last steps of the way there.
    private static let approachSeconds: Int64 = 300

    /// The version of the rules that the timeline is folded by.
    ///
    /// From the projection's bookkeeping row. Explanations of visits use it to apply the same rules.
    package static func rules(in connection: borrowing Connection) throws(SQLiteError) -> Int64 {
        try connection.cached("SELECT version FROM place") { (statement) throws(SQLiteError) in
            guard try statement.step() else { throw .damagedProjection }
            return statement.int(at: 0)
        }
    }

    /// The person's crossings with `from` ≤ time < `to`, by time, region and kind, after a page's end. Crossings that
    /// their region does not notify about are left out.
    ///
    /// One range of the primary key of `crossing`, with one search in `region` for each row.
    ///
    /// - Parameter after: The last crossing of the page before; its time, region and kind are the key.
    package static func crossings(
        of person: PersonID, from: Timestamp?, to: Timestamp?, after: Crossing? = nil, limit: Int,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> [NamedCrossing] {
        try connection.cached(crossingsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(max(from?.milliseconds ?? .min, after?.time.milliseconds ?? .min), at: 2)
            try statement.bind(to?.milliseconds ?? .max, at: 3)
            try statement.bind(after?.time.milliseconds ?? .min, at: 4)
            try statement.bind(after?.region.rawValue ?? .min, at: 5)
            try statement.bind(after?.kind.rawValue ?? .min, at: 6)
            try statement.bind(limit, at: 7)
            var found: [NamedCrossing] = []
            while try statement.step() { found.append(try crossing(statement, from: 0, of: person, in: connection)) }
            return found
        }
    }

    /// Reads a crossing, its region's name, and whether the region notifies about entries: an exit then has the entry
    /// before it.
    ///
    /// - Parameter column: Where region, kind, time, confirmation and time of report begin; the name and
    ///   `tells_entries` follow.
    ///
    /// Cost: for an exit, one search backwards for the entry of the same region.
    static func crossing(
        _ statement: borrowing Statement, from column: Int32, of person: PersonID, in connection: borrowing Connection
    ) throws(SQLiteError) -> NamedCrossing {
        var named = NamedCrossing(
            crossing: try Crossing(statement, from: column), region: statement.text(at: column + 5), entered: nil)
        guard named.crossing.kind == .exit, statement.int(at: column + 6) != 0 else { return named }
        let exit = named.crossing
        named.entered = try connection.cached(enteredSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(exit.region.rawValue, at: 2)
            try statement.bind(exit.time.milliseconds, at: 3)
            return try statement.step() ? Timestamp(milliseconds: statement.int(at: 0)) : nil
        }
        return named
    }
}

// MARK: - SQL

extension TimelineReader {
    /// A person's visits do not overlap, so of those that arrived before the range only the last can reach into it.
    ///
    /// Parameters: person, from, to, the last arrival of the page before, limit. The inner search finds the visit
    /// under way at `from`.
    static let visitsSQL: StaticString = """
        SELECT id, arrival_ms, departure_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, fixes,
            first_reported_ms, departure_reported_ms, last_seen_ms, tellable_from_ms
        FROM visit
        WHERE person = ?1 AND arrival_ms < ?3 AND arrival_ms > ?4 AND (departure_ms IS NULL OR departure_ms > ?2)
            AND arrival_ms >= coalesce(
                (SELECT max(arrival_ms) FROM visit WHERE person = ?1 AND arrival_ms <= ?2), ?2)
        ORDER BY arrival_ms
        LIMIT ?5
        """

    /// Cost: a search through the person's visits, some thousands in a life.
    static let visitSQL: StaticString = """
        SELECT id, arrival_ms, departure_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, fixes,
            first_reported_ms, departure_reported_ms, last_seen_ms, tellable_from_ms
        FROM visit
        WHERE person = ?1 AND id = ?2
        """

    /// The times and places of the moments that the person's devices reported, the latest first.
    static let reportedPlacesSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees
        FROM reported
        WHERE person = ?1
        ORDER BY timestamp_ms DESC
        """

    /// The leads in the range, and the last one before it, which holds at its beginning.
    static let leadsSQL: StaticString = """
        SELECT from_ms, device
        FROM lead
        WHERE person = ?1 AND from_ms < ?3
            AND from_ms >= coalesce((SELECT max(from_ms) FROM lead WHERE person = ?1 AND from_ms <= ?2), ?2)
        ORDER BY from_ms, device
        """

    /// The crossings that the region reports: `tells_entries` and `tells_exits` are its settings.
    static let crossingsSQL: StaticString = """
        SELECT crossing.region, kind, time_ms, confirmed_ms, reported_ms, identifier, tells_entries
        FROM crossing
        JOIN region ON region.person = crossing.person AND region.region = crossing.region
        WHERE crossing.person = ?1 AND time_ms >= ?2 AND time_ms < ?3
            AND (time_ms, crossing.region, kind) > (?4, ?5, ?6)
            AND CASE kind WHEN 1 THEN tells_entries ELSE tells_exits END
        ORDER BY time_ms, crossing.region, kind
        LIMIT ?7
        """

    /// The last entry before an exit, for the length of the stay.
    ///
    /// Parameters: person, region, time. A range of the primary key (person, time), read backwards until the region
    /// fits.
    static let enteredSQL: StaticString = """
        SELECT time_ms
        FROM crossing
        WHERE person = ?1 AND region = ?2 AND kind = 1 AND time_ms <= ?3
        ORDER BY time_ms DESC
        LIMIT 1
        """
}
