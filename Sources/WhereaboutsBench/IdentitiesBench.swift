import Glibc
import JSON
import Log
import Projections
import Whereabouts

/// The log's index of fix identities: fixes that are known, older fixes that are not, an erasure, and a refold.
struct IdentitiesBench {
    private let directory: String
    private let fixes, devices, lookups: Int

    init(_ options: Options) throws {
        directory = try options.text("dir")
        fixes = try options.number("fixes", default: 2_000_000)
        devices = try options.number("devices", default: 200)
        lookups = try options.number("lookups", default: 100_000)
    }

    func run() throws {
        try warm()
        var log = try EventLog.alone(in: try DataDirectory(path: directory))
        guard log.waitForFixIdentities(milliseconds: 600_000) else { throw BenchError.failures }
        let known = try report(to: log, count: lookups, millisecondsLater: 0, expecting: .duplicate)
        let older = try report(to: log, count: lookups, millisecondsLater: 1, expecting: .new)
        let erasure = try erase(log)
        log.stop()

        let folder = try DataDirectory(path: directory).fixIdentities
        removeFiles(of: folder)
        let began = nanoseconds()
        log = try EventLog.alone(in: try DataDirectory(path: directory), eventsReadAtStart: 0)
        let opened = nanoseconds()
        guard log.waitForFixIdentities(milliseconds: 600_000) else { throw BenchError.failures }
        let refolded = nanoseconds()
        let head = log.head
        log.stop()

        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "identities")
        writer.field("events", Int(head))
        writer.field("knownMicrosecondsPerFix", rounded(known, 2))
        writer.field("olderMicrosecondsPerFix", rounded(older, 2))
        writer.field("erasureMilliseconds", rounded(erasure / 1e6, 1))
        writer.field("openMilliseconds", rounded(Double(opened - began) / 1e6, 1))
        writer.field("refoldMicrosecondsPerEvent", rounded(Double(refolded - opened) / 1e3 / Double(head), 2))
        writer.endObject()
        printLine(writer.bytes)
    }

    /// Fills the log and stops it, so that the fixes are in files.
    private func warm() throws {
        let log = try EventLog.alone(in: try DataDirectory(path: directory))
        var fleet = try Fleet(of: log, count: devices)
        try fleet.warm(log, count: max(0, fixes - Int(log.head)))
        log.stop()
    }

    /// Reports fixes of the first half of the walk, moved in time, in commands of 500.
    ///
    /// - Returns: microseconds a fix, with all that a report costs beside the look-up.
    private func report(
        to log: EventLog, count: Int, millisecondsLater: Int64, expecting outcome: FixOutcome
    ) throws -> Double {
        let perDevice = fixes / devices / 2
        let began = nanoseconds()
        var done = 0
        var device = 0
        while done < count {
            guard let caller = Fleet.deviceCaller(device % devices, log) else { throw FleetError.noToken }
            let first = device / devices * 500 % max(1, perDevice - 500)
            let reports = (0..<500).map { offset in
                var fix = Fleet.fix(device: device % devices, number: first + offset)
                fix.timestamp = Timestamp(milliseconds: fix.timestamp.milliseconds + millisecondsLater)
                return DeviceReport.fix(fix, answering: nil)
            }
            let receipt = try log.appendAndWait(
                .reportFixes(device: .caller, reports), by: caller, correlation: .random())
            guard receipt.reply == .fixes(reports.map { _ in outcome }) else { throw BenchError.failures }
            done += reports.count
            device += 1
        }
        return Double(nanoseconds() - began) / 1e3 / Double(done)
    }

    /// - Returns: nanoseconds until no file has a mark of the person.
    private func erase(_ log: EventLog) throws -> Double {
        guard let person = Handle("person-0") else { throw FleetError.noToken }
        let manager = try Fleet(of: log, count: 1).manager
        let began = nanoseconds()
        _ = try log.appendAndWait(.erasePerson(person), by: manager, correlation: .random())
        guard log.waitForFixIdentities(milliseconds: 600_000) else { throw BenchError.failures }
        return Double(nanoseconds() - began)
    }

    private func removeFiles(of folder: String) {
        for name in DataDirectory.names(in: folder) where name.hasSuffix(".run") { unlink("\(folder)/\(name)") }
    }
}
