import Gazetteer
import Geodesy
import HTTPServer
import JSON
import Log
import Projections
import SQLite
import Tables
import Whereabouts
import WireFormats

/// Stored data about a person. The gate records each read before its bytes leave.
struct ReadEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    static let rowsPerPage: Int64 = 1000

    /// `GET /v1/people/*/location`: the newest location that may be shown, or null.
    func location(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.readPlaces(exchange, context, .location, from: CurrentTable.name) { (reading) throws(Problem) in
            let (found, asOf) = try context.read(CurrentTable.name) { (connection) throws(SQLiteError) in
                try CurrentReader.fix(of: reading.permit.subject, in: connection)
            }
            let permit = reading.permit
            let languages = exchange.languages(context)
            let fix = try found.flatMap { (found) throws(Problem) in try Self.newestShown(found, permit, context) }
            let shown = fix.map { ShownLocation($0, under: permit, decisions, context, languages: languages) }
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("location")
            if let shown { shown.write(into: &writer) } else { writer.null() }
            if reading.permit.precision == .exact { writer.field("asOf", reading.references.place(asOf)) }
            writer.endObject()
            return Gate.Computed(body: writer.bytes, count: shown == nil ? 0 : 1, asOf: asOf)
        }
    }

    /// The newest fix that the permit shows.
    static func newestShown(
        _ newest: ReportedFix, _ permit: Permit, _ context: AnswerContext
    ) throws(Problem) -> ReportedFix? {
        try permit.newestShown(newest, time: \.fix.timestamp) { (moment) throws(Problem) in
            try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                try TimelineReader.latestFix(of: permit.subject, atOrBefore: moment, in: connection)
            }.value
        }
    }

    /// `GET /v1/people/*/visits`: the visits that overlap the range, by arrival, as the person has corrected them.
    func visits(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = try exchange.integer("limit", in: 1...Self.rowsPerPage, default: Self.rowsPerPage)
        let after = try Cursor(exchange, decisions)?.arrival()
        return try views.readPlaces(exchange, context, .visits, from: TimelineTable.name) {
            (reading) throws(Problem) in
            let range = try Self.range(reading)
            let now = reading.now
            let corrections = decisions.corrections(of: reading.permit.subject)
            let ((visits, end), asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                let permit = reading.permit
                return try Self.shown(limit, after: after, key: \Visit.arrival) {
                    permit.shows(from: $0.arrival, to: $0.departure ?? now)
                } fetch: { (after, count) throws(SQLiteError) in
                    try TimelineReader.visits(
                        of: permit.subject, from: range.from, to: range.to, arrivingAfter: after, limit: count, at: now,
                        corrected: corrections, context.geocentric, in: connection)
                }
            }
            let languages = exchange.languages(context)
            return Self.page(visits, next: end.map { Cursor.text($0, reading) }, asOf: asOf, reading.references) {
                visit, writer in
                writer.beginObject()
                let name = Self.placeName(at: visit.coordinate, corrections, reading.permit, context, languages)
                TimelineJSON.writeMembers(of: visit, placeName: name, context, into: &writer)
                writer.endObject()
            }
        }
    }

    /// The name of a place: the person's own name, if the person or the operator reads it, otherwise the gazetteer's, a
    /// district with its city. For example "Favoriten, Wien".
    static func placeName(
        at coordinate: Coordinate, _ corrections: VisitCorrections, _ permit: Permit, _ context: AnswerContext,
        _ languages: [Language]
    ) -> String? {
        permit.ownName(of: coordinate, in: corrections)
            ?? context.placemark(at: coordinate, in: languages)?.shortAddress
    }

    /// `GET /v1/people/*/crossings`: entries to and exits from the person's regions, by time.
    func crossings(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = try exchange.integer("limit", in: 1...Self.rowsPerPage, default: Self.rowsPerPage)
        let after = try Cursor(exchange, decisions)?.crossing()
        return try views.read(exchange, context, .crossings, from: TimelineTable.name) { (reading) throws(Problem) in
            let range = try Self.range(reading)
            let ((crossings, end), asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                let permit = reading.permit
                var untold: Set<Crossing> = []
                return try Self.shown(limit, after: after, key: \TimelineReader.NamedCrossing.crossing) {
                    permit.shows($0.crossing.time) && !untold.contains($0.crossing)
                } fetch: { (after, count) throws(SQLiteError) in
                    let found = try TimelineReader.crossings(
                        of: permit.subject, from: range.from, to: range.to, after: after, limit: count, in: connection)
                    for named in found where try !Self.restsOnShown(named.crossing, permit, in: connection) {
                        untold.insert(named.crossing)
                    }
                    return found
                }
            }
            return Self.page(crossings, next: end.map { Cursor.text($0, reading) }, asOf: asOf, reading.references) {
                named, writer in
                var named = named
                named.entered = reading.permit.shownEntry(named.entered, before: named.crossing.time)
                writer.beginObject()
                TimelineJSON.writeMembers(of: named, into: &writer)
                writer.endObject()
            }
        }
    }

    /// Whether the fixes before and after a crossing may both be shown.
    private static func restsOnShown(
        _ crossing: Crossing, _ permit: Permit, in connection: borrowing Connection
    ) throws(SQLiteError) -> Bool {
        if permit.showsEveryMoment { return true }
        let before = try TimelineReader.latestFix(of: permit.subject, atOrBefore: crossing.time, in: connection)
        let after = try TimelineReader.fixes(
            of: permit.subject, from: crossing.time, to: nil, limit: 1, in: connection
        ).first
        return permit.showsCrossing(between: before?.fix.timestamp, and: after?.fix.timestamp)
    }

    /// `GET /v1/people/*/regions`: the person's regions, on one page.
    func regions(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.readPlaces(exchange, context, .settings, from: nil) { (reading) throws(Problem) in
            let (regions, asOf) = decisions.log.withStanding { standing in
                (
                    (standing.persons[reading.permit.subject]?.regions ?? []).compactMap { standing.regions[$0] },
                    standing.place
                )
            }
            return Self.page(regions, next: nil, asOf: asOf, reading.references) { region, writer in
                writer.beginObject()
                writer.field("id", region.identifier)
                RegionJSON.writeMembers(of: region, into: &writer)
                writer.endObject()
            }
        }
    }

    // MARK: Shapes

    /// The requested range, cut to the permitted times and, on further pages, to the data that existed when the read
    /// began.
    static func range(_ reading: Gate.Reading) throws(Problem) -> (from: Timestamp?, to: Timestamp?) {
        if let from = reading.from, let to = reading.to, to <= from {
            throw .refused("\"to\" must be later than \"from\".")
        }
        return reading.permit.range(from: reading.from, to: reading.to, begun: reading.begun?.at)
    }

    /// Takes rows that may be shown, up to `limit`.
    ///
    /// - Returns: The key of the last row taken, after which a further page begins, or `nil` if there are no more rows
    ///   to show. A cursor never holds the key of a hidden row, and no empty page has a `next`: both would disclose
    ///   that hidden rows exist.
    static func forEachShown<Item, Key>(
        _ limit: Int64, after: Key?, key: (Item) -> Key, isShown: (Item) -> Bool,
        fetch: (_ after: Key?, _ count: Int) throws(SQLiteError) -> [Item], take: (Item) -> Void
    ) throws(SQLiteError) -> Key? {
        // The number of rows in memory beside the page's bytes, however long the page.
        let count = Int(min(limit, Self.rowsPerPage))
        var taken: Int64 = 0
        var after = after
        while true {
            let rows = try fetch(after, count)
            for row in rows where isShown(row) {
                take(row)
                taken += 1
                if taken == limit { return key(row) }
            }
            guard rows.count == count, let last = rows.last else { return nil }
            after = key(last)
        }
    }

    /// The rows that ``forEachShown(_:after:key:isShown:fetch:take:)`` takes.
    static func shown<Item, Key>(
        _ limit: Int64, after: Key?, key: (Item) -> Key, isShown: (Item) -> Bool,
        fetch: (_ after: Key?, _ count: Int) throws(SQLiteError) -> [Item]
    ) throws(SQLiteError) -> (items: [Item], end: Key?) {
        var items: [Item] = []
        let end = try Self.forEachShown(limit, after: after, key: key, isShown: isShown, fetch: fetch) {
            items.append($0)
        }
        return (items, end)
    }

    static func page<Item>(
        _ items: [Item], next: String?, asOf: Int64, _ references: References,
        _ write: (Item, inout JSONWriter) -> Void
    ) -> Gate.Computed {
        var page = PageWriter(rows: items.count)
        for item in items { page.add { write(item, &$0) } }
        return page.ended(next: next, asOf: asOf, references)
    }

}

