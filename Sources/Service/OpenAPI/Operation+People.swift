import Whereabouts

extension Operation {
    // MARK: Sharing

    /// An object with the terms of a grant and more members.
    private static func granted(_ more: KeyValuePairs<String, JSONTree>) -> JSONTree {
        Schema.object(
            Array(more) + [("history", Schema.boolean), ("asksEachTime", Schema.boolean)],
            [("from", Schema.time), ("until", Schema.time), ("hours", Schema.hours)])
    }

    /// The id of a thing: a number for the operator, a reference for everyone else.
    private static let id = Schema.event
    /// A duration instead of an end.
    private static let forSeconds = Schema.integer(1...Limits.longestGrantSeconds)

    /// Grants, pauses, invitations and consent.
    static let sharing: KeyValuePairs<String, Operation> = [
        "POST /v1/people/*/grants": change(
            .sharing, "Give a grant.",
            Schema.body(
                ["requester": Schema.handle, "precision": Schema.precision],
                optional: [
                    "history": Schema.boolean, "asksEachTime": Schema.boolean, "from": Schema.timeGiven,
                    "until": Schema.timeGiven, "forSeconds": forSeconds, "hours": Schema.hours,
                ]), makes: Schema.object(["id": id, "number": Schema.event], optional: ["until": Schema.time])),
        "GET /v1/people/*/grants": settings(
            .sharing, "List a person's grants.",
            granted(["id": id, "requester": Schema.orNull(Schema.text), "precision": Schema.precision])),
        "DELETE /v1/grants/*": Operation(
            group: .sharing, summary: "End a grant.", answer: Schema.changed),
        "POST /v1/people/*/pauses": Operation(
            group: .sharing, summary: "Pause a person's sharing.",
            body: Schema.body(optional: ["until": Schema.timeGiven, "forSeconds": forSeconds]),
            answer: Schema.changed),
        "GET /v1/people/*/pauses": settings(
            .sharing, "List a person's pauses.",
            Schema.object(["from": Schema.time, "now": Schema.boolean], optional: ["until": Schema.time])),
        "DELETE /v1/people/*/pauses": Operation(
            group: .sharing, summary: "End a person's pause.", answer: Schema.changed),
        "POST /v1/people/*/invitations": change(
            .sharing, "Create an invitation.",
            Schema.body(
                ["precision": Schema.precision],
                optional: [
                    "history": Schema.boolean, "asksEachTime": Schema.boolean, "from": Schema.timeGiven,
                    "until": Schema.timeGiven, "hours": Schema.hours, "expires": Schema.timeGiven,
                ]),
            makes: Schema.object(["id": id, "code": Schema.text, "expires": Schema.time, "number": Schema.event])),
        "GET /v1/people/*/invitations": settings(
            .sharing, "List a person's open invitations.",
            granted(["id": id, "expires": Schema.time, "precision": Schema.precision])),
        "DELETE /v1/invitations/*": Operation(
            group: .sharing, summary: "Withdraw an invitation.", answer: Schema.changed),
        "POST /v1/redemptions": change(
            .sharing, "Redeem an invitation.", Schema.body(["code": Schema.text]),
            makes: granted([
                "id": id, "subject": Schema.handle, "precision": Schema.precision, "number": Schema.event,
            ])),
        "GET /v1/people/*/consent-requests": settings(
            .sharing, "List the questions that wait for a person's consent.",
            Schema.object(
                ["query": Schema.uuid, "deadline": Schema.time],
                optional: ["requester": Schema.text, "purpose": Schema.text]), atMost: Limits.openQueries),
        "POST /v1/people/*/consent-requests/*": Operation(
            group: .sharing, summary: "Give or refuse consent to a question.",
            body: Schema.body(["consent": Schema.word("given", "refused")]), answer: Schema.changed),
    ]

    // MARK: People and devices

    /// One or more scopes; a token without scopes would be useless.
    private static let scopes = Schema.list(Schema.scope).with(["minItems": 1])
    /// A new token, with its secret.
    private static let token = Schema.object(
        ["id": id, "token": Schema.text, "scopes": Schema.list(Schema.text), "number": Schema.event],
        optional: ["until": Schema.time])

