package import Cryptography

// A proof that one entry is in a log (C2SP tlog-proof), for files `*.tlog-proof`:
//
//     c2sp.org/tlog-proof@v1
//     extra YWdl…                                        optional, and not covered by any signature
//     index 2
//     +sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=      the hashes from the leaf's sibling up
//
//     where.example/whereabouts/7f3c/p/k2m9             the checkpoint, verbatim
//     3
//     Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk=
//
//     — where.example/whereabouts/7f3c/p/k2m9 M9e0…

/// The place of an entry in a log and the hashes that lead from it to the root of a signed checkpoint.
package struct EntryProof: Equatable, Sendable {
    /// The longest proof in bytes.
    package static let bytesMax = SignedNote.bytesMax + (64 << 10)
    /// The most bytes of extra data.
    package static let extraBytesMax = 32 << 10

    /// The number of the entry, from 0 on.
    package let index: Int64
    /// Data of the application's, which nothing here proves; `nil` when there is none.
    package let extra: [UInt8]?
    /// The hashes from the leaf's sibling up.
    package let hashes: [Digest]
    /// The checkpoint with all its signatures.
    package let note: SignedNote

    private static let firstLine = "c2sp.org/tlog-proof@v1"

    package init(index: Int64, extra: [UInt8]? = nil, hashes: [Digest], note: SignedNote) {
        precondition(index >= 0, "The first entry is number 0.")
        self.index = index
        self.extra = extra
        self.hashes = hashes
        self.note = note
    }

    /// Reads a proof.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form.
    package init(parsing bytes: [UInt8]) throws(TransparencyError) {
        guard bytes.count <= Self.bytesMax else { throw .malformed("a proof has \(Self.bytesMax) bytes at most") }
        guard let (head, note) = NoteText.parts(bytes[...]) else {
            throw .malformed("a proof is some lines, an empty line, and a checkpoint")
        }
        var lines = try NoteText.string(head, "a proof").utf8.split(
            separator: NoteText.lineFeed, omittingEmptySubsequences: false
        ).map { Substring($0) }[...]
        guard lines.popFirst()?.utf8.elementsEqual(Self.firstLine.utf8) == true else {
            throw .malformed("the first line of a proof is \(Self.firstLine)")
        }
        if lines.first?.hasPrefix("extra ") == true {
            guard let text = lines.popFirst()?.dropFirst(6), let bytes = NoteText.base64(text),
                bytes.count <= Self.extraBytesMax
            else { throw .malformed("the extra data of a proof is base 64 of \(Self.extraBytesMax) bytes at most") }
            extra = bytes
        } else {
            extra = nil
        }
        guard let line = lines.popFirst(), line.hasPrefix("index "), let index = NoteText.number(line.dropFirst(6))
        else {
            throw .malformed("a proof has a line like \"index 73894\"")
        }
        self.index = index
        hashes = try NoteText.hashes(lines)
        self.note = try SignedNote(parsing: Array(note))
    }

    /// The proof as text.
    package var bytes: [UInt8] {
        var text = Self.firstLine + "\n"
        if let extra { text += "extra \(Base64.encode(extra))\n" }
        text += "index \(index)\n"
        for hash in hashes { text += NoteText.text(hash) + "\n" }
        return Array((text + "\n").utf8) + note.bytes
    }

    /// The checkpoint that has the entry, if the policy believes it and the hashes lead there.
    ///
    /// - Throws: ``TransparencyError``, as ``TrustPolicy/judge(_:)`` does, and when the entry is not in the log.
    package func verify(
        entry: [UInt8], policy: TrustPolicy
    ) throws(TransparencyError) -> TrustPolicy.Verdict {
        let verdict = try policy.judge(note)
        let sha256 = SHA256()
        guard
            MerkleProof.verifyInclusion(
                of: sha256.leaf(entry), at: index, inTreeOfSize: verdict.checkpoint.size,
                root: verdict.checkpoint.root, proof: hashes, sha256)
        else { throw .unproven("the checkpoint does not have this entry at index \(index)") }
        return verdict
    }
}

extension NoteText {
    /// The bytes before the first empty line, without their last line feed, and the bytes after it.
    static func parts(_ bytes: ArraySlice<UInt8>) -> (head: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        guard let end = bytes.indices.dropLast().first(where: { bytes[$0] == lineFeed && bytes[$0 + 1] == lineFeed })
        else {
            return nil
        }
        return (bytes[..<end], bytes[(end + 2)...])
    }

    /// Lines with a hash each, as many as a proof can have.
    static func hashes(_ lines: some Collection<Substring>) throws(TransparencyError) -> [Digest] {
        guard lines.count < MerkleProof.hashesMax else {
            throw .malformed("a proof has \(MerkleProof.hashesMax - 1) hashes at most")
        }
        let hashes = lines.compactMap { digest($0) }
        guard hashes.count == lines.count else { throw .malformed("a line of a proof is the base 64 of 32 bytes") }
        return hashes
    }
}
