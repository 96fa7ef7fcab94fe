import Glibc

/// A loopback port for another project's server that cannot choose a free port and report it.
///
/// The port stays bound here without listening, so the system gives it to no other process. A server that sets
/// `SO_REUSEADDR`, as servers do, can bind it all the same (socket(7)). Until then, connections are refused.
package final class ReservedPort: Sendable {
    package let number: Int
    let descriptor: Int32

    package init() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        guard let number = Loopback.bind(descriptor) else {
            preconditionFailure("No port of the loopback address is free.")
        }
        self.descriptor = descriptor
        self.number = number
    }

    deinit { close(descriptor) }
}
