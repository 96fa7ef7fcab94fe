import Answers
import FileFormats
import Geodesy
import Glibc
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// Imports files: parses them here and posts their fixes in batches of many devices; the service makes the people and
/// devices that do not exist.
///
/// Memory does not grow with a file: fixes are posted once a device has a full batch. Importing a file again, or the
/// rest of one after an interruption, changes nothing else: a fix that is in the log already is a duplicate.
struct ImportRun {
    struct Choices {
        var person: Handle?
        var device: Handle?
        /// `nil` detects the format of each file by its content.
        var format: FileFormat?
        var system: CoordinateReferenceSystem?
        /// The zone of times without one; `nil` refuses them.
        var zone: LocalZone?
        var now: Timestamp
    }

    private let client: Client
    private let choices: Choices
    private let console: Console
    /// The import's id, by which it can be undone.
    let id = Identifier128.random().description
    /// When the file under way was begun.
    private var begun = ContinuousClock.now
    /// The first added people and devices, as sentences.
    private(set) var additions: [String] = []
    /// Added people and devices beyond those of ``additions``.
    private var unnamedAdditions = (people: 0, devices: 0)
    private var pending: [Handle: PendingBatch] = [:]
    /// The fixes of all ``pending`` batches.
    private var pendingFixes = 0
    /// The regions and corrections of the file, which are made when its fixes are there.
    private var settings = WaitingSettings()
    /// Whose device it is, so that one device is not used for two people.
    private var owners: [Handle: Handle] = [:]

    private static let chunkBytes = 256 << 10
    /// The waiting fixes of all devices of a file, at most.
    private static let pendingMax = 20 * Limits.batchCommands
    /// Added people and devices that are listed one by one.
    private static let namedAdditions = 40

    init(client: Client, choices: Choices, console: Console) {
        (self.client, self.choices, self.console) = (client, choices, console)
    }

    /// Imports one file. A fault of the file is in the report, and the next file can be tried.
    ///
    /// - Throws: ``ToolError`` if the service cannot be reached, or does not allow it.
    mutating func importFile(_ path: String) throws(ToolError) -> ImportReport {
        begun = .now
        guard let file = InputFile(path) else {
            return Self.unread(path, "\(path) cannot be opened: \(lastSystemError()).")
        }
        let reading = FileReading(
            FileChoices(now: choices.now, zone: choices.zone, system: choices.system, format: choices.format)
        ) { file.read(atMost: Self.chunkBytes) }
        var report = ImportReport(file: path, format: "unknown")
        var isAtEnd = false
        while !isAtEnd, report.fault == nil {
            switch Self.step(reading) {
            case .success(nil): isAtEnd = true
            case .success(let records?):
                try requireChoices(for: reading.summary, path)
                try take(records, &report)
            case .failure(let fault):
                let wasRead = report.read > 0 || !reading.summary.parts.isEmpty
                report.fault = "\(path) was not \(wasRead ? "read to its end:" : "imported.") \(fault)"
            }
            if let error = file.error {
                report.fault =
                    report.read == 0
                    ? "\(path) cannot be read: \(error)." : "\(path) was not read to its end: \(error)."
            }
            showProgress(path, reading.bytesRead, of: file.byteCount, report)
        }
        try postAll(&report)
        try restoreSettings(&report)
        console.progress("")
        conclude(reading.summary, path, &report)
        if report.new + report.twins > 0 { report.undoID = id }
        return report
    }

    /// Makes the regions and corrections of the file after its fixes, because those bring the person.
    private mutating func restoreSettings(_ report: inout ImportReport) throws(ToolError) {
        defer { settings = WaitingSettings() }
        additions += try settings.restore(client, &report)
    }

    private static func step(_ reading: FileReading) -> Result<[FileRecord]?, FormatFault> {
        do throws(FormatFault) { return .success(try reading.next()) } catch { return .failure(error) }
    }

