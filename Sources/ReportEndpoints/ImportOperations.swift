import HTTPInterface
import Replies
import Whereabouts

extension ImportEndpoints {
    /// Beginning, ending, listing and undoing imports.
    var operations: [Operation] {
        [
            Operation(
                "POST", APIPath.imports.text, .answer(begin), group: .reports, summary: "Begin an import.",
                description:
                    "Only for the operator. The person is added if they do not exist. If an import of the same file (the same length and the same SHA-256 of its beginning) was begun for the person and has not ended, the answer names that import and `resumed` is true. A batch also begins an import that was not begun.",
                access: .operator, discloses: .command,
                body: Operation.Body(
                    Schema.body(["person": Schema.handle], optional: ["file": Schema.importedFile, "id": Schema.uuid]),
                    named: "NewImport",
                    example: [
                        "person": "anna",
                        "file": ["name": "Records.json", "format": "google-records", "bytes": 1_600_000_000],
                    ]),
                answer: Operation.Answer(Schema.object(of: BegunImport.self), named: "BegunImport")),
            Operation(
                "POST", APIPath.importsEnds.text, .answer(end), group: .reports, summary: "End an import.",
                description:
                    "Only for the operator. The import then takes no more batches for these people. `fault` says why the file was not read to its end. A repetition changes nothing.",
                access: .operator, discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        ["people": Schema.list(Self.person, 0...Limits.batchCommands)],
                        optional: ["fault": Schema.text(1...Limits.importFaultCharacters)]), named: "ImportEnd",
                    example: ["people": [["person": "anna", "new": 90, "duplicate": 1]]]),
                answer: Operation.Answer(Schema.anyObject)),
            Operation(
                "GET", APIPath.imports.text, .answer(all), group: .reports, summary: "List the imports of the house.",
                description:
                    "Only for the operator: the newest imports, newest first, with the handles of the first people. The names of the files are in `GET /v1/people/*/imports`.",
                access: .operator, discloses: .names("Handles of people, for the operator."),
                query: [.limit(Int64(Self.importsListed))],
                answer: Operation.Answer(Schema.page(of: HouseImportItem.self), pageOf: "HouseImport")),
            .settings(
                APIPath.peopleImports.text, list, group: .reports, summary: "List the imports into a person's history.",
                description:
                    "For the person (scope `manage`) or the operator, oldest first. `running` is an import that has not ended, also if its program was killed: the same file continues it.",
                access: .token(.manage), discloses: .settings, items: Schema.object(of: ImportItem.self),
                named: "Import"),
            Operation(
                "POST", APIPath.importsWithdrawals.text, .answer(withdraw), group: .reports,
                summary: "Undo an import.",
                description:
                    "For the operator, or for a person (scope `manage`) whose history it is in; then only this history is changed. Withdraws up to \(Self.reportsAtOnce) fixes and visits that this import brought; those that were in the log before stay. If `next` is not null, send the request again with it as `after`. After an interruption, begin again without `after`.",
                access: .token(.manage), discloses: .command, body: Self.body, answer: Self.answer),
            Operation(
                "POST", APIPath.importsRestorations.text, .answer(restore), group: .reports,
                summary: "Redo an undone import.",
                description: "As withdrawals; the fixes and visits count again.",
                access: .token(.manage), discloses: .command, body: Self.body, answer: Self.answer),
        ]
    }

    private static let person = Schema.body(
        ["person": Schema.handle],
        optional: [
            "new": Schema.count, "duplicate": Schema.count, "visits": Schema.count, "rejected": Schema.count,
        ])
    private static let body = Operation.Body(
        Schema.body(
            ["reason": Schema.text(1...Limits.purposeCharacters)], optional: ["after": Schema.event]),
        named: "ImportRevision", example: ["reason": "the wrong file"])
    private static let answer = Operation.Answer(Schema.object(of: RevisedImport.self), named: "RevisedImport")
}
