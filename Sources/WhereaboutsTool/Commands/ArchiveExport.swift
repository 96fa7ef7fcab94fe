import Cryptography
import FileFormats
import JSON
import Log
import Replies
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
// The manifest is the last member, because the file is written in one go and may be a pipe.

/// `export --format archive`: all data about a person as one file, which `import` reads again.
enum ArchiveExport {
    /// The archive's version; a reader refuses none, because it reads each member by its content.
    private static let version: Int64 = 1

    /// Members that are imported again have the person in each line; the others are as the service shows them.
    private static let importable: Set<String> = ["regions", "corrections"]

    /// Writes the archive to the console. Memory does not grow with the history.
    static func write(about person: Handle, _ invocation: Invocation) throws(ToolError) {
        let console = invocation.console
        try House.withClient(invocation) { client throws(ToolError) in
            var archive = ArchiveFile(console)
            archive.write("README.txt", Array(readMe(person).utf8), items: 1)
            try writeFixes(of: person, client, &archive)
            // Only the operator reads the log.
            let isOperator = client.server?.isPersons != true
            if isOperator { try writeReportedVisits(of: person, client, &archive) }
            for (member, path) in ExportCommand.lists where member != "fixes" && member != "audit" {
                try writeList(member, path, of: person, client, &archive)
            }
            if isOperator {
                archive.begin("events.jsonl")
                try events(of: person, client) { archive.add(line: $0.jsonLine) }
                archive.end()
            }
            // The audit includes the reads of this export so far, and the proof the whole audit.
            try writeList("audit", .peopleAudit, of: person, client, &archive)
            archive.write(
                "proof/\(person.text).person-proof", try client.file(APIPath.peopleProof.parts(person.text)), items: 1)
            archive.write(
                "proof/checkpoint.json", try client.get(APIPath.peopleCheckpoint.parts(person.text)).jsonLine, items: 1)
            archive.finish { (writer: inout JSONWriter) in
                writer.field("form", "whereabouts-archive")
                writer.field("version", version)
                writer.field("person", person.text)
                writer.field("exportedAt", Timestamp.now.milliseconds / 1000)
            }
        }
    }

    private static func writeFixes(
        of person: Handle, _ client: Client, _ archive: inout ArchiveFile
    ) throws(ToolError) {
        // The service has checked the fixes; none of them is in its future.
        let now = Timestamp.now
        var month = ""
        let query = try client.waitingForEarlierCommands() + [("heights", "reported")]
        try client.pages(APIPath.peopleTrack.parts(person.text), query: query) { page throws(ToolError) in
            for item in page {
                for case .fix(let fix, _) in FixJSON.reports(from: ExportCommand.reported(item), now: now) {
                    let next = String(ISO8601.text(of: fix.timestamp).prefix(7))
                    if next != month {
                        if !month.isEmpty { archive.end() }
                        month = next
                        archive.begin("fixes/\(month).jsonl")
                    }
                    archive.add(line: FixLines.line(fix, user: person, device: try item.read(TrackPoint.self).device))
                }
            }
        }
        if !month.isEmpty { archive.end() }
    }

    private static func writeReportedVisits(
        of person: Handle, _ client: Client, _ archive: inout ArchiveFile
    ) throws(ToolError) {
        var devices: [Int64: String] = [:]
        try events(of: person, kind: "DeviceAdded", client) { (event) throws(ToolError) in
            guard let added = try event.read(EventContent<DeviceAddedContent>.self).content else { return }
            devices[added.device] = added.handle
        }
        archive.begin("reported-visits.jsonl")
        try events(of: person, kind: "VisitReported", client) { (event) throws(ToolError) in
            // Without a place, the person's key is destroyed.
            guard let members = try event.read(EventContent<JSONValue>.self).content?.members,
                members.contains(where: { $0.key == "latitude" })
            else { return }
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("user", person.text)
            for (name, value) in members {
                switch name {
                case "device": writer.field("device", value.int.flatMap { devices[$0] })
                case "person": break
                default:
                    writer.key(name)
                    writer.value(value)
                }
            }
            writer.endObject()
            archive.add(line: writer.bytes + [UInt8(ascii: "\n")])
        }
        archive.end()
    }

