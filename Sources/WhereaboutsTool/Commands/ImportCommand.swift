import Geodesy
import Log
import Service
import Whereabouts
import WireFormats

/// `import FILE…`.
enum ImportCommand {
    private static let person = Options.handle(
        "person", help: "the person of the fixes; a line with a \"user\" belongs to that person")
    private static let device = Options.handle("device", help: "the device (default: import- and the person's handle)")
    private static let format = Options.choice(
        "format", ["auto"] + ImportFormat.allCases.map(\.rawValue), help: "default: auto, by the content")
    private static let system = Option(
        name: "crs", placeholder: "EPSG:n", help: "for GPX whose lon and lat are x and y in this reference system",
        form: "EPSG: and a number, for example EPSG:3912",
        read: { text in text.hasPrefix("EPSG:") && Int64(text.dropFirst(5)) != nil ? text : nil })

    static let command = Command(
        words: ["import"], summary: "Import recorded tracks: GPX, or JSON lines of fixes.", operands: .many("FILE"),
        accepts: [person, device, format, system, Options.json],
        details: """
            Adds people and devices that do not exist yet, and lists the first of them. A file can be imported again, for
            example after an interruption: fixes already in the log count as duplicates. --json prints one line per file.
            """, makesInstallation: true, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        var choices = ImportRun.Choices(
            person: invocation[person], device: invocation[device],
            format: invocation[format].flatMap { ImportFormat(rawValue: $0) }, now: .now)
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
