import Cryptography
import Glibc
import Log
import SQLite
import Threading
import Whereabouts

extension ProjectionHost {
    /// The owner of the files of all generations. Only the host's thread uses it, except in `init`.
    ///
    /// Each turn does the requests, tries to open closed files, folds a batch into each file, and publishes places
    /// and troubles. A trouble with one file never delays the others. Files that are loaded from zero are folded by
    /// this thread without traffic, and by a ``LoadingSlice`` beside traffic.
    package final class Worker {
        unowned let host: ProjectionHost
        let log: EventLog
        /// The catalog; only this thread writes it.
        let catalog: Catalog
        let directory: String
        let kinds: [ProjectionKind]
        /// The open files, one for each generation.
        var followed: [FollowedProjection] = []
        /// The files of other versions of the program that answer, by projection.
        var outdated: [String: OutdatedFile] = [:]
        /// How files are loaded from zero.
        var loading = Loading()
        /// Reads the log for the files that are followed.
        private let scan: SharedScan
        /// How often each projection was folded again because of damage.
        private var heals: [String: Int] = [:]
        /// After so many refolds of one projection, the fault is not a damaged file.
        private static let mostHeals = 100
        /// How long the thread catches up when the service stops.
        private static let lastCatchUpSeconds = 0.5
        /// The pause after a fault of the log.
        static let secondsAfterAFault = 0.5
        /// The projections whose active file cannot be opened or created.
        private var closed: [String: ProjectionTrouble] = [:]
        /// The number at which reading the log last failed, so that a lasting fault is reported once.
        private var stuckAt: Int64 = -1

        init(
            host: ProjectionHost, log: EventLog, reader: LogReader, catalog: Catalog, directory: String,
            kinds: [ProjectionKind]
        ) {
            (self.host, self.log, scan) = (host, log, SharedScan(reader))
            (self.catalog, self.directory, self.kinds) = (catalog, directory, kinds)
        }

        /// The thread's own reader of the log.
        var reader: LogReader { scan.reader }

        /// Opens every generation in the catalog and makes the missing ones.
        func open() throws(SQLiteError) {
            for generation in try catalog.generations() {
                guard let kind = kinds.first(where: { $0.name == generation.name }),
                    kind.versions.contains(generation.version)
                else {
                    // A version of the fold that this program does not have.
                    let kind = kinds.first { $0.name == generation.name }
                    if let kind, keepOutdated(generation, kind, try? reader.identity()) { continue }
                    try drop(generation)
                    continue
                }
                do throws(SQLiteError) { try open(generation, kind) } catch {
                    if generation.role == .active {
                        close(kind.name, error)
                    } else {
                        // Without its file it would take its role from the next one.
                        Diagnostics.fault(
                            "projection.dropped",
                            "\(generation.fileName) cannot be opened (SQLite \(error.extendedCode)) and is dropped.")
                        try drop(generation)
                    }
                }
            }
            makeSuccessors()
            endIfErased()
            let active = try catalog.generations().filter { $0.role == .active }
            for kind in kinds where !active.contains(where: { $0.name == kind.name }) {
                do throws(SQLiteError) { try add(kind, version: kind.newest, role: .active) } catch {
                    close(kind.name, error)
                }
            }
            if closed.isEmpty { removeStrangers() }
            // An empty file at the head of an empty log is complete.
            finishLoaded()
            publish(switched: true)
        }

        /// Notes that a projection cannot be opened; the others are not affected.
        func close(_ name: String, _ error: SQLiteError) {
            let sentence =
                "The projection \(name) cannot be opened (SQLite \(error.extendedCode)); the service tries again."
            if closed[name] == nil { Diagnostics.fault("projection.closed", "\(sentence) \(error)") }
            closed[name] = ProjectionTrouble(sentence, after: closed[name])
        }

        /// Tries again to open the projections that could not be opened, each after its pause.
        private func openClosed() {
            for kind in kinds where closed[kind.name]?.isDue == true {
                do throws(SQLiteError) {
                    let generations = try catalog.generations()
                    if let generation = generations.first(where: { $0.name == kind.name && $0.role == .active }) {
                        try open(generation, kind)
                    } else {
                        try add(kind, version: kind.newest, role: .active)
                    }
                    closed[kind.name] = nil
                    Diagnostics.note("projection.open", "The projection \(kind.name) is open again.")
                    publish(switched: true)
                } catch { close(kind.name, error) }
            }
        }

        /// Whether the file is still in use: a refold replaces it by another.
        private func isFollowed(_ projection: FollowedProjection) -> Bool { followed.contains { $0 === projection } }

        /// Publishes places, states and troubles for other threads.
        ///
        /// - Parameter switched: Whether an active file was replaced; readers then open the new one.
        func publish(switched: Bool) {
            let troubles =
                closed.map { (name: $0.key, sentence: $0.value.sentence) }
                + outdated.compactMap { name, file in file.trouble.map { (name: name, sentence: $0.sentence) } }
                + followed.compactMap { projection in
                    projection.trouble.map { (name: projection.generation.name, sentence: $0.sentence) }
                }
            let sliced = Dictionary(uniqueKeysWithValues: (loading.slice?.status ?? []).map { ($0.generation.id, $0) })
            let head = log.head
            let status = followed.map { sliced[$0.generation.id] ?? Status($0, head: head) }
            host.publish(status, Array(outdated.values), troubles, switched: switched)
        }

        /// Runs `body` for one projection. An error becomes that projection's trouble; the others are not affected.
        func attempt(_ projection: FollowedProjection, _ body: () throws(SQLiteError) -> Void) {
            do throws(SQLiteError) {
                do throws(SQLiteError) { try body() } catch {
                    guard error.meansDamage else { throw error }
                    return try heal(projection.generation, "\(error)")
                }
                guard projection.trouble != nil else { return }
                projection.trouble = nil
                Diagnostics.note(
                    "projection.again", "The projection \(projection.generation.fileName) can be written again.")
            } catch {
                let generation = projection.generation
                guard isFollowed(projection) else {
                    if generation.role == .active { close(generation.name, error) }
                    return
                }
                let sentence =
                    "The projection \(generation.name) cannot be written (SQLite \(error.extendedCode)); it is behind, and the service tries again."
                if projection.trouble == nil { Diagnostics.fault("projection.stuck", "\(sentence) \(error)") }
                projection.trouble = ProjectionTrouble(sentence, after: projection.trouble)
            }
        }

        /// Opens the file of a generation. An unusable one is dropped, and an active one is folded again.
        private func open(_ generation: Catalog.Generation, _ kind: ProjectionKind) throws(SQLiteError) {
            var known: LogIdentity?
            do throws(FollowedProjection.OpenFailure) {
                let identity: LogIdentity
                do throws(LogError) { identity = try reader.identity() } catch { throw .unusable("\(error)") }
                known = identity
                followed.append(
                    try FollowedProjection(
                        generation, kind: kind, directory: directory, log: identity, reader: reader))
            } catch {
                switch error {
                case .fault(let error): throw error
                case .unusable(let why):
                    if keepOutdated(generation, kind, known) { return }
                    Diagnostics.note(
                        "projection.refold", "\(generation.fileName) cannot be used (\(why)); it is folded again.")
                    if generation.role == .active { try renew(generation, kind) } else { try drop(generation) }
                }
            }
        }

        /// Makes a new generation and its empty file. If the file cannot be made, the catalog is as before, so that the
        /// next try finds the role free.
        func add(_ kind: ProjectionKind, version: Int64, role: Catalog.Role) throws(SQLiteError) {
            let generation = try catalog.add(kind.name, version: version, role: role)
            removeFile(generation)
            do throws(SQLiteError) { try open(generation, kind) } catch {
                try? catalog.remove(generation)
                throw error
            }
        }

        /// Forgets a generation: closes its file, removes its row, deletes its file.
        func drop(_ generation: Catalog.Generation) throws(SQLiteError) {
            leave(generation)
            try catalog.remove(generation)
            removeFile(generation)
        }

        /// As `drop`, and makes the next generation with its version and role, which is folded from zero.
        private func renew(_ generation: Catalog.Generation, _ kind: ProjectionKind) throws(SQLiteError) {
            leave(generation)
            let next = try catalog.renew(generation)
            removeFile(generation)
            removeFile(next)
            try open(next, kind)
        }

        /// Closes the file of a generation.
        private func leave(_ generation: Catalog.Generation) {
            followed.removeAll { $0.generation.id == generation.id }
        }

        /// Deletes the file with its write-ahead log and shared memory.
        func removeFile(_ generation: Catalog.Generation) {
            for suffix in ["", "-wal", "-shm"] { unlink("\(directory)/\(generation.fileName)\(suffix)") }
        }

        /// Removes files that the catalog does not name: a crash can leave one between its creation and its row.
        private func removeStrangers() {
            guard let entries = opendir(directory) else { return }
            defer { closedir(entries) }
            let known = Set(followed.map(\.generation.fileName) + outdated.values.map(\.generation.fileName))
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard kinds.contains(where: { name.hasPrefix($0.name + "-v") }), name.contains(".sqlite") else {
                    continue
                }
                let file = name.without(suffix: "-wal").without(suffix: "-shm")
                if !known.contains(file) { unlink("\(directory)/\(name)") }
            }
        }

