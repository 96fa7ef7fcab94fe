package import Cryptography

// The text of a checkpoint (C2SP tlog-checkpoint), which is signed as a note: origin, number of leaves, root.
//
//     where.example/whereabouts/7f3c/p/k2m9
//     3
//     Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk=

/// The checkpoint of a log: its size and its root.
package struct Checkpoint: Hashable, Sendable {
    /// The most lines after the root.
    static let extensionsMax = 64

    package let origin: LogOrigin
    /// The number of leaves.
    package let size: Int64
    package let root: Digest
    /// Lines after the root, which other logs may have and ours have not. They are kept as they came.
    package let extensions: [String]

    /// A checkpoint of ours.
    package init(origin: LogOrigin, size: Int64, root: Digest) {
        precondition(size >= 0, "A tree has no negative size.")
        self.origin = origin
        self.size = size
        self.root = root
        extensions = []
    }

    /// Reads the text of a note.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for anything else than a checkpoint.
    package init(text: String) throws(TransparencyError) {
        guard let lines = NoteText.lines(text), lines.count >= 3, !lines.contains(where: \.isEmpty),
            lines.count <= 3 + Self.extensionsMax
        else { throw .malformed("a checkpoint has lines for origin, size and root, and none that is empty") }
        origin = try LogOrigin(lines[0])
        guard let size = NoteText.number(lines[1]) else {
            throw .malformed("the second line of a checkpoint is the number of leaves, for example 73894")
        }
        guard let root = NoteText.digest(lines[2]) else {
            throw .malformed("the third line of a checkpoint is the base 64 of 32 bytes")
        }
        self.size = size
        self.root = root
        extensions = lines[3...].map(String.init)
    }

    /// The text of the note.
    package var text: String {
        ([origin.text, String(size), NoteText.text(root)] + extensions).joined(separator: "\n") + "\n"
    }

    /// The checkpoint as a note, signed by its log.
    package func signed(by signer: NoteSigner) throws(TransparencyError) -> SignedNote {
        try SignedNote(text: text, signedBy: signer)
    }
}
