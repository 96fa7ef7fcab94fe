package import Cryptography
import Glibc
import JSON
package import SQLite

/// The files of one service, and the lock that keeps other processes out. The Architecture page explains each file.
///
///     log.sqlite keys.sqlite kek fix-identities/ catalog.sqlite projections/ admin.token config.json backups.json
///     backups.lock shipping.json basemap.sqlite LOCK
package final class DataDirectory: Sendable {
    /// The path as given.
    package let path: String
    /// Open for the life of the process: the kernel releases the lock when the process ends in any way.
    private let lock: Int32

    /// The default directory: `$XDG_STATE_HOME/whereabouts`, else `~/.local/state/whereabouts`.
    package static var standardPath: String {
        if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 { return String(cString: state) + "/whereabouts" }
        let home = getenv("HOME").map { String(cString: $0) } ?? "."
        return home + "/.local/state/whereabouts"
    }

    /// The log, `log.sqlite`.
    package var log: String { path + "/log.sqlite" }
    /// The keys that seal personal parts, each wrapped by the key-encryption key.
    package var keys: String { path + "/keys.sqlite" }
    /// The log's index of fix identities.
    package var fixIdentities: String { path + "/fix-identities" }
    /// The table of generations of projections.
    package var catalog: String { path + "/catalog.sqlite" }
    /// The folder of the projections' files.
    package var projections: String { path + "/projections" }
    /// The file of the operator's token.
    package var adminToken: String { path + "/admin.token" }
    /// The settings, `config.json`; optional.
    package var configuration: String { path + "/config.json" }
    /// The folder of a backup until it is moved away.
    package var backup: String { path + "/backup" }
    /// The folder of a copy of the keys while it is made to be shipped. A killed process leaves it; the next copy and the
    /// next destruction of keys remove it.
    package var shippedKeys: String { path + "/shipping" }
    /// The place of the last batch that a command has shipped.
    package var shippingState: String { path + "/shipping.json" }
    /// The key-encryption key, if it is not one of systemd's credentials.
    package var kek: String { path + "/kek" }
    /// The file that is locked, with the process id and address of its holder.
    static func lockPath(_ path: String) -> String { path + "/LOCK" }

    /// Creates the directory if need be (mode 0700) and takes its lock. The access of other users to it or to its
    /// secrets is removed, with a line of diagnostics.
    ///
    /// - Throws: ``LogError/inUse(processID:)`` if another process has it; ``LogError/notPrivate(_:)`` if the access of
    ///   other users cannot be removed, in which case nothing was written.
    package init(path: String) throws(LogError) {
        self.path = path
        try Self.makeDirectory(path)
        // Also for an existing directory: the start that created it may have ended before its name was durable.
        Self.syncFolder(Self.parent(of: path))
        try Self.closeToOthers(path)
        let file = Self.lockPath(path)
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path: file, errno: errno) }
        guard Self.takeLock(descriptor) else {
            close(descriptor)
            throw .inUse(processID: Self.running(in: path)?.processID ?? 0)
        }
        lock = descriptor
        announce(address: nil)
        try Self.makeDirectory(projections)
    }

    /// Opens a directory for reading. Nothing is created or changed, so it may be on read-only media.
    ///
    /// - Throws: ``LogError/inUse(processID:)`` if a service runs on it.
    package init(reading path: String) throws(LogError) {
        self.path = path
        // Without the file, no service has run on it, or it is a copy.
        lock = open(Self.lockPath(path), O_RDONLY | O_CLOEXEC)
        guard lock < 0 || flock(lock, LOCK_SH | LOCK_NB) == 0 else {
            close(lock)
            throw .inUse(processID: Self.running(in: path)?.processID ?? 0)
        }
    }

    /// Names the files of a directory on which a service runs, for reading beside it. Nothing is locked or changed.
    package init(beside path: String) { (self.path, lock) = (path, -1) }

    deinit { if lock >= 0 { close(lock) } }

    /// Tries for a second: after a process has released the lock, its child may still hold it between its fork and
    /// its exec.
    private static func takeLock(_ descriptor: Int32) -> Bool {
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Writes this process's id and address into the lock file, for the tool.
    package func announce(address: String?) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("processID", Int64(getpid()))
        writer.field("address", address)
        writer.endObject()
        ftruncate(lock, 0)
        writer.bytes.withUnsafeBytes { _ = pwrite(lock, $0.baseAddress, $0.count, 0) }
    }

    /// The service that runs on a directory; `nil` if there is none. Its address is `nil` until it listens.
    package static func running(in path: String) -> (processID: Int32, address: String?)? {
        let descriptor = open(lockPath(path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return nil }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0, let document = try? JSONDocument.parse(Array(buffer.prefix(count))) else { return (0, nil) }
        return (Int32(truncatingIfNeeded: document.root["processID"]?.int ?? 0), document.root["address"]?.string)
    }

    /// The file of the key-encryption key among systemd's credentials, if there is one.
    private static var credential: String? {
        guard let folder = getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let file = String(cString: folder) + "/kek"
        return access(file, R_OK) == 0 ? file : nil
    }

    /// Whether the directory, or systemd, has a key-encryption key.
    package var hasKeyEncryptionKey: Bool { Self.credential != nil || access(kek, F_OK) == 0 }

    /// Whether systemd provides the key-encryption key.
    package static var hasCredential: Bool { credential != nil }

    /// Opens the keys of this directory under its key-encryption key.
    ///
    /// - Throws: ``LogError/keysMissing(path:)`` if there is a log but no file of keys,
    ///   ``LogError/keyEncryptionKey(_:)`` if the file was made under another key. Nothing is written then.
    package func openKeys() throws(LogError) -> KeyRing { try openKeys(under: try keyEncryptionKey()) }

    /// As ``openKeys()``, for callers who have the key-encryption key. A reader opens them with `access` `.readOnly`.
    package func openKeys(
        under keyEncryptionKey: SymmetricKey, record: (any KeyRecord)? = nil,
        access: Connection.Access = .readWrite
    ) throws(LogError) -> KeyRing {
        try KeyRing(
            path: keys, keyEncryptionKey: keyEncryptionKey, from: Self.credential ?? kek, record: record, access: access
        )
    }

    /// The key-encryption key: from systemd's credential `kek` if there is one, else from the file `kek`, which is made
    /// on the first start (32 random bytes, mode 0600).
    ///
    /// - Parameter isCopy: Whether the log and its keys are copies, which can be made again.
    package func keyEncryptionKey(isCopy: Bool = false) throws(LogError) -> SymmetricKey {
        // A log whose first start was interrupted is an empty file.
        var status = stat()
        if !isCopy, access(keys, F_OK) != 0, stat(log, &status) == 0, status.st_size > 0 {
            throw .keysMissing(path: keys)
        }
        if let file = Self.credential { return try key(from: file) }
        if access(kek, F_OK) != 0 {
            guard access(keys, F_OK) != 0 else {
                throw .keyEncryptionKey("keys.sqlite exists but kek does not; put the kek of this directory back.")
            }
            try Self.writePrivate(randomBytes(32), to: kek)
        }
        return try key(from: kek)
    }

    /// A key of exactly 32 bytes from a file.
    private func key(from file: String) throws(LogError) -> SymmetricKey {
        guard let bytes = Self.read(file, atMost: 4096) else { throw .file(path: file, errno: errno) }
        guard bytes.count == SymmetricKey.byteCount else {
            throw .keyEncryptionKey("\(file) must have exactly 32 bytes but has \(bytes.count).")
        }
        return SymmetricKey(bytes: bytes)
    }

    /// Creates a directory and its missing parents. Each is durable with its name on return.
    ///
    /// - Parameter sync: Makes the names in a directory durable.
    package static func makeDirectory(_ path: String, sync: (String) -> Void = { syncFolder($0) }) throws(LogError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            made += made.isEmpty && !path.hasPrefix("/") ? String(part) : "/" + part
            if made == "/" || made.isEmpty { made = "" }
            if made.isEmpty { continue }
            if mkdir(made, 0o700) == 0 {
                sync(parent(of: made))
            } else if errno != EEXIST {
                throw .file(path: made, errno: errno)
            }
        }
    }

    /// The parent directory of a path; `.` for a single name, `/` for the root.
    package static func parent(of path: String) -> String {
        let names = path[..<(path.lastIndex { $0 != "/" }.map { path.index(after: $0) } ?? path.startIndex)]
        guard let slash = names.lastIndex(of: "/") else { return "." }
        return slash == names.startIndex ? "/" : String(names[..<slash])
    }

    /// The content of a small file; `nil`, with `errno` set, if it cannot be read or is larger than `atMost` bytes.
    package static func read(_ file: String, atMost: Int) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            if bytes.count > atMost {
                errno = EFBIG
                return nil
            }
        }
    }

    /// Writes a file that only its owner may read, by renaming a new one. The file and its name are durable on return.
    package static func writePrivate(_ bytes: [UInt8], to file: String) throws(LogError) {
        let temporary = file + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path: temporary, errno: errno) }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let isSynced = fsync(descriptor) == 0
        close(descriptor)
        guard written == bytes.count, isSynced, rename(temporary, file) == 0 else {
            throw .file(path: file, errno: errno)
        }
        syncFolder(String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)]))
    }

    /// Makes the names in a folder durable.
    package static func syncFolder(_ path: String) {
        let directory = open(path, O_RDONLY | O_DIRECTORY)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }
}
