internal import Glibc

/// A bound socket, closed at the end of its life unless ``listen()`` gave it away.
struct ListeningSocket: ~Copyable {
    private let descriptor: CInt
    /// The bound port, also if the system chose it.
    let port: Int

    private init(descriptor: CInt, port: Int) {
        self.descriptor = descriptor
        self.port = port
    }

    static func bound(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) -> ListeningSocket {
        let host = configuration.host == "localhost" ? "127.0.0.1" : configuration.host
        guard let address = Address(host: host, port: configuration.port) else { throw .unknownHost(host) }
        guard address.isLoopback || configuration.allowNonLoopback else { throw .notLoopback(host) }
        func failure() -> HTTPServerError {
            .cannotListen(host: host, port: configuration.port, reason: String(cString: strerror(errno)))
        }
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw failure() }
        // Without this, the port of a server that restarts would be refused for a minute.
        var yes: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        guard let port = address.bind(descriptor) else {
            let failure = failure()
            close(descriptor)
            throw failure
        }
        return ListeningSocket(descriptor: descriptor, port: port)
    }

    deinit {
        close(descriptor)
    }

    /// Begins to listen and gives the descriptor away; the receiver must close it.
    ///
    /// - Returns: `nil` if another socket listens on the port already.
    consuming func listen() -> CInt? {
        let descriptor = descriptor
        discard self
        guard Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

/// A numeric address and port in the kernel's form.
private enum Address {
    case v4(sockaddr_in)
    case v6(sockaddr_in6)

    init?(host: String, port: Int) {
        guard let port = in_port_t(exactly: port) else { return nil }
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            self = .v4(v4)
        } else if inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 {
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            self = .v6(v6)
        } else {
            return nil
        }
    }

    var family: CInt {
        switch self {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    /// 127.0.0.0/8 and ::1.
    var isLoopback: Bool {
        switch self {
        case .v4(let address):
            UInt32(bigEndian: address.sin_addr.s_addr) >> 24 == 127
        case .v6(let address):
            withUnsafeBytes(of: address.sin6_addr) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
        }
    }

    /// Binds the socket; returns the port, or `nil`.
    func bind(_ descriptor: CInt) -> Int? {
        switch self {
        case .v4(var address):
            guard bind(descriptor, to: &address) else { return nil }
            return Int(in_port_t(bigEndian: address.sin_port))
        case .v6(var address):
            guard bind(descriptor, to: &address) else { return nil }
            return Int(in_port_t(bigEndian: address.sin6_port))
        }
    }

    private func bind<Form>(_ descriptor: CInt, to address: inout Form) -> Bool {
        var length = socklen_t(MemoryLayout<Form>.size)
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
    }
}
