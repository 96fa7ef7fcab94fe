internal import COpenSSL
internal import Glibc

/// An HTTP/2 session over TLS over a non-blocking socket, driven by its owner's poll loop.
///
/// Belongs to one thread. Each step continues as far as the socket allows and returns.
package final class HTTP2Connection {
    /// How far the connection has come.
    package enum Stage: Equatable {
        case connecting, handshaking, open, closed
    }

    /// How far the connection has come.
    package private(set) var stage: Stage
    /// The socket; meaningless once ``stage`` is `closed`.
    package let descriptor: Int32
    /// The HTTP/2 session; ``flush()`` sends the requests submitted to it.
    package let session: HTTP2Session
    private let tls: OpaquePointer
    /// The bytes of HTTP/2 received so far; an increase shows that the peer is alive.
    package private(set) var bytesReceived = 0
    private var output: [UInt8] = []
    private var outputSent = 0
    private var wantsWriting = false

    /// Most bytes read in one step, so that one busy peer does not starve the others.
    private static let readBytesMax = 256 * 1024
    /// Output gathered before it is given to TLS: one TLS record.
    private static let outputBytesMax = 16 * 1024

    /// Takes over a socket.
    ///
    /// - Parameters:
    ///   - descriptor: non-blocking; a client's may still be connecting. It is closed with the connection, and also
    ///     when this initialiser throws.
    ///   - serverName: for a client, the host name or IP address the certificate must be made out to.
    /// - Throws: ``TransportFault`` when OpenSSL has no memory.
    package init(
        _ descriptor: Int32, context: TLSContext, serverName: String?, session: HTTP2Session
    ) throws(TransportFault) {
        guard let tls = SSL_new(context.pointer), SSL_set_fd(tls, descriptor) == 1 else {
            Glibc.close(descriptor)
            throw TransportFault(openSSL: "SSL_new")
        }
        self.tls = tls
        self.descriptor = descriptor
        self.session = session
        self.stage = context.isServer ? .handshaking : .connecting
        if context.isServer {
            SSL_set_accept_state(tls)
        } else {
            SSL_set_connect_state(tls)
            if let serverName { tls.expectCertificate(of: serverName) }
        }
    }

    deinit {
        close()
        SSL_free(tls)
    }

    /// The events to poll for.
    package var pollEvents: Int16 {
        switch stage {
        case .connecting: Int16(POLLOUT)
        case .handshaking: Int16(wantsWriting ? POLLOUT : POLLIN)
        case .open: Int16(POLLIN) | (wantsWriting ? Int16(POLLOUT) : 0)
        case .closed: 0
        }
    }

    /// Whether everything submitted so far has been handed to the system.
    package var isFlushed: Bool { output.isEmpty }

    /// Continues as far as the socket allows after `poll` returned.
    ///
    /// - Throws: ``TransportFault`` when the connection is lost; it is closed then.
    package func advance() throws(TransportFault) {
        do throws(TransportFault) {
            if stage == .connecting { try finishConnecting() }
            if stage == .handshaking { try shakeHands() }
            if stage == .open {
                try readAvailable()
                try flush()
                if session.isOver { throw TransportFault("closed after GOAWAY") }
            }
        } catch {
            close()
            throw error
        }
    }

    /// Sends the session's output as far as the socket takes it.
    ///
    /// - Throws: ``TransportFault`` when the connection is lost. The session has then received all that came before.
    package func flush() throws(TransportFault) {
        guard stage == .open else { return }
        wantsWriting = false
        while true {
            if outputSent == output.count {
                output.removeAll(keepingCapacity: true)
                outputSent = 0
                try session.takeOutput(into: &output, upTo: Self.outputBytesMax)
                if output.isEmpty { return }
            }
            ERR_clear_error()
            let sent = output.withUnsafeBytes { bytes in
                SSL_write(tls, bytes.baseAddress! + outputSent, Int32(bytes.count - outputSent))
            }
            if sent > 0 {
                outputSent += Int(sent)
                continue
            }
            switch SSL_get_error(tls, sent) {
            case SSL_ERROR_WANT_WRITE: wantsWriting = true
            case SSL_ERROR_WANT_READ: break
            default:
                let fault = lost("writing")
                // What came before the end is still there, such as answers and a GOAWAY.
                try readAvailable()
                throw fault
            }
            return
        }
    }

    /// Closes the socket. Nothing more is read or written.
    package func close() {
        guard stage != .closed else { return }
        stage = .closed
        Glibc.close(descriptor)
    }

    private func finishConnecting() throws(TransportFault) {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else { throw TransportFault(call: "connect", code: code) }
        stage = .handshaking
    }

    private func shakeHands() throws(TransportFault) {
        ERR_clear_error()
        let result = SSL_do_handshake(tls)
        guard result != 1 else {
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            SSL_get0_alpn_selected(tls, &name, &length)
            guard Array(UnsafeBufferPointer(start: name, count: Int(length))) == Array("h2".utf8) else {
                throw TransportFault("TLS: the peer does not speak HTTP/2")
            }
            stage = .open
            return
        }
        switch SSL_get_error(tls, result) {
        case SSL_ERROR_WANT_READ: wantsWriting = false
        case SSL_ERROR_WANT_WRITE: wantsWriting = true
        default:
            throw tls.verificationFault ?? lost("TLS handshake")
        }
    }

    private func readAvailable() throws(TransportFault) {
        var total = 0
        var fault: TransportFault?
        try withUnsafeTemporaryAllocation(byteCount: Self.outputBytesMax, alignment: 16) {
            buffer throws(TransportFault) in
            while total < Self.readBytesMax {
                ERR_clear_error()
                let count = SSL_read(tls, buffer.baseAddress, Int32(buffer.count))
                if count > 0 {
                    total += Int(count)
                    bytesReceived += Int(count)
                    try session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
                    continue
                }
                switch SSL_get_error(tls, count) {
                case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
                case SSL_ERROR_ZERO_RETURN: fault = TransportFault("closed by the peer")
                default: fault = lost("reading")
                }
                return
            }
        }
        if let fault { throw fault }
    }

    private func lost(_ doing: String) -> TransportFault {
        let code = errno
        if ERR_peek_error() != 0 { return TransportFault(openSSL: doing) }
        return code == 0 ? TransportFault("\(doing): closed by the peer") : TransportFault(call: doing, code: code)
    }
}
