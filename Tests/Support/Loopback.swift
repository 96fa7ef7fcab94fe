import Glibc

/// Connections to and servers at 127.0.0.1, without the code under test.
package enum Loopback {
    /// Connects a socket to a port; `false` if nothing listens there.
    package static func connect(_ descriptor: Int32, port: Int) -> Bool {
        withAddress(port: port) { Glibc.connect(descriptor, $0, $1) == 0 }
    }

    /// Binds a socket to a free port.
    ///
    /// - Returns: The port, or `nil` if none is free.
    package static func bind(_ descriptor: Int32) -> Int? {
        withAddress(port: 0) { address, length -> Int? in
            var length = length
            guard Glibc.bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else {
                return nil
            }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
    }

    private static func withAddress<R>(port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
