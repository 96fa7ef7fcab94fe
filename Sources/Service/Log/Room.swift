import Glibc
import Synchronization

/// The room on the data directory's disk.
///
/// The file `reserve` keeps 16 MiB. When the disk is nearly full, or a write finds it full, the file is removed: what it
/// held is room for recording readings, ends of queries and erasures, while the intake is refused (``isShort``). When
/// there is room again, the file is made anew and the intake goes on.
final class Room: Sendable {
    /// What the reserve holds: about 50,000 recorded readings.
    static let reserveBytes: Int64 = 16 << 20
    /// The intake ends with less than this free, so that the reserve is not needed for what is under way.
    static let shortBytes: Int64 = 8 << 20
    /// The intake goes on with this much free, the reserve included: more than what ended it, so that it does not flap.
    static let enoughBytes: Int64 = 32 << 20

    private let path: String
    /// Bytes that may be written to the disk; `nil` when the system does not say.
    private let freeBytes: @Sendable () -> Int64?
    private let short = Atomic<Bool>(false)
    /// One at a time looks or spends.
    private let turn = Mutex<Void>(())

    /// - Parameter directory: the data directory, which exists.
    convenience init(directory: String) {
        self.init(directory: directory) {
            var status = statvfs()
            guard statvfs(directory, &status) == 0 else { return nil }
            let (bytes, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return isMore ? .max : Int64(clamping: bytes)
        }
    }

    init(directory: String, freeBytes: @escaping @Sendable () -> Int64?) {
        path = directory + "/reserve"
        self.freeBytes = freeBytes
        look()
    }

    /// Whether the intake is refused.
    var isShort: Bool { short.load(ordering: .relaxed) }

    /// Looks how much is free, gives the reserve up or makes it anew. To be called about once a second; costs two calls of
    /// the system.
    func look() {
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

    /// A write has found the disk full: gives the reserve up.
    ///
    /// - Returns: `false` when there was none left.
    func spend() -> Bool {
        turn.withLock { _ in
            let isLeft = access(path, F_OK) == 0
            giveUp()
            return isLeft
        }
    }

    private func giveUp() {
        unlink(path)
        guard !short.exchange(true, ordering: .relaxed) else { return }
        Diagnostics.fault(
            "disk.full",
            "The disk of the data directory is full: reports and questions are refused with 507 until \(Self.enoughBytes >> 20) MiB are free."
        )
    }

    private func resume() {
        short.store(false, ordering: .relaxed)
        Diagnostics.note("disk.room", "There is room on the disk again: reports and questions are taken.")
    }

    /// Whether the reserve is there whole.
    private func make() -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return posix_fallocate(descriptor, 0, off_t(Self.reserveBytes)) == 0
    }
}
