import Geodesy
import Glibc
import JSON
import Log
import Service
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
        var format: ImportFormat?
        var system: CoordinateReferenceSystem?
        var now: Timestamp
    }

    private let client: Client
    private let choices: Choices
    private let console: Console
    private let id = Identifier128.random().description
    /// The first added people and devices, as sentences.
    private(set) var additions: [String] = []
    /// Added people and devices beyond those of ``additions``.
    private var unnamedAdditions = (people: 0, devices: 0)
    private var pending: [Handle: PendingBatch] = [:]
    /// The fixes of all ``pending`` batches.
    private var pendingFixes = 0
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
        guard let file = InputFile(path) else {
            return Self.unread(path, "\(path) cannot be opened: \(lastSystemError()).")
        }
        guard var bytes = file.read(atMost: ImportFormat.detectionBytes) else {
            return Self.unread(path, "\(path) cannot be read: \(lastSystemError()).")
        }
        let format: ImportFormat
        do throws(UnknownImportFormat) {
            format = if let chosen = choices.format { chosen } else { try ImportFormat.detect(firstBytes: bytes) }
        } catch { return Self.unread(path, "\(path) was not imported. \(error)") }
        let records = try self.records(of: format, path)
        var report = ImportReport(file: path, format: format.rawValue)

        var done = 0
        while !bytes.isEmpty, report.fault == nil {
            done += bytes.count
            let (found, fault) = records.read(bytes[...])
            try take(found, &report)
            report.fault = fault.map { "\(path) was not read to its end: \($0)" }
            showProgress(path, done, of: file.byteCount, report)
            guard let next = file.read(atMost: Self.chunkBytes) else {
                report.fault = "\(path) was not read to its end: \(lastSystemError())."
                break
            }
            bytes = next
        }
        if report.fault == nil {
            let (found, fault) = records.finish()
            try take(found, &report)
            report.fault = fault.map { "\(path) was not read to its end: \($0)" }
        }
        try postAll(&report)
        console.progress("")
        report.operations = records.operations
        for operation in records.operations?.inOrder ?? [] {
            let accuracy = operation.accuracyMeters.map { meters in
                "accurate to \(meters == meters.rounded() ? String(Int(meters)) : String(meters)) m"
            }
            console.note("\(path): converted by “\(operation.name)”, \(accuracy ?? "of unknown accuracy there").")
        }
        if let sentence = records.passedOver { console.note("\(path): \(sentence)") }
        return report
    }

    private static func unread(_ path: String, _ fault: String) -> ImportReport {
        var report = ImportReport(file: path, format: "unknown")
        report.fault = fault
        return report
    }

    private func records(of format: ImportFormat, _ path: String) throws(ToolError) -> any ImportRecords {
        switch format {
        case .gpx:
            guard choices.person != nil else { throw .usage("\(path) does not name a person; add --person HANDLE.") }
            return GPXRecords(system: choices.system, now: choices.now)
        case .fixes:
            guard choices.system == nil else { throw .usage("--crs is for GPX; in \(path) coordinates are WGS 84.") }
            return LineRecords(now: choices.now)
        }
    }

    private mutating func take(_ records: [ImportRecord], _ report: inout ImportReport) throws(ToolError) {
        for record in records {
            report.read += 1
            switch record.content {
            case .untimed(let place):
                report.untimed += 1
                if let place { report.cover(place) }
            case .rejected(let reason): report.reject(reason.word, line: record.line)
            case .fix(let fix, let user):
                // Without a person, the record belongs to no history.
                guard let person = user ?? choices.person else {
                    report.reject(RejectionReason.missingField.word, line: record.line)
                    continue
                }
                try add(fix, of: person, line: record.line, &report)
            }
        }
    }

    private mutating func add(
        _ fix: Fix, of person: Handle, line: Int, _ report: inout ImportReport
    ) throws(ToolError) {
        let device = try device(of: person)
        var batch = pending.removeValue(forKey: device) ?? PendingBatch(person: person)
        if !batch.append(fix, line: line) {
            pendingFixes -= batch.fixes.count
            try post([(device, batch)], &report)
            batch = PendingBatch(person: person)
            precondition(batch.append(fix, line: line), "A single fix fits into a batch.")
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
            let (moreFixes, moreBytes) = (batch.fixes.count, batch.requestBytes)
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
        let answer = try client.post("v1", "imports", id, "batches", json: writer.bytes)
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
        var refused: Set<Int> = []
        for rejection in outcome["rejected"]?.array.map(Array.init) ?? [] {
            guard let index = rejection["index"]?.int.map(Int.init), batch.fixes.indices.contains(index) else {
                continue
            }
            refused.insert(index)
            report.reject(rejection.text("reason"), line: batch.fixes[index].line)
        }
        for (index, fix) in batch.fixes.enumerated() where !refused.contains(index) {
            report.cover(fix.time, fix.place)
        }
    }

    /// How many people and devices were added beyond ``additions``, as a sentence; `nil` if none.
    var furtherAdditions: String? {
        let (people, devices) = unnamedAdditions
        guard people + devices > 0 else { return nil }
        return "Added \(Text.count(people)) more people and \(Text.count(devices)) more devices."
    }

    private func showProgress(_ path: String, _ done: Int, of total: Int, _ report: ImportReport) {
        let share = total > 0 ? " \(min(100, done * 100 / total)) %," : ""
        console.progress("\(path):\(share) \(Text.count(report.read)) read")
    }
}

// MARK: - Devices

extension ImportRun {
    /// The device that a person's fixes are imported under.
    private mutating func device(of person: Handle) throws(ToolError) -> Handle {
        guard let device = choices.device ?? Handle("import-\(person.text)") else {
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

/// Waiting fixes of one device, as JSON.
private struct PendingBatch {
    let person: Handle
    private(set) var fixes: [(line: Int, time: Timestamp, place: Coordinate)] = []
    private var json: [[UInt8]] = []
    private var byteCount = 0

    /// A request with its frame stays below the service's limit.
    static let bytesMax = Limits.ingestBodyBytes - 4096

    init(person: Handle) { self.person = person }

    /// - Returns: `false` if the batch is full.
    mutating func append(_ fix: Fix, line: Int) -> Bool {
        var writer = JSONWriter()
        FixJSON.write(fix, into: &writer)
        guard fixes.count < Limits.batchCommands, byteCount + writer.bytes.count + 1 <= Self.bytesMax - Self.frameBytes
        else {
            return false
        }
        fixes.append((line, fix.timestamp, fix.coordinate))
        json.append(writer.bytes)
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
        writer.endObject()
    }
}

/// A file read from its beginning to its end.
private final class InputFile {
    private let descriptor: Int32
    /// 0 for a file without a size, for example a pipe.
    let byteCount: Int

    /// `nil` with `errno` set if the file cannot be opened.
    init?(_ path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
        var status = stat()
        byteCount = fstat(opened, &status) == 0 ? Int(status.st_size) : 0
    }

    deinit { close(descriptor) }

    /// The next bytes, fewer than requested only at the end; `nil` with `errno` set if the file cannot be read.
    func read(atMost count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { return nil }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
