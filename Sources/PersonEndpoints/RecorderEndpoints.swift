import Answers
import HTTPServer
import JSON
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The reads of the OwnTracks Recorder, for its clients, such as the OwnTracks frontend (owntracks/recorder, `http.c`;
/// owntracks/frontend, `src/api.js`).
///
/// A user is a person. The person and the operator see each device; for others, all of a person's devices are one,
/// called ``onlyDevice``, because grants are about persons. Each read of a person goes through the gate like any other.
///
/// Names are compared in lower case, as the Recorder does. Times are Unix seconds in answers and ISO 8601 in
/// parameters.
struct RecorderEndpoints: Sendable {
    let decisions: Decisions
    let gate: Gate

    /// The Recorder's default for a device without a name.
    static let onlyDevice = "phone"
    /// The server's version as clients show it.
    /// Fixed, because clients only show it and callers need not know the release.
    private static let version = "whereabouts"

    /// `GET /api/0/version`: a fixed word, by which clients recognize a Recorder.
    func version(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        .reply(RecorderVersion(version: Self.version))
    }

    // MARK: Persons and devices

    /// `GET /api/0/list`: the persons whom the caller may locate, or the devices of one of them. It discloses no
    /// locations, so it is not recorded. A person without a grant for the caller has the same list of devices as a
    /// person who does not exist.
    ///
    /// - Throws: 404 without the scope `query`.
    func list(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let wanted = Self.name("user", of: exchange)
        let device = Self.name("device", of: exchange)
        let caller = exchange.caller
        let now = decisions.clock()
        let names = decisions.log.withStanding { standing -> [String]? in
            guard caller.scopes.contains(.query) else { return nil }
            let persons = standing.locatable(by: caller, at: now)
            guard let wanted else { return persons.map(\.text) }
            guard let handle = persons.first(where: { $0.text == wanted }), let id = standing.person(handle) else {
                return []
            }
            let devices =
                Self.seesDevices(caller, id) ? standing.deviceHandles(of: id).map(\.1.text) : [Self.onlyDevice]
            return devices.filter { device == nil || $0 == device }
        }
        guard let names else { throw .notFound }
        return .reply(RecorderList(results: names))
    }

    /// Whether the caller sees a person's devices one by one: the person and the operator do.
    private static func seesDevices(_ caller: Caller, _ person: PersonID) -> Bool {
        caller.principal == .operator || caller.principal == person.principal
    }

    /// The Recorder ignores the case of names.
    private static func name(_ parameter: String, of exchange: Exchange) -> String? {
        exchange.request.parameter(parameter).map { $0.lowercased() }
    }

    // MARK: Last

    /// `GET /api/0/last`: the newest fix of each device or, for other persons, of each person. Each person's part is a
    /// separate read; its recorded hash is that of the array of this person alone, which is the answer to a request for
    /// one person.
    ///
    /// - Throws: 422 if no person is named and more than `Limits.friendsInAnswer` match.
    ///
    /// Without `user`, the persons are those that ``list(_:_:)`` names.
    func last(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let fields = Self.fields(exchange)
        if let wanted = Self.name("user", of: exchange) {
            guard let handle = Handle(wanted) else { throw .noSuchPerson }
            return try last(of: handle, fields, exchange, context)
        }
        let now = decisions.clock()
        let persons = decisions.log.withStanding { $0.locatable(by: exchange.caller, at: now) }
        guard exchange.caller.scopes.contains(.query) else { throw .notFound }
        guard persons.count <= Limits.friendsInAnswer else {
            throw .refused("More than \(Limits.friendsInAnswer) persons match; name one with \"user\".")
        }
        var all = DisclosedArray()
        for person in persons {
            let answer: Disclosed
            do throws(Problem) { answer = try last(of: person, fields, exchange, context) } catch {
                // A person who may not be shown now, for example after too many reads, is left out. A fault is not.
                if error.status >= 500 { throw error }
                continue
            }
            all.append(answer)
        }
        return all.ended()
    }

    /// The array for one person, as a recorded read: one row for each device, or one for other callers.
    private func last(
        of person: Handle, _ fields: Set<String>?, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let device = Self.name("device", of: exchange)
        let question = ReadQuestion(
            subject: person, question: .location, from: nil, to: nil, purpose: try exchange.purpose())
        return try gate.read(exchange, question) { (reading) throws(Problem) in
            let permit = reading.permit
            let seesDevices = Self.seesDevices(exchange.caller, permit.subject)
            let handles = decisions.log.withStanding { $0.deviceHandles(of: permit.subject) }
            var found: [(device: String, fix: ReportedFix)] = []
            let asOf: Int64
            if seesDevices {
                let (fixes, place) = try context.newestFixes(of: permit.subject)
                for fix in fixes {
                    guard let handle = handles.first(where: { $0.0 == fix.device })?.1 else { continue }
                    found.append((handle.text, fix))
                }
                asOf = place
            } else {
                let (newest, place) = try context.newestFix(of: permit.subject)
                let fix = try newest.flatMap { (newest) throws(Problem) in
                    try ReadEndpoints.newestShown(newest, permit, context)
                }
                if let fix { found.append((Self.onlyDevice, fix)) }
                asOf = place
            }
            // A Recorder's row is a coordinate, which a grant of place names does not show.
            found.removeAll { permit.precision == .place || device != nil && $0.device != device }
            let languages = exchange.languages(context)
            var writer = JSONWriter()
            writer.beginArray()
            for (device, fix) in found {
                let shown = ShownLocation(fix, under: permit, decisions, context, languages: languages)
                guard let location = shown.fix else { continue }
                var row = RecorderItem(location, of: person, device, isOwn: seesDevices)
                (row.addr, row.cc) = (shown.address, shown.countryCode)
                writer.value(row, only: fields)
            }
            writer.endArray()
            return Gate.Computed(body: writer.bytes, count: Int64(found.count), asOf: asOf)
        }
    }

    /// The members that the client wants, from `fields`; `nil` for all.
    private static func fields(_ exchange: Exchange) -> Set<String>? {
        exchange.request.parameter("fields").map { Set($0.split(separator: ",").map(String.init)) }
    }

    // MARK: Locations

    /// The most fixes of one answer; this API has no pages.
    static let fixesMax = 20_000
    /// How far a request without a beginning reaches back, as in the Recorder.
    private static let rangeSeconds: Int64 = 6 * 3600
    private static let formats = ["json", "geojson", "linestring", "raw"]
    /// With `limit` and no beginning, the newest fixes are searched in this many days, then in more.
    private static let daysLookedBack: [Int64] = [1, 30, 366]

    /// `GET /api/0/locations`: the fixes of one device, by default those of the last six hours. Both ends of the range
    /// are included.
    ///
    /// `format` is `json`, `geojson`, `linestring` or `raw`. With `limit`, the newest fixes come first.
    ///
    /// Recorded with the question `track`. Anomalies are included, as in the Recorder.
    ///
    /// - Throws: 400 for a missing `user` or `device`, an unknown format or time; 404 for a person whom the caller
    ///   may not read; 422 if the range has more than ``fixesMax`` fixes.
    func locations(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        guard let user = Self.name("user", of: exchange), let device = Self.name("device", of: exchange) else {
            throw .invalid("\"user\" and \"device\" must be given, for example ?user=anna&device=phone.")
        }
        let format = exchange.request.parameter("format") ?? "json"
        guard Self.formats.contains(format) else {
            throw .invalid("\"format\" must be one of \(Self.formats.joined(separator: ", ")).")
        }
        let limit = Int(try exchange.integer("limit", in: 0...Int64(Self.fixesMax), default: 0))
        let fields = Self.fields(exchange)
        guard let person = Handle(user) else { throw .noSuchPerson }
        let from = try Self.time("from", exchange)
        // The named second is part of the range.
        let to = try Self.time("to", exchange).map { $0.adding(seconds: 1) }
        let begin = from ?? (limit > 0 ? nil : (to ?? decisions.clock()).adding(seconds: -Self.rangeSeconds))
        let question = ReadQuestion(
            subject: person, question: .track, from: begin, to: to, purpose: try exchange.purpose())
        return try gate.read(exchange, question) { (reading) throws(Problem) in
            let permit = reading.permit
            let isOwn = Self.seesDevices(exchange.caller, permit.subject)
            var id: DeviceID?
            if isOwn {
                id =
                    decisions.log.withStanding { $0.deviceHandles(of: permit.subject) }
                    .first { $0.1.text == device }?.0
            }
            let isThere = isOwn ? id != nil : device == Self.onlyDevice
            let range = try ReadEndpoints.range(reading)
            let (fixes, asOf) =
                isThere
                ? try Self.newest(limit, of: id, range, permit, reading.now, context) : ([], decisions.log.head)
            let rows = fixes.map { RecorderItem($0.fix, of: person, device, isOwn: isOwn) }
            return RecorderForm(format: format, fields: fields).answer(rows, asOf: asOf)
        }
    }

    /// The fixes of one or all devices in a range: by time, or with a limit the newest first, as in the Recorder.
    ///
    /// Cost: with a limit and no beginning, up to four reads of the track, each further back than the one before.
    private static func newest(
        _ limit: Int, of device: DeviceID?, _ range: (from: Timestamp?, to: Timestamp?), _ permit: Permit,
        _ now: Timestamp, _ context: AnswerContext
    ) throws(Problem) -> (fixes: [ReportedFix], asOf: Int64) {
        guard limit > 0 else { return try Self.all(of: device, range, permit, context) }
        let beginnings: [Timestamp?] =
            range.from == nil
            ? Self.daysLookedBack.map { (range.to ?? now).adding(seconds: -$0 * 86_400) } + [nil] : [range.from]
        var found: (fixes: [ReportedFix], asOf: Int64) = ([], 0)
        for beginning in beginnings {
            found = try Self.all(of: device, (beginning, range.to), permit, context)
            if found.fixes.count >= limit { break }
        }
        return (Array(found.fixes.suffix(limit).reversed()), found.asOf)
    }

    /// All fixes of a range that may be shown, by time.
    ///
    /// - Parameter device: `nil` for all devices of the person.
    private static func all(
        of device: DeviceID?, _ range: (from: Timestamp?, to: Timestamp?), _ permit: Permit, _ context: AnswerContext
    ) throws(Problem) -> (fixes: [ReportedFix], asOf: Int64) {
        var fixes: [ReportedFix] = []
        let (end, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
            try ShownRows.each(
                upTo: Int64(Self.fixesMax) + 1, after: nil, atOnce: ReadEndpoints.rowsPerPage,
                key: { TimelineReader.FixKey($0) }
            ) { fix in
                permit.shows(fix.fix) && (device == nil || fix.device == device)
            } fetch: { (after, count) throws(SQLiteError) in
                try TimelineReader.fixes(
                    of: permit.subject, from: range.from, to: range.to, after: after, limit: count, in: connection)
            } take: { (fix) throws(SQLiteError) in
                fixes.append(fix)
            }
        }
        guard end == nil else {
            throw .refused(
                "The range has more than \(Self.fixesMax) fixes; choose a shorter range with \"from\" and \"to\".")
        }
        return (fixes, asOf)
    }

    /// A time in a parameter, `YYYY-MM[-DD[THH[:MM[:SS]]]]` in UTC; the missing parts are those of the beginning. `nil`
    /// if it is absent or empty.
    private static func time(_ name: String, _ exchange: Exchange) throws(Problem) -> Timestamp? {
        guard let text = exchange.request.parameter(name), !text.isEmpty else { return nil }
        let rest = ["-01T00:00:00", "T00:00:00", ":00:00", ":00", ""]
        let lengths = [7, 10, 13, 16, 19]
        // Some clients add the Z of UTC.
        let plain = text.hasSuffix("Z") ? String(text.dropLast()) : text
        if let form = lengths.firstIndex(of: plain.utf8.count), let time = ISO8601.parse(plain + rest[form] + "Z") {
            return time
        }
        throw .invalid("\"\(name)\" must be a time in UTC, for example 2026-05-04T08:00:00, 2026-05-04 or 2026-05.")
    }
}
