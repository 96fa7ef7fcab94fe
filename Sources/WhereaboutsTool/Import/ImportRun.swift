import Answers
import Cryptography
import FileFormats
import Geodesy
import Glibc
import JSON
import Log
import ReferenceSystems
import Replies
import Whereabouts
import WhereaboutsClient
import WireFormats

/// Imports files: parses them here and posts their fixes in batches of many devices; the service makes the people and
/// devices that do not exist.
///
/// Memory does not grow with a file: fixes are posted once a device has a full batch. Two requests are under way while the
/// next one is read. Importing a file again changes nothing: a fix that is in the log already is a duplicate. After an
/// interruption, an import continues behind the last records that are known to be in the log (``ImportState``).
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
        /// The values that distinguish this command from others with the same file: the service, and the choices as
        /// they were given. `nil` keeps no state.
        var key: [String]?
    }

    let client: Client
    let choices: Choices
    private let console: Console
    /// When the file under way was begun.
    private var began = ContinuousClock.now
    /// The first added people and devices, as sentences.
    var additions: [String] = []
    /// Added people and devices beyond those of ``additions``.
    var unnamedAdditions = (people: 0, devices: 0)
    /// The fixes and visits of the file that were read and not sent.
    var waiting = Waiting()
    /// The import of the file under way, on the service's side.
    var sending: Sending
    /// Whose device it is, so that one device is not used for two people.
    private var owners: [Handle: Handle] = [:]

    private static let chunkBytes = 256 << 10
    /// The waiting fixes of all devices of a file, at most.
    private static let pendingMax = 20 * Limits.batchCommands
    /// Added people and devices that are listed one by one.
    static let namedAdditions = 40
    /// The most requests that are sent and not answered. With two, the service reads one while it commits the other.
    static let postsUnderWay = 2
    /// The length of the beginning by which a file is recognized.
    private static let headBytes = 64 << 10
    /// The least time between two saves of the state, because each save waits for the disk.
    static let saveInterval = Duration.milliseconds(500)

    /// Reports that were read and not sent.
    struct Waiting {
        var pending: [Handle: PendingBatch] = [:]
        /// The fixes of all ``pending`` batches.
        var fixes = 0
        /// The regions and corrections of the file, which are added after its fixes.
        var settings = WaitingSettings()
    }

    /// The import of one file: its id, the sent requests, and their results.
    struct Sending {
        /// The id by which the import can be undone.
        var id = Identifier128.random().description
        /// Whether the service knows of the import.
        var hasBegun = false
        /// The id and the epoch of its log; `nil` before the service has said it.
        var log: String?
        var file = ImportedFile()
        /// Where the state is kept; `nil` keeps none.
        var place: ImportState.Place?
        var underWay: [Sent] = []
        /// The results of the answered records.
        var answered: ImportReport
        var people: [Handle: ImportCounts] = [:]
        var savedAt: ContinuousClock.Instant?

        init(_ path: String) { answered = ImportReport(file: path, format: "unknown") }
    }

    /// A request that was sent.
    struct Sent {
        let post: ServiceClient.PostUnderWay
        let batches: [(device: Handle, batch: PendingBatch)]
        /// The progress once this request and all before it are answered; `nil` if earlier records still wait.
        let done: Done?
    }

    /// A position in the file, and the counts of the records that were read before it and not sent.
    struct Done {
        let position: FilePosition
        let report: ImportReport
    }

    init(client: Client, choices: Choices, console: Console) {
        (self.client, self.choices, self.console) = (client, choices, console)
        sending = Sending("")
    }

    /// Imports one file. A fault of the file is in the report, and the next file can be tried.
    ///
    /// - Throws: ``ToolError`` if the service cannot be reached, or does not allow it. The import can then be continued.
    mutating func importFile(_ path: String) throws(ToolError) -> ImportReport {
        began = .now
        guard let file = InputFile(path) else {
            return Self.unread(path, "cannot be opened: \(lastSystemError()).")
        }
        (sending, waiting) = (Sending(path), Waiting())
        let state = try resume(path, file)
        let reading = FileReading(
            FileChoices(now: choices.now, zone: choices.zone, system: choices.system, format: choices.format),
            after: state?.position
        ) { file.read(atMost: Self.chunkBytes) }
        var report = ImportReport(file: path, format: "unknown")
        if let state { report.add(state.report) }
        var isAtEnd = false
        while !isAtEnd, report.fault == nil {
            switch Self.step(reading) {
            case .success(nil): isAtEnd = true
            case .success(let records?):
                try requireChoices(for: reading.summary, path)
                sending.file.format = sending.file.format ?? Self.formatName(reading.summary)
                try take(records, upTo: reading.position, &report)
            case .failure(let fault):
                let wasRead = report.read > 0 || !reading.summary.parts.isEmpty
                report.failure = "was not \(wasRead ? "read to its end:" : "imported.") \(fault)"
            }
            if let error = file.error {
                report.failure =
                    report.read == 0 ? "cannot be read: \(error)." : "was not read to its end: \(error)."
            }
            showProgress(path, reading.bytesRead, of: file.byteCount, report)
        }
        try postAll(at: reading.position, report)
        while !sending.underWay.isEmpty { try settle() }
        try restoreSettings(&report)
        console.progress("")
        report.add(sending.answered)
        conclude(reading.summary, path, &report)
        try end(&report, path)
        // Not before: an end that the service did not record is repeated with the counts of all records.
        if let place = sending.place { ImportState.remove(place) }
        return report
    }

    private static func formatName(_ summary: FileSummary) -> String? {
        summary.isArchive ? "archive" : summary.parts.isEmpty ? nil : summary.formatName
    }

    /// Makes the regions and corrections of the file after its fixes, because those bring the person.
    private mutating func restoreSettings(_ report: inout ImportReport) throws(ToolError) {
        additions += try waiting.settings.restore(client, &report)
    }

    private static func step(_ reading: FileReading) -> Result<[FileRecord]?, FormatFault> {
        do throws(FormatFault) { return .success(try reading.next()) } catch { return .failure(error) }
    }

    // MARK: Beginning and ending

    /// Looks for an interrupted import of the same file by the same command, and asks the service whether it can go on.
    private mutating func resume(_ path: String, _ file: InputFile) throws(ToolError) -> ImportState? {
        let name = String(path.split(separator: "/").last.map(String.init)?.prefix(Limits.fileNameCharacters) ?? "")
        sending.file.name = name.isEmpty ? nil : name
        guard file.byteCount > 0, let bytes = file.head(Self.headBytes),
            let head = Hash256(bytes: SHA256().hash(bytes).bytes)
        else { return nil }
        (sending.file.byteCount, sending.file.head) = (Int64(file.byteCount), head)
        guard let key = choices.key else { return nil }
        let place = ImportState.Place(key, head: head, byteCount: file.byteCount)
        sending.place = place
        guard let state = ImportState(place), let person = choices.person ?? state.people.keys.min() else { return nil }
        // The service knows whether the import has ended or was undone meanwhile; then this is another one. After a restore,
        // the log may lack records from before the position.
        guard try begin(person), sending.id == state.id, sending.log == state.log else { return nil }
        sending.people = state.people
        console.note("\(path): continued after \(Text.count(state.report.read, "record")).")
        return state
    }

    /// Begins the import in the history of a person.
    ///
    /// - Returns: Whether it goes on with an earlier import.
    @discardableResult
    mutating func begin(_ person: Handle) throws(ToolError) -> Bool {
        let begun = try beginning(in: person)
        if begun.addedPerson { additions.append("Added the person \(person.text).") }
        (sending.id, sending.hasBegun) = (begun.id, true)
        sayID()
        return begun.isResumed
    }

    /// What the service says of the import in the history of a person; it begins there if it has not.
    mutating func beginning(in person: Handle) throws(ToolError) -> BegunImport {
        let (id, file) = (sending.id, sending.file)
        let answer = try client.post(APIPath.imports.parts()) { body in
            body.field("person", person.text)
            body.field("id", id)
            body.object("file") { Self.write(file, into: &$0) }
        }
        let begun = try answer.read(BegunImport.self)
        sending.log = begun.log
        return begun
    }

    func sayID() {
        console.note("Import \(sending.id). To undo it: whereabouts import undo \(sending.id)")
    }

    static func write(_ file: ImportedFile, into object: inout JSONWriter) {
        if let name = file.name { object.field("name", name) }
        if let format = file.format { object.field("format", format) }
        if let count = file.byteCount { object.field("bytes", count) }
        if let head = file.head { object.field("sha256", Hex.encode(head.bytes)) }
    }

    /// Ends the import for all of its people.
    private mutating func end(_ report: inout ImportReport, _ path: String) throws(ToolError) {
        guard sending.hasBegun else { return }
        report.undoID = sending.id
        if let person = choices.person {
            var counts = sending.people[person] ?? ImportCounts()
            // If there is no other person, the records without a person count as this person's.
            if sending.people.keys.allSatisfy({ $0 == person }) {
                counts.rejected = Int64(report.rejectedCount + report.untimed)
            }
            sending.people[person] = counts
        }
        // The people of the service must not see the path.
        let fault = report.failure.map { "\(sending.file.name ?? "The file") \($0)" }
        let cut = fault.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(Limits.importFaultCharacters))) }
        var people = sending.people.sorted { $0.key < $1.key }[...]
        while !people.isEmpty {
            _ = try client.post(APIPath.importsEnds.parts(sending.id)) { body in
                body.array("people") { array in
                    for (person, counts) in people.prefix(Limits.batchCommands) {
                        array.beginObject()
                        array.field("person", person.text)
                        array.field("new", counts.new)
                        array.field("duplicate", counts.duplicate)
                        array.field("visits", counts.visits)
                        array.field("rejected", counts.rejected)
                        array.endObject()
                    }
                }
                if let cut { body.field("fault", cut) }
            }
            people = people.dropFirst(Limits.batchCommands)
        }
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
            report.failure = "was not read to its end: it has \(Text.count(damaged, "damaged member"))."
        }
    }

    private static func unread(_ path: String, _ failure: String) -> ImportReport {
        var report = ImportReport(file: path, format: "unknown")
        report.failure = failure
        return report
    }

    /// - Parameter position: The position behind the last of the records.
    private mutating func take(
        _ records: [FileRecord], upTo position: FilePosition, _ report: inout ImportReport
    ) throws(ToolError) {
        for (index, record) in records.enumerated() {
            report.read += 1
            let before = FilePosition(part: position.part, records: position.records - records.count + index)
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
                try add(.fix(fix), of: person, record, before, report)
            case .visit(let visit, let user):
                guard let person = user ?? choices.person else {
                    report.reject(RejectionReason.missingField.word, line: record.place)
                    continue
                }
                try add(.visit(visit), of: person, record, before, report)
            case .setting(let setting):
                guard waiting.settings.append(setting, line: record.place) else {
                    report.reject(RejectionReason.tooLarge.word, line: record.place)
                    continue
                }
            }
        }
    }

    /// - Parameter before: The position before the record.
    private mutating func add(
        _ item: PendingBatch.Item, of person: Handle, _ record: FileRecord, _ before: FilePosition,
        _ report: ImportReport
    ) throws(ToolError) {
        let line = record.place
        let device = try device(of: person, named: record.device)
        var batch = waiting.pending.removeValue(forKey: device) ?? PendingBatch(person: person)
        if !batch.append(item, line: line) {
            waiting.fixes -= batch.count
            // The record itself was counted as read.
            var done: Done?
            if waiting.pending.isEmpty, waiting.settings.isEmpty {
                var counted = report
                counted.read -= 1
                done = Done(position: before, report: counted)
            }
            try post([(device, batch)], done)
            batch = PendingBatch(person: person)
            precondition(batch.append(item, line: line), "A single fix fits into a batch.")
        }
        waiting.pending[device] = batch
        waiting.fixes += 1
        if waiting.fixes >= Self.pendingMax {
            try postAll(at: FilePosition(part: before.part, records: before.records + 1), report)
        }
    }

    /// How many people and devices were added beyond ``additions``, as a sentence; `nil` if none.
    var furtherAdditions: String? {
        let (people, devices) = unnamedAdditions
        guard people + devices > 0 else { return nil }
        return "Added \(Text.count(people)) more people and \(Text.count(devices)) more devices."
    }

    /// The records in a second and the time left, after the first seconds; as far as the file's size is known.
    private func pace(_ done: Int, of total: Int, _ report: ImportReport) -> String {
        let seconds = began.duration(to: .now) / .seconds(1)
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
