import COpenSSL
import Synchronization

/// A 256-bit secret key. Its memory is zeroed when the last reference goes; it never describes its content.
package final class SymmetricKey: Sendable {
    /// How many bytes a key has.
    package static var byteCount: Int { 32 }

    /// Tells keys apart without comparing secrets, and without keeping them alive.
    let identity: UInt64
    // Written once, before anyone else can see the key, and freed by the last owner: safe to read from any thread.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    private static let lastIdentity = Atomic<UInt64>(0)

    /// A key filled by `fill`.
    private init(filledBy fill: (UnsafeMutableRawBufferPointer) -> Void) {
        identity = Self.lastIdentity.add(1, ordering: .relaxed).newValue
        storage = .allocate(byteCount: Self.byteCount, alignment: 16)
        fill(storage)
    }

    /// The key with these 32 bytes. The array stays with the caller, who should let go of it soon.
    package convenience init(bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount, "A symmetric key has 32 bytes.")
        self.init { $0.copyBytes(from: bytes) }
    }

    /// A new random key.
    package static func random() -> SymmetricKey {
        SymmetricKey { fillRandom($0) }
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// Lends the 32 bytes; they are dead after `body`.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(storage))
    }
}
