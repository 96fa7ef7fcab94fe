import Answers
import Glibc
import HTTPServer
import JSON
import Log
import Maintenance
import Projections
import Replies
import SQLite
import Synchronization
import Tables
import Whereabouts

/// The operator's requests: events of the log, projections, verification, backups.
///
/// All need a token with the scope `operate`; other callers get 404. Numbers and places in these answers are those of
/// the log.
///
/// Acts that change the answers, for example the activation of a projection, are recorded as `OperatorActed`
/// before they are done, and every person's audit shows them. Reads of people's data are recorded in the audits of
/// these people.
struct OperateEndpoints: Sendable {
    let decisions: Decisions
    let gate: Gate
    let host: ProjectionHost
    let directory: DataDirectory
    let backupMaker: BackupMaker
    let verificationProgress: VerificationProgress
    /// `nil` unless events are shipped.
    let shipper: Shipper?
    let work: OperatorWork

    /// A bound on `version` that no projection will reach.
    private static let versionMax: Int64 = 1_000_000

    /// `GET /healthz`: whether the process works; needs no token. 503 means that only a restart helps.
    ///
    /// The answer has no figures and names nothing of the service.
    func health(_ exchange: Exchange, _ context: AnswerContext) throws(Problem)
        -> HTTPResponse
    {
        // After a failure, the log does not work before a restart.
        guard decisions.log.failure == nil else { throw .broken }
        return .json(Array(#"{"status":"ok"}"#.utf8))
    }

    /// `GET /readyz`: whether the service can do all its work, or the reason why not; needs no token.
    ///
    /// 503 while the disk is full, while a commit takes long, or while a projection is behind or being folded again. A trouble that callers do not
    /// notice, for example a standing that cannot be saved, is a `note` in the answer 200.
    ///
    /// The sentence names projections and files, and no person.
    func readiness(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard decisions.log.failure == nil else { throw .broken }
        if decisions.log.room?.isShort == true { throw Problem(503, "No room", Self.noRoom, retryAfterSeconds: 60) }
        guard decisions.log.secondsOfCommit <= EventLog.longestCommitSeconds else {
            throw Problem(503, "Not durable", Self.stuckCommit, retryAfterSeconds: 5)
        }
        let troubles = host.troubles
        guard troubles.isEmpty else {
            throw Problem(503, "Behind", troubles.joined(separator: " "), retryAfterSeconds: 5)
        }
        guard ProjectionKind.all.allSatisfy({ host.activePath(of: $0.name) != nil }) else {
            throw Problem(
                503, "Being rebuilt", "A view is being folded from the log again; send the same request again later.",
                retryAfterSeconds: 2)
        }
        var notes: [String] = []
        if decisions.log.isStandingUnsaved { notes.append(Self.unsavedStanding) }
        if !host.outdated.isEmpty { notes.append(Self.outdatedViews(host.outdated)) }
        if host.selfCheck.isLogDamaged { notes.append(Self.damagedLog) }
        if decisions.log.identities?.trouble != nil { notes.append(Self.stuckIdentities) }
        if shipper?.isFailing == true { notes.append(Self.stuckShipping) }
        return .reply(Readiness(status: "ready", note: notes.isEmpty ? nil : notes.joined(separator: " ")))
    }

    private static let stuckCommit =
        "The newest events have waited for the disk, or for the database and its standbys, for more than 10 s. Nothing that was acknowledged is lost."

    /// The sentence of a full disk, in `/readyz`.
    private static let noRoom =
        "The disk is full: free some space. Until then, the service refuses reports and questions with 507."
    /// A note: the service works, and its next start folds the standing again.
    private static let unsavedStanding =
        "The standing cannot be saved. Nothing is lost, but the next start takes longer; the diagnostics say why."

    /// A note: answers come from files of another version of the program, and lack the events since the update.
    private static func outdatedViews(_ names: [String]) -> String {
        "After the update, answers from \(names.joined(separator: ", ")) lack the newest events until it is folded from the log again."
    }
    /// A note of the background check. It names no number: this answer needs no token.
    private static let damagedLog =
        "The background check found an event of the log that was changed. Run whereabouts verify."

    /// A note: reports are accepted, and the index is tried again.
    private static let stuckIdentities =
        "The index of fixes cannot be written. Reports are still accepted, and the service tries again; the diagnostics say why."

    /// A note: nothing is lost here, but another place lacks the newest events.
    private static let stuckShipping =
        "Events cannot be shipped to the place in config.json. The service works on and tries again; the diagnostics say why."

    /// Throws 404 unless the caller's token has the scope `operate`.
    static func requireOperator(_ exchange: Exchange) throws(Problem) {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
    }

    /// Runs an act of the operator that concerns everyone. The act is recorded before `body` runs, and its failure
    /// after, if `body` throws. Every person's audit shows both.
    ///
    /// - Throws: The problem of the log if the act cannot be recorded, for example 507 on a full disk; `body` does
    ///   not run then. Otherwise what `body` throws.
    func doing<R>(
        _ act: OperatorAct, _ exchange: Exchange, _ body: () throws(Problem) -> R
    ) throws(Problem) -> R {
        let receipt = try decisions.append(exchange, .recordAct(act))
        do throws(Problem) { return try body() } catch {
            try decisions.append(exchange, .recordAct(.failed(receipt.last)))
            throw error
        }
    }

    /// The projection of this name, or a problem: the log records the name, so it must be a known one.
    private static func projection(_ name: String) throws(Problem) -> ProjectionKind {
        guard let kind = ProjectionKind.named(name) else {
            throw Problem(
                404, "Not found", "\(ProjectionHost.HostError.unknownProjection(name, ProjectionKind.all.map(\.name)))")
        }
        return kind
    }

    // MARK: Events

    /// The most events in a page.
    private static let eventsPerPage: Int64 = 1000
    /// The longest time that one request waits for the next event.
    private static let longestWaitSeconds: Int64 = 30
    /// How many followers may wait for events. Each holds an answering thread; the others stay free for questions.
    private static let mostFollowers = AnswerPool.threads / 2

    /// `GET /v1/events`: a page of the log, in its order; with `wait`, waits for the next event.
    ///
    /// `after` is the number of the last event seen. `kind` and `person` filter; events that do not match are read all
    /// the same, so `next` may be far ahead of the last item. With `asStored`, the sealed parts stay closed and the
    /// read is not recorded. Otherwise each person concerned sees the read in their audit.
    ///
    /// - Throws: 503 for more than `mostFollowers` waiting requests, 500 if a stored event cannot be read.
    ///
    /// For example `?person=anna&kind=fixReported&limit=100`. Cost: events are read from `after` on until the page is
    /// full; a rare kind reads the whole log.
    func events(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try Self.requireOperator(exchange)
        let after = try exchange.integer("after", in: 0...Int64.max, default: 0)
        let limit = try exchange.integer("limit", in: 1...Self.eventsPerPage, default: 100)
        let wait = try exchange.integer("wait", in: 0...Self.longestWaitSeconds, default: 0)
        let isStored = try exchange.flag("asStored")
        let kind = try exchange.request.parameter("kind").map { (name) throws(Problem) in
            guard let kind = EventKind.allCases.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw .invalid("\"kind\" is not a kind of event; the documentation's page Events lists them.")
            }
            return kind
        }
        let person = try exchange.request.parameter("person").map { (text) throws(Problem) in
            guard let handle = Handle(text), let person = decisions.log.withStanding({ $0.person(handle) }) else {
                throw .noSuchPerson
            }
            return person
        }
        var place = after
        var page: [EventJSON.Item] = []
        if wait > 0, decisions.log.head <= after {
            let followers = work.followers.add(1, ordering: .relaxed).newValue
            defer { work.followers.subtract(1, ordering: .relaxed) }
            guard followers <= Self.mostFollowers else { throw .busy(1) }
            decisions.log.waitForCaller(after: after, milliseconds: Int(wait) * 1000)
        }
        let head = decisions.log.head
        scan: while page.count < Int(limit), place < head {
            let stored: [LogReader.StoredEvent]
            do throws(LogError) { stored = try context.reader.storedEvents(after: place, limit: 1000) } catch {
                throw Problem(500, "Damaged", "\(error) Run `verify`.")
            }
            if stored.isEmpty { break }
            for event in stored where event.header.number <= head {
                place = event.header.number
                if let kind, event.header.kind != kind.rawValue { continue }
                if let person, event.header.stream.person != person { continue }
                if isStored {
                    page.append(EventJSON.Item(stored: event, opened: nil))
                } else {
                    let opened: RecordedEvent
                    do throws(LogError) { opened = try context.reader.open(event) } catch {
                        throw Problem(500, "Damaged", "\(error) Run `verify`.")
                    }
                    // A follower must not see the records that following makes: they would never end.
                    if wait > 0, case .locationRead(let read) = opened.event, read.question == .events,
                        read.reader == .operator
                    {
                        continue
                    }
                    page.append(EventJSON.Item(stored: event, opened: opened))
                }
                if page.count == Int(limit) { break scan }
            }
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.array("items") { writer in
            for item in page { item.write(into: &writer) }
        }
        let hasMore = place < head || wait > 0
        writer.members(of: PageEnd(next: hasMore ? .text("\(place)") : nil, asOf: .number(head)))
        writer.endObject()
        if isStored { return gate.sealed(writer.bytes) }
        let persons = page.lazy.map { item in
            // The house's stream has questions about unknown persons; these belong to the person who asked.
            item.stored.header.stream.person ?? PersonID(rawValue: item.stored.header.actor.rawValue)
        }
        return try gate.read(exchange, about: persons, writer.bytes, asOf: head)
    }

    // MARK: Projections

    /// `GET /v1/projections`: each generation with its place and state. `fingerprint` is that of its content, without
    /// the numbers of events.
    func projections(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try Self.requireOperator(exchange)
        let head = decisions.log.head
        let items = host.status.map { status in
            var item = ProjectionItem(
                generation: GenerationItem(status.generation), place: status.place, head: head,
                state: status.isLoading
                    ? ProjectionItem.loading : status.isOutdated ? ProjectionItem.outdated : ProjectionItem.ready,
                fingerprint: status.fingerprint.hex)
            item.eventsPerSecond = status.eventsPerSecond
            item.secondsLeft = status.secondsLeft
            item.checkedAt = host.selfCheck.checkedAt(status.generation).map { Moment(milliseconds: $0.milliseconds) }
            return item
        }
        return .reply(Page(items: items, end: PageEnd(asOf: .number(head))))
    }

    /// `POST /v1/projections/*/rebuild`: folds a new generation beside the active one, in the background. Answers with
    /// the new generation at once.
    ///
    /// - Throws: 404 for an unknown projection, 409 if the version is unknown, 422 for a version that no projection can
    ///   have.
    ///
    /// Recorded as `OperatorActed(rebuildProjection)`. The active generation answers until ``activate(_:_:)``. The
    /// disk needs room for both.
    func rebuild(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try Self.requireOperator(exchange)
        let given = exchange.request.body.isEmpty ? nil : try exchange.object("version").optionalInteger("version")
        let kind = try Self.projection(exchange.parameters[0])
        let version = given ?? kind.newest
        // Checked first, because the act is recorded before it is tried.
        guard (1...Self.versionMax).contains(version) else {
            throw .refused("\"version\" must be a version of the projection, for example \(kind.newest).")
        }
        return try change(.rebuildProjection(kind.name, version: version), exchange) {
            (worker, name) throws(ProjectionHost.HostError) in try worker.rebuild(name, version: version)
        }
    }

    /// `POST /v1/projections/rebuilds`: folds a new generation of every projection, with one scan of the log. Answers with
    /// the new generations at once.
    ///
    /// Recorded as one `OperatorActed(rebuildProjection)` for each projection. A rebuild of the newest version that is
    /// under way goes on.
    func rebuildAll(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try Self.requireOperator(exchange)
        var acts: [Int64] = []
        for kind in ProjectionKind.all {
            let act = OperatorAct.rebuildProjection(kind.name, version: kind.newest)
            acts.append(try decisions.append(exchange, .recordAct(act)).last)
        }
        do throws(Problem) {
            let made = try perform { (worker) throws(ProjectionHost.HostError) in try worker.rebuildAll() }
            return .reply(RebuildingGenerations(items: made.map { GenerationItem($0) }))
        } catch {
            for act in acts { try decisions.append(exchange, .recordAct(.failed(act))) }
            throw error
        }
    }

    /// `POST /v1/projections/*/activate`: makes the rebuilt generation active. 409 if there is none, or while it is not
    /// complete.
    ///
    /// Recorded as `OperatorActed(activateProjection)`. Answers from then on come from the new generation; the old
    /// one is kept for ``rollback(_:_:)``.
    func activate(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try Self.requireOperator(exchange)
        let act = OperatorAct.activateProjection(try Self.projection(exchange.parameters[0]).name)
        return try change(act, exchange) { (worker, name) throws(ProjectionHost.HostError) in
            try worker.activate(name)
        }
    }

    /// `POST /v1/projections/*/rollback`: makes the previous generation active again.
    ///
    /// Recorded as `OperatorActed(rollBackProjection)`. 409 if there is no previous generation, for example after
    /// ``prune(_:_:)``.
    func rollback(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try Self.requireOperator(exchange)
        let act = OperatorAct.rollBackProjection(try Self.projection(exchange.parameters[0]).name)
        return try change(act, exchange) { (worker, name) throws(ProjectionHost.HostError) in
            try worker.rollback(name)
        }
    }

    /// Records the act, does it on the host's thread, and answers with the generation it is about.
    ///
    /// - Throws: 404, 409 or 503, as ``perform(_:)``. The failure is then on record.
    private func change(
        _ act: OperatorAct, _ exchange: Exchange,
        _ body:
            @escaping @Sendable (ProjectionHost.Worker, String) throws(ProjectionHost.HostError) -> Catalog.Generation
    ) throws(Problem) -> HTTPResponse {
        let name = exchange.parameters[0]
        let generation = try doing(act, exchange) { () throws(Problem) in
            try perform { (worker) throws(ProjectionHost.HostError) in try body(worker, name) }
        }
        return .reply(GenerationItem(generation))
    }

    /// `POST /v1/projections/prune`: deletes the generations that are not active, of one projection (`name`) or of all.
    /// Answers with the deleted ones. Afterwards there is no rollback.
    ///
    /// Recorded as `OperatorActed(pruneProjections)`. The active generation always stays.
    func prune(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try Self.requireOperator(exchange)
        let name = exchange.request.body.isEmpty ? nil : try exchange.object("name").optionalText("name")
        if let name { _ = try Self.projection(name) }
        let gone = try doing(.pruneProjections(name), exchange) { () throws(Problem) in
            try perform { (worker) throws(ProjectionHost.HostError) in try worker.prune(name) }
        }
        return .reply(PrunedGenerations(items: gone.map { GenerationItem($0) }))
    }

    /// `GET /v1/projections/*/diff`: the rows in which the rebuilt generation differs from the active one. The persons
    /// in the rows see the read in their audit.
    ///
    /// - Throws: 503 if the two files do not agree on a place within 50 tries.
    ///
    /// Cost: reads both files completely; one answering thread.
    ///
    /// The rows are at most `ProjectionDiff.rowsTold`; the counts are of all.
    func diff(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> Disclosed {
        try Self.requireOperator(exchange)
        let name = exchange.parameters[0]
        guard let kind = ProjectionKind.named(name) else {
            throw Problem(
                404, "Not found", "\(ProjectionHost.HostError.unknownProjection(name, ProjectionKind.all.map(\.name)))")
        }
        // While events are being appended, the two files agree on a place only between batches.
        for _ in 0..<50 {
            let pair = try perform { (worker) throws(ProjectionHost.HostError) in try worker.pairForDiff(name)
            }
            let directory = directory.projections
            let found: ProjectionDiff?
            do throws(SQLiteError) {
                found = try ProjectionDiff.between(
                    kind, active: "\(directory)/\(pair.active.fileName)", other: "\(directory)/\(pair.other.fileName)")
            } catch { throw Problem(500, "Damaged", "A projection cannot be read: \(error).") }
            if let found {
                let persons = found.rows.compactMap(\.person)
                let handles = decisions.log.withStanding { standing in
                    var handles: [PersonID: String] = [:]
                    for person in persons { handles[person] = standing.persons[person]?.handle?.text }
                    return handles
                }
                let body = ProjectionDifference(found, pair) { handles[$0] }.bytes
                return try gate.read(exchange, about: persons, body, asOf: found.place)
            }
            usleep(20_000)
        }
        throw Problem.busy(2)
    }

    /// Does `body` on the host's thread, and turns its errors into problems: 404 unknown projection, 409 not possible
    /// or not ready, 503 fault.
    private func perform<R: Sendable>(
        _ body: @escaping @Sendable (ProjectionHost.Worker) throws(ProjectionHost.HostError) -> R
    ) throws(Problem) -> R {
        do throws(ProjectionHost.HostError) { return try host.perform(body) } catch {
            switch error {
            case .unknownProjection: throw Problem(404, "Not found", "\(error)")
            case .unknownVersion, .nothingTo: throw Problem(409, "Not possible now", "\(error)")
            case .stillLoading: throw Problem(409, "Not ready", "\(error)")
            case .fault: throw Problem(503, "Not available", "\(error)", retryAfterSeconds: 5)
            }
        }
    }
}

extension GenerationItem {
    /// A generation as the catalog has it.
    init(_ generation: Catalog.Generation) {
        self.init(
            name: generation.name, version: generation.version, generation: generation.generation,
            role: generation.role.rawValue)
    }
}

extension ProjectionDifference {
    /// The counts of the differences, the two generations, and the first rows.
    ///
    /// - Parameter handle: The handle of a person; `nil` for one that does not exist.
    init(
        _ diff: ProjectionDiff, _ pair: (active: Catalog.Generation, other: Catalog.Generation),
        handle: (PersonID) -> String?
    ) {
        self.init(
            isEqual: diff.isEqual, added: Int64(diff.added), removed: Int64(diff.removed),
            changed: Int64(diff.changed), asOf: .number(diff.place), active: GenerationItem(pair.active),
            other: GenerationItem(pair.other),
            rows: diff.rows.map { row in
                DifferingRow(
                    person: row.person.flatMap(handle), table: row.table, key: row.key, change: row.change.rawValue,
                    old: row.active?.summary, new: row.other?.summary,
                    columns: row.differences.map { DifferingColumn(name: $0.column, old: $0.active, new: $0.other) })
            })
    }
}
