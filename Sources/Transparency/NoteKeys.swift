package import Cryptography

// The keys of signed notes, as text (C2SP signed-note, "verifier keys"):
//
//     NAME+HASH+BASE64                 a public key:  base 64 of  type ‖ public key
//     PRIVATE+KEY+NAME+HASH+BASE64     a private one: base 64 of  type ‖ seed of 32 bytes
//
// HASH is the key's id in eight hexadecimal digits: the first four bytes of SHA-256(NAME ‖ 0x0A ‖ type ‖ public key).
// For example: sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8

/// The purpose of a key, by the type byte of C2SP signed-note.
package enum NoteKeyKind: UInt8, Hashable, Sendable {
    /// Ed25519 over the text of the note.
    case ed25519 = 0x01
    /// Ed25519 over a time and the text: the cosignature of a witness (`cosignature/v1`).
    case cosignature = 0x04
    /// ML-DSA-44 over a subtree (`subtree/v1`). The key is known by name; OpenSSL 3.0 cannot verify it.
    case subtree = 0x06

    /// How many bytes the public key has.
    var publicKeyBytes: Int { self == .subtree ? 1312 : 32 }
}

/// A public key whose signatures on notes count.
package struct NoteVerifier: Hashable, Sendable, CustomStringConvertible {
    /// The longest text of a key, in bytes. A key of ML-DSA-44 has the longest.
    static let textBytesMax = KeyName.bytesMax + 2048

    package let name: KeyName
    package let kind: NoteKeyKind
    package let publicKey: [UInt8]
    /// The key's id within its name.
    package let id: UInt32

    /// A key with its bytes.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` when the kind has keys of another length.
    package init(name: KeyName, kind: NoteKeyKind, publicKey: [UInt8]) throws(TransparencyError) {
        guard publicKey.count == kind.publicKeyBytes else {
            throw .malformed("a public key of this type has \(kind.publicKeyBytes) bytes")
        }
        self.init(name: name, trusted: publicKey, kind)
    }

    fileprivate init(name: KeyName, trusted publicKey: [UInt8], _ kind: NoteKeyKind) {
        self.name = name
        self.kind = kind
        self.publicKey = publicKey
        let digest = SHA256().hash(Array(name.text.utf8) + [NoteText.lineFeed, kind.rawValue] + publicKey)
        id = UInt32(truncatingIfNeeded: digest.words.0 >> 32)
    }

    /// The key of a text like `witness.example/w1+72ba1d4b+BO1l…`.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form, for a key type that is not one of
    ///   ``NoteKeyKind``, and when the hash is not that of the key.
    package init(text: some StringProtocol) throws(TransparencyError) {
        guard text.utf8.count <= Self.textBytesMax,
            case let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3, let hash = Hex.decode(parts[1]), hash.count == 4, let key = NoteText.base64(parts[2]),
            let type = key.first
        else { throw .malformed("a public key is written NAME+HASH+BASE64") }
        guard let kind = NoteKeyKind(rawValue: type) else {
            throw .malformed("a key of type \(type) is not known here; 1, 4 and 6 are")
        }
        try self.init(name: KeyName(parts[0]), kind: kind, publicKey: Array(key.dropFirst()))
        guard hash == bigEndianBytes(id) else { throw .malformed("the hash in a public key is that of another key") }
    }

    /// The key as text.
    package var text: String {
        "\(name)+\(Hex.encode(bigEndianBytes(id)))+\(Base64.encode([kind.rawValue] + publicKey))"
    }

    package var description: String { text }
}

/// A private key that signs notes. It describes itself without the secret.
package struct NoteSigner: Sendable, CustomStringConvertible {
    package let verifier: NoteVerifier
    private let key: Ed25519PrivateKey

    /// A signer of texts (`ed25519`) or of checkpoints that it has witnessed (`cosignature`).
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for a kind that is not made with Ed25519.
    package init(name: KeyName, kind: NoteKeyKind, key: Ed25519PrivateKey) throws(TransparencyError) {
        guard kind != .subtree else { throw .malformed("a key of ML-DSA-44 cannot sign here") }
        verifier = NoteVerifier(name: name, trusted: key.publicKey, kind)
        self.key = key
    }

    /// The key of a text like `PRIVATE+KEY+where.example+1a2b3c4d+AYEK…`.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form, and when the hash is not that of the key.
    package init(text: some StringProtocol) throws(TransparencyError) {
        let expected = TransparencyError.malformed("a private key is written PRIVATE+KEY+NAME+HASH+BASE64")
        guard text.utf8.count <= NoteVerifier.textBytesMax,
            case let parts = text.split(separator: "+", maxSplits: 4, omittingEmptySubsequences: false),
            parts.count == 5, parts[0] == "PRIVATE", parts[1] == "KEY", let hash = Hex.decode(parts[3]),
            let bytes = NoteText.base64(parts[4]), let type = bytes.first, let kind = NoteKeyKind(rawValue: type)
        else { throw expected }
        let key: Ed25519PrivateKey
        do { key = try Ed25519PrivateKey(seed: Array(bytes.dropFirst())) } catch { throw expected }
        try self.init(name: KeyName(parts[2]), kind: kind, key: key)
        guard hash == bigEndianBytes(verifier.id) else {
            throw .malformed("the hash in a private key is that of another key")
        }
    }

    /// A new random key, and its text for a file that only its owner may read.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for a kind that is not made with Ed25519.
    package static func make(
        name: KeyName, kind: NoteKeyKind
    ) throws(TransparencyError) -> (signer: NoteSigner, text: String) {
        let seed = randomBytes(32)
        guard let key = try? Ed25519PrivateKey(seed: seed) else { preconditionFailure("A seed has 32 bytes.") }
        let signer = try NoteSigner(name: name, kind: kind, key: key)
        let hash = Hex.encode(bigEndianBytes(signer.verifier.id))
        return (signer, "PRIVATE+KEY+\(name)+\(hash)+\(Base64.encode([kind.rawValue] + seed))")
    }

    package var description: String { "private key of \(verifier.name)" }

    /// The signature of a note's text, 64 bytes. Only a key of kind `ed25519` signs notes.
    func sign(_ message: [UInt8]) -> [UInt8] { key.sign(message) }
}

/// The bytes of an integer, the most significant first.
func bigEndianBytes<I: FixedWidthInteger>(_ value: I) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
