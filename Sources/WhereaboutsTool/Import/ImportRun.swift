import Geodesy
import Glibc
import JSON
import Service
import Whereabouts
import WireFormats

/// Imports files: parses them here, makes the persons and devices they are of, and posts their fixes in batches.
///
/// Memory does not grow with a file: what has been read is posted once a device has a batch of it. Importing a file
/// again, or the rest of one that was broken off, changes nothing: a fix that is in the log already is a duplicate.
struct ImportRun {
    struct Choices {
        var person: Handle?
        var device: Handle?
        /// `nil`: told by the content of each file.
        var format: ImportFormat?
        var system: CoordinateReferenceSystem?
        var now: Timestamp
    }

    private let client: Client
    private let choices: Choices
    private let console: Console
    private let id = Identifier128.random().description
    /// The devices of each person, once they have been asked for.
    private var devices: [String: Set<String>]?
    /// Added people and devices, as sentences.
    private(set) var additions: [String] = []
    private var pending: [Handle: PendingBatch] = [:]
    /// Whose device it is, so that one device is not used for two people.
    private var owners: [Handle: Handle] = [:]

    private static let chunkBytes = 256 << 10
    /// Fixes waiting at once, over all devices of a file.
    private static let pendingMax = 20 * Limits.batchCommands

    init(client: Client, choices: Choices, console: Console) {
        (self.client, self.choices, self.console) = (client, choices, console)
    }

    /// Imports one file. What is wrong with the file stands in the report; the next file can be tried.
    ///
    /// - Throws: ``ToolError`` when the service cannot be asked, or does not allow it.
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
            guard choices.person != nil else { throw .usage("\(path) does not say whose it is; add --person HANDLE.") }
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
                // Without a person there is nobody whose history it would enter.
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
        var batch = pending.removeValue(forKey: device) ?? PendingBatch()
        if !batch.append(fix, line: line) {
            try post(batch, device, &report)
            batch = PendingBatch()
            precondition(batch.append(fix, line: line), "A single fix fits into a batch.")
        }
        pending[device] = batch
        if pending.values.reduce(0, { $0 + $1.fixes.count }) >= Self.pendingMax { try postAll(&report) }
    }

    private mutating func postAll(_ report: inout ImportReport) throws(ToolError) {
        for (device, batch) in pending.sorted(by: { $0.key < $1.key }) { try post(batch, device, &report) }
        pending = [:]
    }

    private func post(_ batch: PendingBatch, _ device: Handle, _ report: inout ImportReport) throws(ToolError) {
        let answer = try client.post("v1", "imports", id, "batches", json: batch.body(device: device))
        guard let new = answer["new"]?.int, let duplicate = answer["duplicate"]?.int else {
            throw .data("The service did not say what became of a batch.")
        }
        let twins = answer["twins"]?.int ?? 0
        report.new += Int(new - twins)
        report.duplicate += Int(duplicate)
        report.twins += Int(twins)
        var refused: Set<Int> = []
        for rejection in answer["rejected"]?.array.map(Array.init) ?? [] {
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

    private func showProgress(_ path: String, _ done: Int, of total: Int, _ report: ImportReport) {
        let share = total > 0 ? " \(min(100, done * 100 / total)) %," : ""
        console.progress("\(path):\(share) \(Text.count(report.read)) read")
    }
}

// MARK: - Persons and devices

extension ImportRun {
    /// The device that a person's fixes are imported under, made if it is not there yet.
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
        var known = if let devices { devices } else { try knownDevices() }
        if known[person.text] == nil {
            _ = try client.post("v1", "people") { $0.field("handle", person.text) }
            additions.append("Added the person \(person.text).")
            known[person.text] = []
        }
        if known[person.text]?.contains(device.text) != true {
            _ = try client.post("v1", "people", person.text, "devices") { $0.field("handle", device.text) }
            additions.append("Added the device \(device.text) of \(person.text).")
            known[person.text]?.insert(device.text)
        }
        devices = known
        owners[device] = person
        return device
    }

    private func knownDevices() throws(ToolError) -> [String: Set<String>] {
        var known: [String: Set<String>] = [:]
        for person in try client.items("v1", "people") {
            known[person.text("handle")] = Set(person["devices"]?.array.map { $0.compactMap(\.string) } ?? [])
        }
        return known
    }
}

/// Fixes of one device that wait to be posted, already as JSON.
private struct PendingBatch {
    private(set) var fixes: [(line: Int, time: Timestamp, place: Coordinate)] = []
    private var json: [[UInt8]] = []
    private var byteCount = 0

    /// A batch with its frame stays below what the service takes.
    private static let bytesMax = Limits.ingestBodyBytes - 4096

    /// - Returns: `false` when the batch is full.
    mutating func append(_ fix: Fix, line: Int) -> Bool {
        var writer = JSONWriter()
        FixJSON.write(fix, into: &writer)
        guard fixes.count < Limits.batchCommands, byteCount + writer.bytes.count + 1 <= Self.bytesMax else {
            return false
        }
        fixes.append((line, fix.timestamp, fix.coordinate))
        json.append(writer.bytes)
        byteCount += writer.bytes.count + 1
        return true
    }

    func body(device: Handle) -> [UInt8] {
        var writer = JSONWriter(capacity: byteCount + 256)
        writer.beginObject()
        writer.field("device", device.text)
        writer.array("fixes") { array in
            for fix in json { array.raw(fix) }
        }
        writer.endObject()
        return writer.bytes
    }
}

/// A file read from its beginning to its end.
private final class InputFile {
    private let descriptor: Int32
    /// 0 for what has no size, as a pipe.
    let byteCount: Int

    /// `nil` with `errno` set when it cannot be opened.
    init?(_ path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
        var status = stat()
        byteCount = fstat(opened, &status) == 0 ? Int(status.st_size) : 0
    }

    deinit { close(descriptor) }

    /// The next bytes, all that were asked for unless the file ends; `nil` with `errno` set when it cannot be read.
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
