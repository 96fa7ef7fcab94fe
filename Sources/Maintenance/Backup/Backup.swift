package import Cryptography
import Glibc
import JSON
package import Log
import LogVerifying
package import Replies
import SQLite
package import Whereabouts

// A backup is a folder with `log.sqlite`, `keys.sqlite`, `config.json` if the service has one, and `backup.json`, which
// describes the others:
//
//     {"format":1,"log":"6b1c…","epoch":1,"events":4711,"root":"9f3a…","madeAt":1777881600}
//
// The key-encryption key is never in a backup. Without it, no personal data in the backup can be read.

/// The description of a backup, in `backup.json`.
package struct BackupManifest: Sendable, Equatable {
    /// The newest format that this program reads, and the one that it writes.
    package static let format: Int64 = 1

    /// The id of the log.
    package let log: String
    /// The log's epoch, which each restore raises.
    package let epoch: Int64
    /// The number of events in the log.
    package let events: Int64
    /// The root of the Merkle tree over the events' leaves, in hexadecimal.
    package let root: String
    /// When the copy was verified.
    package let madeAt: Timestamp

    /// The content of `backup.json`, and the answer of the request that made the backup.
    package var reply: BackupItem {
        BackupItem(
            format: Self.format, log: log, epoch: epoch, events: events, root: root,
            madeAt: Moment(milliseconds: madeAt.milliseconds / 1000 * 1000))
    }

    /// Reads the manifest of a backup's folder.
    ///
    /// - Throws: ``RestoreError/noBackup(_:)`` if there is none or it is damaged, ``RestoreError/newerBackup(_:)`` if a
    ///   later version wrote it.
    package init(folder: String) throws(RestoreError) {
        guard let bytes = DataDirectory.read(folder + "/" + BackupFile.manifest, atMost: 1 << 16),
            let root = try? JSONDocument.parse(bytes).root, let format = root["format"]?.int
        else { throw .noBackup(folder) }
        guard format <= Self.format else { throw .newerBackup(format) }
        guard let item = try? BackupItem.read(root),
            let madeAt = Timestamp(seconds: item.madeAt.seconds)
        else { throw .noBackup(folder) }
        (log, epoch, events, self.root) = (item.log, item.epoch, item.events, item.root)
        self.madeAt = madeAt
    }

    package init(log: Identifier128, epoch: Int64, events: Int64, root: Digest, madeAt: Timestamp) {
        self.log = "\(log)"
        (self.epoch, self.events, self.root, self.madeAt) = (epoch, events, root.hex, madeAt)
    }
}

/// A finished backup, and its way out of the data directory.
package enum Backup {
    /// Moves the backup that was made in a data directory into an existing empty folder, the manifest last.
    ///
    /// The folder is added to the list of known backups before its keys are in it, and an erasure waits while they are
    /// moved, so that it finds them in one of the two places.
    ///
    /// - Throws: ``LogError/file(path:errno:)`` if a file cannot be moved; the folder then has no manifest, and so no
    ///   backup.
    package static func move(outOf directory: String, to folder: String) throws(LogError) {
        let made = directory + "/backup"
        try BackupList.locked(directory) { () throws(LogError) in
            var list = try BackupList(of: directory)
            let destroyed = try KeyRing.destroyedKeys(in: made + "/" + BackupFile.keys)
            let madeAt = (try? BackupManifest(folder: made))?.madeAt ?? Timestamp.now
            try list.add(folder, madeAt: madeAt, destroyed: Int64(destroyed.count))
            try list.write(to: directory)
        }
        for name in BackupFile.all {
            let (from, to) = (made + "/" + name, folder + "/" + name)
            if name == BackupFile.configuration, access(from, F_OK) != 0 { continue }
            guard name == BackupFile.keys else {
                try move(from, to)
                continue
            }
            try BackupList.locked(directory) { () throws(LogError) in
                try move(from, to)
                // To another file system, a move is a copy; the original keys must go.
                unlink(from)
            }
        }
        DataDirectory.syncFolder(folder)
        DataDirectory.removeTree(made)
    }

    /// Renames a file, or copies it to another file system.
    private static func move(_ from: String, _ to: String) throws(LogError) {
        if rename(from, to) == 0 { return }
        guard errno == EXDEV else { throw .file(path: to, errno: errno) }
        try DataDirectory.copyPrivate(from, to: to)
    }
}

