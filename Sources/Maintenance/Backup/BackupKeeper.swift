import Glibc
package import Log
import SQLite
import Synchronization
import Threading
import Whereabouts

/// Destroys the keys of erased people and of old reports in every known backup.
///
/// Each pass has its own thread, because a folder on another machine may not respond. A caller waits for a pass for a
/// bounded time and gets the folders that were not reached. Passes exclude one another by the lock of ``BackupList``.
package final class BackupKeeper: Sendable {
    /// One pass over all backups.
    private struct Pass {
        var isDone = false
        /// The folders that were not reached yet.
        var left: [String] = []
    }

    private let directory: DataDirectory
    private let log: EventLog
    /// Long enough for a thousand backups on a disk of this machine.
    private static let longestMilliseconds = 30_000

    package init(_ directory: DataDirectory, _ log: EventLog) { (self.directory, self.log) = (directory, log) }

    /// Destroys the keys that are destroyed here in every known backup and in the one that is being made, also those
    /// that were destroyed while a folder could not be reached.
    ///
    /// - Returns: The folders that were not reached within 30 seconds.
    package func settle() -> [String] {
        let pass = Monitor(Pass())
        // Never joined, because a hanging remote file system must not keep the service from ending.
        _ = WorkerThread { [directory, log] in
            do throws(LogError) {
                try BackupList.locked(directory.path) { () throws(LogError) in
                    try Self.settle(directory, log, pass)
                }
            } catch {
                Diagnostics.fault("backups.left", "Keys that were destroyed here may be left in backups: \(error)")
                pass.change { if $0.left.isEmpty { $0.left = [directory.path + "/backups.json"] } }
            }
            pass.change { $0.isDone = true }
        }
        _ = pass.wait(milliseconds: Self.longestMilliseconds) { $0.isDone ? true : nil }
        return pass.read { $0.left }
    }

    /// As ``settle()`` without waiting, if keys were ever destroyed: a backup may be reachable again.
    ///
    /// - Parameter isNew: Whether keys were destroyed just now: the newest backup may not have been moved away yet.
    package func settleLater(isNew: Bool = false) {
        let isDue = log.withStanding { !$0.persons.erased.isEmpty || !$0.retention.last.isEmpty }
        guard isDue, let list = try? BackupList(of: directory.path), isNew || !list.entries.isEmpty else { return }
        _ = WorkerThread { [self] in
            for folder in settle() {
                Diagnostics.fault("backups.left", "Keys that were destroyed here may be left in \(folder); see doctor.")
            }
        }
    }

    /// The pass. It shortens `left` folder by folder, and records in the list how many keys are destroyed in each.
    private static func settle(
        _ directory: DataDirectory, _ log: EventLog, _ pass: borrowing Monitor<Pass>
    ) throws(LogError) {
        let gone = try KeyRing.destroyedKeys(in: directory.keys)
        let erased = log.withStanding { $0.persons.erased }
        var list = try BackupList(of: directory.path)
        let before = list
        list.entries.removeAll(where: BackupList.isGone)
        pass.change { pass in pass.left = [directory.backup] + list.entries.map(\.folder) }
        // A copy of the keys is there only while this process or a killed one makes it.
        DataDirectory.removeTree(directory.shippedKeys)
        if try destroy(gone, erased, in: directory.backup, isOptional: true) {
            pass.change { _ = $0.left.removeFirst() }
        }
        for index in list.entries.indices {
            let folder = list.entries[index].folder
            guard list.entries[index].destroyed < Int64(gone.count) else {
                pass.change { pass in pass.left.removeAll { $0 == folder } }
                continue
            }
            guard (try? destroy(gone, erased, in: folder, isOptional: false)) == true else { continue }
            list.entries[index].destroyed = Int64(gone.count)
            pass.change { pass in pass.left.removeAll { $0 == folder } }
        }
        if list != before { try list.write(to: directory.path) }
    }

    /// Destroys the keys in one folder.
    ///
    /// - Parameter isOptional: Whether a missing folder counts as settled.
    /// - Returns: Whether no key of `gone` is left in the folder; `false` if it cannot be reached.
    private static func destroy(
        _ gone: Set<Int64>, _ erased: Set<PersonID>, in folder: String, isOptional: Bool
    ) throws(LogError) -> Bool {
        var status = stat()
        guard stat(folder, &status) == 0 else { return isOptional && errno == ENOENT }
        let file = folder + "/" + BackupFile.keys
        // Keys that a killed process was about to ship. A process that ships them now makes another copy.
        unlink(folder + "/" + BackupFile.newKeys)
        // A backup without `keys.sqlite` has no keys.
        guard access(file, F_OK) == 0 else { return errno == ENOENT }
        do throws(SQLiteError) {
            try KeyRing.destroy(gone, of: erased, in: file)
            return true
        } catch {
            Diagnostics.fault("backups.left", "The keys of a backup cannot be destroyed: \(file): \(error).")
            return false
        }
    }
}

extension KeyRing {
    /// Destroys keys in a copy of `keys.sqlite`: those with these ids, and all keys of a person of `erased` who has one
    /// of them. A copy of an abandoned log, as before a restore, can have more keys of such a person.
    ///
    /// The copy lists the ids as destroyed, so that restoring it does not bring the person back.
    static func destroy(_ ids: Set<Int64>, of erased: Set<PersonID>, in path: String) throws(SQLiteError) {
        let connection = try Connection(path: path, access: .readWrite)
        // The copy is being made and will have the keys of now.
        if try !hasTable("key", connection) { return }
        try connection.execute("PRAGMA secure_delete = ON; PRAGMA synchronous = FULL;")
        try connection.transaction { () throws(SQLiteError) in
            var rows: [(id: Int64, person: PersonID)] = []
            try connection.cached("SELECT id, person FROM key") { (statement) throws(SQLiteError) in
                while try statement.step() {
                    rows.append((statement.int(at: 0), PersonID(rawValue: statement.int(at: 1))))
                }
            }
            let persons = Set(rows.lazy.filter { ids.contains($0.id) }.map(\.person)).intersection(erased)
            for row in rows where ids.contains(row.id) || persons.contains(row.person) {
                try connection.cached("DELETE FROM key WHERE id = ?") { (statement) throws(SQLiteError) in
                    try statement.bind(row.id, at: 1)
                    try statement.run()
                }
                try connection.cached("INSERT OR IGNORE INTO destroyed (id) VALUES (?)") {
                    (statement) throws(SQLiteError) in
                    try statement.bind(row.id, at: 1)
                    try statement.run()
                }
            }
            for id in ids {
                try connection.cached("INSERT OR IGNORE INTO destroyed (id) VALUES (?)") {
                    (statement) throws(SQLiteError) in
                    try statement.bind(id, at: 1)
                    try statement.run()
                }
            }
        }
        // A copy made by other means may have a write-ahead log.
        _ = try connection.checkpoint(.truncate)
    }
}
