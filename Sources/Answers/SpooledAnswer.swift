import Cryptography
import Glibc
import HTTPServer
import Log
import Synchronization
package import Whereabouts

/// The room for answers that are too long for memory. They are written to files without a name in the data directory, so
/// that their hash can be recorded before their first byte leaves.
package final class SpoolRoom: Sendable {
    /// The bounds of answers and files.
    package struct Bounds: Sendable {
        /// The bytes of an answer that stay in memory: a long day of fixes.
        package var memoryBytes = 1 << 20
        /// The longest answer: about two million fixes as GPX.
        package var answerBytes = 512 << 20
        /// The most files at a time, over all callers; each caller has at most one.
        package var files = 4
        /// The bytes that must stay free on the disk for the log.
        package var freeBytes = 256 << 20

        package init() {}
    }

    private let directory: String
    let bounds: Bounds
    /// The callers who have a file.
    private let holders = Mutex<Set<PrincipalID>>([])

    /// - Parameter directory: The folder for the files, usually the data directory.
    package init(directory: String, _ bounds: Bounds = Bounds()) {
        (self.directory, self.bounds) = (directory, bounds)
    }

    /// A new file for a caller. It is deleted when its last user releases it.
    ///
    /// - Throws: 503 if the caller has one, or there are too many; 507 if the disk has too little room.
    fileprivate func file(for caller: PrincipalID) throws(Problem) -> SpoolFile {
        let taken = holders.withLock { holders -> Int? in
            guard holders.count < bounds.files, holders.insert(caller).inserted else { return nil }
            return holders.count
        }
        guard let taken else { throw .busy(Self.retrySeconds) }
        // Before the initializer has succeeded, the file gives nothing back.
        do throws(Problem) {
            // Each file under way may become as long as the longest answer.
            var disk = statvfs()
            guard statvfs(directory, &disk) == 0,
                Int(disk.f_bavail) * Int(disk.f_frsize) >= bounds.answerBytes * taken + bounds.freeBytes
            else { throw .noRoom }
            return try SpoolFile(in: directory) { [weak self] in self?.giveBack(caller) }
        } catch {
            giveBack(caller)
            throw error
        }
    }

    /// The `Retry-After` if there are too many files: a short export is sent in a few seconds.
    private static let retrySeconds = 5

    private func giveBack(_ caller: PrincipalID) { holders.withLock { _ = $0.remove(caller) } }
}

/// A file without a name. The system frees its blocks when the last user releases it, also after a crash.
private final class SpoolFile: Sendable {
    private let descriptor: CInt
    private let whenGone: @Sendable () -> Void

    init(in directory: String, whenGone: @escaping @Sendable () -> Void) throws(Problem) {
        var name = Array("\(directory)/spool-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw errno == ENOSPC ? .noRoom : .broken }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(name)
        self.whenGone = whenGone
    }

    deinit {
        close(descriptor)
        whenGone()
    }

    /// Writes all bytes at a place.
    func write(_ bytes: [UInt8], at place: Int) throws(Problem) {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { bytes in
                pwrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(place + done))
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw errno == ENOSPC || errno == EDQUOT ? .noRoom : .broken }
            done += written
        }
    }

    /// Bytes from a place on, at most `count`; `nil` if they cannot be read.
    func read(at place: Int, _ count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(place)))
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// An answer that is written piece by piece, hashed while it is written, and sent after its record. Beyond
/// ``SpoolRoom/Bounds/memoryBytes`` it is kept in a file, so a longer answer takes no more memory.
///
/// Used by one thread until ``finished(count:asOf:headers:)``.
package final class SpooledAnswer {
    private let room: SpoolRoom
    private let caller: PrincipalID
    private let hasher = SHA256()
    /// The bytes that are not in the file.
    private var waiting: [UInt8] = []
    private var file: SpoolFile?
    private var written = 0

    /// An empty answer.
    package init(in room: SpoolRoom, for caller: PrincipalID) {
        (self.room, self.caller) = (room, caller)
        hasher.begin()
    }

    /// Adds bytes.
    ///
    /// - Throws: 422 if the answer becomes too long; 503 or 507 if it needs a file and there is no room for one.
    package func append(_ bytes: [UInt8]) throws(Problem) {
        guard written + waiting.count + bytes.count <= room.bounds.answerBytes else {
            throw .refused(
                "The file would have more than \(room.bounds.answerBytes >> 20) MiB; choose a shorter range with \"from\" and \"to\"."
            )
        }
        bytes.withUnsafeBytes { hasher.update($0) }
        waiting += bytes
        if waiting.count > room.bounds.memoryBytes { try spill() }
    }

    private func spill() throws(Problem) {
        let file: SpoolFile
        if let known = self.file { file = known } else { file = try room.file(for: caller) }
        self.file = file
        try file.write(waiting, at: written)
        written += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }

    /// The whole answer, for the gate. Nothing can be added after it.
    ///
    /// - Parameters:
    ///   - count: The number of items that the answer shows, for the record.
    ///   - asOf: The number of the last event that the answer takes into account.
    package func finished(
        count: Int64, asOf: Int64, headers: [(name: String, value: String)]
    ) throws(Problem) -> Gate.Computed {
        let hash = Hash256(hasher.finish())
        guard file != nil else {
            return Gate.Computed(body: waiting, count: count, asOf: asOf, headers: headers)
        }
        try spill()
        guard let file else { throw .broken }
        let source = HTTPStream.Source(length: written) { file.read(at: $0, $1) }
        return Gate.Computed(spooled: source, hash: hash, count: count, asOf: asOf, headers: headers)
    }
}