        /// The thread, until the host stops.
        func run() {
            var foldedSeconds = 0.0
            while true {
                let (requests, isStopping) = host.takeRequests()
                if isStopping || !requests.isEmpty { endSlice() }
                for request in requests { request.run(self) }
                if isStopping {
                    // The next start then has little to catch up with; if this fails, it catches up with the rest.
                    let until = MonotonicClock.seconds + Self.lastCatchUpSeconds
                    while MonotonicClock.seconds < until, !advance(loading: false) {}
                    for projection in followed {
                        attempt(projection) { () throws(SQLiteError) in try projection.commit() }
                    }
                    return
                }
                if loading.slice == nil {
                    openClosed()
                    endIfErased()
                    makeSuccessors()
                }
                let began = MonotonicClock.seconds
                let isLive = advance(loading: false)
                foldedSeconds += MonotonicClock.seconds - began
                // A projection loaded from zero needs disk space for all its rows.
                let isLoaded = loading.slice == nil && (log.room?.isShort == true || load())
                if loading.slice == nil {
                    finishLoaded()
                    forgetLoading()
                    replaceOutdated()
                }
                for projection in working where projection.holdsErased {
                    attempt(projection) { () throws(SQLiteError) in try projection.overwriteErased() }
                }
                publish(switched: false)
                guard isLive else { continue }
                let due = isLoaded || loading.slice != nil ? nil : max(loading.throttle.dueSeconds, loading.dueSeconds)
                host.rest(after: livePlace, foldedSeconds: foldedSeconds, until: due)
                foldedSeconds = 0
                if isLoaded { _ = log.waitForHead(after: livePlace, milliseconds: 50) }
            }
        }

