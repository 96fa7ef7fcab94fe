import FileFormats
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// `export --person P`: all data about a person, for the person (GDPR, articles 15 and 20), or the track as a file for
/// other programs.
enum ExportCommand {
    private static let forms = ["json", "archive"] + TrackForm.allCases.map(\.rawValue)
    private static let form = Option(
        name: "format", placeholder: "FORMAT",
        help: "default: json, everything, as archive; another one has the track only",
        form: "one of \(forms.joined(separator: ", "))", read: { forms.contains($0) ? $0 : nil })
    private static let device = Options.handle("device", help: "only this device's fixes; not for json and archive")

    static let command = Command(
        words: ["export"], summary: "Write all data about a person, or their track, to a file.",
        requires: [Options.person, Options.purpose],
        accepts: [form, device, ReadCommands.reader] + ReadCommands.range + Receipts.options,
        details: """
            Every read is on the person's record, with the purpose, before its bytes leave.

              json       everything that the service holds about the person, in one document
              archive    the same as a zip file, with the events of the log and the proof of the audit; "import" restores
                         fixes, reported visits, regions and corrections in another service; a person's own token
                         needs the scopes query, audit and manage, and gets no events
              gpx        the track as GPX 1.1, in segments that end where nothing was reported for half an hour
              geojson    a point with properties for each fix
              kml        for maps and globes, with times
              csv        a table in UTC, with the unit of each column in its head
              owntracks  lines of the OwnTracks Recorder (.rec), times in whole seconds
              fixes      JSON lines with every member of a fix

            "import" reads all of them but json. A range such as --day, and a reader with --as, are for the track: it then has the
            precision of that person's grant. If several devices report, the line goes to and fro between them; name one.

              whereabouts export --person anna --purpose "for my map" --format gpx --from yesterday --to today >day.gpx

            \(Options.timesHelp)
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        if let form = invocation[form].flatMap({ TrackForm(rawValue: $0) }) {
            return try exportTrack(of: person, form, invocation)
        }
        if invocation[device] != nil || ReadCommands.hasRangeOrReader(invocation) {
            throw .usage("A range, --device and --as are for the track: give --format too, for example --format gpx.")
        }
        if invocation[form] == "archive" {
            try ArchiveExport.write(about: person, invocation)
        } else {
            try exportEverything(about: person, invocation)
        }
    }

    private static func exportTrack(
        of person: Handle, _ form: TrackForm, _ invocation: Invocation
    ) throws(ToolError) {
        let console = invocation.console
        let wanted = invocation[device]?.text
        // The last part of the address is the usual extension, but for JSON lines.
        let path = APIPath.peopleExport.parts(person.text, form == .fixes ? form.rawValue : form.fileExtension)
        let headers = try ReadCommands.reading(invocation) { client, query throws(ToolError) in
            try client.download(path, query: query + (wanted.map { [("device", $0)] } ?? [])) { console.result($0) }
        }
        guard headers.contains(where: { $0.name.lowercased() == ExportHeader.count && $0.value == "0" }) else { return }
        console.note(
            wanted.map { "No fix in that time is of \($0)." } ?? "\(person.text) has no fix in that time.")
    }

    /// The members of the document, and the lists that they have.
    static let lists: [(member: String, path: APIPath)] = [
        ("fixes", .peopleTrack), ("visits", .peopleVisits), ("trips", .peopleTrips), ("crossings", .peopleCrossings),
        ("places", .peoplePlaces), ("regions", .peopleRegions), ("corrections", .peopleCorrections),
        ("schedules", .peopleSchedules), ("devices", .peopleDevices), ("grants", .peopleGrants),
        ("invitations", .peopleInvitations), ("pauses", .peoplePauses), ("tokens", .peopleTokens),
        ("webhooks", .peopleWebhooks), ("asked", .peopleAsked), ("findings", .peopleFindings),
        // The last one, because it includes this export.
        ("audit", .peopleAudit),
    ]

    /// The members of a track's fix that its device did not report.
    private static let unreported = Set(MemberLister.members(of: TrackPoint.self).map(\.name)).subtracting(
        MemberLister.members(of: FixItem.self).map(\.name))

    /// The members of an item that the device reported, without those of the answer, which would become its remainder.
    static func reported(_ item: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let members = item.members {
            for (name, value) in members where !unreported.contains(name) {
                writer.key(name)
                writer.value(value)
            }
        }
        writer.endObject()
        return writer.bytes
    }

    private static func exportEverything(about person: Handle, _ invocation: Invocation) throws(ToolError) {
        let console = invocation.console
        try House.withClient(invocation) { client throws(ToolError) in
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("person", person.text)
            writer.field("exportedAt", Timestamp.now.milliseconds / 1000)
            writer.endObject()
            console.result(writer.bytes.dropLast())
            for (member, path) in lists {
                console.result(",\n\"\(member)\":[".utf8)
                var count = 0
                // The audit includes the reads of this export so far.
                let head = try client.waitingForEarlierCommands()
                try client.pages(path.parts(person.text), query: head) { items in
                    for item in items {
                        console.result((count > 0 ? ",\n" : "\n").utf8)
                        console.result(item.jsonLine.dropLast())
                        count += 1
                    }
                }
                console.result("]".utf8)
            }
            console.result("}\n".utf8)
        }
    }
}
