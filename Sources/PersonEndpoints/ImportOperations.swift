import HTTPInterface
import Replies
import Whereabouts

extension ImportEndpoints {
    /// Undoing imports.
    var operations: [Operation] {
        [
            Operation(
                "POST", APIPath.importsWithdrawals.text, .answer(withdraw), group: .reports,
                summary: "Withdraw the fixes of an import.",
                description:
                    "Only for the operator. Withdraws up to \(Self.fixesAtOnce) fixes that this import brought; fixes that were in the log before stay. If `next` is not null, send the request again with it as `after`. After an interruption, begin again without `after`.",
                access: .operator, discloses: .command, body: Self.body, answer: Self.answer),
            Operation(
                "POST", APIPath.importsRestorations.text, .answer(restore), group: .reports,
                summary: "Restore the fixes of an import.",
                description: "Only for the operator. As withdrawals; the fixes count again.",
                access: .operator, discloses: .command, body: Self.body, answer: Self.answer),
        ]
    }

    private static let body = Operation.Body(
        Schema.body(
            ["reason": Schema.text(1...Limits.purposeCharacters)], optional: ["after": Schema.count]),
        named: "ImportRevision", example: ["reason": "the wrong file"])
    private static let answer = Operation.Answer(Schema.object(of: RevisedImport.self), named: "RevisedImport")
}
