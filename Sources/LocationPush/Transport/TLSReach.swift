internal import COpenSSL
internal import Glibc

/// Checks whether a TLS server can be reached, for an operator.
package enum TLSReach {
    /// Addresses of one name that are tried.
    private static let addressesMax = 3

    /// Connects and shakes hands as a client that wants a good certificate for `host`; then it hangs up.
    ///
    /// Blocks while the name is looked up, and then for `seconds` at the most.
    ///
    /// - Parameter trustFile: PEM file of the trusted certificates; nil means the system's own.
    /// - Throws: ``TransportFault``, why not.
    package static func check(
        host: String, port: UInt16, trustFile: String?, seconds: Int64
    ) throws(TransportFault) {
        let context = try TLSContext(trusting: trustFile)
        let addresses = try SocketAddress.resolve(host: host, port: port)
        let untilMs = PushClock.system.now().monotonicMs + seconds * 1000
        var last: TransportFault?
        for address in addresses.prefix(addressesMax) {
            do throws(TransportFault) {
                return try shakeHands(with: address, named: host, context, untilMs: untilMs)
            } catch { last = error }
        }
        if let last { throw last }
    }

    private static func shakeHands(
        with address: SocketAddress, named host: String, _ context: TLSContext, untilMs: Int64
    ) throws(TransportFault) {
        let descriptor = try address.beginConnecting()
        defer { close(descriptor) }
        try wait(for: Int16(POLLOUT), descriptor, untilMs: untilMs)
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else { throw TransportFault(call: "connect", code: code) }
        guard let tls = SSL_new(context.pointer), SSL_set_fd(tls, descriptor) == 1 else {
            throw TransportFault(openSSL: "SSL_new")
        }
        defer { SSL_free(tls) }
        SSL_set_connect_state(tls)
        tls.expectCertificate(of: host)
        while true {
            ERR_clear_error()
            let result = SSL_do_handshake(tls)
            if result == 1 { return }
            switch SSL_get_error(tls, result) {
            case SSL_ERROR_WANT_READ: try wait(for: Int16(POLLIN), descriptor, untilMs: untilMs)
            case SSL_ERROR_WANT_WRITE: try wait(for: Int16(POLLOUT), descriptor, untilMs: untilMs)
            default: throw tls.verificationFault ?? TransportFault(openSSL: "TLS handshake")
            }
        }
    }

    private static func wait(for events: Int16, _ descriptor: Int32, untilMs: Int64) throws(TransportFault) {
        var polled = pollfd(fd: descriptor, events: events, revents: 0)
        while true {
            let left = untilMs - PushClock.system.now().monotonicMs
            guard left > 0 else { throw TransportFault("no answer") }
            if poll(&polled, 1, Int32(clamping: left)) > 0 { return }
        }
    }
}

/// An `SSL` of a client.
extension OpaquePointer {
    /// Certificate and SNI name, or certificate address: an IP address is not a host name (RFC 6066 section 3).
    func expectCertificate(of name: String) {
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(self), name) == 1 { return }
        ERR_clear_error()
        SSL_set1_host(self, name)
        var bytes = Array(name.utf8CString)
        // The macro SSL_set_tlsext_host_name, spelled out.
        SSL_ctrl(self, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &bytes)
    }

    /// The fault of the peer's certificate after a failed handshake; `nil` if the handshake failed for another reason.
    var verificationFault: TransportFault? {
        let verdict = SSL_get_verify_result(self)
        guard verdict != Int(X509_V_OK), let text = X509_verify_cert_error_string(verdict) else { return nil }
        ERR_clear_error()
        return TransportFault("TLS: \(String(cString: text))")
    }
}
