import CryptoKit

package final class SymmetricKey: Sendable {
    package static var byteCount: Int { 32 }

    /// CryptoKit wipes its memory with the last reference.
    let key: CryptoKit.SymmetricKey

    private init(_ key: CryptoKit.SymmetricKey) { self.key = key }

    package convenience init(bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount, "A symmetric key has 32 bytes.")
        self.init(CryptoKit.SymmetricKey(data: bytes))
    }

    package static func random() -> SymmetricKey { SymmetricKey(CryptoKit.SymmetricKey(size: .bits256)) }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try key.withUnsafeBytes(body)
    }
}
