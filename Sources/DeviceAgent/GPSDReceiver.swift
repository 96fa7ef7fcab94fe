internal import Glibc
internal import Threading
package import Whereabouts
internal import WireFormats

/// A real GNSS receiver, by way of gpsd: plain TCP, lines of JSON. Belongs to one thread.
///
/// A lost connection, or a gpsd that is not there yet, is tried again for as long as it takes.
package final class GPSDReceiver {
    /// A result of reading from gpsd.
    package enum Reading: Sendable, Equatable {
        case fix(Fix)
        /// There was a connection, and it is gone.
        case lost
    }

    /// The wait before a connection is tried again, in milliseconds.
    private static let retryMs: Int64 = 500

    private let address: HostAndPort
    private var descriptor: Int32 = -1
    private var lines = GPSDLines()
    private var notBeforeMs = Int64.min

    /// A receiver that is not connected yet.
    package init(address: HostAndPort) { self.address = address }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits up to `waitingMs` for bytes, and returns their readings. If no bytes arrive, the current epoch is
    /// complete.
    package func readings(waitingMs: Int64) -> [Reading] {
        guard descriptor >= 0 || connect() else {
            rest(ms: min(waitingMs, max(1, notBeforeMs - MonotonicClock.milliseconds)))
            return []
        }
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, Int32(clamping: waitingMs)) > 0 else { return lines.flush().map { [.fix($0)] } ?? [] }
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { return (lines.flush().map { [.fix($0)] } ?? []) + disconnect() }
        return lines.feed(piece[..<count]).map { .fix($0) }
    }

    private func connect() -> Bool {
        guard MonotonicClock.milliseconds >= notBeforeMs else { return false }
        notBeforeMs = MonotonicClock.milliseconds + Self.retryMs
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0 else { return false }
        defer { freeaddrinfo(found) }
        var next = found
        while let candidate = next?.pointee {
            let socket = socket(
                candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), candidate.ai_protocol)
            guard socket >= 0 else { return false }
            let watch = GPSDLines.watch
            if Glibc.connect(socket, candidate.ai_addr, candidate.ai_addrlen) == 0,
                send(socket, watch, watch.count, Int32(MSG_NOSIGNAL)) == watch.count
            {
                descriptor = socket
                lines = GPSDLines()
                return true
            }
            close(socket)
            next = candidate.ai_next
        }
        return false
    }

    private func disconnect() -> [Reading] {
        close(descriptor)
        descriptor = -1
        notBeforeMs = MonotonicClock.milliseconds + Self.retryMs
        return [.lost]
    }
}
