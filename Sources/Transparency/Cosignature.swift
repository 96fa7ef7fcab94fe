// The cosignature of a witness (C2SP tlog-cosignature, cosignature/v1): after the key's id the time, 8 bytes with the most
// significant first, and 64 bytes of Ed25519 over
//
//     cosignature/v1
//     time 1679315147
//     example.com/behind-the-sofa
//     20852163
//     CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//
// that is, two lines and the whole text of the checkpoint.

/// The statement of a witness: at this time, this checkpoint was the largest that it had seen of the log, and it
/// continued all those before.
package struct Cosignature: Equatable, Sendable {
    /// When the witness signed, in seconds since 1970 UTC.
    package let timeSeconds: Int64
    /// 64 bytes of Ed25519.
    let signature: [UInt8]

    /// The cosignature in the bytes of a line; `nil` unless it has 72 bytes and its time is at most 2⁶³ − 1.
    init?(bytes: [UInt8]) {
        guard bytes.count == 72 else { return nil }
        guard let time = Int64(exactly: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }) else { return nil }
        timeSeconds = time
        signature = Array(bytes[8...])
    }

    /// The bytes that a witness signs.
    static func message(_ text: String, timeSeconds: Int64) -> [UInt8] {
        Array("cosignature/v1\ntime \(timeSeconds)\n\(text)".utf8)
    }

    /// The line of a witness for a checkpoint. The caller has checked that the checkpoint continues those before.
    package static func signature(
        of checkpoint: Checkpoint, timeSeconds: Int64, by witness: NoteSigner
    ) -> SignedNote.Signature {
        precondition(witness.verifier.kind == .cosignature, "A witness signs with a key for cosignatures.")
        precondition(timeSeconds >= 0, "The time of a cosignature is after 1970.")
        return SignedNote.Signature(
            name: witness.verifier.name, keyID: witness.verifier.id,
            bytes: bigEndianBytes(timeSeconds)
                + witness.sign(message(checkpoint.text, timeSeconds: timeSeconds)))
    }
}