        /// The projections that are in no slice and do not pause after a trouble.
        var working: [FollowedProjection] { settled.filter { $0.trouble?.isDue ?? true } }

        /// The projections that are in no slice.
        private var settled: [FollowedProjection] {
            guard let slice = loading.slice else { return followed }
            return followed.filter { projection in !slice.projections.contains { $0 === projection } }
        }

        /// The lowest place of the projections that follow the log without a trouble.
        private var livePlace: Int64 { lowest(settled.filter { $0.trouble == nil && !$0.isLoading }) }

        /// The lowest place of some projections; the head of the log without any.
        func lowest(_ projections: [FollowedProjection]) -> Int64 { projections.map(\.place).min() ?? log.head }

        /// Folds a batch into each of the followers that are, or are not, being loaded. `true` if they are at the head.
        ///
        /// Followers that are close to each other share the events read; one far behind does not delay the others.
        func advance(loading: Bool) -> Bool {
            let head = log.head
            var group = working.filter { $0.isLoading == loading && $0.place < head }
            if group.isEmpty { return true }
            while let place = group.map(\.place).min() {
                let batch: SharedScan.Batch
                let scan: SharedScan
                do throws(LogError) {
                    // The writer publishes the head after its commit, so the events up to it are durable.
                    scan = try loading ? scanForLoading() : self.scan
                    let limit = Int(
                        min(Int64(loading ? self.loading.throttle.batch : ProjectionHost.batch), head - place))
                    if let (events, leaf) = log.recentFixes.batch(after: place, limit: limit) {
                        batch = SharedScan.Batch(
                            after: place, events: events, last: events.last.map { ($0.number, leaf) },
                            passedOver: EventKinds(), keys: reader.keys.currentGeneration)
                    } else {
                        batch = try scan.batch(after: place, limit: limit, for: group)
                    }
                } catch {
                    noteUnreadable(after: place, error)
                    if loading { return false }
                    usleep(UInt32(Self.secondsAfterAFault * 1e6))
                    return true
                }
                guard let last = batch.last?.number else { return true }
                let due = group.filter { $0.place < last }
                // A rebuild without traffic may have both processors.
                let faults =
                    loading
                    ? scan.fold(
                        batch, into: due, thenReading: Int(min(Int64(self.loading.throttle.batch), head - last)))
                    : scan.foldInTurn(batch, into: due)
                for projection in due {
                    let error = faults.first { $0.projection === projection }?.error
                    attempt(projection) { () throws(SQLiteError) in
                        if let error { throw error }
                        if !loading { try projection.commit() }
                    }
                }
                group.removeAll { $0.place <= last || $0.trouble != nil || !isFollowed($0) }
            }
            if !loading {
                log.recentFixes.forget(through: settled.lazy.filter { !$0.isLoading }.map(\.place).min() ?? head)
            }
            return false
        }

