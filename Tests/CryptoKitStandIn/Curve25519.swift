public import Foundation
import OpenSSLCryptography

public struct SharedSecret: ContiguousBytes, Sendable {
    let bytes: [UInt8]
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

public enum Curve25519: Sendable {
    public enum KeyAgreement: Sendable {
        public struct PublicKey: Sendable {
            let key: OpenSSLCryptography.Curve25519.KeyAgreement.PublicKey
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                key = try .init(rawRepresentation: rawRepresentation.withUnsafeBytes { [UInt8]($0) })
            }
            init(key: OpenSSLCryptography.Curve25519.KeyAgreement.PublicKey) { self.key = key }
            public var rawRepresentation: Data { Data(key.rawRepresentation) }
        }

        public struct PrivateKey: Sendable {
            private let key: OpenSSLCryptography.Curve25519.KeyAgreement.PrivateKey
            public init() { key = .init() }
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                key = try .init(rawRepresentation: rawRepresentation.withUnsafeBytes { [UInt8]($0) })
            }
            public var publicKey: PublicKey { PublicKey(key: key.publicKey) }
            public var rawRepresentation: Data { Data(key.rawRepresentation) }
            public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
                SharedSecret(bytes: try key.sharedSecretFromKeyAgreement(with: publicKeyShare.key))
            }
        }
    }

    public enum Signing: Sendable {
        public struct PublicKey: Sendable {
            private let bytes: [UInt8]
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                bytes = rawRepresentation.withUnsafeBytes { [UInt8]($0) }
                guard bytes.count == 32 else { throw CryptoKitError.incorrectParameterSize }
            }
            init(bytes: [UInt8]) { self.bytes = bytes }
            public var rawRepresentation: Data { Data(bytes) }
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {
                OpenSSLCryptography.ed25519Verify(
                    publicKey: bytes, signature: [UInt8](signature), message: [UInt8](data))
            }
        }

        public struct PrivateKey: Sendable {
            private let key: OpenSSLCryptography.Ed25519PrivateKey
            public init() { key = .init() }
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                key = try .init(seed: rawRepresentation.withUnsafeBytes { [UInt8]($0) })
            }
            public var publicKey: PublicKey { PublicKey(bytes: key.publicKey) }
            public func signature<D: DataProtocol>(for data: D) throws -> Data { Data(key.sign([UInt8](data))) }
        }
    }
}
