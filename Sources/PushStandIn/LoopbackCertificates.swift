internal import COpenSSL
internal import LocationPush

/// A certificate for the loopback names, with the authority that signed it, as PEM texts.
struct LoopbackCertificates {
    let authority: [UInt8]
    let server: [UInt8]
    let serverKey: [UInt8]

    /// Seconds the certificates are good for: ten years.
    private static let validSeconds = 10 * 365 * 86_400

    static func make() throws(TransportFault) -> LoopbackCertificates {
        let authorityKey = try PEM.makeKey()
        defer { EVP_PKEY_free(authorityKey) }
        let authority = try certificate(
            named: "Whereabouts push stand-in authority", key: authorityKey, issuer: nil, issuerKey: authorityKey,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign"),
                (NID_subject_key_identifier, "hash"),
            ])
        defer { X509_free(authority) }
        let serverKey = try PEM.makeKey()
        let server: OpaquePointer
        do throws(TransportFault) {
            server = try certificate(
                named: "localhost", key: serverKey, issuer: authority, issuerKey: authorityKey,
                extensions: [
                    (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
                    (NID_authority_key_identifier, "keyid:always"),
                    (NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"),
                ])
        } catch {
            EVP_PKEY_free(serverKey)
            throw error
        }
        defer { X509_free(server) }
        return LoopbackCertificates(
            authority: try PEM.certificate(authority), server: try PEM.certificate(server),
            serverKey: try PEM.privateKey(serverKey))
    }

    /// - Parameter issuer: nil for a certificate that signs itself.
    private static func certificate(
        named name: String, key: OpaquePointer, issuer: OpaquePointer?, issuerKey: OpaquePointer,
        extensions: [(Int32, String)]
    ) throws(TransportFault) -> OpaquePointer {
        guard let made = X509_new() else { throw TransportFault(openSSL: "X509_new") }
        let subject = X509_get_subject_name(made)
        let commonName = Array(name.utf8)
        let length = Int32(commonName.count)
        let isFilled =
            X509_set_version(made, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), UInt64.random(in: 1...UInt64(Int64.max))) == 1
            // An hour back, for a client whose clock is a little behind.
            && X509_gmtime_adj(X509_getm_notBefore(made), -3600) != nil
            && X509_gmtime_adj(X509_getm_notAfter(made), validSeconds) != nil
            && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, commonName, length, -1, 0) == 1
            && X509_set_issuer_name(made, issuer.map { X509_get_subject_name($0) } ?? subject) == 1
            && X509_set_pubkey(made, key) == 1
            && extensions.allSatisfy { add($0.0, $0.1, to: made, issuer: issuer ?? made) }
            && X509_sign(made, issuerKey, EVP_sha256()) > 0
        guard isFilled else {
            X509_free(made)
            throw TransportFault(openSSL: "making a certificate")
        }
        return made
    }

    private static func add(_ kind: Int32, _ value: String, to made: OpaquePointer, issuer: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, made, nil, nil, 0)
        guard let entry = X509V3_EXT_conf_nid(nil, &context, kind, value) else { return false }
        defer { X509_EXTENSION_free(entry) }
        return X509_add_ext(made, entry, -1) == 1
    }
}

/// Keys and certificates as PEM texts.
enum PEM {
    /// A new key on P-256. The caller frees it with `EVP_PKEY_free`.
    static func makeKey() throws(TransportFault) -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw TransportFault(openSSL: "making a key") }
        return key
    }

    /// PKCS#8, not encrypted. Frees the key.
    static func privateKey(_ key: OpaquePointer) throws(TransportFault) -> [UInt8] {
        defer { EVP_PKEY_free(key) }
        return try text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    static func certificate(_ certificate: OpaquePointer) throws(TransportFault) -> [UInt8] {
        try text { PEM_write_bio_X509($0, certificate) }
    }

    private static func text(_ write: (OpaquePointer?) -> Int32) throws(TransportFault) -> [UInt8] {
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        guard write(memory) == 1 else { throw TransportFault(openSSL: "writing PEM") }
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
        guard BIO_read(memory, &bytes, Int32(bytes.count)) == bytes.count else {
            throw TransportFault(openSSL: "writing PEM")
        }
        return bytes
    }
}
