import CryptoKit

package final class SHA256 {
    private var state = CryptoKit.SHA256()

    package init() {}

    package func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        begin()
        update(bytes)
        return finish()
    }

    package func hash(_ bytes: [UInt8]) -> Digest { bytes.withUnsafeBytes { hash($0) } }

    package func hash(prefix: UInt8, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Digest {
        begin()
        update(prefix)
        update(first)
        update(second)
        return finish()
    }

    package func hash(prefix: UInt8, _ left: Digest, _ right: Digest) -> Digest {
        left.withBytes { left in right.withBytes { right in hash(prefix: prefix, left, right) } }
    }

    package func begin() { state = CryptoKit.SHA256() }

    package func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

    package func update(_ bytes: [UInt8]) { state.update(data: bytes) }

    package func update(_ byte: UInt8) { withUnsafeBytes(of: byte) { update($0) } }

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
