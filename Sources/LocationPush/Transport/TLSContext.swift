internal import COpenSSL

/// TLS settings shared by connections: TLS 1.2 or later, ALPN `h2`, nothing else.
///
/// `@unchecked Sendable`: `SSL_CTX` is reference-counted and may be used from several threads once it is no longer
/// changed (OpenSSL, "openssl-threads"), and it is changed in the initialisers only.
package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    let isServer: Bool

    /// A client's settings. The server must show a certificate for the name asked for.
    ///
    /// - Parameter trustFile: PEM file of the trusted certificates; nil means the system's own.
    /// - Throws: ``TransportFault`` when the file cannot be read or holds no certificate.
    package init(trusting trustFile: String?) throws(TransportFault) {
        self.pointer = try Self.make(TLS_client_method())
        self.isServer = false
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        if let trustFile {
            guard SSL_CTX_load_verify_file(pointer, trustFile) == 1 else {
                throw TransportFault(openSSL: "reading trusted certificates from \(trustFile)")
            }
        } else if SSL_CTX_set_default_verify_paths(pointer) != 1 {
            throw TransportFault(openSSL: "reading the system's trusted certificates")
        }
        // ALPN list: one protocol name with its length in front. The call returns 0 for success.
        let offered: [UInt8] = [2, 0x68, 0x32]
        guard SSL_CTX_set_alpn_protos(pointer, offered, UInt32(offered.count)) == 0 else {
            throw TransportFault(openSSL: "SSL_CTX_set_alpn_protos")
        }
    }

    /// A server's settings.
    ///
    /// - Throws: ``TransportFault`` when a file cannot be read or the key does not belong to the certificate.
    package init(certificateFile: String, keyFile: String) throws(TransportFault) {
        self.pointer = try Self.make(TLS_server_method())
        self.isServer = true
        guard SSL_CTX_use_certificate_chain_file(pointer, certificateFile) == 1,
            SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(pointer) == 1
        else { throw TransportFault(openSSL: "reading the server's certificate") }
        SSL_CTX_set_alpn_select_cb(pointer, selectH2, nil)
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    private static func make(_ method: OpaquePointer?) throws(TransportFault) -> OpaquePointer {
        guard let pointer = SSL_CTX_new(method) else { throw TransportFault(openSSL: "SSL_CTX_new") }
        // The macros SSL_CTX_set_min_proto_version and SSL_CTX_set_mode, spelled out: Swift imports no such macros.
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        return pointer
    }
}

/// Chooses `h2` from a client's ALPN list (names with a length byte each) and ends the handshake if it is not there.
/// The choice points into that list, which OpenSSL copies from.
private let selectH2: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenLength, offered, offeredLength, _ in
    guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    var index = 0
    while index < Int(offeredLength) {
        let length = Int(offered[index])
        let name = offered + index + 1
        index += 1 + length
        if length == 2, index <= Int(offeredLength), name[0] == 0x68, name[1] == 0x32 {
            chosen.pointee = name
            chosenLength.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
