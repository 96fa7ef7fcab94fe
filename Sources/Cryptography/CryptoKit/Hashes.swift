import CryptoKit

package final class SHA256 {
    private var state = CryptoKit.SHA256()

    package init() {}

    package func begin() { state = CryptoKit.SHA256() }

    package func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

    package func finish() -> Digest { Digest(of: state.finalize()) }
}

package func sha512(_ bytes: [UInt8]) -> [UInt8] { [UInt8](CryptoKit.SHA512.hash(data: bytes)) }

package func hmacSHA256(key: [UInt8], message: [UInt8]) -> Digest {
    Digest(
        of: HMAC<CryptoKit.SHA256>.authenticationCode(for: message, using: CryptoKit.SymmetricKey(data: key)))
}

extension Digest {
    /// The 32 bytes of a digest or code of CryptoKit.
    init(of digest: some Sequence<UInt8>) {
        self.init { address in
            var place = address
            for byte in digest {
                place.pointee = byte
                place += 1
            }
        }
    }
}
