internal import COpenSSL

/// Why a provider token key could not be read or used. Never contains the key.
package enum ProviderTokenError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Key id and team id are ten capital letters or digits each.
    case badIdentifier(String)
    /// Not a PEM file with an unencrypted private key on P-256.
    case badKey(String)
    /// OpenSSL could not sign.
    case signing(String)

    /// The reason, for an operator.
    package var description: String {
        switch self {
        case .badIdentifier(let which): "the \(which) must be ten capital letters or digits"
        case .badKey(let why): "the provider token key cannot be used: \(why)"
        case .signing(let why): "signing a provider token failed: \(why)"
        }
    }
}

/// The key that a team signs its APNs provider tokens with (Apple: "Establishing a token-based connection to APNs").
///
/// `@unchecked Sendable`: the `EVP_PKEY` is only read after `init`; each signature makes its own context.
package final class ProviderTokenKey: @unchecked Sendable, CustomStringConvertible {
    /// The ten characters that name the key.
    package let keyID: String
    /// The ten characters that name the team.
    package let teamID: String
    private let key: OpaquePointer

    /// Reads the text of a `.p8` file: PEM, PKCS#8, curve prime256v1, not encrypted.
    ///
    /// - Throws: ``ProviderTokenError``.
    package init(pem: [UInt8], keyID: String, teamID: String) throws(ProviderTokenError) {
        guard Self.isIdentifier(keyID) else { throw .badIdentifier("key id") }
        guard Self.isIdentifier(teamID) else { throw .badIdentifier("team id") }
        guard let text = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { throw .badKey("no memory") }
        defer { BIO_free(text) }
        // Without a callback OpenSSL would ask for a pass phrase on the terminal.
        guard let key = PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in 0 }, nil) else {
            throw .badKey(TransportFault(openSSL: "PEM").description)
        }
        var group = [CChar](repeating: 0, count: 32)
        guard EVP_PKEY_is_a(key, "EC") == 1,
            EVP_PKEY_get_group_name(key, &group, group.count, nil) == 1,
            cString(group) == "prime256v1"
        else {
            EVP_PKEY_free(key)
            throw .badKey("it is not on the curve P-256")
        }
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// Names the key without showing it.
    package var description: String { "provider token key \(keyID) of team \(teamID)" }

    /// A provider token: a JWT signed with ES256 (RFC 7515, RFC 7518 section 3.4). About 40 µs.
    ///
    /// - Parameter issuedAtSeconds: seconds since 1970 UTC; APNs accepts a token within one hour of it.
    /// - Throws: ``ProviderTokenError/signing(_:)``.
    package func sign(issuedAtSeconds: Int64) throws(ProviderTokenError) -> String {
        let header = base64URL(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
        let claims = base64URL(Array(#"{"iss":"\#(teamID)","iat":\#(issuedAtSeconds)}"#.utf8))
        let signed = "\(header).\(claims)"
        return "\(signed).\(base64URL(try signature(of: Array(signed.utf8))))"
    }

    /// The raw 64 bytes r‖s. OpenSSL makes DER, which JWS does not use.
    private func signature(of message: [UInt8]) throws(ProviderTokenError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: 80)
        var length = der.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &der, &length, message, message.count) == 1
        else { throw .signing(TransportFault(openSSL: "EVP_DigestSign").description) }
        let parsed = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &next, length)
        }
        defer { ECDSA_SIG_free(parsed) }
        var raw = [UInt8](repeating: 0, count: 64)
        let padded = raw.withUnsafeMutableBufferPointer { bytes in
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), bytes.baseAddress, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), bytes.baseAddress! + 32, 32) == 32
        }
        guard parsed != nil, padded else { throw .signing("the signature has no 64-byte form") }
        return raw
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}

/// Base64 with `-` and `_` and without padding (RFC 4648 section 5).
func base64URL(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        count += 8
        while count >= 6 {
            count -= 6
            text.append(digits[Int(bits >> UInt32(count)) & 63])
        }
    }
    if count > 0 { text.append(digits[Int(bits << UInt32(6 - count)) & 63]) }
    return String(decoding: text, as: UTF8.self)
}
