import Answers
import Cryptography
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Threading
import Whereabouts
import WireFormats

/// Imports of files: begins, ends, lists and undoes them. ``IngestEndpoints`` takes their batches.
///
/// An import's events have its id as their correlation. A fix that was in the log already makes no event. So an undo withdraws
/// only fixes that were new with this import, also if a later import contains them too.
///
/// A person may list and undo their own imports, and the operator all imports.
struct ImportEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// The fixes and visits that one request withdraws or restores, at most.
    static let reportsAtOnce = 10_000
    /// The events whose headers one request looks at, at most.
    static let numbersAtOnce: Int64 = 1_000_000
    /// The commands that wait in the log's queue at once.
    private static let commandsAtOnce = 500
    /// The imports that the operator's list shows, at most.
    static let importsListed = 1000
    /// The people whom an item of the operator's list names.
    private static let peopleNamed = 20

    // MARK: Beginning and ending

    /// `POST /v1/imports`: begins an import of `file` into the history of `person`, who is added if they do not exist.
    /// Without `id`, the import gets one. An import of the same file that has not ended is continued.
    func begin(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try requireOperator(exchange)
        let body = try exchange.object("person", "file", "id")
        let file = try Self.file(body["file"])
        let id = try body.optionalText("id").map { (text) throws(Problem) in try Self.id(text) } ?? Self.newID(exchange)
        let person = try body.handle("person")
        let isKnown = decisions.log.withStanding { $0.person(person) != nil }
        let order = Order.beginImport(ImportReference(id: id, file: file), of: person)
        let receipt: Receipt
        do throws(AppendFailure) {
            receipt = try decisions.log.appendAndWait(order.command, by: exchange.caller, correlation: id)
        } catch { throw Problem(error) }
        guard let number = order.read(receipt.reply),
            let begun = decisions.log.withStanding({ $0.persons.imports[number]?.id })
        else { throw .overSince }
        return .reply(
            BegunImport(
                id: begun.description, isResumed: !receipt.isOfEvent, addedPerson: !isKnown && receipt.isOfEvent,
                log: "\(decisions.log.id)/\(decisions.log.epoch)"))
    }

    /// The file of a body. A client need not say anything about it.
    static func file(_ json: JSONValue?) throws(Problem) -> ImportedFile {
        guard let json, !json.isNull else { return ImportedFile() }
        guard json.kind == .object else {
            throw .invalid(
                "\"file\" must be an object with \"name\", \"format\", \"bytes\" and \"sha256\" as far as known.")
        }
        try json.takeOnly(["name", "format", "bytes", "sha256"], of: "\"file\"")
        var head: Hash256?
        if let text = try json.optionalText("sha256") {
            guard let bytes = Hex.decode(text), let hash = Hash256(bytes: bytes) else {
                throw .invalid("\"sha256\" must be the 64 hexadecimal digits of the SHA-256 of the file's beginning.")
            }
            head = hash
        }
        let file = ImportedFile(
            name: try json.optionalText("name"), format: try json.optionalText("format"),
            byteCount: try json.optionalInteger("bytes"), head: head)
        if let defect = file.defect { throw .refused(defect) }
        return file
    }

    /// The id of an import; the events of the import have it as their correlation.
    static func id(_ text: String) throws(Problem) -> Identifier128 {
        guard let id = Identifier128(text), !id.isOfKeyedRequest else {
            throw .invalid("The import's id must be a UUID, for example a random one of version 4.")
        }
        return id
    }

    private static func newID(_ exchange: Exchange) -> Identifier128 {
        let bytes = exchange.secretBytes
        func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return Identifier128(random: word(0), word(8))
    }

    /// `POST /v1/imports/*/ends`: ends an import for the people of the body, each with their counts. A repetition changes
    /// nothing.
    func end(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try requireOperator(exchange)
        let id = try Self.id(exchange.parameters[0])
        let body = try exchange.object("people", "fault")
        guard let people = body["people"]?.array.map(Array.init), people.count <= Limits.batchCommands else {
            throw .invalid("\"people\" must be a list of at most \(Limits.batchCommands) people with their counts.")
        }
        let fault = try body.optionalText("fault").map { ImportFault($0) }
        if let defect = fault?.defect { throw .refused(defect) }
        var commands: [Command] = []
        for person in people {
            try person.takeOnly(["person", "new", "duplicate", "visits", "rejected"], of: "\"people\"")
            let counts = ImportCounts(
                new: try person.optionalInteger("new") ?? 0, duplicate: try person.optionalInteger("duplicate") ?? 0,
                visits: try person.optionalInteger("visits") ?? 0,
                rejected: try person.optionalInteger("rejected") ?? 0)
            commands.append(.endImport(id, counts, fault: fault, of: try person.handle("person")))
        }
        // All people share commits.
        let answered = Monitor<[Result<Receipt, AppendFailure>]?>(nil)
        decisions.log.submit(commands, by: exchange.caller, correlation: id) { results in
            answered.change { $0 = results }
        }
        for result in answered.wait(for: { $0 }) ?? [] {
            do throws(AppendFailure) { _ = try result.get() } catch { throw Problem(error) }
        }
        return .json(Array("{}".utf8))
    }

    private func requireOperator(_ exchange: Exchange) throws(Problem) {
        guard Self.isOperator(exchange.caller) else { throw .notFound }
    }

    private static func isOperator(_ caller: Caller) -> Bool {
        caller.principal == .operator && caller.scopes.contains([.operate, .manage])
    }

    // MARK: Lists

    /// `GET /v1/people/*/imports`: the imports into a person's history, oldest first.
    func list(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> Disclosed {
        try views.settings(exchange, context) { standing, person, _, page in
            for number in standing.persons.imports.imports(of: person) {
                guard let known = standing.persons.imports[number] else { continue }
                page.add(number.rawValue, Self.item(known))
            }
        }
    }

    private static func item(_ known: Standing.Import) -> ImportItem {
        var item = ImportItem(id: known.id.description, state: known.state, begun: Moment(known.begunAt))
        (item.file, item.format, item.bytes) = (known.file.name, known.file.format, known.file.byteCount)
        if let end = known.end {
            item.ended = Moment(end.at)
            item.counts = counts(end.counts)
            if end.isFaulty { (item.isFaulty, item.fault) = (true, end.fault) }
        }
        return item
    }

    private static func counts(_ counts: ImportCounts) -> ImportCountsItem {
        ImportCountsItem(
            new: counts.new, duplicate: counts.duplicate, visits: counts.visits, rejected: counts.rejected)
    }

    /// `GET /v1/imports`: the newest imports of the house, newest first, with the handles of their people. The names of
    /// the files are in the lists of these people.
    func all(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try requireOperator(exchange)
        let limit = Int(
            try exchange.integer("limit", in: 1...Int64(Self.importsListed), default: Int64(Self.importsListed)))
        let references = decisions.references(for: exchange.caller)
        let body = decisions.log.withStanding { standing in
            let newest = standing.persons.imports.newest(limit)
            let items = newest.map { id in Self.item(id, standing) }
            return Page(items: items, end: PageEnd(next: nil, asOf: references.place(standing.place))).bytes
        }
        return .json(body)
    }

    private static func item(_ id: Identifier128, _ standing: borrowing Standing) -> HouseImportItem {
        var (people, sum): ([String], ImportCounts) = ([], ImportCounts())
        var (isRunning, isUndone) = (false, true)
        var begun: Timestamp?
        let numbers = standing.persons.imports.imports(id: id)
        for number in numbers {
            guard let known = standing.persons.imports[number] else { continue }
            begun = begun ?? known.begunAt
            isRunning = isRunning || known.end == nil
            isUndone = isUndone && known.isUndone
            if let counts = known.end?.counts {
                sum.new = clampedSum(sum.new, counts.new)
                sum.duplicate = clampedSum(sum.duplicate, counts.duplicate)
                sum.visits = clampedSum(sum.visits, counts.visits)
                sum.rejected = clampedSum(sum.rejected, counts.rejected)
            }
            if people.count < peopleNamed, let handle = standing.persons[known.person]?.handle {
                people.append(handle.text)
            }
        }
        return HouseImportItem(
            id: id.description, state: isUndone ? "undone" : isRunning ? "running" : "ended",
            begun: Moment(begun ?? Timestamp(milliseconds: 0)), people: people, personCount: Int64(numbers.count),
            counts: counts(sum))
    }

    /// The log of an older version may hold any count.
    private static func clampedSum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    // MARK: Undoing

    /// `POST /v1/imports/*/withdrawals`: withdraws the next fixes and visits of an import. Repeated until `next` is null,
    /// it withdraws all. After an interruption, the caller begins again without `after`.
    ///
    /// Recorded as `FixesWithdrawn` or `VisitsWithdrawn` in the audit of each person, with the `reason`. The events of the
    /// fixes stay in the log.
    ///
    /// - Throws: 404 for another caller, 400 for an id that is no UUID or a missing `reason`, 422 for an empty or too long
    ///   `reason` and for a negative `after`.
    func withdraw(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try revise(exchange, context) { run, revision, handle in
            run.isVisits
                ? .withdrawVisits(run.reports, revision, of: handle) : .withdrawFixes(run.reports, revision, of: handle)
        }
    }

    /// `POST /v1/imports/*/restorations`: as ``withdraw(_:_:)``, and restores.
    func restore(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try revise(exchange, context) { run, revision, handle in
            run.isVisits
                ? .restoreVisits(run.reports, revision, of: handle) : .restoreFixes(run.reports, revision, of: handle)
        }
    }

    /// Fixes, or visits, of one device whose events follow each other.
    private struct Run {
        /// The owner of the device.
        let person: PersonID
        /// The device that the import names.
        let device: DeviceID
        /// Whether the events are of visits.
        let isVisits: Bool
        /// The numbers of the first and of the last event.
        var numbers: ClosedRange<Int64>
        /// The device's times of the earliest and of the latest fix.
        var time: ClosedRange<Timestamp>

        var reports: FixNumbers { FixNumbers(device: device, numbers: numbers) }
    }

    /// The part of the log that has the events of an import.
    private struct Extent {
        /// The people whose events are revised; `nil` for all, of an import that no event began.
        var people: [PersonID: Handle]?
        /// The numbers of the events are greater than the first and not greater than the second.
        var after: Int64
        var through: Int64
    }

    /// Where to look for the events of an import, as far as the caller may revise them.
    ///
    /// - Throws: 404 if the caller may not revise any.
    private func extent(_ id: Identifier128, _ caller: Caller) throws(Problem) -> Extent {
        let now = decisions.clock()
        let found = decisions.log.withStanding { standing in
            var extent = Extent(people: [:], after: .max, through: 0)
            for number in standing.persons.imports.imports(id: id) {
                guard let known = standing.persons.imports[number],
                    let handle = standing.persons[known.person]?.handle,
                    case .success = standing.authorize(caller, to: .manage, about: handle, at: now)
                else { continue }
                extent.people?[known.person] = handle
                extent.after = min(extent.after, number.rawValue)
                extent.through = max(extent.through, known.end?.number ?? .max)
            }
            return extent
        }
        if found.people?.isEmpty == false { return found }
        // Versions before 0.2 did not record the beginning.
        guard Self.isOperator(caller) else { throw .notFound }
        return Extent(people: nil, after: 0, through: .max)
    }

    /// Revises the next reports of an import. The counts include reports that were in the wanted state before.
    ///
    /// Cost: a look at up to ``numbersAtOnce`` headers, about 0.3 s; one answering thread, until all is committed.
    private func revise(
        _ exchange: Exchange, _ context: AnswerContext, _ command: (Run, FixRevision, Handle) -> Command
    ) throws(Problem) -> HTTPResponse {
        guard let id = Identifier128(exchange.parameters[0]) else {
            throw .invalid("The import's id in the address must be a UUID.")
        }
        var extent = try extent(id, exchange.caller)
        let references = decisions.references(for: exchange.caller)
        let body = try exchange.object("reason", "after")
        let reason = try body.requiredText("reason")
        // Here too, because an import may have nothing to revise.
        if let defect = FixRevision.defect(ofReason: reason) { throw .refused(defect) }
        if let after = body["after"], !after.isNull {
            let text = after.string ?? after.int.map { "\($0)" } ?? ""
            guard let number = references.number(text, .event), number >= 0 else {
                throw .refused("\"after\" must be the \"next\" of the previous answer.")
            }
            extent.after = max(extent.after, number)
        }
        var done = RevisedImport(fixes: 0, visits: 0, next: nil)
        while true {
            let end = min(extent.through, decisions.log.head)
            let through = extent.after < end ? min(end, extent.after + Self.numbersAtOnce) : end
            let events: [RecordedEvent]
            do throws(LogError) {
                events = try context.reader.imported(
                    id, of: extent.people?.count == 1 ? extent.people?.keys.first : nil, after: extent.after,
                    through: through, limit: Self.reportsAtOnce)
            } catch { throw .broken }
            try append(Self.runs(of: events), of: extent.people, exchange.caller, id, reason, command, &done)
            if events.count == Self.reportsAtOnce {
                done.next = events.last.map { references.event($0.number) }
            } else if through < end {
                done.next = references.event(through)
            } else if !events.isEmpty, extent.through == .max {
                // A batch may have been recorded before the first of these events refused it.
                extent.after = through
                continue
            }
            return .reply(done)
        }
    }

    /// Appends a command for each run, ``commandsAtOnce`` at a time, which share commits. The correlation is the
    /// import's id, so the list shows the import as undone.
    private func append(
        _ runs: [Run], of people: [PersonID: Handle]?, _ caller: Caller, _ id: Identifier128, _ reason: String,
        _ command: (Run, FixRevision, Handle) -> Command, _ done: inout RevisedImport
    ) throws(Problem) {
        for start in stride(from: 0, to: runs.count, by: Self.commandsAtOnce) {
            var commands: [Command] = []
            for run in runs[start..<min(start + Self.commandsAtOnce, runs.count)] {
                if let people, people[run.person] == nil { continue }
                guard let handle = decisions.log.withStanding({ $0.persons[run.person]?.handle }) else { continue }
                commands.append(command(run, FixRevision(time: run.time, reason: reason), handle))
                if run.isVisits {
                    done.visits += Int64(run.numbers.count)
                } else {
                    done.fixes += Int64(run.numbers.count)
                }
            }
            let answered = Monitor<[Result<Receipt, AppendFailure>]?>(nil)
            decisions.log.submit(commands, by: caller, correlation: id) { results in answered.change { $0 = results } }
            for result in answered.wait(for: { $0 }) ?? [] {
                do throws(AppendFailure) { _ = try result.get() } catch { throw Problem(error) }
            }
        }
    }

    /// The runs of fixes or visits, each at most as long as a batch. Reports that can no longer be read are in none.
    private static func runs(of events: [RecordedEvent]) -> [Run] {
        var runs: [Run] = []
        for event in events {
            guard let person = event.stream.person else { continue }
            let device: DeviceID
            let time: ClosedRange<Timestamp>
            var isVisits = false
            switch event.event {
            case .fixReported(let reporter, _, .open(let fix)):
                (device, time) = (reporter, fix.timestamp...fix.timestamp)
            case .sightingReported(let reporter, .visit, .open(.visit(let visit))):
                let times = [visit.timestamp, visit.arrival ?? visit.timestamp, visit.departure ?? visit.timestamp]
                (device, time, isVisits) = (reporter, (times.min() ?? times[0])...(times.max() ?? times[0]), true)
            default: continue
            }
            if var run = runs.last, run.person == person, run.device == device, run.isVisits == isVisits,
                run.numbers.upperBound + 1 == event.number, run.numbers.count < Limits.batchCommands
            {
                run.numbers = run.numbers.lowerBound...event.number
                run.time =
                    min(run.time.lowerBound, time.lowerBound)...max(run.time.upperBound, time.upperBound)
                runs[runs.count - 1] = run
            } else {
                runs.append(
                    Run(
                        person: person, device: device, isVisits: isVisits, numbers: event.number...event.number,
                        time: time))
            }
        }
        return runs
    }
}
