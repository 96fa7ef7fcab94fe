package import Cryptography

// The request `POST …/add-checkpoint` of C2SP tlog-witness: the size that the witness has seen, a consistency proof from
// there, an empty line, and the new checkpoint.
//
//     old 1
//     KgEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
//     KgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
//
//     where.example/whereabouts/7f3c/p/k2m9
//     3
//     RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=
//
//     — where.example/whereabouts/7f3c/p/k2m9 5a1d…

/// The request of a log to a witness.
package struct WitnessRequest: Equatable, Sendable {
    /// The longest request in bytes.
    package static let bytesMax = SignedNote.bytesMax + (8 << 10)
    /// The most hashes of the proof.
    package static let hashesMax = 63

    /// The size of the checkpoint that the witness cosigned last, 0 for none.
    package let oldSize: Int64
    /// That the new checkpoint continues the old one.
    package let proof: [Digest]
    /// The new checkpoint.
    package let note: SignedNote

    package init(oldSize: Int64, proof: [Digest], note: SignedNote) {
        self.oldSize = oldSize
        self.proof = proof
        self.note = note
    }

    /// Reads the body of a request.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for another form.
    package init(parsing bytes: [UInt8]) throws(TransparencyError) {
        guard bytes.count <= Self.bytesMax else { throw .malformed("a request has \(Self.bytesMax) bytes at most") }
        guard let (head, note) = NoteText.parts(bytes[...]) else {
            throw .malformed("a request is a line \"old SIZE\", a proof, an empty line, and a checkpoint")
        }
        let lines = try NoteText.string(head, "a request").utf8.split(
            separator: NoteText.lineFeed, omittingEmptySubsequences: false
        ).map { Substring($0) }
        guard lines[0].hasPrefix("old "), let oldSize = NoteText.number(lines[0].dropFirst(4)) else {
            throw .malformed("the first line of a request is like \"old 20852014\"")
        }
        self.oldSize = oldSize
        proof = try NoteText.hashes(lines[1...])
        self.note = try SignedNote(parsing: Array(note))
    }

    /// The body of the request.
    package var bytes: [UInt8] {
        let lines = ["old \(oldSize)"] + proof.map { NoteText.text($0) } + ["", ""]
        return Array(lines.joined(separator: "\n").utf8) + note.bytes
    }
}

/// The answer of a witness.
package enum WitnessAnswer: Equatable, Sendable {
    /// 200: the witness's signatures for the checkpoint.
    case cosigned([SignedNote.Signature])
    /// 400: the request is malformed.
    case badRequest(String)
    /// 403: no key that the witness knows has signed the checkpoint.
    case badSignature(String)
    /// 404: the witness does not know the log.
    case unknownLog
    /// 409: the witness has cosigned a checkpoint of this size last, or one of this size with another root.
    case conflict(size: Int64)
    /// 422: the checkpoint does not continue the one before.
    case inconsistent(String)

    /// The status of the HTTP answer.
    package var status: Int {
        switch self {
        case .cosigned: 200
        case .badRequest: 400
        case .badSignature: 403
        case .unknownLog: 404
        case .conflict: 409
        case .inconsistent: 422
        }
    }

    /// The media type of the HTTP answer.
    package var contentType: String {
        if case .conflict = self { "text/x.tlog.size" } else { "text/plain; charset=utf-8" }
    }

    /// The body of the HTTP answer.
    package var body: String {
        switch self {
        case .cosigned(let signatures): signatures.map(\.line).joined()
        case .badRequest(let reason), .inconsistent(let reason), .badSignature(let reason): reason + "\n"
        case .unknownLog: "unknown log\n"
        case .conflict(let size): "\(size)\n"
        }
    }

    /// Reads an HTTP answer, as a log gets it. Bodies of more than ``SignedNote/bytesMax`` bytes are refused.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for an answer that no witness gives.
    package init(status: Int, body: [UInt8]) throws(TransparencyError) {
        guard body.count <= SignedNote.bytesMax else { throw .malformed("the answer of a witness is too long") }
        let text = try NoteText.string(body, "the answer of a witness")
        switch status {
        case 200:
            guard let lines = NoteText.lines(text), lines.count <= SignedNote.signaturesMax else {
                throw .malformed("a witness answers with lines of signature")
            }
            var signatures: [SignedNote.Signature] = []
            for line in lines { signatures.append(try SignedNote.Signature(line: line)) }
            self = .cosigned(signatures)
        case 400: self = .badRequest(Self.reason(text))
        case 403: self = .badSignature(Self.reason(text))
        case 404: self = .unknownLog
        case 409:
            guard let lines = NoteText.lines(text), lines.count == 1, let size = NoteText.number(lines[0]) else {
                throw .malformed("a witness answers a conflict with its size")
            }
            self = .conflict(size: size)
        case 422: self = .inconsistent(Self.reason(text))
        default: throw .malformed("a witness does not answer with status \(status)")
        }
    }

    private static func reason(_ text: String) -> String {
        String(text.prefix(200).split(separator: "\n").first ?? "")
    }
}
