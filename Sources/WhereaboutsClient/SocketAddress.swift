/// A host and a port, as in the service's lock file.
package struct SocketAddress: Equatable, Sendable {
    /// The host name or numeric address, without brackets.
    package let host: String
    /// The port in digits.
    package let port: String

    /// Reads `HOST:PORT`, `[IPV6]:PORT` and `http://HOST:PORT`.
    package init?(_ text: String) {
        let bare = text.hasPrefix("http://") ? text.dropFirst(7) : text[...]
        let authority = bare.hasSuffix("/") ? bare.dropLast() : bare
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        var host = authority[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let port = authority[authority.index(after: colon)...]
        guard !host.isEmpty, let number = UInt16(port), number > 0 else { return nil }
        (self.host, self.port) = (String(host), String(port))
    }

    /// - Parameter port: 0 lets the system choose when listening; it cannot be connected to.
    package init(host: some StringProtocol, port: UInt16) {
        (self.host, self.port) = (String(host), String(port))
    }

    /// `HOST:PORT`, with brackets around an IPv6 address.
    package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