/// A page of rows, written one by one.
struct PageWriter {
    private var writer: JSONWriter
    /// The rows written so far.
    private(set) var count: Int64 = 0
    /// About the bytes of a fix.
    private static let bytesOfRow = 256

    /// - Parameter rows: The most rows of the page. Memory is reserved for them, and used only when written to.
    init(rows: Int) {
        writer = JSONWriter(capacity: rows * Self.bytesOfRow)
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
    }

    /// - Parameter write: Writes one value.
    mutating func add(_ write: (inout JSONWriter) -> Void) {
        write(&writer)
        count += 1
    }

    /// - Parameter next: The cursor of the next page; `nil` on the last page.
    mutating func ended(next: String?, asOf: Int64, _ references: References) -> Gate.Computed {
        writer.endArray()
        writer.key("next")
        if let next { writer.value(next) } else { writer.null() }
        writer.field("asOf", references.place(asOf))
        writer.endObject()
        return Gate.Computed(body: writer.bytes, count: count, asOf: asOf)
    }
}

/// The `next` of a page: the read that the next page continues, and the key of the last row. It is sealed for the
/// caller (``References``), because keys are coordinates and times, which must not appear in URLs.
///
/// The sealed bytes are `kind (1) ‖ read (16, zeros for none) ‖ key (8 to 32)`, numbers big-endian.
struct Cursor {
    /// The request that began the read.
    let read: RequestID?
    private let kind: Kind
    private let words: [UInt64]

