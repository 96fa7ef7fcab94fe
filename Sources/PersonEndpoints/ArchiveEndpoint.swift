import Answers
import FileFormats
import HTTPInterface
import HTTPServer
import JSON
import Log
import Projections
import Replies
import Synchronization
import Tables
import Whereabouts
import WireFormats

// The archive of a person, a zip file. Members with several items are JSON lines:
//
//     README.txt
//     fixes/2026-01.jsonl         one member for each month (UTC) with fixes; lines of the form `fixes` with user and device
//     reported-visits.jsonl       visits that devices or other systems reported
//     regions.jsonl, corrections.jsonl
//     visits.jsonl, trips.jsonl … audit.jsonl        the answers of the service, one member for each list
//     events.jsonl                the events of the person's streams, opened; only for the operator
//     proof/anna.person-proof, proof/checkpoint.json
//     manifest.json               {"form":"whereabouts-archive","version":1,"person","exportedAt",
//                                  "members":[{"name","bytes","items","sha256"}]}
//
// The manifest is the last member, because the file is written in one go.

/// A person's archive: what the reader may see of everything about the person, as one file that `import` reads again.
struct ArchiveEndpoint: Sendable {
    let decisions: Decisions
    let views: Views
    let room: SpoolRoom
    /// The reads of the service, by path. The lists of the archive are their answers.
    let reads: [String: Operation]
    /// The archives that are being written.
    private let turns = ArchiveTurns()

    /// - Parameter operations: All operations that read lists of a person; others are ignored.
    init(decisions: Decisions, views: Views, room: SpoolRoom, operations: [Operation]) {
        (self.decisions, self.views, self.room) = (decisions, views, room)
        reads = Dictionary(
            operations.filter { $0.route.method == "GET" }.map { ($0.route.path, $0) },
            uniquingKeysWith: { one, _ in one })
    }

    /// The archive's version; a reader refuses none, because it reads each member by its content.
    private static let version: Int64 = 1
    /// Members that are imported again have the person in each line; the others are as the service shows them.
    private static let importable: Set<String> = ["regions", "corrections"]
    /// The `Retry-After` while others' archives are written.
    private static let retrySeconds = 10
    /// The events of one answer.
    private static let eventsPerPage = "1000"
    /// The parameters that choose a part of a track. An archive is whole.
    private static let choices = ["from", "to", "day", "timeZone", "device"]

