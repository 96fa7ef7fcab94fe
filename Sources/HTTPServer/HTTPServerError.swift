/// Why a server cannot run.
package enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The host is not a numeric address.
    case unknownHost(String)
    /// Other machines can reach the host's address, and the configuration does not allow that.
    case notLoopback(String)
    /// The address cannot be used: another process has it, or this machine does not.
    case cannotListen(host: String, port: Int, reason: String)
    /// No memory, thread or descriptor is left.
    case cannotStart(String)

    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .unknownHost(let host):
            "\"\(host)\" is not a numeric IP address to listen on."
        case .notLoopback(let host):
            "Other machines can reach \(host), but this server has no TLS: listen on 127.0.0.1 "
                + "behind a reverse proxy, or allow other addresses in the configuration."
        case .cannotListen(let host, let port, let reason):
            "Cannot listen on \(host), port \(port): \(reason)."
        case .cannotStart(let reason):
            "The HTTP server cannot start: \(reason)."
        }
    }
}
