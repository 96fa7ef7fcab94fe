package import Cryptography

// A receipt for someone who asked: a signed note, one for each answer.
//
//     whereabouts receipt v1
//     log pX2rT8…                       the pseudonym that the asker has for the subject's log
//     commit 9jVQ1u2S6oJ8cHc3mV0r8nKQz3d2y8g3l0o4sN7u2hA=
//     time 1777881612345                milliseconds since 1970 UTC
//
//     — where.example/whereabouts/7f3c 5a1d…
//
// It has no number and no size, so that it says nothing about other questions. Its text can never be taken for that of a
// checkpoint, whose second line is a number.

/// The house's promise that an answer has an entry in the subject's log.
package struct AskerReceipt: Hashable, Sendable {
    /// The longest pseudonym in bytes.
    package static let pseudonymBytesMax = 128
    /// The longest file of receipts in bytes.
    package static let fileBytesMax = 256 << 20

    /// The name of the subject's log towards this asker; letters, digits, `-` and `_`.
    package let pseudonym: String
    /// The commitment of the entry.
    package let commit: Digest
    /// When the entry was recorded, in milliseconds since 1970 UTC.
    package let recordedAtMs: Int64

    private static let firstLine = "whereabouts receipt v1"

    /// A receipt.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for a pseudonym of other characters or lengths, and for a time
    ///   before 1970.
    package init(
        pseudonym: some StringProtocol, commit: Digest, recordedAtMs: Int64
    ) throws(TransparencyError) {
        guard (1...Self.pseudonymBytesMax).contains(pseudonym.utf8.count),
            pseudonym.utf8.allSatisfy(NoteText.isWordByte)
        else {
            throw .malformed("a pseudonym is 1 to \(Self.pseudonymBytesMax) letters, digits, - and _")
        }
        guard recordedAtMs >= 0 else { throw .malformed("the time of a receipt is after 1970") }
        self.pseudonym = String(pseudonym)
        self.commit = commit
        self.recordedAtMs = recordedAtMs
    }

    /// The name of a log towards one asker, so that two askers cannot compare: base 64 of 16 bytes of
    /// HMAC-SHA-256(key, `"whereabouts receipt pseudonym v1\n"` ‖ origin ‖ 0x0A ‖ asker).
    package static func pseudonym(of origin: LogOrigin, for asker: [UInt8], key: SymmetricKey) -> String {
        let message =
            Array("whereabouts receipt pseudonym v1\n".utf8) + Array(origin.text.utf8) + [NoteText.lineFeed] + asker
        let digest = hmacSHA256(key: key.withBytes { [UInt8]($0) }, message: message)
        return Base64.encode(digest.bytes.prefix(16), urlSafe: true, padded: false)
    }

    /// Reads the text of a note.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form.
    package init(text: String) throws(TransparencyError) {
        guard let lines = NoteText.lines(text), lines.count == 4, lines[0].utf8.elementsEqual(Self.firstLine.utf8),
            lines[1].hasPrefix("log "), lines[2].hasPrefix("commit "), lines[3].hasPrefix("time "),
            let commit = NoteText.digest(lines[2].dropFirst(7)), let time = NoteText.number(lines[3].dropFirst(5))
        else { throw .malformed("a receipt has the lines \"\(Self.firstLine)\", log, commit and time") }
        try self.init(pseudonym: lines[1].dropFirst(4), commit: commit, recordedAtMs: time)
    }

    /// The text of the note.
    package var text: String {
        "\(Self.firstLine)\nlog \(pseudonym)\ncommit \(NoteText.text(commit))\ntime \(recordedAtMs)\n"
    }

    /// The receipt as a note, signed by the house.
    package func signed(by house: NoteSigner) throws(TransparencyError) -> SignedNote {
        try SignedNote(text: text, signedBy: house)
    }

    /// The receipt in a note that the house signed.
    ///
    /// - Throws: ``TransparencyError`` when it is no receipt, or the house has not signed it.
    package static func verify(_ note: SignedNote, house: NoteVerifier) throws(TransparencyError) -> AskerReceipt {
        let receipt = try AskerReceipt(text: note.text)
        guard house.kind == .ed25519, !(try note.verify(with: [house])).isEmpty else {
            throw .unproven("the house has not signed the receipt")
        }
        return receipt
    }

    /// The notes of a file with receipts: one after the other, with an empty line between two.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` when the file is longer than ``fileBytesMax`` or has another form.
    package static func notes(in bytes: [UInt8]) throws(TransparencyError) -> [SignedNote] {
        guard bytes.count <= fileBytesMax else {
            throw .malformed("a file of receipts has \(fileBytesMax >> 20) MiB at most")
        }
        var notes: [SignedNote] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            // The text of a receipt has no empty line: the second one ends the note.
            guard let (text, others) = NoteText.parts(rest) else {
                throw .malformed("its last receipt is cut off or not a receipt")
            }
            let signatures: ArraySlice<UInt8>
            if let (these, following) = NoteText.parts(others) {
                (signatures, rest) = (these + [NoteText.lineFeed], following)
            } else {
                (signatures, rest) = (others, [])
            }
            notes.append(try SignedNote(parsing: text + [NoteText.lineFeed, NoteText.lineFeed] + signatures))
        }
        return notes
    }

    /// The receipts whose entries a subject's log does not have. With a verified proof that was made after the receipts,
    /// each is evidence that the house answered without recording it.
    package static func missing(_ receipts: [AskerReceipt], from proof: PersonProof) -> [AskerReceipt] {
        let recorded = Set(proof.logEntries(SHA256()).map { Moment(commit: $0.commit, recordedAtMs: $0.recordedAtMs) })
        return receipts.filter { !recorded.contains(Moment(commit: $0.commit, recordedAtMs: $0.recordedAtMs)) }
    }

    private struct Moment: Hashable {
        let commit: Digest
        let recordedAtMs: Int64
    }
}
