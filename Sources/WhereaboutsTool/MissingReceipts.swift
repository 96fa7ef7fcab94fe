import Cryptography
import JSON
import Transparency
import Whereabouts

/// The receipts without an entry in a proof, each with the reason that is known.
struct MissingReceipts {
    /// Why a receipt has no entry.
    enum Reason: String {
        /// The service answered and did not record it, or the proof is not the person's.
        case noEntry
        /// The receipt is newer than the last entry of the proof: a newer proof must have the entry.
        case newerThanProof
        /// The receipt promises an entry in another log than the proof's, for example in the log before a restore.
        case anotherLog

        /// The words behind the time of the receipt.
        var words: String {
            switch self {
            case .noEntry: "has no entry"
            case .newerThanProof: "is newer than the proof"
            case .anotherLog: "is of another log"
            }
        }
    }

    /// The number of receipts compared.
    let count: Int
    /// Those without an entry, in the order of the file.
    let missing: [(receipt: AskerReceipt, reason: Reason)]

    /// Compares receipts with a proof.
    ///
    /// - Parameter kept: The receipts, each with the name of the house that signed it. A person's log is
    ///   `HOUSE/p/ID`, so the name tells which log was promised.
    init(_ kept: [(receipt: AskerReceipt, house: String)], in proof: PersonProof) {
        count = kept.count
        let unrecorded = Set(AskerReceipt.missing(kept.map(\.receipt), from: proof))
        let origin = proof.note.text.prefix { $0 != "\n" }
        let last = proof.entries.last?.recordedAtMs ?? 0
        missing = kept.filter { unrecorded.contains($0.receipt) }.map { one in
            if !origin.hasPrefix(one.house + "/p/") { return (one.receipt, .anotherLog) }
            return (one.receipt, one.receipt.recordedAtMs > last ? .newerThanProof : .noEntry)
        }
    }

    /// A line for each missing receipt, and one that sums up.
    var lines: [String] {
        missing.map { receipt, reason in
            let time = LocalTime.text(Timestamp(milliseconds: receipt.recordedAtMs))
            return "\(time)  \(reason.words)  \(Base64.encode(receipt.commit.bytes))"
        } + [
            missing.isEmpty
                ? "Every receipt of \(Text.count(count)) has its entry."
                : "No entry in the proof: \(Text.count(missing.count)) of \(Text.count(count, "receipt"))."
        ]
    }

    /// `{"receipts":2,"missing":[{"at":…,"commit":"…","log":"…","reason":"noEntry"}]}`, and a line feed.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("receipts", Int64(count))
        writer.array("missing") { writer in
            for (receipt, reason) in missing {
                writer.beginObject()
                writer.field("at", milliseconds: receipt.recordedAtMs)
                writer.field("commit", Base64.encode(receipt.commit.bytes))
                writer.field("log", receipt.pseudonym)
                writer.field("reason", reason.rawValue)
                writer.endObject()
            }
        }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