    /// - Throws: ``ToolError`` if the format needs a choice that was not made, or does not take one.
    private func requireChoices(for summary: FileSummary, _ path: String) throws(ToolError) {
        for format in summary.parts.keys {
            if format != .fixes, format != .whereabouts, choices.person == nil {
                throw .usage("\(path) does not name a person; add --person HANDLE.")
            }
            if format != .gpx, !summary.isArchive, choices.system != nil {
                throw .usage("--crs is for GPX; in \(path) coordinates are WGS 84.")
            }
        }
    }

    /// Completes the report, and prints the entries that were not imported.
    private func conclude(_ summary: FileSummary, _ path: String, _ report: inout ImportReport) {
        report.format = summary.formatName
        report.placeWord = summary.placeWord
        report.operations = summary.operations
        for operation in summary.operations?.inOrder ?? [] {
            let accuracy = operation.accuracyMeters.map { meters in
                "accurate to \(meters == meters.rounded() ? String(Int(meters)) : String(meters)) m"
            }
            console.note("\(path): converted by “\(operation.name)”, \(accuracy ?? "of unknown accuracy there").")
        }
        for sentence in summary.passedOver.sentences(Text.count) { console.note("\(path): \(sentence)") }
        for (reason, count) in summary.skipped {
            console.note("\(path): skipped \(Text.count(count, "member")): \(reason.printable).")
        }
        for (name, reason) in summary.damaged { console.note("\(path): \(name.printable): \(reason)") }
        let damaged = summary.damaged.count + summary.furtherDamaged
        if damaged > 0, report.fault == nil {
            report.fault = "\(path) was not read to its end: it has \(Text.count(damaged, "damaged member"))."
        }
    }

    private static func unread(_ path: String, _ fault: String) -> ImportReport {
        var report = ImportReport(file: path, format: "unknown")
        report.fault = fault
        return report
    }

    private mutating func take(_ records: [FileRecord], _ report: inout ImportReport) throws(ToolError) {
        for record in records {
            report.read += 1
            switch record.content {
            case .untimed(let place):
                report.untimed += 1
                if let place { report.cover(place) }
            case .rejected(let reason): report.reject(reason.word, line: record.place)
            case .fix(let fix, let user):
                // Without a person, the record belongs to no history.
                guard let person = user ?? choices.person else {
                    report.reject(RejectionReason.missingField.word, line: record.place)
                    continue
                }
                try add(.fix(fix), of: person, record, &report)
            case .visit(let visit, let user):
                guard let person = user ?? choices.person else {
                    report.reject(RejectionReason.missingField.word, line: record.place)
                    continue
                }
                try add(.visit(visit), of: person, record, &report)
            case .setting(let setting):
                guard settings.append(setting, line: record.place) else {
                    report.reject(RejectionReason.tooLarge.word, line: record.place)
                    continue
                }
            }
        }
    }

    private mutating func add(
        _ item: PendingBatch.Item, of person: Handle, _ record: FileRecord, _ report: inout ImportReport
    ) throws(ToolError) {
        let line = record.place
        let device = try device(of: person, named: record.device)
        var batch = pending.removeValue(forKey: device) ?? PendingBatch(person: person)
        if !batch.append(item, line: line) {
            pendingFixes -= batch.count
            try post([(device, batch)], &report)
            batch = PendingBatch(person: person)
            precondition(batch.append(item, line: line), "A single fix fits into a batch.")
        }
        pending[device] = batch
        pendingFixes += 1
        if pendingFixes >= Self.pendingMax { try postAll(&report) }
    }

