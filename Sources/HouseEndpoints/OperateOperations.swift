import HTTPInterface
import Replies
import Whereabouts

extension OperateEndpoints {
    /// The operator's requests, and the checks of health.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.events.text, .recorded(events),
                group: .operation, summary: "List the events of the log.",
                description:
                    "Only for the operator. Decrypting a person's events is recorded as a read; with `asStored` nothing is decrypted.",
                access: .operator, discloses: .recorded(.events),
                query: [
                    Operation.Parameter(
                        name: "after", schema: Schema.count, description: "Only events after this number."),
                    .limit(1000),
                    Operation.Parameter(
                        name: "wait", schema: Schema.integer(0...30),
                        description: "The seconds to wait for the next event."
                    ),
                    Operation.Parameter(
                        name: "kind",
                        schema: ["type": "string", "enum": .list(EventKind.allCases.map { .text($0.name) })],
                        description: "Only events of this kind."),
                    Operation.Parameter(
                        name: "person", schema: Schema.handle, description: "Only events of this person."),
                    Operation.Parameter(
                        name: "asStored", schema: Schema.boolean,
                        description: "Give events as stored, with their sealed parts."),
                ],
                answer: Operation.Answer(
                    Schema.page(
                        Schema.object(
                            [
                                "number": Schema.eventNumber, "kind": Schema.text, "stream": ["type": "integer"],
                                "version": Schema.event, "recordedAt": Schema.time, "actor": ["type": "integer"],
                                "correlation": Schema.text, "cause": Schema.count,
                                "leaf": Schema.pattern("^[0-9a-f]{64}$"),
                            ], optional: ["content": Schema.anyObject, "body": Schema.pattern("^([0-9a-f]{2})*$")])),
                    pageOf: "LogEvent"),
                mixesTexts: true),
            Operation(
                "GET", APIPath.verify.text, .answer(verify),
                group: .operation, summary: "Verify the log and every projection.",
                description: "Only for the operator. Takes as long as a refold of the whole log.", access: .operator,
                discloses: .noPerson("Counts, hashes and names of files."),
                answer: Operation.Answer(Schema.object(of: Verification.self), named: "Verification")),
            Operation(
                "POST", APIPath.backups.text, .answer(backUp),
                group: .operation, summary: "Make a backup.",
                description:
                    "Only for the operator. Writes a verified copy of the log and its keys into the folder `backup` of the data directory.",
                access: .operator, discloses: .command, status: 201,
                answer: Operation.Answer(Schema.object(of: BackupItem.self), named: "Backup")),
            Operation(
                "GET", APIPath.projections.text, .answer(projections),
                group: .operation, summary: "List the projections.",
                description: "Only for the operator. With the number of the newest event that each has folded.",
                access: .operator, discloses: .noPerson("Places, versions and fingerprints of projections."),
                answer: Operation.Answer(Schema.page(of: ProjectionItem.self), pageOf: "Projection")),
            Operation(
                "POST", APIPath.projectionsPrune.text, .answer(prune),
                group: .operation, summary: "Delete unused generations of projections.",
                description: "Only for the operator. Deletes every generation that is not active.", access: .operator,
                discloses: .command,
                body: Operation.Body(
                    Schema.body(optional: ["name": Schema.text]), named: "PruningRequest", isOptional: true),
                answer: Operation.Answer(Schema.object(of: PrunedGenerations.self), named: "PrunedGenerations")),
            Operation(
                "POST", APIPath.projectionsRebuild.text, .answer(rebuild),
                group: .operation, summary: "Rebuild a projection.",
                description: "Only for the operator. Folds a new generation from the whole log beside the active one.",
                access: .operator, discloses: .command,
                body: Operation.Body(
                    Schema.body(optional: ["version": Schema.count]), named: "RebuildRequest", isOptional: true),
                answer: Operation.Answer(Schema.generation)),
            Operation(
                "POST", APIPath.projectionsRebuildAll.text, .answer(rebuildAll),
                group: .operation, summary: "Rebuild all projections.",
                description:
                    "Only for the operator. Folds a new generation of every projection, with one scan of the log.",
                access: .operator, discloses: .command,
                answer: Operation.Answer(
                    Schema.object(of: RebuildingGenerations.self), named: "RebuildingGenerations")),
            Operation(
                "POST", APIPath.projectionsActivate.text, .answer(activate),
                group: .operation, summary: "Activate the rebuilt projection.",
                description: "Only for the operator. The answer is 409 if the rebuild is not done.", access: .operator,
                discloses: .command,
                answer: Operation.Answer(Schema.generation)),
            Operation(
                "POST", APIPath.projectionsRollback.text, .answer(rollback),
                group: .operation, summary: "Activate the previous projection again.",
                description: "Only for the operator. The answer is 409 if there is no previous generation.",
                access: .operator,
                discloses: .command,
                answer: Operation.Answer(Schema.generation)),
            Operation(
                "GET", APIPath.projectionsDiff.text, .recorded(diff),
                group: .operation, summary: "Compare the rebuilt projection with the active one.",
                description: "Only for the operator.", access: .operator, discloses: .recorded(.events),
                answer: Operation.Answer(
                    Schema.object(of: ProjectionDifference.self), named: "ProjectionDifference")),
            Operation(
                "GET", "/healthz", .answer(health),
                group: .operation, summary: "Check that the process works.",
                description: "The answer is 503 after a fault has stopped the log.", access: .anybody,
                discloses: .noPerson("Whether the process works."),
                answer: Operation.Answer(Schema.object(["status": Schema.text]), named: "Health"), bodyBytes: 0),
            Operation(
                "GET", "/readyz", .answer(readiness),
                group: .operation, summary: "Check that the service is ready.",
                description:
                    "The answer is 503 with the reason while the disk is full or a projection is being refolded.",
                access: .anybody, discloses: .noPerson("Whether the service is ready."),
                answer: Operation.Answer(Schema.object(of: Readiness.self), named: "Readiness"), bodyBytes: 0),
        ]
    }
}
