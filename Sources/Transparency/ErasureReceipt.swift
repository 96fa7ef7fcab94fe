// The receipt of an erasure: a signed note, given to the person who is erased.
//
//     whereabouts erasure v1
//     log where.example/whereabouts/7f3c/p/k2m9     the name of the person's own log
//     entries 42                                    the entries of that log; the last one is the erasure
//     time 1777881612345                            when the erasure was recorded, in milliseconds since 1970 UTC
//     backups-left 0                                folders with backups whose keys could not be destroyed yet
//
//     — where.example/whereabouts/7f3c 5a1d…
//
// No program can take its text for a checkpoint, whose second line is a number. `scripts/verify_proof.py --erasure` reads
// it beside a proof of the log, and `scripts/audit_house.py --erasure` looks for the erasure in the log of the house.

/// The house's statement that it has destroyed the keys of a person. If the house shows contents of this log later, the
/// receipt proves that it lied.
package struct ErasureReceipt: Hashable, Sendable {
    /// The name of the person's own log, as in the person's proofs.
    package let log: LogOrigin
    /// The number of entries of that log, from 1 on; the last one is the erasure.
    package let entries: Int64
    /// When the erasure was recorded, in milliseconds since 1970 UTC.
    package let recordedAtMs: Int64
    /// The number of known backups whose keys could not be reached.
    package let backupsLeft: Int64

    /// A receipt.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for a log without entries, a time before 1970 or a negative count.
    package init(
        log: LogOrigin, entries: Int64, recordedAtMs: Int64, backupsLeft: Int64
    ) throws(TransparencyError) {
        guard entries >= 1, recordedAtMs >= 0, backupsLeft >= 0 else {
            throw .malformed("a receipt of an erasure has an entry, a time after 1970 and no negative count")
        }
        (self.log, self.entries, self.recordedAtMs, self.backupsLeft) = (log, entries, recordedAtMs, backupsLeft)
    }

    /// The text of the note.
    package var text: String {
        "whereabouts erasure v1\nlog \(log)\nentries \(entries)\ntime \(recordedAtMs)\nbackups-left \(backupsLeft)\n"
    }

    /// The receipt as a note, signed by the house.
    package func signed(by house: NoteSigner) throws(TransparencyError) -> SignedNote {
        try SignedNote(text: text, signedBy: house)
    }
}