/// The names of a backup's files.
enum BackupFile {
    static let log = "log.sqlite"
    static let keys = "keys.sqlite"
    /// The keys of a shipped folder until they replace the former ones.
    static let newKeys = "keys.sqlite.new"
    static let configuration = "config.json"
    static let manifest = "backup.json"

    /// The manifest is written last, so where it exists the others are complete.
    static let all = [log, keys, configuration, manifest]
}

/// Makes backups of a data directory.
package struct BackupMaker: Sendable {
    /// The files to copy.
    package let directory: DataDirectory
    /// The log, which continues to grow.
    package let log: EventLog
    /// The time of the backup.
    package let clock: @Sendable () -> Timestamp

    package init(directory: DataDirectory, log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        self.directory = directory
        self.log = log
        self.clock = clock
    }

    /// Copies the log and its keys, as of one moment, into the folder `backup` of the data directory, and verifies the
    /// copy: its hashes, and that its keys open. Writing continues meanwhile.
    ///
    /// The log is copied before the keys. Keys are durable before any event sealed under them, so the copy has every
    /// key it needs. If a person is erased in between, both are copied again. If a person is erased later while this
    /// runs, ``BackupKeeper`` destroys their keys in the copy.
    ///
    /// Cost: reading and writing the log once, about 2 µs per event, and twice the log's disk space.
    ///
    /// - Parameter betweenTheCopies: Called after the first of the two copies. Tests let the log grow there.
    package func make(betweenTheCopies: () -> Void = {}) throws(LogError) -> BackupManifest {
        let folder = directory.backup
        // Not while an erasure has the copied keys open: SQLite finds the journal of a file by the file's path.
        try BackupList.locked(directory.path) { DataDirectory.removeTree(folder) }
        try DataDirectory.makeDirectory(folder)
        let (logCopy, keysCopy) = (folder + "/" + BackupFile.log, folder + "/" + BackupFile.keys)
        var generation: Int
        repeat {
            try BackupList.locked(directory.path) {
                for copy in [logCopy, keysCopy] {
                    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(copy + suffix) }
                }
            }
            generation = log.keys.currentGeneration
            do throws(SQLiteError) {
                try Connection(path: directory.log, access: .readOnly).backup(to: logCopy) { _, _ in }
                betweenTheCopies()
                try log.keys.backup(to: keysCopy)
            } catch { throw .sqlite(error) }
        } while generation != log.keys.currentGeneration
        do throws(SQLiteError) { try Self.makeOneFile(logCopy) } catch { throw .sqlite(error) }
        let manifest = try check(logCopy, keysCopy)
        try BackupList.locked(directory.path) { () throws(LogError) in
            do throws(SQLiteError) { try Self.makeOneFile(keysCopy) } catch { throw .sqlite(error) }
        }
        if let configuration = DataDirectory.read(directory.configuration, atMost: 1 << 20) {
            try DataDirectory.writePrivate(configuration, to: folder + "/" + BackupFile.configuration)
        }
        let description = manifest.reply.bytes + [UInt8(ascii: "\n")]
        try DataDirectory.writePrivate(description, to: folder + "/" + BackupFile.manifest)
        return manifest
    }

    /// Verifies the copies and makes the manifest.
    ///
    /// - Throws: ``LogError/damaged(number:_:)`` for a wrong hash, ``LogError/keyEncryptionKey(_:)`` if a key does not
    ///   open.
    private func check(_ logCopy: String, _ keysCopy: String) throws(LogError) -> BackupManifest {
        let copiedKeys = try KeyRing(path: keysCopy, keyEncryptionKey: try directory.keyEncryptionKey())
        let found = try LogVerifier(path: logCopy, keys: copiedKeys).verify()
        if let problem = found.problem { throw .damaged(number: problem.number, problem.sentence) }
        guard found.lostParts == 0 else { throw .keyEncryptionKey("it does not open all keys of this directory.") }
        return BackupManifest(log: log.id, epoch: log.epoch, events: found.events, root: found.root, madeAt: clock())
    }

    /// Turns the journal off, so that the file alone is the whole database.
    static func makeOneFile(_ path: String) throws(SQLiteError) {
        try Connection(path: path, access: .readWrite).execute("PRAGMA journal_mode = DELETE")
    }
}
