package import Cryptography
package import Whereabouts

/// The values that the service derives from a request's `Idempotency-Key`
/// (draft-ietf-httpapi-idempotency-key-header-07).
package struct RequestKey: Sendable {
    /// The request's id in the log, the same each time the request is sent.
    package let id: RequestID
    /// The house's secret for keyed requests.
    package let secret: SymmetricKey

    package init(id: RequestID, secret: SymmetricKey) {
        self.id = id
        self.secret = secret
    }

    /// 32 bytes that are the same each time the request is sent, and secret to everyone without the house's key.
    ///
    /// They come from `id`, which has 24 random bits: a key that is used again after its time gives other bytes.
    package var bytes: [UInt8] { hmacSHA256(key: secret.withBytes { Array($0) }, message: id.bytes).bytes }
}
