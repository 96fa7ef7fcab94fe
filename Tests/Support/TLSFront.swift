import Glibc

/// What stands before the service on the internet, as far as TLS goes: Python's, with a certificate of one's own, before a
/// server on the loopback address.
package final class TLSFront {
    /// Where it listens, on the loopback address.
    package let port: Int
    private let program: UnsafeMutablePointer<FILE>

    /// - Parameters:
    ///   - server: the port of the server behind it.
    ///   - certificateFile: PEM, for `localhost`.
    package init(before server: Int, certificateFile: String, keyFile: String) throws {
        // It listens before the program runs, which inherits it: nobody has to wait until it does.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        let script = Repository.conformance("tls_front.py")
        let words = [Foreign.python, script, "\(listener)", "\(server)", certificateFile, keyFile]
        // The other programs that tests start must not hold its input open.
        guard isBound, listen(listener, 64) == 0,
            let program = popen("exec " + words.map { "'\($0)'" }.joined(separator: " "), "we")
        else { throw FileFault(path: script) }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.program = program
    }

    deinit { pclose(program) }
}
