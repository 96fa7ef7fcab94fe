package import Cryptography

/// The log of one person: a Merkle tree over commitments to everything that concerns them, and nothing of anyone else.
///
/// The value keeps the leaves, 64 bytes an entry, and no content. To append and sign, a ``CompactRange`` is enough.
package struct PersonLog: Sendable {
    package let origin: LogOrigin
    private var tree = MerkleTree()

    /// A log without entries.
    package init(origin: LogOrigin) {
        self.origin = origin
    }

    /// The log with these leaves, of its versions 1, 2, 3 …
    package init(origin: LogOrigin, leaves: some Sequence<Digest>, _ sha256: SHA256) {
        self.origin = origin
        tree = MerkleTree(leaves: leaves, sha256)
    }

    /// The number of entries, which is the version of the last.
    package var size: Int64 { tree.size }

    /// Adds the next entry.
    package mutating func append(
        recordedAtMs: Int64, salt: EntrySalt, content: [UInt8], _ sha256: SHA256
    ) -> PersonLogEntry {
        let entry = PersonLogEntry(
            version: size + 1, recordedAtMs: recordedAtMs, salt: salt, content: content, sha256)
        tree.append(entry.leaf(sha256), sha256)
        return entry
    }

    /// Adds the next entry by its commitment alone.
    package mutating func append(recordedAtMs: Int64, commit: Digest, _ sha256: SHA256) -> PersonLogEntry {
        let entry = PersonLogEntry(version: size + 1, recordedAtMs: recordedAtMs, commit: commit)
        tree.append(entry.leaf(sha256), sha256)
        return entry
    }

    /// The checkpoint at a size; `nil` for the present size.
    ///
    /// - Precondition: The log has at least that size.
    package func checkpoint(atSize size: Int64? = nil, _ sha256: SHA256) -> Checkpoint {
        Checkpoint(origin: origin, size: size ?? self.size, root: tree.root(atSize: size, sha256))
    }

    /// The proof that the checkpoint of `newer` entries continues the one of `older`. It is empty for `older` = 0.
    ///
    /// - Throws: ``TransparencyError/unproven(_:)`` when the log never had these sizes.
    package func consistencyProof(
        from older: Int64, to newer: Int64, _ sha256: SHA256
    ) throws(TransparencyError) -> [Digest] {
        try tree.consistencyProof(from: older, to: newer, sha256)
    }

    /// The proof that a version is in the log of a checkpoint.
    ///
    /// - Throws: ``TransparencyError`` when the note is no checkpoint, or the log never had its size.
    package func entryProof(of version: Int64, in note: SignedNote, _ sha256: SHA256) throws(TransparencyError)
        -> EntryProof
    {
        let size = try Checkpoint(text: note.text).size
        let hashes = try tree.inclusionProof(of: version - 1, atSize: size, sha256)
        return EntryProof(index: version - 1, hashes: hashes, note: note)
    }
}
