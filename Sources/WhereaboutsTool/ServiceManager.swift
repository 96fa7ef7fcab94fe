import Glibc

/// Notifies the service manager that started this process, as in sd_notify(3): sends a datagram to the socket in
/// `NOTIFY_SOCKET`. Does nothing without one.
struct ServiceManager {
    /// The interval at which it expects a sign of life; `nil` if it does not.
    let watchdogSeconds: Double?
    private let socketPath: String?

    init() {
        socketPath = getenv("NOTIFY_SOCKET").map { String(cString: $0) }
        let isMeant = getenv("WATCHDOG_PID").map { String(cString: $0) == "\(getpid())" } ?? true
        let microseconds = getenv("WATCHDOG_USEC").flatMap { Double(String(cString: $0)) }
        watchdogSeconds = isMeant && socketPath != nil ? microseconds.map { $0 / 1e6 } : nil
    }

    /// - Parameter state: `READY=1`, `STOPPING=1` or `WATCHDOG=1`.
    func tell(_ state: String) {
        guard let socketPath else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socketPath.utf8)
        // A name that begins with @ is not in the file system.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path)! + path.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
