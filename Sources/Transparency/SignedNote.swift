import Cryptography

// A signed note (C2SP signed-note): a text, an empty line, and lines with signatures.
//
//     where.example/whereabouts/7f3c/p/k2m9
//     3
//     Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk=
//
//     — where.example/whereabouts/7f3c/p/k2m9 M9e0lvAQRtH832pk2RTbeSeZMkp4FZSdJYFBUjO5SKxuRbywPUF3cx+HUrb50kjd…
//
// A signature is the base 64 of the key's id (4 bytes) and the signature's bytes.

/// A text with the signatures of any number of keys. Nothing in it is verified until ``verify(with:)`` says by whom.
package struct SignedNote: Equatable, Sendable {
    /// The longest note in bytes: room for a long text and ``signaturesMax`` signatures, some of them post-quantum.
    package static let bytesMax = 256 << 10
    /// The most signatures. C2SP asks for 16 at least.
    package static let signaturesMax = 64

    /// One line below the text.
    package struct Signature: Hashable, Sendable {
        package let name: KeyName
        package let keyID: UInt32
        /// The bytes after the key's id.
        package let bytes: [UInt8]
        /// The base 64 as it came.
        private let encoded: String

        package init(name: KeyName, keyID: UInt32, bytes: [UInt8]) {
            self.name = name
            self.keyID = keyID
            self.bytes = bytes
            encoded = Base64.encode(bigEndianBytes(keyID) + bytes)
        }

        /// The line, with its line feed.
        package var line: String { "— \(name) \(encoded)\n" }

        /// The signature of a line without its line feed.
        ///
        /// - Throws: ``TransparencyError/malformed(_:)`` for another form.
        package init(line: some StringProtocol) throws(TransparencyError) {
            let parts = NoteText.fields(line)
            guard parts.count == 3, parts[0].utf8.elementsEqual("—".utf8), let bytes = NoteText.looseBase64(parts[2]),
                bytes.count > 4
            else { throw .malformed("a line of signature is written \"— NAME BASE64\"") }
            name = try KeyName(parts[1])
            keyID = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
            self.bytes = Array(bytes[4...])
            encoded = String(parts[2])
        }

        fileprivate func isBy(_ key: NoteVerifier) -> Bool { keyID == key.id && name == key.name }
    }

    /// The text, which ends with a line feed.
    package let text: String
    package private(set) var signatures: [Signature]

    /// A note to be signed.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` unless the text ends with a line feed and has no control characters.
    package init(text: String) throws(TransparencyError) {
        guard text.utf8.last == NoteText.lineFeed, text.utf8.count <= Self.bytesMax / 2 else {
            throw .malformed("the text of a note ends with a line feed and has \(Self.bytesMax / 2) bytes at most")
        }
        self.text = try NoteText.string(text.utf8, "the text of a note")
        signatures = []
    }

    /// A note with one signature.
    ///
    /// - Throws: As ``init(text:)``.
    package init(text: String, signedBy signer: NoteSigner) throws(TransparencyError) {
        try self.init(text: text)
        sign(with: signer)
    }

    /// Reads a note completely.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for anything that is not a note, or too long, or without a
    ///   signature.
    package init(parsing bytes: [UInt8]) throws(TransparencyError) {
        guard bytes.count <= Self.bytesMax else {
            throw .malformed("a note has \(Self.bytesMax) bytes at most")
        }
        _ = try NoteText.string(bytes, "a note")
        // The last empty line ends the text, which may have others.
        guard bytes.last == NoteText.lineFeed,
            let end = bytes.indices.dropFirst().last(where: {
                bytes[$0] == NoteText.lineFeed && bytes[$0 - 1] == NoteText.lineFeed
            }), end < bytes.count - 1
        else { throw .malformed("a note is a text, an empty line, and at least one line of signature") }
        text = try NoteText.string(bytes[..<end], "the text of a note")
        let lines = bytes[(end + 1)..<(bytes.count - 1)].split(separator: NoteText.lineFeed)
        guard lines.count <= Self.signaturesMax else {
            throw .malformed("a note has \(Self.signaturesMax) signatures at most")
        }
        signatures = []
        for line in lines {
            signatures.append(try Signature(line: NoteText.string(line, "a line of signature")))
        }
    }

    /// The note's text for sending. Parsing it gives an equal note, including signature lines of unknown keys.
    package var bytes: [UInt8] {
        var bytes = Array(text.utf8)
        bytes.append(NoteText.lineFeed)
        for signature in signatures { bytes += signature.line.utf8 }
        return bytes
    }

    /// Adds a signature of the text by a key of kind `ed25519`.
    package mutating func sign(with signer: NoteSigner) {
        precondition(signer.verifier.kind == .ed25519, "A cosigner signs checkpoints.")
        add(
            Signature(
                name: signer.verifier.name, keyID: signer.verifier.id, bytes: signer.sign(Array(text.utf8))))
    }

    /// Adds a signature that someone else made, if it is not there. Beyond ``signaturesMax`` it is left out.
    package mutating func add(_ signature: Signature) {
        guard signatures.count < Self.signaturesMax, !signatures.contains(signature) else { return }
        signatures.append(signature)
    }

    /// The keys among `keys` whose signatures are on the note, all of which are right; for cosignatures with their newest
    /// time.
    ///
    /// Signatures of other keys are ignored, and so are those of keys that cannot be checked here
    /// (``NoteKeyKind/subtree``).
    ///
    /// - Throws: ``TransparencyError/unproven(_:)`` when a signature of one of the keys is wrong. As C2SP advises, the
    ///   whole note is then refused.
    package func verify(with keys: [NoteVerifier]) throws(TransparencyError) -> [VerifiedSignature] {
        var verified: [VerifiedSignature] = []
        let message = Array(text.utf8)
        for key in keys where key.kind != .subtree {
            var found: VerifiedSignature?
            for signature in signatures where signature.isBy(key) {
                var time: Int64?
                var signed = message
                var bytes = signature.bytes
                if key.kind == .cosignature {
                    guard let cosignature = Cosignature(bytes: bytes) else {
                        throw .unproven("the cosignature of \(key.name) is malformed")
                    }
                    (time, bytes) = (cosignature.timeSeconds, cosignature.signature)
                    signed = Cosignature.message(text, timeSeconds: cosignature.timeSeconds)
                }
                guard ed25519Verify(publicKey: key.publicKey, signature: bytes, message: signed) else {
                    throw .unproven("the signature of \(key.name) is wrong")
                }
                if found == nil || (time ?? 0) > (found?.timeSeconds ?? 0) {
                    found = VerifiedSignature(key: key, timeSeconds: time)
                }
            }
            if let found { verified.append(found) }
        }
        return verified
    }
}

/// A signature that was verified.
package struct VerifiedSignature: Equatable, Sendable {
    package let key: NoteVerifier
    /// Of a cosignature, when the witness made it, in seconds since 1970 UTC; else `nil`.
    package let timeSeconds: Int64?
}
