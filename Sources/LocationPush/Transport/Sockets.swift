internal import Glibc

/// Sets `O_NONBLOCK` and `FD_CLOEXEC` on a descriptor.
package func setNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

/// A resolved address of a TCP peer.
package struct SocketAddress: Sendable {
    private let family: Int32
    private let bytes: [UInt8]

    /// Looks a host up and returns its addresses in the resolver's order (`getaddrinfo`). Blocks, for seconds at worst.
    ///
    /// - Throws: ``TransportFault`` with the resolver's own words.
    package static func resolve(host: String, port: UInt16) throws(TransportFault) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            throw TransportFault("looking up \(host): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                let raw = UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))
                found.append(SocketAddress(family: entry.pointee.ai_family, bytes: Array(raw)))
            }
            next = entry.pointee.ai_next
        }
        guard !found.isEmpty else { throw TransportFault("looking up \(host): no address") }
        return found
    }

    /// Begins to connect without waiting; the descriptor becomes writable when it has ended one way or the other.
    ///
    /// - Throws: ``TransportFault`` when the system refuses at once.
    package func beginConnecting() throws(TransportFault) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TransportFault(call: "socket") }
        setNonBlocking(descriptor)
        setNoDelay(descriptor)
        let result = bytes.withUnsafeBytes { raw in
            connect(descriptor, raw.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
        }
        if result != 0 && errno != EINPROGRESS {
            let fault = TransportFault(call: "connect")
            close(descriptor)
            throw fault
        }
        return descriptor
    }
}

/// A socket that listens on the IPv4 loopback address and nowhere else.
package final class LoopbackListener {
    /// The descriptor to poll for reading.
    package let descriptor: Int32
    /// The port in use; the system's choice when 0 was asked for.
    package let port: UInt16
    /// Given up for a moment when descriptors run out, so that the waiting connection can be turned away: left
    /// waiting, it would make every `poll` return at once.
    private var spare = open("/dev/null", O_RDONLY | O_CLOEXEC)

    /// Listens on 127.0.0.1.
    ///
    /// - Parameter port: the port, or 0 to let the system choose one.
    /// - Throws: ``TransportFault``, for instance when the port is taken.
    package init(port: UInt16) throws(TransportFault) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TransportFault(call: "socket") }
        setNonBlocking(descriptor)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0, listen(descriptor, 1024) == 0 else {
            let fault = TransportFault(call: "listening on port \(port)")
            close(descriptor)
            throw fault
        }
        var length = size
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
        if spare >= 0 { close(spare) }
    }

    /// The next waiting connection, non-blocking; nil when there is none.
    package func acceptNext() -> Int32? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else {
            if errno == EMFILE || errno == ENFILE { turnAway() }
            return nil
        }
        setNonBlocking(accepted)
        setNoDelay(accepted)
        return accepted
    }

    private func turnAway() {
        if spare >= 0 { close(spare) }
        let refused = accept(descriptor, nil, nil)
        if refused >= 0 { close(refused) }
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }
}

/// A push is one small write that is waited for: Nagle's delay would only add to it.
private func setNoDelay(_ descriptor: Int32) {
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
}
