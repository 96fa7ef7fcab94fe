internal import Glibc

/// The sockets of connections that were refused in the middle of a request.
///
/// Closing a socket with unread bytes resets the connection, and the client may never see the answer. So a duplicate
/// stays open for a while, closed for writing, and bytes that still arrive are dropped.
struct LingeringSockets {
    /// The most sockets kept. Further refused clients may not see their answer.
    private static let countMax = 64
    /// The bytes that a client may still send before it is cut off.
    private static let bytesMax = 256 * 1024
    private static let seconds = 1.0

    private struct Socket {
        let descriptor: CInt
        let untilSeconds: Double
        var bytesLeft: Int
    }

    private var sockets: [Socket] = []

    var isEmpty: Bool { sockets.isEmpty }
    var descriptors: [CInt] { sockets.map(\.descriptor) }

    /// Keeps the connection of `descriptor` open after `descriptor` itself is closed.
    mutating func add(duplicateOf descriptor: CInt, nowSeconds: Double) {
        guard sockets.count < Self.countMax else { return }
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return }
        shutdown(duplicate, CInt(SHUT_WR))
        sockets.append(
            Socket(descriptor: duplicate, untilSeconds: nowSeconds + Self.seconds, bytesLeft: Self.bytesMax))
    }

    /// Drops the bytes that have come, and closes sockets that have ended, sent too much or been kept long enough.
    mutating func drain(nowSeconds: Double) {
        guard !sockets.isEmpty else { return }
        var kept: [Socket] = []
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            for var socket in sockets {
                // Duplicates share the mode of libmicrohttpd's sockets, which is non-blocking.
                var count = 0
                repeat {
                    count = recv(socket.descriptor, buffer.baseAddress, buffer.count, 0)
                    socket.bytesLeft -= max(count, 0)
                } while count > 0 && socket.bytesLeft > 0
                let isOpen = count > 0 || (count < 0 && errno == EAGAIN)
                if isOpen && socket.bytesLeft > 0 && nowSeconds < socket.untilSeconds {
                    kept.append(socket)
                } else {
                    close(socket.descriptor)
                }
            }
        }
        sockets = kept
    }

    mutating func closeAll() {
        for socket in sockets { close(socket.descriptor) }
        sockets = []
    }
}
