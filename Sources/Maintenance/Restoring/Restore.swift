import Cryptography
import Glibc
import Log
import LogVerifying
import Projections
import SQLite
package import Whereabouts

/// The last event to restore.
package enum RestorePoint: Sendable, Equatable {
    /// The newest one that is there.
    case newest
    /// The event with this number.
    case number(Int64)
    /// The last event before the first one that was recorded after this time.
    case time(Timestamp)
}

/// Restores a backup or a shipped folder into a data directory.
package enum Restore {
    /// The result of a restore.
    package struct Outcome: Sendable {
        /// The description of the restored backup, or of the restored part of a shipped folder: then it was made when
        /// its last event was recorded.
        package let manifest: BackupManifest
        /// The events of a shipped folder that were not restored; `nil` for a backup.
        package let rest: ShippedRest?
        /// The epoch of the restored log.
        package let epoch: Int64
        /// The number of people who were erased after the backup was made, and are erased again.
        package let erased: Int
    }

    /// Restores a backup or a shipped folder. The log continues under a higher epoch, so that everything folded from the
    /// lost events is folded again. Its next event is `LogRestored`.
    ///
    /// Everything is prepared and verified in a separate folder inside `path`; the log gets its name last.
    ///
    /// - Parameters:
    ///   - point: The last event; ``RestorePoint/newest`` for a backup.
    ///   - path: The new data directory. It may have a `kek`, a `config.json` and projections, but no log.
    ///   - kek: The file of the key-encryption key, if it is neither in `path` nor a systemd credential.
    ///   - newerKeys: The `keys.sqlite` of a later backup, or of the directory to replace. The people erased by then
    ///     are erased in the restored log too, with their keys.
    /// - Throws: ``RestoreError`` or `LogError`, each one sentence for an operator.
    package static func restore(
        from folder: String, at point: RestorePoint = .newest, to path: String, kek: String?, newerKeys: String?,
        clock: @escaping @Sendable () -> Timestamp = { Timestamp.now }
    ) throws -> Outcome {
        let isShipped = isShipped(folder)
        let backup = isShipped ? nil : try BackupManifest(folder: folder)
        if let backup, point != .newest { throw RestoreError.ofOneMoment(backup.madeAt) }
        let target = try DataDirectory(path: path)
        let staging = path + "/restoring"
        try clear(target, staging, kek)
        DataDirectory.removeTree(staging)
        defer { DataDirectory.removeTree(staging) }
        let prepared = try DataDirectory(path: staging)
        if !isShipped { try DataDirectory.copyPrivate(folder + "/" + BackupFile.log, to: prepared.log) }
        try DataDirectory.copyPrivate(folder + "/" + BackupFile.keys, to: prepared.keys)
        if let given = kek ?? (access(target.kek, F_OK) == 0 ? target.kek : nil) {
            try DataDirectory.copyPrivate(given, to: prepared.kek)
        } else if !DataDirectory.hasCredential {
            throw RestoreError.noKeyEncryptionKey(path)
        }
        let (manifest, rest) =
            if let backup { (backup, nil as ShippedRest?) } else { try copyShipped(folder, point, to: prepared) }
        try check(prepared, manifest)
        let gone = try newerKeys.map { path throws(LogError) in try destroy(in: prepared, asIn: path) } ?? []
        let (epoch, erased) = try begin(prepared, gone, clock)
        let configuration = folder + "/" + BackupFile.configuration
        if access(configuration, F_OK) == 0, access(target.configuration, F_OK) != 0 {
            try DataDirectory.copyPrivate(configuration, to: target.configuration)
        }
        // The projections and the witness belong to the log that is replaced.
        DataDirectory.removeTree(target.projections)
        try DataDirectory.makeDirectory(target.projections)
        for file in [target.catalog, WitnessFile.path(besideLog: target.log)] {
            for suffix in ["", "-wal", "-shm"] { unlink(file + suffix) }
        }
        // First, so that an erasure reaches the backup whenever the log is there.
        try remember(folder, manifest, in: target)
        try DataDirectory.writePrivate([], to: mark(in: staging))
        for (from, to) in [(prepared.kek, target.kek), (prepared.keys, target.keys), (prepared.log, target.log)]
        where access(from, F_OK) == 0 {
            guard rename(from, to) == 0 else { throw LogError.file(path: to, errno: errno) }
        }
        DataDirectory.syncFolder(path)
        return Outcome(manifest: manifest, rest: rest, epoch: epoch, erased: erased)
    }

    /// The file that says that prepared files are being moved into the data directory.
    private static func mark(in staging: String) -> String { staging + "/moving" }

    /// Refuses a directory that has a log or keys. Removes the keys that an interrupted restore has moved there: without
    /// its log, the restore has not happened.
    ///
    /// - Throws: ``RestoreError/occupied(_:)``, also for another `kek` than the given one.
    private static func clear(_ target: DataDirectory, _ staging: String, _ kek: String?) throws(RestoreError) {
        if access(mark(in: staging), F_OK) == 0, access(target.log, F_OK) != 0 { unlink(target.keys) }
        for file in [target.log, target.keys] where access(file, F_OK) == 0 { throw .occupied(file) }
        guard let kek, access(target.kek, F_OK) == 0 else { return }
        let (given, present) = (DataDirectory.read(kek, atMost: 4096), DataDirectory.read(target.kek, atMost: 4096))
        guard given == present else { throw .occupied(target.kek) }
    }

    /// Whether a folder has shipped events and is not a backup.
    private static func isShipped(_ folder: String) -> Bool {
        if access(folder + "/" + BackupFile.manifest, F_OK) == 0 { return false }
        return (try? ShippedName.all(in: folder))?.isEmpty == false
    }

    /// Makes the log of the shipped events up to a point, and describes it as a backup of that moment.
    private static func copyShipped(
        _ folder: String, _ point: RestorePoint, to prepared: DataDirectory
    ) throws -> (BackupManifest, ShippedRest?) {
        let keys: KeyRing
        do throws(LogError) { keys = try prepared.openKeys() } catch {
            if case .keyEncryptionKey = error { throw RestoreError.wrongKeyEncryptionKey }
            throw error
        }
        var copier = ShippedCopier(folder: folder, point: point, log: prepared.log, keys: keys)
        let (manifest, rest) = try copier.copy()
        return (manifest, rest)
    }

    /// Verifies the log against the manifest, and that its keys open.
    private static func check(_ prepared: DataDirectory, _ manifest: BackupManifest) throws {
        let found: LogVerification
        do throws(LogError) { found = try LogVerifier.verify(prepared) { _, _ in } } catch {
            if case .keyEncryptionKey = error { throw RestoreError.wrongKeyEncryptionKey }
            throw error
        }
        if let problem = found.problem {
            throw RestoreError.notAsSaid("event \(problem.number) is damaged, \(problem.sentence).")
        }
        guard found.events == manifest.events, found.root.hex == manifest.root else {
            throw RestoreError.notAsSaid("it has \(found.events) events and another root than backup.json names.")
        }
        guard found.lostParts == 0 else { throw RestoreError.wrongKeyEncryptionKey }
    }

    /// Destroys the keys that a newer file of keys says were destroyed, before anything is folded with them.
    ///
    /// - Returns: The people who were erased by then: the newer file has no key of theirs at all. Of people whose old
    ///   reports reached the end of their retention, it has the other keys.
    private static func destroy(in prepared: DataDirectory, asIn newer: String) throws(LogError) -> [PersonID] {
        let destroyed = try KeyRing.destroyedKeys(in: newer)
        let holders = try prepared.openKeys().persons(holding: destroyed)
        let alive = try KeyRing.holders(in: newer)
        let erased = holders.filter { !alive.contains($0) }
        do throws(SQLiteError) { try KeyRing.destroy(destroyed, of: Set(erased), in: prepared.keys) } catch {
            throw .sqlite(error)
        }
        return erased
    }

    /// Raises the epoch and appends the first events under it.
    ///
    /// - Parameter erased: The people who were erased after the backup was made.
    private static func begin(
        _ prepared: DataDirectory, _ erased: [PersonID], _ clock: @escaping @Sendable () -> Timestamp
    ) throws -> (epoch: Int64, erased: Int) {
        try SQLiteLogEngine.raiseEpoch(path: prepared.log)
        let log = try EventLog.alone(in: prepared, clock: clock)
        defer {
            log.stop()
            // The last connections may have been readers, which leave the journal in place.
            for file in [prepared.log, prepared.keys] {
                _ = try? Connection(path: file, access: .readWrite).checkpoint(.truncate)
            }
        }
        try log.keys.beginEpoch(log.epoch)
        // Random, so that another restore of the same backup is another log to everyone who keeps checkpoints.
        try append(.recordRestore(epoch: log.epoch, mark: .randomMark()), to: log)
        let gone = try Set(erased).union(unreadable(log)).sorted()
        for person in gone { try append(.finishErasure(person), to: log) }
        return (log.epoch, gone.count)
    }

    /// The people who were erased after the copy was made and whose keys were destroyed in it. Reads the whole log if
    /// there may be any.
    private static func unreadable(_ log: EventLog) throws(LogError) -> [PersonID] {
        let nameless = log.withStanding { standing in
            Set(standing.persons.all.lazy.filter { $0.value.handle == nil && !$0.value.isErased }.map(\.key))
        }
        if nameless.isEmpty { return [] }
        var persons: [PersonID] = []
        let reader = try log.reader()
        var place: Int64 = 0
        while true {
            let events = try reader.events(after: place, limit: 4096)
            guard let last = events.last else { return persons }
            for (event, _) in events {
                if case .personAdded(let person, .erased) = event.event, nameless.contains(person) {
                    persons.append(person)
                }
            }
            place = last.event.number
        }
    }

    /// Adds the backup to the list of the restored directory, so that an erasure there reaches its keys.
    private static func remember(
        _ folder: String, _ manifest: BackupManifest, in target: DataDirectory
    ) throws(LogError) {
        let destroyed = Int64(try KeyRing.destroyedKeys(in: folder + "/" + BackupFile.keys).count)
        try BackupList.locked(target.path) { () throws(LogError) in
            var list = try BackupList(of: target.path)
            try list.add(folder, madeAt: manifest.madeAt, destroyed: destroyed)
            try list.write(to: target.path)
        }
    }

    /// Appends a command of the house and waits for it; the log's fault if it cannot.
    private static func append(_ command: Command, to log: EventLog) throws(LogError) {
        do throws(AppendFailure) {
            _ = try log.appendAndWait(command, by: .house, correlation: .random())
        } catch {
            if case .fault(let fault) = error { throw fault }
            throw .stopped
        }
    }
}