    /// Accounts, persons, devices, tokens, regions, corrections, schedules and webhooks.
    static let people: KeyValuePairs<String, Operation> = [
        "POST /v1/account-invitations": change(
            .people, "Create an account invitation.",
            Schema.body(optional: ["expires": Schema.timeGiven]),
            makes: Schema.object(["id": id, "code": Schema.text, "expires": Schema.time, "number": Schema.event])),
        "GET /v1/account-invitations": Operation(
            group: .people, summary: "List your open account invitations.",
            answer: Schema.page(
                Schema.object(["id": id, "expires": Schema.time]), atMost: Limits.accountInvitationsOfOperator)),
        "DELETE /v1/account-invitations/*": Operation(
            group: .people, summary: "Withdraw an account invitation.", answer: Schema.changed),
        "POST /v1/accounts": Operation(
            group: .people, summary: "Open an account with a code.", access: .anybody,
            body: Schema.body([
                "code": Schema.text,
                "name": Schema.pattern("^[a-z0-9][a-z0-9._-]{0,\(Limits.accountNameCharacters - 1)}$"),
            ]), status: 201,
            answer: Schema.object([
                "handle": Schema.handle, "id": id, "token": Schema.text, "scopes": Schema.list(Schema.text),
                "number": Schema.event,
            ])),
        "POST /v1/people": change(
            .people, "Add a person.", Schema.body(["handle": Schema.handle]),
            makes: Schema.object(["handle": Schema.handle, "number": Schema.event])),
        "GET /v1/people": Operation(
            group: .people, summary: "List the people and their devices.",
            query: [.limit(ManageEndpoints.peoplePerPage), .after],
            answer: Schema.page(Schema.object(["handle": Schema.handle, "devices": Schema.list(Schema.handle)]))),
        "DELETE /v1/people/*": Operation(
            group: .people, summary: "Erase a person.",
            answer: Schema.object(
                ["erased": Schema.boolean, "number": Schema.event, "backupsLeft": Schema.count],
                optional: ["backupsNotReached": Schema.list(Schema.text)])),
        "POST /v1/people/*/devices": change(
            .people, "Add a device.", Schema.body(["handle": Schema.handle]),
            makes: Schema.object([
                "handle": Schema.handle, "user": Schema.handle, "password": Schema.text, "number": Schema.event,
            ])),
        "GET /v1/people/*/devices": settings(
            .people, "List a person's devices.",
            Schema.object(
                ["handle": Schema.handle, "pushToken": Schema.boolean],
                optional: [
                    "authorization": Schema.object(
                        ["status": Schema.text, "timestamp": Schema.time], optional: ["accuracy": Schema.text]),
                    "lastContact": Schema.time, "lastFix": Schema.time, "battery": Schema.number,
                    "app": Schema.object(["address": Schema.text], optional: ["userAgent": Schema.text]),
                    "wrongPasswords": Schema.object(["count": Schema.count, "newest": Schema.time]),
                    "rejected": Schema.list(
                        Schema.object(
                            ["at": Schema.time, "reason": Schema.text, "detail": Schema.text],
                            optional: ["text": Schema.text])),
                ])),
        "DELETE /v1/devices/*": Operation(group: .people, summary: "Remove a device.", answer: Schema.changed),
        "POST /v1/devices/*/tokens": change(.people, "Issue another reporting key.", makes: token),
        "POST /v1/people/*/tokens": change(
            .people, "Issue a token.",
            Schema.body(["scopes": scopes], optional: ["until": Schema.timeGiven]), makes: token),
        "GET /v1/people/*/tokens": settings(
            .people, "List a person's tokens.",
            Schema.object(
                ["id": id, "scopes": Schema.list(Schema.text)],
                optional: ["until": Schema.time, "device": Schema.handle])),
        "DELETE /v1/tokens/*": Operation(group: .people, summary: "Revoke a token.", answer: Schema.changed),
        "POST /v1/people/*/regions": change(
            .people, "Add a region.",
            Schema.ref("NewRegion"), makes: Schema.object(["id": Schema.regionID, "number": Schema.event])),
        "DELETE /v1/people/*/regions/*": Operation(
            group: .people, summary: "Remove a region.", answer: Schema.changed),
        "POST /v1/people/*/corrections": change(
            .people, "Add a correction.",
            Schema.ref("NewCorrection"), makes: Schema.object(["id": id, "number": Schema.event])),
        "GET /v1/people/*/corrections": settings(
            .people, "List a person's corrections.",
            Schema.ref("Correction")),
        "DELETE /v1/people/*/corrections/*": Operation(
            group: .people, summary: "Withdraw a correction.", answer: Schema.changed),
        "POST /v1/people/*/schedules": change(
            .people, "Add a schedule.",
            Schema.body(
                ["everySeconds": Schema.integer(Limits.scheduleSeconds)], optional: ["until": Schema.timeGiven]),
            makes: Schema.object(["id": id, "number": Schema.event])),
        "GET /v1/people/*/schedules": settings(
            .people, "List a person's schedules.",
            Schema.object(
                ["id": id, "everySeconds": Schema.count, "next": Schema.time], optional: ["until": Schema.time])),
        "DELETE /v1/people/*/schedules/*": Operation(
            group: .people, summary: "Remove a schedule.", answer: Schema.changed),
        "POST /v1/people/*/webhooks": change(
            .people, "Add a webhook.",
            Schema.body(["url": Schema.text], optional: ["topics": topics]),
            makes: Schema.object([
                "id": id, "url": Schema.text, "topics": topics, "secret": Schema.text, "number": Schema.event,
            ])),
        "GET /v1/people/*/webhooks": settings(
            .people, "List a person's webhooks.",
            Schema.object(
                [
                    "id": id, "topics": topics, "token": id,
                    "state": Schema.word("active", "retrying", "stopped", "silent"), "told": Schema.event,
                    "deadLetters": Schema.count,
                ],
                optional: [
                    "url": Schema.text, "tries": Schema.count, "status": Schema.count, "reason": Schema.text,
                    "nextTry": Schema.time,
                ]), atMost: Limits.webhooksPerPerson),
        "DELETE /v1/people/*/webhooks/*": Operation(
            group: .people, summary: "Remove a webhook.", answer: Schema.changed),
        "GET /v1/people/*/webhooks/*/dead-letters": settings(
            .people, "List a webhook's dead letters.",
            Schema.object(
                ["id": id, "message": Schema.text],
                optional: [
                    "failedAt": Schema.time, "tries": Schema.count, "status": Schema.count, "reason": Schema.text,
                ]), atMost: Limits.deadLettersPerWebhook),
        "POST /v1/people/*/webhooks/*/dead-letters/*/retry": Operation(
            group: .people, summary: "Post a dead letter again.", status: 202, answer: Schema.object(["id": id])),
        "DELETE /v1/people/*/webhooks/*/dead-letters/*": Operation(
            group: .people, summary: "Discard a dead letter.", answer: Schema.changed),
    ]

    private static let topics = Schema.list(Schema.topic)
}
