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
    /// and troubles. A trouble with one file never delays the others.
    package final class Worker {
        private unowned let host: ProjectionHost
        private let log: EventLog
        /// The thread's own reader of the log.
        private let reader: LogReader
        /// The catalog; only this thread writes it.
        private let catalog: Catalog
        private let directory: String
        private let kinds: [ProjectionKind]
        /// The open files, one for each generation.
        private var followed: [FollowedProjection] = []
        /// How often each projection was folded again because of damage.
        private var heals: [String: Int] = [:]
        /// After so many refolds of one projection, the fault is not a damaged file.
        private static let mostHeals = 100
        /// How long the thread catches up when the service stops.
        private static let lastCatchUpSeconds = 0.5
        /// The projections whose active file cannot be opened or created.
        private var closed: [String: ProjectionTrouble] = [:]
        /// The number at which reading the log last failed, so that a lasting fault is reported once.
        private var stuckAt: Int64 = -1

        init(
            host: ProjectionHost, log: EventLog, reader: LogReader, catalog: Catalog, directory: String,
            kinds: [ProjectionKind]
        ) {
            (self.host, self.log, self.reader) = (host, log, reader)
            (self.catalog, self.directory, self.kinds) = (catalog, directory, kinds)
        }

        /// Opens every generation in the catalog and makes the missing ones.
        func open() throws(SQLiteError) {
            for generation in try catalog.generations() {
                guard let kind = kinds.first(where: { $0.name == generation.name }),
                    kind.versions.contains(generation.version)
                else {
                    // A version of the fold that this program no longer has.
                    try drop(generation)
                    continue
                }
                do throws(SQLiteError) { try open(generation, kind) } catch {
                    if generation.role == .active { close(kind.name, error) }
                }
            }
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
        private func close(_ name: String, _ error: SQLiteError) {
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
        private func publish(switched: Bool) {
            let troubles =
                closed.map { (name: $0.key, sentence: $0.value.sentence) }
                + followed.compactMap { projection in
                    projection.trouble.map { (name: projection.generation.name, sentence: $0.sentence) }
                }
            host.publish(followed, troubles, switched: switched)
        }

        /// Runs `body` for one projection. An error becomes that projection's trouble; the others are not affected.
        private func attempt(_ projection: FollowedProjection, _ body: () throws(SQLiteError) -> Void) {
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
            do throws(FollowedProjection.OpenFailure) {
                let identity: LogIdentity
                do throws(LogError) { identity = try reader.identity() } catch { throw .unusable("\(error)") }
                followed.append(
                    try FollowedProjection(
                        generation, kind: kind, directory: directory, log: identity, reader: reader))
            } catch {
                switch error {
                case .fault(let error): throw error
                case .unusable(let why):
                    Diagnostics.note(
                        "projection.refold", "\(generation.fileName) cannot be used (\(why)); it is folded again.")
                    try drop(generation)
                    if generation.role == .active { try add(kind, version: generation.version, role: .active) }
                }
            }
        }

        /// Makes a new generation and its empty file.
        private func add(_ kind: ProjectionKind, version: Int64, role: Catalog.Role) throws(SQLiteError) {
            let generation = try catalog.add(kind.name, version: version, role: role)
            removeFile(generation)
            try open(generation, kind)
        }

        /// Forgets a generation: closes its file, removes its row, deletes its file.
        private func drop(_ generation: Catalog.Generation) throws(SQLiteError) {
            followed.removeAll {
                $0.generation.name == generation.name && $0.generation.generation == generation.generation
            }
            try catalog.remove(generation)
            removeFile(generation)
        }

        /// Deletes the file with its write-ahead log and shared memory.
        private func removeFile(_ generation: Catalog.Generation) {
            for suffix in ["", "-wal", "-shm"] { unlink("\(directory)/\(generation.fileName)\(suffix)") }
        }

        /// Removes files that the catalog does not name: a crash can leave one between its creation and its row.
        private func removeStrangers() {
            guard let entries = opendir(directory) else { return }
            defer { closedir(entries) }
            let known = Set(followed.map(\.generation.fileName))
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
            while true {
                let (requests, isStopping) = host.takeRequests()
                for request in requests { request.run(self) }
                if isStopping {
                    // The next start then has little to catch up with; if this fails, it catches up with the rest.
                    let until = MonotonicClock.seconds + Self.lastCatchUpSeconds
                    while MonotonicClock.seconds < until, !advance(loading: false) {}
                    return
                }
                openClosed()
                let isLive = advance(loading: false)
                // A projection loaded from zero needs disk space for all its rows.
                let isLoaded = log.room?.isShort == true || advance(loading: true)
                finishLoaded()
                for projection in working where projection.holdsErased {
                    attempt(projection) { () throws(SQLiteError) in try projection.overwriteErased() }
                }
                publish(switched: false)
                if isLive && isLoaded {
                    host.rest(after: lowestPlace)
                    _ = log.waitForHead(after: lowestPlace, milliseconds: 50)
                }
            }
        }

        /// The projections that do not pause after a trouble.
        private var working: [FollowedProjection] { followed.filter { $0.trouble?.isDue ?? true } }

        /// The lowest place of the projections without a trouble.
        private var lowestPlace: Int64 { followed.lazy.filter { $0.trouble == nil }.map(\.place).min() ?? log.head }

        /// Folds a batch into each of the followers that are, or are not, being loaded. `true` if they are at the head.
        ///
        /// Followers that are close to each other share the events read; one far behind does not delay the others.
        private func advance(loading: Bool) -> Bool {
            let head = log.head
            var group = working.filter { $0.isLoading == loading && $0.place < head }
            if group.isEmpty { return true }
            while let place = group.map(\.place).min() {
                let batch: [(event: RecordedEvent, leaf: Digest)]
                do throws(LogError) {
                    batch = try reader.events(
                        after: place, limit: loading ? ProjectionHost.loadingBatch : ProjectionHost.batch)
                } catch {
                    stuck("The log cannot be folded after event \(place): \(error)")
                    usleep(500_000)
                    return true
                }
                // The writer publishes the head after its commit, so the events up to it are durable.
                let durable = batch.prefix { $0.event.number <= head }
                guard let last = durable.last else { return true }
                let events = durable.map(\.event)
                for projection in group where projection.place < last.event.number {
                    attempt(projection) { () throws(SQLiteError) in try projection.fold(events, endingWith: last.leaf) }
                }
                group.removeAll { $0.place <= last.event.number || $0.trouble != nil || !isFollowed($0) }
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
            guard let active = find(name, .active), !active.isLoading else { return }
            do throws(SQLiteError) { try heal(active.generation, why) } catch {
                stuck("\(active.generation.fileName) cannot be replaced: \(error).")
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
            try drop(generation)
            guard let kind = kinds.first(where: { $0.name == generation.name }) else { return }
            if generation.role == .active { try add(kind, version: generation.version, role: .active) }
            publish(switched: true)
        }

        /// Reports a fault once for each place at which it occurs.
        private func stuck(_ sentence: String) {
            if stuckAt != lowestPlace { Diagnostics.fault("projection.stuck", sentence) }
            stuckAt = lowestPlace
        }

        // MARK: Requests by operators

        /// The kind with this name; throws ``HostError/unknownProjection(_:)`` without one.
        private func kind(_ name: String) throws(HostError) -> ProjectionKind {
            guard let kind = kinds.first(where: { $0.name == name }) else {
                throw .unknownProjection(name, kinds.map(\.name))
            }
            return kind
        }

        /// The open generation with this role.
        private func find(_ name: String, _ role: Catalog.Role) -> FollowedProjection? {
            followed.first { $0.generation.name == name && $0.generation.role == role }
        }

        /// Does `body`; an error of SQLite becomes ``HostError/fault(_:)``.
        private func guarded<R>(_ body: () throws(SQLiteError) -> R) throws(HostError) -> R {
            do throws(SQLiteError) { return try body() } catch { throw .fault("\(error)") }
        }

        /// Begins a new generation beside the active one; an earlier candidate is deleted. The thread folds it from
        /// zero, without delaying the active one.
        package func rebuild(_ name: String, version: Int64?) throws(HostError) -> Catalog.Generation {
            let kind = try kind(name)
            let version = version ?? kind.newest
            guard kind.versions.contains(version) else { throw .unknownVersion(name, kind.versions) }
            try guarded { () throws(SQLiteError) in
                if let old = find(name, .candidate) { try drop(old.generation) }
                try add(kind, version: version, role: .candidate)
                publish(switched: false)
            }
            guard let candidate = find(name, .candidate) else { throw .fault("The new \(name) cannot be opened.") }
            return candidate.generation
        }

        /// Makes the candidate the active generation. The generation that was active stays for `rollback`.
        package func activate(_ name: String) throws(HostError) -> Catalog.Generation {
            _ = try kind(name)
            guard let candidate = find(name, .candidate) else {
                throw .nothingTo("There is no new \(name) to activate; run `projections rebuild \(name)` first.")
            }
            guard !candidate.isLoading else { throw .stillLoading(name) }
            return try change(name, from: candidate, old: find(name, .previous))
        }

        /// Makes the previous generation active again, and the active one previous.
        package func rollback(_ name: String) throws(HostError) -> Catalog.Generation {
            _ = try kind(name)
            guard let previous = find(name, .previous) else {
                throw .nothingTo("There is no previous \(name) to activate.")
            }
            return try change(name, from: previous, old: nil)
        }

        /// Makes `new` the active generation and the active one the previous.
        private func change(
            _ name: String, from new: FollowedProjection, old dropped: FollowedProjection?
        ) throws(HostError) -> Catalog.Generation {
            guard let active = find(name, .active) else { throw .fault("No \(name) is active.") }
            try guarded { () throws(SQLiteError) in
                if let dropped { try drop(dropped.generation) }
                try catalog.assign([(new.generation, .active), (active.generation, .previous)])
                new.generation.role = .active
                active.generation.role = .previous
                publish(switched: true)
            }
            return new.generation
        }

        /// Deletes the candidates and previous generations of one projection or of all.
        package func prune(_ name: String?) throws(HostError) -> [Catalog.Generation] {
            if let name { _ = try kind(name) }
            let gone = followed.map(\.generation).filter {
                $0.role != .active && (name == nil || $0.name == name)
            }
            try guarded { () throws(SQLiteError) in
                for generation in gone { try drop(generation) }
                publish(switched: true)
            }
            return gone
        }

        /// The active generation and its candidate or predecessor, both loaded. Between two batches they are at the
        /// same place.
        package func pairForDiff(_ name: String) throws(HostError) -> (
            active: Catalog.Generation, other: Catalog.Generation
        ) {
            _ = try kind(name)
            guard let other = find(name, .candidate) ?? find(name, .previous), let active = find(name, .active) else {
                throw .nothingTo("There is only one \(name); run `projections rebuild \(name)` first.")
            }
            guard !other.isLoading, !active.isLoading else { throw .stillLoading(name) }
            return (active.generation, other.generation)
        }
    }
}

extension String {
    /// The text without `suffix`, if it ends with it.
    fileprivate func without(suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
