/// Why a server does not run.
package enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The host is not a numeric address.
    case unknownHost(String)
    /// The host can be reached from outside, and that was not allowed.
    case notLoopback(String)
    /// The address cannot be used: another process has it, or it is none of this machine's.
    case cannotListen(host: String, port: Int, reason: String)
    /// There is no memory, thread or descriptor left to start with.
    case cannotStart(String)

    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .unknownHost(let host):
            "\"\(host)\" is not a numeric IP address to listen on."
        case .notLoopback(let host):
            "\(host) can be reached from outside this machine, but this server speaks no TLS: listen on 127.0.0.1 "
                + "behind a reverse proxy, or allow other addresses in the configuration."
        case .cannotListen(let host, let port, let reason):
            "Cannot listen on \(host), port \(port): \(reason)."
        case .cannotStart(let reason):
            "The HTTP server cannot start: \(reason)."
        }
    }
}
