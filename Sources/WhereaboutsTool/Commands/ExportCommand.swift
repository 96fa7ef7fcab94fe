import FileFormats
import Glibc
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
                         gets the lists that its scopes allow, and no events; a friend's gets the fixes
              gpx        the track as GPX 1.1, in segments that end where nothing was reported for half an hour
              geojson    a point with properties for each fix
              kml        for maps and globes, with times
              csv        a table in UTC, with the unit of each column in its head
              owntracks  lines of the OwnTracks Recorder (.rec), times in whole seconds
              fixes      JSON lines with every member of a fix

            "import" reads all of them but json. A range such as --day is for the track. With --as, the track or the archive has the
            precision of that person's grant. If several devices report, the line goes to and fro between them; name one.

              whereabouts export --person anna --purpose "for my map" --format gpx --from yesterday --to today >day.gpx

            \(Options.timesHelp)
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        if let form = invocation[form].flatMap({ TrackForm(rawValue: $0) }) {
            return try exportTrack(of: person, form, invocation)
        }
        let isArchive = invocation[form] == "archive"
        if isArchive, isatty(STDOUT_FILENO) != 0 {
            throw .usage("A terminal cannot show an archive; write it to a file with \"> \(person.text).zip\".")
        }
        let hasReader = invocation[ReadCommands.reader] != nil
        let isPart = invocation[device] != nil || ReadCommands.hasRange(invocation)
        if isArchive, isPart {
            throw .usage("An archive is not limited to a range or a device. For a part of the track, use --format gpx.")
        }
        if isPart || (hasReader && !isArchive) {
            throw .usage("A range, --device and --as are for the track: give --format too, for example --format gpx.")
        }
        if isArchive {
            let console = invocation.console
            _ = try ReadCommands.reading(invocation) { client, query throws(ToolError) in
                try client.download(APIPath.peopleExport.parts(person.text, "archive"), query: query) {
                    console.result($0)
                }
            }
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

    private static func exportEverything(about person: Handle, _ invocation: Invocation) throws(ToolError) {
        let console = invocation.console
        try House.withClient(invocation) { client throws(ToolError) in
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("person", person.text)
            writer.field("exportedAt", Timestamp.now.milliseconds / 1000)
            writer.endObject()
            console.result(writer.bytes.dropLast())
            for (member, path) in PersonLists.all {
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
