import Glibc

/// A port of the loopback address for a server of someone else's that cannot choose one and say which.
///
/// It stays bound here without listening, so that nobody else is given it meanwhile; a server that sets `SO_REUSEADDR`,
/// as servers do, takes it all the same (socket(7)), and until then connecting is refused.
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
