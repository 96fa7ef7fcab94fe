internal import CSupport
internal import Glibc

/// Notices clients that leave while their streamed answer waits for bytes.
///
/// libmicrohttpd looks at no socket of a suspended connection. Without this, such a stream would keep its place until
/// its next bytes, which find the socket closed. A client that closes only its sending side counts as gone too, as
/// with nginx: a reader of a stream has no reason to, and the two cases look the same.
final class Departures {
    /// An epoll descriptor, readable when a client has left; -1 if there is none.
    let descriptor: CInt
    /// The most departures read at once. Further ones are read in the next round.
    private static let eventsMax = 64
    /// The client has closed its side, or the connection is reset, which epoll reports unasked. Once is enough.
    private static let watched = EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue

    init() { descriptor = epoll_create1(CInt(EPOLL_CLOEXEC)) }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Begins to watch a socket. If that fails, the client's departure is noticed with the next bytes.
    func watch(_ socket: CInt) {
        var event = epoll_event()
        event.events = Self.watched
        event.data.fd = socket
        // A kept connection can have several streams in turn. The previous one left the socket in the set, disarmed or
        // not.
        if epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event) != 0, errno == EEXIST {
            epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event)
        }
    }

    /// Ends the watch of a socket.
    func forget(_ socket: CInt) {
        var event = epoll_event()
        epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
    }

    /// The sockets whose clients have left since the last call.
    func take() -> [CInt] {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsMax) { events in
            let count = epoll_wait(descriptor, events.baseAddress, CInt(Self.eventsMax), 0)
            return (0..<max(0, Int(count))).map { events[$0].data.fd }
        }
    }
}
