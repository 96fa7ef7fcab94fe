import Cryptography
import Glibc
import Log
import Whereabouts

/// Ships into a directory: appends batches to files of about 64 MiB in the folder of the log and its epoch. The
/// place to go on is read from the batches alone, so that no other file can disagree with them.
final class ShippedDirectory: ShippingPlace {
    private let target: String
    private let origin: ShippedBatch.Origin
    private let directory: DataDirectory
    private let keys: KeyRing
    private let clock: @Sendable () -> Timestamp
    private let sha256 = SHA256()
    /// Below 0 while the folder is not locked.
    private var lock: Int32 = -1
    /// The file that batches are appended to.
    private var file: AppendedFile?
    /// A longer file is not appended to.
    private let fileBytes: Int64

    /// The file that batches are appended to, as this process left it.
    private struct AppendedFile {
        let path: String
        let descriptor: Int32
        var length: Int64

        /// Whether the path still leads to the file, and no one else has changed its length.
        var isAsLeft: Bool {
            var (there, here) = (stat(), stat())
            return stat(path, &there) == 0 && fstat(descriptor, &here) == 0 && there.st_dev == here.st_dev
                && there.st_ino == here.st_ino && Int64(here.st_size) == length
        }
    }

    /// The folder of the log's batches.
    private var folder: String { target + "/" + origin.folder }

