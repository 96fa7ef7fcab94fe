internal import COpenSSL
internal import JSON
internal import LocationPush

/// Checks provider tokens as APNs does, from the JWT's text alone: it shares no code with the side that signs.
///
/// Used only on the stand-in's thread.
final class ProviderTokenJudge {
    private let key: OpaquePointer
    private let keyID: String
    private let teamID: String
    /// `iat` of tokens whose signature was found good, so that a stream of pushes costs one check.
    private var verified: [String: Int64] = [:]
    private static let verifiedMax = 16
    /// The tokens that the script has expired, the oldest first.
    private var expired: [String] = []
    private static let expiredMax = 16
    private static let lifetimeSeconds: Int64 = 3600

    init(_ credentials: PushStandInCredentials) throws(TransportFault) {
        let pem = try PrivateFile.read(credentials.providerKeyFile)
        let text = BIO_new_mem_buf(pem, Int32(clamping: pem.count))
        defer { BIO_free(text) }
        guard let key = PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in 0 }, nil) else {
            throw TransportFault(openSSL: "reading \(credentials.providerKeyFile)")
        }
        self.key = key
        self.keyID = credentials.keyID
        self.teamID = credentials.teamID
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// Treats the token of this `authorization` field as expired from now on.
    func expire(_ authorization: String?) {
        guard let authorization, !expired.contains(authorization) else { return }
        if expired.count >= Self.expiredMax { expired.removeFirst() }
        expired.append(authorization)
    }

    /// The reason to refuse an `authorization` field, or nil when it is good.
    func refusal(of authorization: String?, atUnixSeconds now: Int64) -> String? {
        guard let authorization else { return "MissingProviderToken" }
        let words = authorization.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bearer", !words[1].isEmpty else {
            return "MissingProviderToken"
        }
        let token = String(words[1])
        guard let issuedAt = verified[token] ?? verify(token) else { return "InvalidProviderToken" }
        if verified.count >= Self.verifiedMax { verified.removeAll() }
        verified[token] = issuedAt
        if now - issuedAt > Self.lifetimeSeconds || expired.contains(authorization) { return "ExpiredProviderToken" }
        return issuedAt - now > Self.lifetimeSeconds ? "InvalidProviderToken" : nil
    }

    /// The `iat` of a well-formed token with a good signature.
    private func verify(_ token: String) -> Int64? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = object(parts[0], with: 2), header["alg"]?.string == "ES256", header["kid"]?.string == keyID,
            let claims = object(parts[1], with: 2), claims["iss"]?.string == teamID,
            let issuedAt = claims["iat"]?.int,
            let signature = decode(parts[2]), signature.count == 64,
            isSignature(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return issuedAt
    }

    private func object(_ part: Substring, with members: Int) -> JSONValue? {
        guard let bytes = decode(part), let root = try? JSONDocument.parse(bytes).root, root.members != nil else {
            return nil
        }
        return root.count == members ? root : nil
    }

    private func isSignature(_ raw: [UInt8], of message: [UInt8]) -> Bool {
        let signature = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(signature) }
        let (r, s) = raw.withUnsafeBufferPointer {
            (BN_bin2bn($0.baseAddress, 32, nil), BN_bin2bn($0.baseAddress! + 32, 32, nil))
        }
        // On success the signature owns both numbers.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else { return false }
        var der = [UInt8](repeating: 0, count: 80)
        let length = der.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return i2d_ECDSA_SIG(signature, &next)
        }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isGood =
            length > 0 && EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, der, Int(length), message, message.count) == 1
        ERR_clear_error()
        return isGood
    }

    /// Base64url without padding, with nothing hidden in the last character's spare bits.
    private func decode(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in text.utf8 {
            let value: UInt8
            switch character {
            case 0x41...0x5A: value = character - 0x41
            case 0x61...0x7A: value = character - 0x61 + 26
            case 0x30...0x39: value = character - 0x30 + 52
            case 0x2D: value = 62
            case 0x5F: value = 63
            default: return nil
            }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return count < 6 && bits & ((1 << UInt32(count)) - 1) == 0 ? bytes : nil
    }
}
