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
enum ReadEndpoints {
    static let rowsPerPage: Int64 = 1000

    /// `GET /v1/people/*/location`: the newest location that may be shown, or null.
    static func location(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try readPlaces(service, exchange, context, .location, from: CurrentTable.name) { (reading) throws(Problem) in
            let (found, asOf) = try context.read(CurrentTable.name) { (connection) throws(SQLiteError) in
                try CurrentReader.fix(of: reading.permit.subject, in: connection)
            }
            let permit = reading.permit
            let languages = exchange.languages(context)
            let fix = try found.flatMap { (found) throws(Problem) in try newestShown(found, permit, context) }
            let shown = fix.map { ShownLocation($0, under: permit, service, context, languages: languages) }
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("location")
            if let shown { shown.write(into: &writer) } else { writer.null() }
            if reading.permit.precision == .exact { writer.field("asOf", reading.references.place(asOf)) }
            writer.endObject()
            return Gate.Computed(body: writer.bytes, count: shown == nil ? 0 : 1, asOf: asOf)
        }
    }

    /// How many stretches of hidden fixes are skipped in search of a fix that may be shown.
    private static let stretchesLookedBack = 100

    /// The newest fix that the permit shows.
    static func newestShown(
        _ newest: ReportedFix, _ permit: Permit, _ context: AnswerContext
    ) throws(Problem) -> ReportedFix? {
        var fix = newest
        for _ in 0..<stretchesLookedBack where !permit.shows(fix.fix.timestamp) {
            guard let latest = permit.latestShown(atOrBefore: fix.fix.timestamp) else { return nil }
            let older = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                try TimelineReader.latestFix(of: permit.subject, atOrBefore: latest, in: connection)
            }
            guard let older = older.value else { return nil }
            fix = older
        }
        return permit.shows(fix.fix.timestamp) ? fix : nil
    }

    /// `GET /v1/people/*/visits`: the visits that overlap the range, by arrival, as the person has corrected them.
    static func visits(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let limit = try exchange.integer("limit", in: 1...rowsPerPage, default: rowsPerPage)
        let after = try Cursor(exchange, service)?.arrival()
        return try readPlaces(service, exchange, context, .visits, from: TimelineTable.name) {
            (reading) throws(Problem) in
            let range = try range(reading)
            let now = reading.now
            let corrections = Self.corrections(reading, service)
            let ((visits, end), asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                let permit = reading.permit
                return try shown(limit, after: after, key: \Visit.arrival) {
                    permit.shows(from: $0.arrival, to: $0.departure ?? now)
                } fetch: { (after, count) throws(SQLiteError) in
                    try TimelineReader.visits(
                        of: permit.subject, from: range.from, to: range.to, arrivingAfter: after, limit: count, at: now,
                        corrected: corrections, context.geocentric, in: connection)
                }
            }
            let languages = exchange.languages(context)
            return page(visits, next: end.map { Cursor.text($0, reading) }, asOf: asOf, reading.references) {
                visit, writer in
                writer.beginObject()
                let name = placeName(at: visit.coordinate, corrections, reading.permit, context, languages)
                writeMembers(of: visit, placeName: name, context, into: &writer)
                writer.endObject()
            }
        }
    }

    /// The person's corrections of their visits.
    static func corrections(_ reading: Gate.Reading, _ service: Service) -> VisitCorrections {
        corrections(of: reading.permit.subject, service)
    }

    static func corrections(of person: PersonID, _ service: Service) -> VisitCorrections {
        VisitCorrections(service.log.withStanding { $0.corrections(of: person) }.map(\.correction))
    }

    /// The name of a place: the person's own name, if the person or the operator reads it, otherwise the gazetteer's, a
    /// district with its city. For example "Favoriten, Wien".
    static func placeName(
        at coordinate: Coordinate, _ corrections: VisitCorrections, _ permit: Permit, _ context: AnswerContext,
        _ languages: [Language]
    ) -> String? {
        let isOwn = permit.verdict == .own || permit.verdict == .operatorOnRecord
        return (isOwn ? corrections.name(at: coordinate) : nil)
            ?? context.placemark(at: coordinate, in: languages)?.shortAddress
    }

    static func writeMembers(
        of visit: Visit, placeName: String?, _ context: AnswerContext, into writer: inout JSONWriter
    ) {
        writer.field("id", Self.hex(visit.id))
        writer.field("arrival", milliseconds: visit.arrival.milliseconds)
        writer.key("departure")
        if let departure = visit.departure {
            writer.unixSeconds(milliseconds: departure.milliseconds)
        } else {
            writer.null()
        }
        writer.field("latitude", visit.coordinate.latitude)
        writer.field("longitude", visit.coordinate.longitude)
        writer.field("horizontalAccuracy", visit.horizontalAccuracy)
        writer.field("place", placeName)
        writer.field("timeZone", context.timeZone(at: visit.coordinate))
        writer.field("firstReported", milliseconds: visit.firstReported.milliseconds)
        writer.field("departureReported", milliseconds: visit.departureReported?.milliseconds)
        if visit.isProvisional { writer.field("provisional", true) }
    }

    /// `GET /v1/people/*/crossings`: entries to and exits from the person's regions, by time.
    static func crossings(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let limit = try exchange.integer("limit", in: 1...rowsPerPage, default: rowsPerPage)
        let after = try Cursor(exchange, service)?.crossing()
        return try read(service, exchange, context, .crossings, from: TimelineTable.name) { (reading) throws(Problem) in
            let range = try range(reading)
            let ((crossings, end), asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                let permit = reading.permit
                var untold: Set<Crossing> = []
                return try shown(limit, after: after, key: \TimelineReader.NamedCrossing.crossing) {
                    permit.shows($0.crossing.time) && !untold.contains($0.crossing)
                } fetch: { (after, count) throws(SQLiteError) in
                    let found = try TimelineReader.crossings(
                        of: permit.subject, from: range.from, to: range.to, after: after, limit: count, in: connection)
                    for named in found where try !restsOnShown(named.crossing, permit, in: connection) {
                        untold.insert(named.crossing)
                    }
                    return found
                }
            }
            return page(crossings, next: end.map { Cursor.text($0, reading) }, asOf: asOf, reading.references) {
                named, writer in
                var named = named
                // The length of a stay would disclose a hidden part of it.
                if let entered = named.entered,
                    !reading.permit.shows(entered) || !reading.permit.shows(from: entered, to: named.crossing.time)
                {
                    named.entered = nil
                }
                writer.beginObject()
                writeMembers(of: named, into: &writer)
                writer.endObject()
            }
        }
    }

    /// Whether the fixes before and after a crossing, between which its time was found, may both be shown. Otherwise
    /// the crossing would disclose where the person was at a hidden time.
    private static func restsOnShown(
        _ crossing: Crossing, _ permit: Permit, in connection: borrowing Connection
    ) throws(SQLiteError) -> Bool {
        if permit.showsEveryMoment { return true }
        let before = try TimelineReader.latestFix(of: permit.subject, atOrBefore: crossing.time, in: connection)
        let after = try TimelineReader.fixes(
            of: permit.subject, from: crossing.time, to: nil, limit: 1, in: connection
        ).first
        return [before, after].allSatisfy { $0.map { permit.shows($0.fix.timestamp) } ?? true }
    }

    static func writeMembers(of named: TimelineReader.NamedCrossing, into writer: inout JSONWriter) {
        writer.field("region", named.region)
        writer.field("type", named.crossing.kind.word)
        writer.field("time", milliseconds: named.crossing.time.milliseconds)
        writer.field("reported", milliseconds: named.crossing.reported.milliseconds)
        writer.field("dwellSeconds", named.entered.map { named.crossing.time.seconds(since: $0) })
    }

    /// `GET /v1/people/*/regions`: the person's regions, on one page.
    static func regions(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try readPlaces(service, exchange, context, .settings, from: nil) { (reading) throws(Problem) in
            let (regions, asOf) = service.log.withStanding { standing in
                (
                    (standing.persons[reading.permit.subject]?.regions ?? []).compactMap { standing.regions[$0] },
                    standing.place
                )
            }
            return page(regions, next: nil, asOf: asOf, reading.references) { region, writer in
                writer.beginObject()
                writer.field("id", region.identifier)
                RegionJSON.writeMembers(of: region, into: &writer)
                writer.endObject()
            }
        }
    }

    // MARK: Shapes

    /// Answers a read through the gate, after the view has folded the event that the caller wants to see.
    static func read(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext, _ question: LocationRead.Question,
        from projection: String?, compute: (Gate.Reading) throws(Problem) -> Gate.Computed
    ) throws(Problem) -> HTTPResponse {
        let atLeast = try atLeast(service, exchange)
        let range = try asked(service, exchange, context, question, atLeast)
        let asked = ReadQuestion(
            subject: try exchange.handle(0), question: question, from: range.from, to: range.to,
            purpose: try exchange.purpose(), continuing: try Cursor(exchange, service)?.read)
        return try Gate.read(service, exchange, asked) { (reading) throws(Problem) in
            // Only a caller who sees everything may measure how the log grows.
            if let projection, reading.permit.precision == .exact {
                try wait(for: atLeast, in: projection, service)
            }
            return try compute(reading)
        }
    }

    /// As ``read(_:_:_:_:from:compute:)``, with places in the requested form.
    static func readPlaces(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext, _ question: LocationRead.Question,
        from projection: String?, compute: (Gate.Reading) throws(Problem) -> Gate.Computed
    ) throws(Problem) -> HTTPResponse {
        let form = try AnswerForm(exchange, context)
        return try read(service, exchange, context, question, from: projection) { (reading) throws(Problem) in
            try form.written(try compute(reading))
        }
    }

    /// The number of the event or place that a view must have folded before it is read, from `at-least`; 0 without it.
    ///
    /// A reference from before an older backup was restored may name a place beyond the head. The head then replaces
    /// it, because the caller may not learn how long the log is.
    private static func atLeast(_ service: Service, _ exchange: Exchange) throws(Problem) -> Int64 {
        guard let text = exchange.request.parameter("at-least") else { return 0 }
        let references = service.references(for: exchange.caller)
        if references.isPlain { return try exchange.logNumber("at-least") ?? 0 }
        guard let number = references.place(text) else {
            throw .refused("\"at-least\" must be an \"asOf\" or \"number\" that this service gave you.")
        }
        return min(number, service.log.head)
    }

    /// Waits until a projection has folded an event, for a bounded time.
    static func wait(for number: Int64, in projection: String, _ service: Service) throws(Problem) {
        guard number > 0 else { return }
        // A number beyond the log would hold a thread for nothing. Only the operator can send one.
        guard number <= service.log.head else {
            throw .refused("\"at-least\" is beyond the newest event; give a number from an earlier answer.")
        }
        guard service.host.wait(for: number, in: [projection], milliseconds: 10_000) else {
            throw Problem(
                503, "Not yet",
                "This view has not reached \"at-least\" yet; send the same request again later.",
                retryAfterSeconds: 1)
        }
    }

    /// The requested range, cut to the permitted times and, on further pages, to the data that existed when the read
    /// began.
    static func range(_ reading: Gate.Reading) throws(Problem) -> (from: Timestamp?, to: Timestamp?) {
        var (from, to) = (reading.from, reading.to)
        if let from, let to, to <= from { throw .refused("\"to\" must be later than \"from\".") }
        if let notBefore = reading.permit.notBefore { from = max(from ?? notBefore, notBefore) }
        if let begun = reading.begun { to = min(to ?? begun.at, begun.at) }
        return (from, to)
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
        let count = Int(min(limit, rowsPerPage))
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
        let end = try forEachShown(limit, after: after, key: key, isShown: isShown, fetch: fetch) { items.append($0) }
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

    /// A visit's id as 16 hexadecimal digits.
    static func hex(_ id: UInt64) -> String {
        let text = String(id, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
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
    init?(_ exchange: Exchange, _ service: Service) throws(Problem) {
        guard let text = exchange.request.parameter("after") else { return nil }
        // Lists of settings and of the audit have other cursors, which name no read.
        let references = service.references(for: exchange.caller)
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