    private enum Kind: UInt8 {
        case fix = 1
        case time = 2
        case crossing = 3
    }

    /// The cursor in `after`; `nil` without one.
    init?(_ exchange: Exchange, _ decisions: Decisions) throws(Problem) {
        guard let text = exchange.request.parameter("after") else { return nil }
        // Lists of settings and of the audit have other cursors, which name no read.
        let references = decisions.references(for: exchange.caller)
        if references.isPlain ? Int64(text) != nil : references.rowOrAct(text) != nil { return nil }
        guard let plain = references.openCursor(text), let kind = plain.first.flatMap(Kind.init(rawValue:)) else {
            throw Self.unreadable
        }
        self.kind = kind
        read = plain[1..<17].contains { $0 != 0 } ? plain[1..<17].withUnsafeBytes { RequestID(bytes: $0) } : nil
        words = stride(from: 17, to: References.cursorBytes, by: 8).map { start in
            plain[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    static let unreadable = Problem.refused("\"after\" must be the \"next\" of the page before.")

    private static func text(_ kind: Kind, _ words: [UInt64], _ reading: Gate.Reading) -> String {
        var bytes = [kind.rawValue] + (reading.cursorName?.bytes ?? [UInt8](repeating: 0, count: 16))
        for word in words { withUnsafeBytes(of: word.bigEndian) { bytes += $0 } }
        return reading.references.cursor(bytes)
    }

    static func text(_ key: TimelineReader.FixKey, _ reading: Gate.Reading) -> String {
        text(
            .fix,
            [
                UInt64(bitPattern: key.timestamp.milliseconds), UInt64(bitPattern: key.device.rawValue),
                key.latitude.bitPattern, key.longitude.bitPattern,
            ], reading)
    }

    static func text(_ time: Timestamp, _ reading: Gate.Reading) -> String {
        text(.time, [UInt64(bitPattern: time.milliseconds)], reading)
    }

    static func text(_ crossing: Crossing, _ reading: Gate.Reading) -> String {
        text(
            .crossing,
            [
                UInt64(bitPattern: crossing.time.milliseconds), UInt64(bitPattern: crossing.region.rawValue),
                UInt64(bitPattern: crossing.kind.rawValue),
            ], reading)
    }

    func fix() throws(Problem) -> TimelineReader.FixKey {
        guard kind == .fix else { throw Self.unreadable }
        return TimelineReader.FixKey(
            timestamp: Timestamp(milliseconds: Int64(bitPattern: words[0])),
            device: DeviceID(rawValue: Int64(bitPattern: words[1])), latitude: Double(bitPattern: words[2]),
            longitude: Double(bitPattern: words[3]))
    }

    func arrival() throws(Problem) -> Timestamp {
        guard kind == .time else { throw Self.unreadable }
        return Timestamp(milliseconds: Int64(bitPattern: words[0]))
    }

    func crossing() throws(Problem) -> Crossing {
        guard kind == .crossing, let kind = Crossing.Kind(rawValue: Int64(bitPattern: words[2])) else {
            throw Self.unreadable
        }
        let time = Timestamp(milliseconds: Int64(bitPattern: words[0]))
        return Crossing(
            region: RegionID(rawValue: Int64(bitPattern: words[1])), kind: kind, time: time, confirmed: time,
            reported: time)
    }
}
