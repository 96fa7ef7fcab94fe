// A stand-in for Apple's CryptoKit on Linux: the declarations that Sources/Cryptography/CryptoKit uses, with the signatures of
// CryptoKit's documentation, made of the OpenSSL half of the same module. `scripts/dev/apple-part` builds it.

public import Foundation
import OpenSSLCryptography

public protocol HashFunction {
    associatedtype Digest: Sequence<UInt8>
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

extension HashFunction {
    public mutating func update<D: DataProtocol>(data: D) {
        [UInt8](data).withUnsafeBytes { update(bufferPointer: $0) }
    }

    public static func hash<D: DataProtocol>(data: D) -> Digest {
        var state = Self()
        state.update(data: data)
        return state.finalize()
    }
}

public struct SHA256Digest: Sequence, ContiguousBytes, Sendable {
    let bytes: [UInt8]
    public func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

public struct SHA256: HashFunction, Sendable {
    private var message: [UInt8] = []
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { message += bufferPointer }
    public func finalize() -> SHA256Digest {
        SHA256Digest(bytes: OpenSSLCryptography.SHA256().hash(message).bytes)
    }
}

public struct SHA512Digest: Sequence, Sendable {
    let bytes: [UInt8]
    public func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }
}

public struct SHA512: HashFunction, Sendable {
    private var message: [UInt8] = []
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { message += bufferPointer }
    public func finalize() -> SHA512Digest { SHA512Digest(bytes: OpenSSLCryptography.sha512(message)) }
}

public struct HashedAuthenticationCode<H: HashFunction>: Sequence, Sendable {
    let bytes: [UInt8]
    public func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }
}

public struct HMAC<H: HashFunction>: Sendable {
    public static func authenticationCode<D: DataProtocol>(
        for data: D, using key: SymmetricKey
    ) -> HashedAuthenticationCode<H> {
        precondition(H.self == SHA256.self, "The stand-in has HMAC with SHA-256 only.")
        return HashedAuthenticationCode(
            bytes: OpenSSLCryptography.hmacSHA256(key: key.bytes, message: [UInt8](data)).bytes)
    }
}
