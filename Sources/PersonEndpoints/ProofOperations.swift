import HTTPInterface
import Replies
import Transparency
import Whereabouts

extension ProofEndpoints {
    /// The proofs of a person's audit.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.peopleProof.text, .recorded(proof), group: .stored,
                summary: "Prove that a person's audit is complete.",
                description:
                    "All entries of the person's own log with their contents, and the signed checkpoint over them, as a file that scripts/verify_proof.py checks without the service. Needs the scope `audit`. The read is recorded too.",
                access: .token(.audit), discloses: .recorded(.audit), query: [.atLeast],
                answerTypes: ["text/plain"], mixesTexts: true),
            .read(
                APIPath.peopleCheckpoint.text, checkpoint,
                summary: "Get the signed checkpoint of a person's own log.",
                description:
                    "Keep it: with `since`, its number of entries, a later answer proves that the log continues it. Needs the scope `audit`. The read is recorded too.",
                access: .token(.audit), discloses: .audit,
                query: [
                    Operation.Parameter(
                        name: "since", schema: Schema.integer(0...Int64(PersonProof.entriesMax)),
                        description:
                            "The number of entries of an earlier checkpoint. The answer has `consistency` then.")
                ],
                answer: Operation.Answer(Schema.object(of: LogCheckpoint.self), named: "LogCheckpoint")),
        ]
    }
}