    private static func writeList(
        _ member: String, _ path: APIPath, of person: Handle, _ client: Client, _ archive: inout ArchiveFile
    ) throws(ToolError) {
        archive.begin("\(member).jsonl")
        let query = try client.waitingForEarlierCommands()
        try client.pages(path.parts(person.text), query: query) { page in
            for item in page {
                guard importable.contains(member), let members = item.members else {
                    archive.add(line: item.jsonLine)
                    continue
                }
                var writer = JSONWriter()
                writer.beginObject()
                writer.field("user", person.text)
                for (name, value) in members {
                    writer.key(name)
                    writer.value(value)
                }
                writer.endObject()
                archive.add(line: writer.bytes + [UInt8(ascii: "\n")])
            }
        }
        archive.end()
    }

    /// The events of the person's streams up to now. Each page is a recorded read, so reading on would never end.
    private static func events(
        of person: Handle, kind: String? = nil, _ client: Client, _ take: (JSONValue) throws(ToolError) -> Void
    ) throws(ToolError) {
        var query: [(name: String, value: String)] = [("person", person.text), ("limit", "1000")]
        if let kind { query.append(("kind", kind)) }
        var (after, end): (Int64, Int64?) = (0, nil)
        while true {
            let page = try client.get(APIPath.events.parts(), query: query + [("after", "\(after)")])
                .read(Page<JSONValue>.self)
            let last = end ?? page.end.asOf.number ?? 0
            end = last
            for event in page.items where try event.read(EventHead.self).number <= last { try take(event) }
            guard let next = page.end.next?.number, next > after, next < last else { return }
            after = next
        }
    }

    private static func readMe(_ person: Handle) -> String {
        """
        \(ArchiveLines.firstWords)\(person.text).

        To restore it in another service:   whereabouts import THIS.zip
        Fixes, reported visits, regions and corrections are restored; a second import adds nothing. Visits, trips,
        crossings and places are derived from them again. Grants, devices' keys, tokens, webhooks and schedules are
        listed but not restored: they are rights, and each has to be given again.

        fixes/          the reported fixes, a file for each month in UTC
        events.jsonl    the events of the log about \(person.text), opened; absent if a person exported it
        audit.jsonl     who asked, and what they got
        proof/          the proof that the audit is complete; "whereabouts prove" explains how to check it
        manifest.json   the length, items and SHA-256 of each file

        Times are Unix seconds; a line is one JSON object; units and names are those of Core Location.

        """
    }
}

/// An archive while it is written to the console.
private struct ArchiveFile: ~Copyable {
    private struct Entry {
        let name: String
        let items: Int
        let bytes: Int
        let hash: String
    }

    private let console: Console
    private let sha = SHA256()
    private var zip = ZipFile(at: DosTime(iso: ISO8601.text(of: .now)))
    private var waiting: [UInt8] = []
    private var name = ""
    private var items = 0
    private var entries: [Entry] = []

    /// Lines are hashed and compressed together.
    private static let pieceBytes = 64 << 10

    init(_ console: Console) { self.console = console }

    mutating func begin(_ name: String) {
        self.name = name
        items = 0
        sha.begin()
        zip.begin(name)
    }

    mutating func add(line: [UInt8]) {
        items += 1
        waiting += line
        if waiting.count >= Self.pieceBytes { flush() }
    }

    mutating func end() {
        flush()
        let member = zip.endMember()
        entries.append(Entry(name: name, items: items, bytes: member.byteCount, hash: sha.finish().hex))
        console.result(zip.takeBytes())
    }

    mutating func write(_ name: String, _ bytes: [UInt8], items: Int) {
        begin(name)
        waiting += bytes
        self.items = items
        end()
    }

    /// Writes the manifest and ends the file.
    mutating func finish(_ head: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        head(&writer)
        writer.array("members") { writer in
            for entry in entries {
                writer.beginObject()
                writer.field("name", entry.name)
                writer.field("bytes", entry.bytes)
                writer.field("items", entry.items)
                writer.field("sha256", entry.hash)
                writer.endObject()
            }
        }
        writer.endObject()
        write("manifest.json", writer.bytes + [UInt8(ascii: "\n")], items: 1)
        zip.finish()
        console.result(zip.takeBytes())
    }

    private mutating func flush() {
        guard !waiting.isEmpty else { return }
        sha.update(waiting)
        zip.add(waiting)
        waiting.removeAll(keepingCapacity: true)
        console.result(zip.takeBytes())
    }
}
