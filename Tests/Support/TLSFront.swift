import Glibc

/// A TLS proxy in Python, with a self-made certificate, before a server on the loopback address. It replaces the proxy
/// before a service on the internet.
package final class TLSFront {
    /// Where it listens, on the loopback address.
    package let port: Int
    private let program: UnsafeMutablePointer<FILE>

    /// - Parameters:
    ///   - server: the port of the server behind it.
    ///   - certificateFile: PEM, for `localhost`.
    package init(before server: Int, certificateFile: String, keyFile: String) throws {
        let reserved = ReservedPort()
        port = reserved.number
        // The program inherits a copy; the original is not inherited. The socket listens before the program runs, so
        // clients need not wait.
        let listener = dup(reserved.descriptor)
        defer { close(listener) }
        let script = Repository.conformance("tls_front.py")
        let words = [Foreign.python, script, "\(listener)", "\(server)", certificateFile, keyFile]
        // The other programs that tests start must not hold its input open.
        guard listen(listener, 64) == 0,
            let program = popen("exec " + words.map { "'\($0)'" }.joined(separator: " "), "we")
        else { throw FileFault(path: script) }
        self.program = program
    }

    deinit { pclose(program) }
}
