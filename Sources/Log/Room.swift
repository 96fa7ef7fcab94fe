import Glibc
import Synchronization

/// The free space on the data directory's disk.
///
/// The file `reserve` keeps 16 MiB. If the disk is nearly full, or a write finds it full, the file is removed. Reads,
/// ends of queries and erasures are then recorded in its space, while reports are refused (``isShort``). When there is
/// enough space again, the file is created and reports are accepted.
package final class Room: Sendable {
    /// The size of the reserve: about 50,000 recorded reads.
    static let reserveBytes: Int64 = 16 << 20
    /// With less than this free, reports are refused, so that commands under way do not need the reserve.
    static let shortBytes: Int64 = 8 << 20
    /// With this much free, the reserve included, reports are accepted again. It exceeds ``shortBytes`` so that the
    /// state does not flap.
    static let enoughBytes: Int64 = 32 << 20

    /// A file that only saves time is written if it leaves this much free, so that it does not make reports refused.
    static let spareBytes: Int64 = 16 << 20

    private let path: String
    /// The bytes that can still be written to the disk; `nil` if the system does not report them.
    private let freeBytes: @Sendable () -> Int64?
    private let short = Atomic<Bool>(false)
    /// Serializes ``look()`` and ``spend()``.
    private let turn = Mutex<Void>(())

    /// - Parameter directory: An existing data directory.
    package convenience init(directory: String) {
        self.init(directory: directory) {
            var status = statvfs()
            guard statvfs(directory, &status) == 0 else { return nil }
            let (bytes, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return isMore ? .max : Int64(clamping: bytes)
        }
    }

    /// - Parameter freeBytes: The free space; a test gives its own.
    init(directory: String, freeBytes: @escaping @Sendable () -> Int64?) {
        path = directory + "/reserve"
        self.freeBytes = freeBytes
        look()
    }

    /// Whether reports are refused.
    package var isShort: Bool { short.load(ordering: .relaxed) }

    /// Whether a file of this many bytes that only saves time may be written. Cost: one system call.
    func allows(_ bytes: Int64) -> Bool { freeBytes().map { $0 - bytes >= Self.spareBytes } ?? true }

    /// Checks the free space, and removes or creates the reserve. Call it about once a second. Cost: two system calls.
    package func look() {
        turn.withLock { _ in
            guard let free = freeBytes() else { return }
            if access(path, F_OK) == 0 {
                if free < Self.shortBytes { giveUp() } else if isShort { resume() }
            } else if free < Self.enoughBytes {
                giveUp()
            } else if make() {
                if isShort { resume() }
            } else {
                giveUp()
            }
        }
    }

    /// Removes the reserve because a write found the disk full.
    ///
    /// - Returns: `false` if there was no reserve.
    func spend() -> Bool {
        turn.withLock { _ in
            let isLeft = access(path, F_OK) == 0
            giveUp()
            return isLeft
        }
    }

    /// Removes the reserve and refuses reports from now on.
    private func giveUp() {
        unlink(path)
        guard !short.exchange(true, ordering: .relaxed) else { return }
        Diagnostics.fault(
            "disk.full",
            "The disk of the data directory is full: reports and questions are refused with 507 until \(Self.enoughBytes >> 20) MiB are free."
        )
    }

    /// Accepts reports again.
    private func resume() {
        short.store(false, ordering: .relaxed)
        Diagnostics.note("disk.room", "There is room on the disk again: reports and questions are taken.")
    }

    /// Creates the reserve if need be, and returns whether it has its full size.
    private func make() -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return posix_fallocate(descriptor, 0, off_t(Self.reserveBytes)) == 0
    }
}
