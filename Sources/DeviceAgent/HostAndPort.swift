/// `HOST:PORT`. The host is a name or an address; an IPv6 address is in brackets, for example `[::1]:8080`.
package struct HostAndPort: Sendable, Equatable, CustomStringConvertible {
    /// Without brackets.
    package let host: String
    /// 0 asks the system for a free port, where the port is one to listen on.
    package let port: UInt16

    /// `nil` unless `text` has the form.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        (self.host, self.port) = (String(host), port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