    /// Posts the waiting reports, with as many devices in one request as fit.
    private mutating func postAll(_ report: inout ImportReport) throws(ToolError) {
        var together: [(device: Handle, batch: PendingBatch)] = []
        var (fixes, bytes) = (0, 0)
        for (device, batch) in pending.sorted(by: { $0.key < $1.key }) {
            let (moreFixes, moreBytes) = (batch.count, batch.requestBytes)
            if !together.isEmpty,
                fixes + moreFixes > Limits.batchCommands || bytes + moreBytes > PendingBatch.bytesMax
            {
                try post(together, &report)
                (together, fixes, bytes) = ([], 0, 0)
            }
            together.append((device, batch))
            fixes += moreFixes
            bytes += moreBytes
        }
        if !together.isEmpty { try post(together, &report) }
        pending = [:]
        pendingFixes = 0
    }

    private mutating func post(
        _ batches: [(device: Handle, batch: PendingBatch)], _ report: inout ImportReport
    ) throws(ToolError) {
        var writer = JSONWriter(capacity: PendingBatch.bytesMax)
        writer.beginObject()
        writer.array("devices") { devices in
            for (device, batch) in batches { batch.write(device, into: &devices) }
        }
        writer.endObject()
        let answer = try client.post(APIPath.importsBatches.parts(id), json: writer.bytes)
        guard let outcomes = answer["devices"]?.array.map(Array.init), outcomes.count == batches.count else {
            throw .data("The service did not say what became of a batch.")
        }
        for ((device, batch), outcome) in zip(batches, outcomes) {
            try take(outcome, of: batch, &report)
            if outcome["addedPerson"]?.bool == true {
                if additions.count < Self.namedAdditions {
                    additions.append("Added the person \(batch.person.text).")
                } else {
                    unnamedAdditions.people += 1
                }
            }
            if outcome["addedDevice"]?.bool == true {
                if additions.count < Self.namedAdditions {
                    additions.append("Added the device \(device.text) of \(batch.person.text).")
                } else {
                    unnamedAdditions.devices += 1
                }
            }
        }
    }

    private func take(
        _ outcome: JSONValue, of batch: PendingBatch, _ report: inout ImportReport
    ) throws(ToolError) {
        guard let new = outcome["new"]?.int, let duplicate = outcome["duplicate"]?.int else {
            throw .data("The service did not say what became of a batch.")
        }
        let twins = outcome["twins"]?.int ?? 0
        report.new += Int(new - twins)
        report.duplicate += Int(duplicate)
        report.twins += Int(twins)
        let refused = Self.reject(outcome, lines: batch.fixes.map(\.line), &report)
        for (index, fix) in batch.fixes.enumerated() where !refused.contains(index) {
            report.cover(fix.time, fix.place)
        }
        guard !batch.visitLines.isEmpty else { return }
        guard let visits = outcome["visits"], let new = visits["new"]?.int, let known = visits["duplicate"]?.int else {
            throw .data("The service did not say what became of the visits; it may be older than this tool.")
        }
        report.visits += Int(new)
        report.knownVisits += Int(known)
        _ = Self.reject(visits, lines: batch.visitLines, &report)
    }

    /// Counts the rejected entries, and returns their indexes.
    private static func reject(_ outcome: JSONValue, lines: [Int], _ report: inout ImportReport) -> Set<Int> {
        var refused: Set<Int> = []
        for rejection in outcome["rejected"]?.array.map(Array.init) ?? [] {
            guard let index = rejection["index"]?.int.map(Int.init), lines.indices.contains(index) else { continue }
            refused.insert(index)
            report.reject(rejection.text("reason"), line: lines[index])
        }
        return refused
    }

    /// How many people and devices were added beyond ``additions``, as a sentence; `nil` if none.
    var furtherAdditions: String? {
        let (people, devices) = unnamedAdditions
        guard people + devices > 0 else { return nil }
        return "Added \(Text.count(people)) more people and \(Text.count(devices)) more devices."
    }

    /// The records in a second and the time left, after the first seconds; as far as the file's size is known.
    private func pace(_ done: Int, of total: Int, _ report: ImportReport) -> String {
        let seconds = begun.duration(to: .now) / .seconds(1)
        guard seconds >= 2 else { return "" }
        let rate = ", \(Text.count(Int(Double(report.read) / seconds))) a second"
        guard total > 0, done > 0, done < total else { return rate }
        let left = Int(seconds * Double(total - done) / Double(done)) + 1
        return rate + ", \(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left"
    }