    /// `GET /v1/people/*/exports/archive`.
    ///
    /// The person and the operator get every member whose own route accepts the caller's token. A person with an exact
    /// grant that includes history gets the fixes that the grant shows, and no list.
    ///
    /// The answer is recorded as a read of the track with the SHA-256 of the file. Each page of a list in it is also
    /// recorded, as the same request to the list's own route would be, under the id of this request.
    ///
    /// - Throws: 404 for a caller who may not read the history; 422 for a part of it, and if the file would be too long; 503
    ///   while as many archives as ``ArchiveTurns/most`` are written.
    ///
    /// Cost: one answering thread; reads everything about the person, and the log once for reported visits and, for the operator, once for
    /// events. Constant memory.
    func archive(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> Disclosed {
        for name in Self.choices where exchange.request.parameter(name) != nil {
            throw .refused("\"\(name)\" is not allowed for an archive, which has everything; use another form.")
        }
        let person = try exchange.handle(0)
        guard turns.take() else { throw .busy(Self.retrySeconds) }
        defer { turns.giveBack() }
        return try views.read(exchange, context, .track, from: TimelineTable.name) { (reading) throws(Problem) in
            let answer = SpooledAnswer(in: room, for: exchange.caller.principal)
            let archive = ArchiveFile(into: answer, at: reading.now)
            let isWhole = if case .granted = reading.permit.verdict { false } else { true }
            try archive.write("README.txt", Array(Self.readMe(person, isWhole: isWhole).utf8))
            let (count, asOf) = try writeFixes(of: person, reading, context, to: archive)
            if isWhole { try writeRest(of: person, reading, exchange, context, to: archive) }
            try archive.finish { (writer: inout JSONWriter) in
                writer.field("form", "whereabouts-archive")
                writer.field("version", Self.version)
                writer.field("person", person.text)
                writer.field("exportedAt", reading.now.milliseconds / 1000)
            }
            return try answer.finished(
                count: count, asOf: asOf,
                headers: [
                    ("Content-Type", ExportEndpoints.archiveType),
                    ("Content-Disposition", "attachment; filename=\"\(person.text).zip\""),
                    (ExportHeader.count, "\(count)"),
                ])
        }
    }

    /// The fixes that the permit shows, a member for each month, as of one event.
    private func writeFixes(
        of person: Handle, _ reading: Gate.Reading, _ context: AnswerContext, to archive: ArchiveFile
    ) throws(Problem) -> (count: Int64, asOf: Int64) {
        let devices = DeviceHandles(decisions)
        let permit = reading.permit
        let range = try ReadEndpoints.range(reading)
        var (month, count): (String, Int64) = ("", 0)
        let asOf = try context.eachFix(of: permit, from: range.from, to: range.to) { (row) throws(Problem) in
            let next = String(ISO8601.text(of: row.fix.timestamp).prefix(7))
            if next != month {
                if !month.isEmpty { try archive.end() }
                month = next
                archive.begin("fixes/\(month).jsonl")
            }
            try archive.add(line: FixLines.line(row.fix, user: person, device: devices.handle(of: row.device)))
            count += 1
        }
        if !month.isEmpty { try archive.end() }
        return (count, asOf)
    }

    /// The members that only the person and the operator get.
    private func writeRest(
        of person: Handle, _ reading: Gate.Reading, _ exchange: Exchange, _ context: AnswerContext,
        to archive: ArchiveFile
    ) throws(Problem) {
        try writeReportedVisits(of: person, reading.permit.subject, context, to: archive)
        func write(_ list: (member: String, path: APIPath)) throws(Problem) {
            try writeList(list.member, list.path, of: person, exchange, context, to: archive)
        }
        for list in PersonLists.all where list.path != .peopleTrack && list.path != .peopleAudit { try write(list) }
        try writeEvents(of: person, exchange, context, to: archive)
        // The audit includes the reads of this export so far, and the proof the whole audit.
        try write(("audit", .peopleAudit))
        if let proof = try answer(of: .peopleProof, person, [], exchange, context) {
            try archive.write("proof/\(person.text).person-proof", proof)
        }
        if let checkpoint = try answer(of: .peopleCheckpoint, person, [], exchange, context) {
            try archive.write("proof/checkpoint.json", checkpoint + [UInt8(ascii: "\n")])
        }
    }

    /// The visits that devices or other systems reported and whose key is not destroyed.
    private func writeReportedVisits(
        of person: Handle, _ subject: PersonID, _ context: AnswerContext, to archive: ArchiveFile
    ) throws(Problem) {
        archive.begin("reported-visits.jsonl")
        let devices = DeviceHandles(decisions)
        let head = decisions.log.head
        var place: Int64 = 0
        while place < head {
            let opened: [RecordedEvent]
            do throws(LogError) {
                let stored = try context.reader.storedEvents(after: place, limit: 1000)
                guard let last = stored.last else { break }
                place = last.header.number
                opened = try stored.filter {
                    $0.header.kind == EventKind.visitReported.rawValue && $0.header.stream.person == subject
                        && $0.header.number <= head
                }.map { (event) throws(LogError) in try context.reader.open(event) }
            } catch { throw Problem(500, "Damaged", "\(error) Run `verify`.") }
            for case .sightingReported(let device, _, let part) in opened.map(\.event) {
                guard let sighting = part.content else { continue }
                var writer = JSONWriter()
                writer.beginObject()
                writer.field("user", person.text)
                writer.field("device", devices.handle(of: device))
                ReportJSON.writeMembers(of: sighting, into: &writer)
                writer.endObject()
                try archive.add(line: writer.bytes + [UInt8(ascii: "\n")])
            }
        }
        try archive.end()
    }

    private func writeList(
        _ member: String, _ path: APIPath, of person: Handle, _ exchange: Exchange, _ context: AnswerContext,
        to archive: ArchiveFile
    ) throws(Problem) {
        guard isOpen(path, to: exchange.caller) else { return }
        archive.begin("\(member).jsonl")
        var query = atLeast(exchange)
        let fixed = query.count
        while let bytes = try answer(of: path, person, query, exchange, context) {
            let page = try Self.page(bytes)
            for item in page.items {
                var writer = JSONWriter()
                if Self.importable.contains(member), let members = item.members {
                    writer.beginObject()
                    writer.field("user", person.text)
                    for (name, value) in members {
                        writer.key(name)
                        writer.value(value)
                    }
                    writer.endObject()
                } else {
                    writer.value(item)
                }
                try archive.add(line: writer.bytes + [UInt8(ascii: "\n")])
            }
            guard let next = page.end.next else { break }
            query = query.prefix(fixed) + [("after", next.text)]
        }
        try archive.end()
    }

    /// The events of the person's streams up to now. Each page is a recorded read, so reading on would never end.
    private func writeEvents(
        of person: Handle, _ exchange: Exchange, _ context: AnswerContext, to archive: ArchiveFile
    ) throws(Problem) {
        guard exchange.caller.principal == .operator, isOpen(.events, to: exchange.caller) else { return }
        archive.begin("events.jsonl")
        let head = decisions.log.head
        var after: Int64 = 0
        while after < head {
            let query = [("person", person.text), ("limit", Self.eventsPerPage), ("after", "\(after)")]
            guard let bytes = try answer(of: .events, nil, query, exchange, context) else { break }
            let page = try Self.page(bytes)
            for item in page.items {
                guard let number = try? EventHead.read(item)?.number, number <= head else { continue }
                var writer = JSONWriter()
                writer.value(item)
                try archive.add(line: writer.bytes + [UInt8(ascii: "\n")])
            }
            guard let next = page.end.next.flatMap({ Int64($0.text) }), next > after else { break }
            after = next
        }
        try archive.end()
    }

    // MARK: Reads of the service

    private func isOpen(_ path: APIPath, to caller: Caller) -> Bool {
        reads[path.text].map { $0.access.scopes.isSubset(of: caller.scopes) } ?? false
    }

    /// A list is read up to now, so that it has the reads of this export so far.
    private func atLeast(_ exchange: Exchange) -> [(name: String, value: String)] {
        [("at-least", decisions.references(for: exchange.caller).place(decisions.log.head).text)]
    }

    /// The recorded answer of another route to the same caller; `nil` if the caller's token is not good for the route.
    private func answer(
        of path: APIPath, _ person: Handle?, _ query: [(name: String, value: String)], _ exchange: Exchange,
        _ context: AnswerContext
    ) throws(Problem) -> [UInt8]? {
        guard isOpen(path, to: exchange.caller), let route = reads[path.text]?.route,
            case .recorded(let read) = route.work
        else { return nil }
        let parameters = person.map { [$0.text] } ?? []
        let address = parameters.reduce(path.text) { text, part in
            text.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false).joined(separator: part)
        }
        // Of the headers, these two say what the answers are for and which language they speak.
        let headers = exchange.request.headers.filter {
            ["accept-language", "whereabouts-purpose"].contains($0.name.lowercased())
        }
        let request = HTTPRequest(method: "GET", path: address, query: query, headers: headers)
        let inner = Exchange(request: request, parameters: parameters, id: exchange.id, caller: exchange.caller)
        return try read(inner, context).leave().body
    }