        /// Makes the indexes of files that have reached the head. Only then do they answer.
        private func finishLoaded() {
            let head = log.head
            for projection in working where projection.isLoading && projection.place >= head {
                attempt(projection) { () throws(SQLiteError) in try projection.finishLoading() }
                if !projection.isLoading { publish(switched: true) }
            }
        }

        /// As `heal`, for a caller that found the active file of `name` damaged.
        package func healActive(_ name: String, _ why: String) {
            if let file = outdated[name] {
                return end(file, "\(file.generation.fileName) cannot be read (\(why)) and is deleted.")
            }
            guard let active = find(name, .active), !active.isLoading else { return }
            do throws(SQLiteError) { try heal(active.generation, why) } catch {
                stuck("\(active.generation.fileName) cannot be replaced: \(error).", at: livePlace)
                // No file answers now: the thread tries again to make one.
                guard !isFollowed(active) else { return }
                close(name, error)
                publish(switched: true)
            }
        }

        /// Deletes a damaged file and folds it again from the log.
        ///
        /// - Throws: If this happened often: the fault is then ours or the disk's, and the operator must look.
        func heal(_ generation: Catalog.Generation, _ why: String) throws(SQLiteError) {
            heals[generation.name, default: 0] += 1
            guard heals[generation.name, default: 0] <= Self.mostHeals else {
                throw SQLiteError(code: 11, message: "\(generation.name) was folded again too often: \(why)")
            }
            Diagnostics.note("projection.refold", "\(generation.fileName) is damaged (\(why)); it is folded again.")
            if generation.role == .active, let kind = kinds.first(where: { $0.name == generation.name }) {
                try renew(generation, kind)
            } else {
                try drop(generation)
            }
            publish(switched: true)
        }

        /// Reports a fault once for each place at which it occurs.
        func stuck(_ sentence: String, at place: Int64) {
            if stuckAt != place { Diagnostics.fault("projection.stuck", sentence) }
            stuckAt = place
        }
    }
}

extension String {
    /// The text without `suffix`, if it ends with it.
    fileprivate func without(suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
