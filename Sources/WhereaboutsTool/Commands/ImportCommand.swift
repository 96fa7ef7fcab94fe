import Answers
import FileFormats
import Geodesy
import Log
import ReferenceSystems
import Whereabouts

/// `import FILE…`.
enum ImportCommand {
    private static let person = Options.handle(
        "person", help: "the person of the fixes; a line with a \"user\" belongs to that person")
    private static let device = Options.handle("device", help: "the device (default: import- and the person's handle)")
    private static let formats = ["auto"] + FileFormat.allCases.map(\.rawValue)
    private static let format = Option(
        name: "format", placeholder: "FORMAT",
        help: "default: auto, by the content; a format by its name reads any file as it",
        form: "one of \(formats.joined(separator: ", "))", read: { formats.contains($0) ? $0 : nil })
    private static let system = Option(
        name: "crs", placeholder: "EPSG:n", help: "for GPX whose lon and lat are x and y in this reference system",
        form: "EPSG: and a number, for example EPSG:3912",
        read: { text in text.hasPrefix("EPSG:") && Int64(text.dropFirst(5)) != nil ? text : nil })

    private static let zone = Option(
        name: "timezone", placeholder: "ZONE",
        help: "the zone of times that have none, for example Europe/Vienna or +02:00",
        form: "a zone of the IANA database or an offset, for example Europe/Vienna or +02:00", read: localZone)

    static let command = Command(
        words: ["import"], summary: "Import location histories from files of other programs.", operands: .many("FILE"),
        accepts: [person, device, format, zone, system, Options.json],
        details: """
            The format is detected by the content, also in zip and gzip files. These are read:

              Google        Records.json, Semantic Location History, Timeline.json of Android, location-history.json of
                            the iPhone, Timeline Edits.json, and the zip file of Takeout
              Apple         export.zip of Health, and the GPX files of its workout routes
              OwnTracks     .rec files of the Recorder, its JSON answers, and messages
              tracks        GPX, KML, KMZ, TCX, FIT, IGC and NMEA; the archives of Strava and Garmin
              tables        CSV whose head names columns such as time, latitude and longitude; reports of Traccar
              JSON          GeoJSON with times, Overland, Arc, Polarsteps, Dawarich, GeoPulse, Moves, Samsung Health,
                            and JSON lines of fixes
              own           archives of "export --format archive": fixes, reported visits, regions and corrections

            FORMAT is gpx, kml, tcx, fit, nmea, igc, csv, geojson, fixes, google-records, google-semantic, google-timeline,
            google-timeline-iphone, google-edits, owntracks, overland, arc, polarsteps, dawarich, geopulse, moves,
            samsung-health or whereabouts.

            Points without a time are counted and not imported. Visits of other systems become reported visits. A time
            without a zone is refused unless --timezone names one; GPX and TCX are UTC.

            Adds people and devices that do not exist yet, and lists the first of them. Each file is one import, whose id
            is printed first; "import undo" takes it back, and "import list" shows it. After an interruption, run the same
            command again: it continues the same import. A file that was imported can be imported again: fixes already in
            the log count as duplicates. --json prints one line per file.
            """, makesInstallation: true, run: run)

    /// An offset such as `+02:00`, or a zone's name.
    private static func localZone(_ text: String) -> LocalZone? {
        if let sign = text.first, sign == "+" || sign == "-" {
            let parts = text.dropFirst().split(separator: ":")
            guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = Int64(parts[0]),
                let minutes = Int64(parts[1]), (0..<24).contains(hours), (0..<60).contains(minutes)
            else { return nil }
            return LocalZone(offsetSeconds: (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1))
        }
        // Histories begin with the oldest fix that is accepted; 2100 is later than any.
        let end = Timestamp(milliseconds: 4_102_444_800_000)
        return TimeZoneDatabase().rules(text, from: Limits.oldestFix, to: end).map { LocalZone($0) }
    }

    private static func run(_ invocation: Invocation) throws(ToolError) {
        var choices = ImportRun.Choices(
            person: invocation[person], device: invocation[device],
            format: invocation[format].flatMap { FileFormat(rawValue: $0) }, zone: invocation[zone], now: .now,
            key: [
                try Reach(invocation).text, invocation.text(of: person), invocation.text(of: device),
                invocation.text(of: format), invocation.text(of: zone), invocation.text(of: system),
            ])
        if let code = invocation[system] {
            do throws(GeodesyError) { choices.system = try CoordinateReferenceSystem(code: code) } catch {
                throw .usage("\(error)")
            }
        }
        let (console, isJSON) = (invocation.console, invocation.has(Options.json))
        let reports = try House.withClient(invocation) { client throws(ToolError) in
            var run = ImportRun(client: client, choices: choices, console: console)
            var reports: [ImportReport] = []
            for file in invocation.operands {
                let said = run.additions.count
                let report = try run.importFile(file)
                for sentence in run.additions[said...] { console.note(sentence) }
                if isJSON { console.result(report.json) }
                if let fault = report.fault { console.note("whereabouts: \(fault)") }
                reports.append(report)
            }
            if let sentence = run.furtherAdditions { console.note(sentence) }
            return reports
        }
        if !isJSON { console.result(ImportReport.text(of: reports).utf8) }
        let broken = reports.count { $0.fault != nil }
        if broken > 0 {
            throw .data(
                broken == 1 ? "One file was not imported completely." : "\(broken) files were not imported whole.")
        }
        if let reason = ImportReport.whyNothingWasUsable(in: reports) { throw .checkFailed(reason) }
    }
}
