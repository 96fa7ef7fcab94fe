import Glibc
import JSON
package import Log
import Threading
package import Whereabouts

// `backups.json` in the data directory names the folders that backups were moved to, so that an erasure reaches the
// keys in them, oldest first:
//
//     {"format":1,"backups":[{"folder":"/backup/2026-11-22","madeAt":1777881600,"volume":2049,"destroyedBefore":0,"destroyed":2}]}
//
// `destroyedBefore` is the number of destroyed keys when the backup was made, `destroyed` the number of them destroyed
// in the backup since. `volume` is the device of the file system of the folder: if it is mounted and lacks the folder,
// the backup was deleted; if it is not mounted, the backup cannot be reached. A process that changes the list or the
// keys of a backup locks `backups.lock`.

/// The known backups of a data directory.
package struct BackupList: Sendable, Equatable {
    /// A backup that was moved out of the data directory.
    package struct Entry: Sendable, Equatable {
        /// An absolute path.
        package let folder: String
        /// When the backup was made.
        package let madeAt: Timestamp
        /// The device of the file system of the folder's parent (`st_dev`).
        let volume: Int64
        /// The keys that were already destroyed when the backup was made.
        let destroyedBefore: Int64
        /// The keys that are destroyed in the backup now.
        var destroyed: Int64

        package init(folder: String, madeAt: Timestamp, volume: Int64, destroyedBefore: Int64, destroyed: Int64) {
            self.folder = folder
            self.madeAt = madeAt
            self.volume = volume
            self.destroyedBefore = destroyedBefore
            self.destroyed = destroyed
        }
    }

    /// Oldest first.
    package internal(set) var entries: [Entry] = []

    /// Three years of daily backups; beyond that the oldest is forgotten.
    package static let most = 1000
    private static let format: Int64 = 1
    /// The most bytes of the file that are read.
    private static let mostBytes = 8 << 20
    /// The lock is held while small files are moved or changed.
    private static let lockMilliseconds = 10_000

    package init() {}

    private static func path(_ directory: String) -> String { directory + "/backups.json" }

    /// The list of a data directory; empty if there is none.
    ///
    /// - Throws: ``LogError/backupList(_:)`` if this program did not write it, ``LogError/file(path:errno:)``.
    package init(of directory: String) throws(LogError) {
        let path = Self.path(directory)
        guard let bytes = DataDirectory.read(path, atMost: Self.mostBytes) else {
            if errno == ENOENT { return }
            throw .file(path: path, errno: errno)
        }
        guard let root = try? JSONDocument.parse(bytes).root, root["format"]?.int == Self.format,
            let items = root["backups"]?.array
        else { throw .backupList(path) }
        for item in items {
            guard let folder = item["folder"]?.string, folder.hasPrefix("/"), !folder.utf8.contains(0),
                let madeAt = item["madeAt"]?.double.flatMap({ Timestamp(seconds: $0) }),
                let volume = item["volume"]?.int, let before = item["destroyedBefore"]?.int,
                let destroyed = item["destroyed"]?.int, entries.count < Self.most
            else { throw .backupList(path) }
            entries.append(
                Entry(
                    folder: folder, madeAt: madeAt, volume: volume, destroyedBefore: before, destroyed: destroyed))
        }
    }

    /// Writes the list, durable on return. Hold the lock.
    package func write(to directory: String) throws(LogError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("format", Self.format)
        writer.array("backups") { writer in
            for entry in entries {
                writer.beginObject()
                writer.field("folder", entry.folder)
                writer.field("madeAt", entry.madeAt.milliseconds / 1000)
                writer.field("volume", entry.volume)
                writer.field("destroyedBefore", entry.destroyedBefore)
                writer.field("destroyed", entry.destroyed)
                writer.endObject()
            }
        }
        writer.endObject()
        try DataDirectory.writePrivate(writer.bytes + [UInt8(ascii: "\n")], to: Self.path(directory))
        Self.handOver(Self.path(directory), in: directory)
    }

    /// Adds a backup that is about to be moved to an existing folder. Drops a former entry of the folder and those of
    /// deleted backups.
    package mutating func add(_ folder: String, madeAt: Timestamp, destroyed: Int64) throws(LogError) {
        guard let resolved = realpath(folder, nil) else { throw .file(path: folder, errno: errno) }
        defer { free(resolved) }
        guard let path = String(validatingCString: resolved) else {
            throw .backupList("\(folder), whose name is not in UTF-8,")
        }
        entries.removeAll { $0.folder == path || Self.isGone($0) }
        if entries.count == Self.most { entries.removeFirst() }
        entries.append(
            Entry(
                folder: path, madeAt: madeAt, volume: Self.volume(of: DataDirectory.parent(of: path)) ?? 0,
                destroyedBefore: destroyed, destroyed: destroyed))
    }

    /// As ``add(_:madeAt:destroyed:)``, for a shipped folder that is about to get other keys. Until it has them, it
    /// may still have the keys that its former entry counts as not destroyed.
    mutating func add(shipped folder: String, madeAt: Timestamp, destroyed: Int64) throws(LogError) {
        let before = entries
        try add(folder, madeAt: madeAt, destroyed: destroyed)
        guard let entry = entries.popLast() else { return }
        let known = before.first { $0.folder == entry.folder }
        entries.append(
            Entry(
                folder: entry.folder, madeAt: madeAt, volume: entry.volume, destroyedBefore: destroyed,
                destroyed: min(known?.destroyed ?? destroyed, destroyed)))
    }

    /// Whether a backup's folder was deleted, and is not only out of reach.
    static func isGone(_ entry: Entry) -> Bool {
        var status = stat()
        guard lstat(entry.folder, &status) != 0, errno == ENOENT else { return false }
        return volume(of: DataDirectory.parent(of: entry.folder)) == entry.volume
    }

    /// The device of a path's file system; `nil` if the path cannot be reached.
    private static func volume(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(truncatingIfNeeded: status.st_dev) : nil
    }

    /// Runs `body` while no other process changes the list or the keys of a backup.
    ///
    /// - Throws: ``LogError/file(path:errno:)`` with `EWOULDBLOCK` if another process holds the lock for ten seconds.
    static func locked<R>(_ directory: String, _ body: () throws(LogError) -> R) throws(LogError) -> R {
        let path = directory + "/backups.lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path: path, errno: errno) }
        defer { close(descriptor) }
        handOver(path, in: directory)
        let deadline = MonotonicClock.seconds + Double(lockMilliseconds) / 1000
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, MonotonicClock.seconds < deadline else {
                throw .file(path: path, errno: errno)
            }
            usleep(10_000)
        }
        return try body()
    }

    /// Gives a file that root made in the data directory to the directory's owner.
    private static func handOver(_ path: String, in directory: String) {
        var status = stat()
        if geteuid() == 0, stat(directory, &status) == 0, status.st_uid != 0 {
            chown(path, status.st_uid, status.st_gid)
        }
    }

    /// The known backups that are older than the newest erasure, for `doctor`.
    ///
    /// - Returns: The folder of each, the time it was made, and whether the keys of people erased since are destroyed
    ///   in it.
    package static func beforeNewestErasure(
        in directory: String
    ) throws(LogError) -> [(folder: String, madeAt: Timestamp, isSettled: Bool)] {
        let list = try BackupList(of: directory)
        let keys = directory + "/" + BackupFile.keys
        guard !list.entries.isEmpty, access(keys, F_OK) == 0 else { return [] }
        let destroyed = Int64(try KeyRing.destroyedKeys(in: keys).count)
        return list.entries.filter { $0.destroyedBefore < destroyed && !isGone($0) }.map {
            ($0.folder, $0.madeAt, $0.destroyed >= destroyed)
        }
    }
}