    private func showProgress(_ path: String, _ done: Int, of total: Int, _ report: ImportReport) {
        let share = total > 0 ? " \(min(100, done * 100 / total)) %," : ""
        console.progress("\(path):\(share) \(Text.count(report.read)) read\(pace(done, of: total, report))")
    }
}

// MARK: - Devices

extension ImportRun {
    /// The device that a person's fixes are imported under.
    private mutating func device(of person: Handle, named name: Handle?) throws(ToolError) -> Handle {
        guard let device = choices.device ?? name ?? Handle("import-\(person.text)") else {
            throw .usage("\"import-\(person.text)\" is too long for a device's handle; add --device HANDLE.")
        }
        if let owner = owners[device] {
            guard owner == person else {
                throw .usage("--device names one device, but the files hold fixes of several people; omit it.")
            }
            return device
        }
        owners[device] = person
        return device
    }
}

/// Waiting fixes and visits of one device, as JSON.
private struct PendingBatch {
    enum Item {
        case fix(Fix)
        case visit(VisitReport)
    }

    let person: Handle
    private(set) var fixes: [(line: Int, time: Timestamp, place: Coordinate)] = []
    private(set) var visitLines: [Int] = []
    private var json: [[UInt8]] = []
    private var visitJSON: [[UInt8]] = []
    private var byteCount = 0

    /// A request with its frame stays below the service's limit.
    static let bytesMax = Limits.ingestBodyBytes - 4096

    init(person: Handle) { self.person = person }

    /// The fixes and visits.
    var count: Int { fixes.count + visitLines.count }

    /// - Returns: `false` if the batch is full.
    mutating func append(_ item: Item, line: Int) -> Bool {
        var writer = JSONWriter()
        switch item {
        case .fix(let fix): FixJSON.write(fix, into: &writer)
        case .visit(let visit):
            writer.beginObject()
            ReportJSON.writeMembers(of: .visit(visit), into: &writer)
            writer.endObject()
        }
        guard count < Limits.batchCommands, byteCount + writer.bytes.count + 1 <= Self.bytesMax - Self.frameBytes
        else {
            return false
        }
        switch item {
        case .fix(let fix):
            fixes.append((line, fix.timestamp, fix.coordinate))
            json.append(writer.bytes)
        case .visit:
            visitLines.append(line)
            visitJSON.append(writer.bytes)
        }
        byteCount += writer.bytes.count + 1
        return true
    }

    /// Two handles of at most 63 characters, and the members' names.
    private static let frameBytes = 256

    /// The bytes that ``write(_:into:)`` writes, at the most.
    var requestBytes: Int { byteCount + Self.frameBytes }

    func write(_ device: Handle, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("person", person.text)
        writer.field("device", device.text)
        writer.array("fixes") { array in
            for fix in json { array.raw(fix) }
        }
        if !visitJSON.isEmpty {
            writer.array("visits") { array in
                for visit in visitJSON { array.raw(visit) }
            }
        }
        writer.endObject()
    }
}

/// A file read from its beginning to its end.
private final class InputFile {
    private let descriptor: Int32
    /// 0 for a file without a size, for example a pipe.
    let byteCount: Int
    /// Why the file could not be read further; `nil` if it could.
    private(set) var error: String?

    /// `nil` with `errno` set if the file cannot be opened.
    init?(_ path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
        var status = stat()
        byteCount = fstat(opened, &status) == 0 ? Int(status.st_size) : 0
    }

    deinit { close(descriptor) }

    /// The next bytes, fewer than requested only at the end; `nil` with ``error`` set if the file cannot be read.
    func read(atMost count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                error = lastSystemError()
                return nil
            }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
