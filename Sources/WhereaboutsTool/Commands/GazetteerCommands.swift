import Answers
import Gazetteer
import Glibc
import JSON
import Log
import Maintenance
import Service
import Whereabouts

/// `gazetteer import|list|remove`: supplements with streets, postal codes and places, in separate files beside the
/// gazetteer.
enum GazetteerCommands {
    static let all = [importCommand, listCommand, removeCommand]

    private static let name = Options.handle("name", "NAME", help: "the name of the supplement, for \"gazetteer list\"")
    private static let attribution = Options.text(
        "attribution", "TEXT", help: "the attribution that the licence requires (default: known for GeoNames)")
    private static let licence = Options.text("licence", "TEXT", help: "the licence, for example \"CC BY 4.0\"")

    private static let importCommand = Command(
        words: ["gazetteer", "import"], summary: "Add streets, postal codes or places to the gazetteer.",
        operands: .many("FILE"), requires: [name], accepts: [attribution, licence, Options.json],
        details: """
            Reads unpacked files: addresses from OpenAddresses (CSV, or GeoJSON with one feature per line), and from GeoNames
            postal codes, places (allCountries.txt, AT.txt) and names of second-order divisions (admin2Codes.txt). After an
            interruption, run the same command again; it continues. If a supplement of that name exists, the new one replaces
            it at the end. The import needs about four times the size of the files beside the gazetteer, and little memory.
            """, reach: .files, run: runImport)

    private static let listCommand = Command(
        words: ["gazetteer", "list"], summary: "List the supplements of the gazetteer.", accepts: [Options.json],
        reach: .nothing, run: runList)

    private static let removeCommand = Command(
        words: ["gazetteer", "remove"], summary: "Remove a supplement from the gazetteer.",
        operands: .one("NAME"), reach: .files, run: runRemove)

    // MARK: Import

    private static func runImport(_ invocation: Invocation) throws(ToolError) {
        let folder = try folder()
        let gazetteer = try Geocoder().gazetteer
        guard let fold = gazetteer.streetFold else {
            throw .data(
                "There is no names.gazetteer in \(folder), and without it no street is found by name; install it first."
            )
        }
        let run = SupplementImport(
            folder: folder, name: invocation.required(name).text, files: invocation.operands,
            attribution: invocation[attribution], licence: invocation[licence], fold: fold,
            console: invocation.console)
        let report = try withSignalsHeld { isEnding throws(ToolError) in try run.run(isEnding: isEnding) }
        DataDirectory.removeTree(SupplementImport.stagingFolder(of: report.name, in: folder))
        show(report, invocation)
        noteRunningService(invocation)
    }

    /// Blocks SIGINT and SIGTERM, so that an import ends between two batches, with a message.
    private static func withSignalsHeld<Value>(
        _ body: (_ isEnding: () -> Bool) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        var held = StopSignals.all
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &held, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body {
            var pending = sigset_t()
            sigpending(&pending)
            guard sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 else { return false }
            // Consumes the signal, so that the message is still printed.
            var number: Int32 = 0
            sigwait(&held, &number)
            return true
        }
    }

    private static func show(_ report: SupplementReport, _ invocation: Invocation) {
        guard let supplement = report.supplement else { return }
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            fields(of: supplement, into: &writer)
            writer.array("files") { array in
                for file in report.files {
                    array.beginObject()
                    array.field("file", file.path)
                    array.field("format", file.format.rawValue)
                    array.field("lines", file.lines)
                    array.array("rejected") { reasons in
                        for (reason, count, line) in file.rejected {
                            reasons.beginObject()
                            reasons.field("reason", reason)
                            reasons.field("count", count)
                            reasons.field("firstAt", line)
                            reasons.endObject()
                        }
                    }
                    array.endObject()
                }
            }
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        let console = invocation.console
        console.line(
            "\(report.name): addresses \(Text.count(supplement.addressCount)), streets "
                + "\(Text.count(supplement.streetCount)), postal codes \(Text.count(supplement.postalCodeCount)), places "
                + "\(Text.count(supplement.placeCount)).")
        for file in report.files {
            for (reason, count, line) in file.rejected {
                console.line(
                    "\(file.path.printable): \(Text.count(count)) rejected as \(reason), the first at line \(line)."
                )
            }
        }
    }

    // MARK: List and remove

    private static func runList(_ invocation: Invocation) throws(ToolError) {
        let folder = try folder()
        let names = Supplement.names(in: folder)
        var table = Table("NAME", ">ADDRESSES", ">STREETS", ">POSTAL CODES", ">PLACES", "LICENCE", "ATTRIBUTION")
        var writer = JSONWriter()
        writer.beginObject()
        writer.array("items") { array in
            for name in names {
                array.beginObject()
                do throws(GazetteerError) {
                    let supplement = try Supplement(path: Supplement.path(of: name, in: folder), name: name)
                    fields(of: supplement, into: &array)
                    table.add(
                        name, Text.count(supplement.addressCount), Text.count(supplement.streetCount),
                        Text.count(supplement.postalCodeCount), Text.count(supplement.placeCount), supplement.licence,
                        supplement.attribution)
                } catch {
                    array.field("name", name)
                    array.field("error", "\(error)")
                    table.add(name, "", "", "", "", "", "\(error)")
                }
                array.endObject()
            }
        }
        writer.endObject()
        if invocation.has(Options.json) {
            invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        } else if names.isEmpty {
            invocation.console.line("The gazetteer has no supplement.")
        } else {
            invocation.console.result(table.text.utf8)
        }
    }

    private static func fields(of supplement: Supplement, into writer: inout JSONWriter) {
        writer.field("name", supplement.name)
        writer.field("addresses", supplement.addressCount)
        writer.field("streets", supplement.streetCount)
        writer.field("postalCodes", supplement.postalCodeCount)
        writer.field("places", supplement.placeCount)
        writer.field("attribution", supplement.attribution)
        writer.field("licence", supplement.licence)
    }

    private static func runRemove(_ invocation: Invocation) throws(ToolError) {
        let folder = try folder()
        let name = try invocation.handle().text
        let path = Supplement.path(of: name, in: folder)
        let staging = SupplementImport.stagingFolder(of: name, in: folder)
        guard access(path, F_OK) == 0 || access(staging, F_OK) == 0 else {
            throw .data("The gazetteer has no supplement \"\(name)\"; \"gazetteer list\" lists them.")
        }
        DataDirectory.removeTree(staging)
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .data("\(path) cannot be removed: \(lastSystemError()).")
        }
        DataDirectory.syncFolder(folder)
        invocation.console.line("\(name) is removed.")
        noteRunningService(invocation)
    }

    // MARK: Where

    private static func folder() throws(ToolError) -> String {
        guard let path = GazetteerLocation.find() else { throw .data(Geocoder.missing) }
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    private static func noteRunningService(_ invocation: Invocation) {
        guard case .directory(let path) = try? Reach(invocation) else { return }
        guard DataDirectory.running(in: path)?.address != nil else { return }
        invocation.console.note("A service runs on \(path); restart it to use the change.")
    }
}
