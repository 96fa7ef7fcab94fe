public import Foundation

@testable import OpenSSLCryptography

public enum CryptoKitError: Error {
    case incorrectParameterSize
    case authenticationFailure
}

public struct SymmetricKeySize: Sendable {
    public let bitCount: Int
    public static var bits256: SymmetricKeySize { SymmetricKeySize(bitCount: 256) }
}

public struct SymmetricKey: ContiguousBytes, Sendable {
    let bytes: [UInt8]
    public init<D: ContiguousBytes>(data: D) { bytes = data.withUnsafeBytes { [UInt8]($0) } }
    public init(size: SymmetricKeySize) { bytes = OpenSSLCryptography.randomBytes(size.bitCount / 8) }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

/// The two ciphers, which have the same declarations in CryptoKit.
public protocol StandInCipher: Sendable {
    static var isChaChaPoly: Bool { get }
}

public struct StandInNonce<Cipher: StandInCipher>: Sendable {
    let bytes: [UInt8]
    public init<D: DataProtocol>(data: D) throws {
        guard data.count == 12 else { throw CryptoKitError.incorrectParameterSize }
        bytes = [UInt8](data)
    }
}

public struct StandInSealedBox<Cipher: StandInCipher>: Sendable {
    public let nonce: StandInNonce<Cipher>
    public let ciphertext: Data
    public let tag: Data
    public init<C: DataProtocol, T: DataProtocol>(nonce: StandInNonce<Cipher>, ciphertext: C, tag: T) throws {
        guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
        (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
    }
}

extension StandInCipher {
    public typealias Nonce = StandInNonce<Self>
    public typealias SealedBox = StandInSealedBox<Self>

    private static var cipher: KeyedAEAD.Cipher { isChaChaPoly ? .chaChaPoly : .AES_GCM }

    public static func seal<P: DataProtocol, A: DataProtocol>(
        _ message: P, using key: SymmetricKey, nonce: Nonce? = nil, authenticating associated: A
    ) throws -> SealedBox {
        let nonce = try nonce ?? Nonce(data: OpenSSLCryptography.randomBytes(12))
        let sealed = KeyedAEAD(cipher, key: key.bytes, .seal)
            .seal([UInt8](message), nonce: nonce.bytes, authenticating: [UInt8](associated))
        return try SealedBox(nonce: nonce, ciphertext: sealed.dropLast(16), tag: sealed.suffix(16))
    }

    public static func open<A: DataProtocol>(
        _ box: SealedBox, using key: SymmetricKey, authenticating associated: A
    ) throws -> Data {
        do {
            return Data(
                try KeyedAEAD(cipher, key: key.bytes, .open)
                    .open(
                        [UInt8](box.ciphertext + box.tag), nonce: box.nonce.bytes,
                        authenticating: [UInt8](associated)))
        } catch {
            throw CryptoKitError.authenticationFailure
        }
    }
}

public enum ChaChaPoly: StandInCipher { public static var isChaChaPoly: Bool { true } }

public enum AES: Sendable {
    public enum GCM: StandInCipher { public static var isChaChaPoly: Bool { false } }
}