    /// - Parameters:
    ///   - target: An existing directory. It is not made, because its file system may not be mounted.
    ///   - log: The log, of which the id, the epoch and the keys are used.
    ///   - fileBytes: A file with so many bytes is not appended to.
    init(
        _ target: String, _ directory: DataDirectory, _ log: EventLog, fileBytes: Int64,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.target, self.directory, self.keys, self.clock) = (target, directory, log.keys, clock)
        (origin, self.fileBytes) = (.init(log: log.id, epoch: log.epoch), fileBytes)
    }

    deinit { close() }

    func close() {
        if let file { Glibc.close(file.descriptor) }
        if lock >= 0 { Glibc.close(lock) }
        (file, lock) = (nil, -1)
    }

    // MARK: Where to go on

    func open() throws(ShippingFault) -> Shipped {
        close()
        if mkdir(folder, 0o700) == 0 {
            DataDirectory.syncFolder(target)
        } else if errno != EEXIST {
            throw .file(path: folder, errno: errno)
        }
        try takeLock()
        unlink(folder + "/" + BackupFile.newKeys)
        return try resume()
    }

    /// Takes the lock of the folder. A file system that has no locks does without.
    private func takeLock() throws(ShippingFault) {
        let path = folder + "/LOCK"
        lock = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .file(path: path, errno: errno) }
        if flock(lock, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { throw .busy(folder) }
    }

    /// Reads the newest file, cuts off an append that did not end, and goes on with that file.
    private func resume() throws(ShippingFault) -> Shipped {
        let names = try ShippingFault.logged { () throws(LogError) in try ShippedName.all(in: folder) }
        let secret = ShippedBatch.secret(of: keys)
        for name in names.reversed() where name.last == nil {
            let path = folder + "/" + name.text
            let (last, length) = try Self.whole(path, secret, sha256)
            guard let last else {
                // The append that began the file did not end.
                guard unlink(path) == 0 else { throw .file(path: path, errno: errno) }
                continue
            }
            guard last.origin == origin else { throw .otherHistory(folder) }
            let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
            guard descriptor >= 0 else { throw .file(path: path, errno: errno) }
            file = AppendedFile(path: path, descriptor: descriptor, length: length)
            guard ftruncate(descriptor, off_t(length)) == 0, fdatasync(descriptor) == 0 else {
                throw .file(path: path, errno: errno)
            }
            return Shipped(range: last.after, leaf: last.events.last?.leaf)
        }
        return .nothing
    }

    /// The last whole batch of a file, and the length of the file up to its end.
    ///
    /// - Throws: ``ShippingFault/damaged(path:offset:_:)`` if the bytes after it are not the rest of one append.
    private static func whole(
        _ path: String, _ secret: [UInt8], _ sha256: SHA256
    ) throws(ShippingFault) -> (last: ShippedBatch?, length: Int64) {
        try ShippingFault.either { () throws(LogError) -> Result<(last: ShippedBatch?, length: Int64), ShippingFault> in
            let file = try ShippedFile(path, secret, sha256)
            var last: ShippedBatch?
            while true {
                switch try file.next() {
                case .batch(let batch): last = batch
                case .end: return .success((last, file.offset))
                case .broken(let broken):
                    guard broken.isTail else {
                        return .failure(.damaged(path: path, offset: broken.offset, broken.sentence))
                    }
                    return .success((last, file.offset))
                }
            }
        }
    }

    // MARK: Shipping

    func put(_ bytes: [UInt8], of batch: ShippedBatch) throws(ShippingFault) {
        if let file, file.length >= fileBytes {
            Glibc.close(file.descriptor)
            self.file = nil
        }
        if file == nil { file = try begin(ShippedName(first: batch.first, last: nil)) }
        guard let file else { return }
        guard file.isAsLeft else { throw .changed(file.path) }
        try ShippingFault.write(bytes, to: file.descriptor, file.path)
        guard fdatasync(file.descriptor) == 0 else { throw .file(path: file.path, errno: errno) }
        self.file?.length += Int64(bytes.count)
    }

    /// Makes the next file.
    private func begin(_ name: ShippedName) throws(ShippingFault) -> AppendedFile {
        let path = folder + "/" + name.text
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path: path, errno: errno) }
        DataDirectory.syncFolder(folder)
        return AppendedFile(path: path, descriptor: descriptor, length: 0)
    }

    /// The copy is written beside the old one first, because a share may be slow. The list of backups is locked only for
    /// the renaming, so that an erasure either finds the new copy or has made it obsolete.
    func put(_ copy: borrowing KeysCopy) throws(ShippingFault) -> Bool {
        let (path, new) = (folder + "/" + BackupFile.keys, folder + "/" + BackupFile.newKeys)
        unlink(new)
        try Self.copy(copy.descriptor, to: new)
        let (destroyed, generation) = (copy.destroyed, copy.generation)
        return try ShippingFault.either { () throws(LogError) -> Result<Bool, ShippingFault> in
            try BackupList.locked(directory.path) { () throws(LogError) in
                guard keys.currentGeneration == generation else { return .success(false) }
                var list = try BackupList(of: directory.path)
                try list.add(shipped: folder, madeAt: clock(), destroyed: destroyed)
                try list.write(to: directory.path)
                let old = Glibc.open(path, O_WRONLY | O_CLOEXEC)
                defer { if old >= 0 { Glibc.close(old) } }
                guard rename(new, path) == 0 else { return .failure(.file(path: path, errno: errno)) }
                DataDirectory.syncFolder(folder)
                Self.overwrite(old)
                list.entries[list.entries.count - 1].destroyed = destroyed
                try list.write(to: directory.path)
                return .success(true)
            }
        }
    }

    func put(configuration: [UInt8]) throws(ShippingFault) {
        try ShippingFault.logged { () throws(LogError) in
            try DataDirectory.writePrivate(configuration, to: folder + "/" + BackupFile.configuration)
        }
    }

    /// Copies an open file into a new one, durable on return.
    private static func copy(_ from: Int32, to path: String) throws(ShippingFault) {
        let to = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard to >= 0 else { throw .file(path: path, errno: errno) }
        defer { Glibc.close(to) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: off_t = 0
        while true {
            let count = buffer.withUnsafeMutableBytes { pread(from, $0.baseAddress, $0.count, offset) }
            guard count >= 0 else { throw .file(path: path, errno: errno) }
            if count == 0 { break }
            try ShippingFault.write(Array(buffer[..<count]), to: to, path)
            offset += off_t(count)
        }
        guard fsync(to) == 0 else { throw .file(path: path, errno: errno) }
    }

    /// Overwrites the replaced keys with zeros, because an erasure can no longer reach them.
    private static func overwrite(_ descriptor: Int32) {
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var offset: off_t = 0
        while offset < status.st_size {
            let count = min(zeros.count, Int(status.st_size - offset))
            guard zeros.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, count, offset) }) == count else { return }
            offset += off_t(count)
        }
        fdatasync(descriptor)
    }
}
