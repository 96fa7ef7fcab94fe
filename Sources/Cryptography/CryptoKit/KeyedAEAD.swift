import CryptoKit

// The half of this module for Apple's systems: the types of the folder OpenSSL that phones and recipients need, made of
// CryptoKit's. Names, errors and bytes are the same, and the documentation is there. `scripts/dev/apple-part` builds and
// tests it on Linux, against a stand-in for CryptoKit.

/// An authenticated cipher with one key.
struct KeyedAEAD: ~Copyable {
    static var nonceByteCount: Int { 12 }
    static var tagByteCount: Int { 16 }

    enum Direction { case seal, open }

    enum Cipher { case chaChaPoly, AES_GCM }

    private let cipher: Cipher
    private let key: CryptoKit.SymmetricKey

    init(_ cipher: Cipher, key: [UInt8], _ direction: Direction) {
        precondition(key.count == (cipher == .chaChaPoly ? 32 : 16), "The key does not fit the cipher.")
        (self.cipher, self.key) = (cipher, CryptoKit.SymmetricKey(data: key))
    }

    func seal(_ plaintext: [UInt8], nonce: [UInt8], authenticating associated: [UInt8]) -> [UInt8] {
        do {
            switch cipher {
            case .chaChaPoly:
                let box = try CryptoKit.ChaChaPoly.seal(
                    plaintext, using: key, nonce: CryptoKit.ChaChaPoly.Nonce(data: nonce), authenticating: associated)
                return [UInt8](box.ciphertext) + [UInt8](box.tag)
            case .AES_GCM:
                let box = try AES.GCM.seal(
                    plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: associated)
                return [UInt8](box.ciphertext) + [UInt8](box.tag)
            }
        } catch {
            preconditionFailure("A nonce has 12 bytes.")
        }
    }

    func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating associated: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        guard sealed.count >= Self.tagByteCount else { throw .authenticationFailed }
        let (ciphertext, tag) = (sealed.dropLast(Self.tagByteCount), sealed.suffix(Self.tagByteCount))
        do {
            switch cipher {
            case .chaChaPoly:
                let box = try CryptoKit.ChaChaPoly.SealedBox(
                    nonce: CryptoKit.ChaChaPoly.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
                return [UInt8](try CryptoKit.ChaChaPoly.open(box, using: key, authenticating: associated))
            case .AES_GCM:
                let box = try AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext, tag: tag)
                return [UInt8](try AES.GCM.open(box, using: key, authenticating: associated))
            }
        } catch {
            throw .authenticationFailed
        }
    }
}
