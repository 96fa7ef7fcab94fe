import Answers
import HTTPInterface
import Replies
import Whereabouts

extension AuditorEndpoints {
    /// The log for auditors, and their appointment.
    package var operations: [Operation] {
        [
            .change(
                APIPath.auditors.text, appoint, group: .operation, summary: "Appoint an auditor.",
                description:
                    "Only for the operator. The token reads the log as hashes and clear columns of events, and nothing else. It is shown only once.",
                access: .operator, discloses: .command,
                body: Operation.Body(
                    Schema.body(optional: ["until": Schema.timeGiven]), named: "NewAuditor", isOptional: true),
                answer: Operation.Answer(Schema.made(IssuedToken.self), named: "AddedToken")),
            Operation(
                "GET", APIPath.auditors.text, .answer(auditors), group: .operation,
                summary: "List the tokens of auditors.",
                description: "Only for the operator. Secrets are not shown.", access: .operator,
                discloses: .noPerson("Numbers and ends of tokens."),
                answer: Operation.Answer(Schema.page(of: TokenItem.self), pageOf: "AuditorToken")),
            Operation(
                "GET", APIPath.logCheckpoint.text, .answer(checkpoint), group: .operation,
                summary: "Get the signed checkpoint of the whole log.",
                description:
                    "For the operator and auditors (scope `inspect`). A note of C2SP `tlog-checkpoint`. Before it, the log gets an event `HeadsCommitted`, if it has other events since the last one. The answer is 503 while the log is read for the first time after a start.",
                access: .auditor, discloses: .noPerson("A number of events and a hash."),
                answerTypes: ["text/plain"]),
            Operation(
                "GET", "/v1/log/key", .answer(key), group: .operation,
                summary: "Get the key that signs the checkpoints of the whole log.",
                description: "For the operator and auditors (scope `inspect`). As a line of a policy has it.",
                access: .auditor, discloses: .noPerson("A public key."), answerTypes: ["text/plain"]),
            Operation(
                "GET", APIPath.logHeads.text, .answer(heads), group: .operation,
                summary: "Get a commitment to the persons' own logs.",
                description:
                    "For the operator and auditors (scope `inspect`). The stored body of the event `HeadsCommitted` of this number, in CBOR.",
                access: .auditor, discloses: .noPerson("Hashes of persons' logs."),
                answerTypes: ["application/octet-stream"]),
        ]
            + APIPath.logTiles.map { path in
                Operation(
                    "GET", path.text, .answer(tile), group: .operation, summary: "Get a tile of the log.",
                    description:
                        "For the operator and auditors (scope `inspect`). C2SP `tlog-tiles`: a level, or `entries`, then the number of the tile. An entry is the header of an event and the SHA-256 of its body. The answer is 404 for tiles that the newest checkpoint does not cover.",
                    access: .auditor, discloses: .noPerson("Hashes, and clear columns of events."),
                    answerTypes: ["application/octet-stream"])
            }
    }
}
