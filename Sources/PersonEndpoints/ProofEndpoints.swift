import Answers
import Cryptography
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Transparency
import Whereabouts

/// Proofs that a person's audit is complete: the person's own log with all contents, and its checkpoint. The page Proof
/// explains how they are checked.
///
/// For the person with the scope `audit`, and the operator. Another caller gets 404, and the attempt is recorded.
struct ProofEndpoints: Sendable {
    let views: Views
    let logs: PersonLogs

    /// The media type of a proof.
    static let proofType = "text/plain; charset=utf-8"

    /// `GET /v1/people/*/proof`: the person's log as a file `*.person-proof`. The read itself is the entry after the
    /// last of the file.
    ///
    /// Cost: opens every entry of the person's log; one answering thread. A log of more than `PersonProof.entriesMax`
    /// entries has no proof in one file.
    func proof(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let answer = try views.read(exchange, context, .audit, from: nil) { (reading) throws(Problem) in
            let proof = try logs.proof(of: reading.permit.subject, context)
            return Gate.Computed(
                body: proof.bytes, count: Int64(proof.entries.count), asOf: views.decisions.log.head)
        }
        return answer.with(headers: [
            ("Content-Type", Self.proofType),
            ("Content-Disposition", "attachment; filename=\"\(try exchange.handle(0).text).person-proof\""),
        ])
    }

    /// `GET /v1/people/*/checkpoint`: the newest checkpoint of the person's log, the key that signed it as the log, the
    /// name under which it signs receipts, and, with
    /// `?since=N`, the proof that the log continues its checkpoint of N entries.
    ///
    /// For example, an auditor who kept the checkpoint of 120 entries asks with `?since=120` and checks that nothing
    /// before it was changed. Without `since` there is no `consistency`.
    func checkpoint(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let since = try exchange.integer("since", in: 0...Int64(PersonProof.entriesMax), default: 0)
        return try views.read(exchange, context, .audit, from: nil) { (reading) throws(Problem) in
            let found = try logs.checkpoint(of: reading.permit.subject, after: since, context)
            let item = LogCheckpoint(
                checkpoint: String(decoding: found.note.bytes, as: UTF8.self), key: found.key.text,
                houseKey: found.house.text,
                consistency: since > 0 ? found.consistency.map { Base64.encode($0.bytes) } : nil)
            return Gate.Computed(body: item.bytes, count: 1, asOf: views.decisions.log.head)
        }
    }
}
