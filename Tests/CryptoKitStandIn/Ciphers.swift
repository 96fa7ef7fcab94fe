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

/// What the two ciphers have in common.
private func sealed(
    _ cipher: KeyedAEAD.Cipher, _ message: [UInt8], _ key: SymmetricKey, _ nonce: [UInt8], _ associated: [UInt8]
) -> (ciphertext: Data, tag: Data) {
    let sealed = KeyedAEAD(cipher, key: key.bytes, .seal).seal(message, nonce: nonce, authenticating: associated)
    return (Data(sealed.dropLast(16)), Data(sealed.suffix(16)))
}

private func opened(
    _ cipher: KeyedAEAD.Cipher, _ sealed: [UInt8], _ key: SymmetricKey, _ nonce: [UInt8], _ associated: [UInt8]
) throws -> Data {
    do {
        return Data(
            try KeyedAEAD(cipher, key: key.bytes, .open).open(sealed, nonce: nonce, authenticating: associated))
    } catch {
        throw CryptoKitError.authenticationFailure
    }
}

public enum ChaChaPoly: Sendable {
    public struct Nonce: Sendable {
        let bytes: [UInt8]
        public init<D: DataProtocol>(data: D) throws {
            guard data.count == 12 else { throw CryptoKitError.incorrectParameterSize }
            bytes = [UInt8](data)
        }
    }

    public struct SealedBox: Sendable {
        public let nonce: Nonce
        public let ciphertext: Data
        public let tag: Data
        public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {
            guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
            (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
        }
    }

    public static func seal<P: DataProtocol, A: DataProtocol>(
        _ message: P, using key: SymmetricKey, nonce: Nonce? = nil, authenticating associated: A
    ) throws -> SealedBox {
        let nonce = try nonce ?? Nonce(data: OpenSSLCryptography.randomBytes(12))
        let (ciphertext, tag) = sealed(.chaChaPoly, [UInt8](message), key, nonce.bytes, [UInt8](associated))
        return try SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag)
    }

    public static func open<A: DataProtocol>(
        _ box: SealedBox, using key: SymmetricKey, authenticating associated: A
    ) throws -> Data {
        try opened(.chaChaPoly, [UInt8](box.ciphertext + box.tag), key, box.nonce.bytes, [UInt8](associated))
    }
}

public enum AES: Sendable {
    public enum GCM: Sendable {
        public struct Nonce: Sendable {
            let bytes: [UInt8]
            public init<D: DataProtocol>(data: D) throws {
                guard data.count >= 12 else { throw CryptoKitError.incorrectParameterSize }
                bytes = [UInt8](data)
            }
        }

        public struct SealedBox: Sendable {
            public let nonce: Nonce
            public let ciphertext: Data
            public let tag: Data
            public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {
                guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
                (self.nonce, self.ciphertext, self.tag) = (nonce, Data(ciphertext), Data(tag))
            }
        }

        public static func seal<P: DataProtocol, A: DataProtocol>(
            _ message: P, using key: SymmetricKey, nonce: Nonce? = nil, authenticating associated: A
        ) throws -> SealedBox {
            let nonce = try nonce ?? Nonce(data: OpenSSLCryptography.randomBytes(12))
            let (ciphertext, tag) = sealed(.AES_GCM, [UInt8](message), key, nonce.bytes, [UInt8](associated))
            return try SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag)
        }

        public static func open<A: DataProtocol>(
            _ box: SealedBox, using key: SymmetricKey, authenticating associated: A
        ) throws -> Data {
            try opened(.AES_GCM, [UInt8](box.ciphertext + box.tag), key, box.nonce.bytes, [UInt8](associated))
        }
    }
}