    private static func page(_ bytes: [UInt8]) throws(Problem) -> Page<JSONValue> {
        guard let root = try? JSONDocument.parse(bytes).root, let page = try? Page<JSONValue>.read(root) else {
            throw .broken
        }
        return page
    }

    private static func readMe(_ person: Handle, isWhole: Bool) -> String {
        let head = """
            \(ArchiveLines.firstWords)\(person.text)\(isWhole ? "" : ", as far as its reader may see it").

            To restore it in another service:   whereabouts import THIS.zip

            """
        let lists = """
            Fixes, reported visits, regions and corrections are restored; a second import adds nothing. Visits, trips,
            crossings and places are derived from them again. Grants, devices' keys, tokens, webhooks and schedules are
            listed but not restored: they are rights, and each has to be given again.

            fixes/          the reported fixes, a file for each month in UTC
            events.jsonl    the events of the log about \(person.text), opened; absent if a person exported it
            audit.jsonl     who asked, and what they got
            proof/          the proof that the audit is complete; "whereabouts prove" explains how to check it

            """
        let fixes = """
            Visits, trips and places are derived from the fixes again.

            fixes/          the fixes that the reader's grant shows, a file for each month in UTC

            """
        return head + (isWhole ? lists : fixes) + """
            manifest.json   the length, items and SHA-256 of each file

            Times are Unix seconds; a line is one JSON object; units and names are those of Core Location.

            """
    }
}

/// Lets a few archives be written at a time: each takes an answering thread until it is complete, and the others are for
/// short answers.
final class ArchiveTurns: Sendable {
    /// Half of the answering threads.
    static let most = 2
    private let underWay = Mutex(0)

    /// Whether another archive may be written now; the caller then gives the turn back.
    func take() -> Bool {
        underWay.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
    }

    /// Ends a turn that was taken.
    func giveBack() { underWay.withLock { $0 -= 1 } }
}
