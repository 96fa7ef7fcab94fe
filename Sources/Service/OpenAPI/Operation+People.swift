import Whereabouts

extension Operation {
    // MARK: Who may see where somebody is

    private static func granted(_ more: KeyValuePairs<String, JSONTree>) -> JSONTree {
        Schema.object(
            more,
            optional: ["from": Schema.time, "until": Schema.time, "hours": Schema.hours]
        ).with(["allOf": [Schema.object(["history": Schema.boolean, "asksEachTime": Schema.boolean])]])
    }

    private static let id = Schema.event
    private static let forSeconds = Schema.integer(1...Limits.longestGrantSeconds)

    static let sharing: KeyValuePairs<String, Operation> = [
        "POST /v1/people/*/grants": change(
            .sharing, "Let somebody ask where a person is.",
            Schema.body(
                ["requester": Schema.handle, "precision": Schema.precision],
                optional: [
                    "history": Schema.boolean, "asksEachTime": Schema.boolean, "from": Schema.timeGiven,
                    "until": Schema.timeGiven, "forSeconds": forSeconds, "hours": Schema.hours,
                ]), makes: Schema.object(["id": id, "number": Schema.event], optional: ["until": Schema.time])),
        "GET /v1/people/*/grants": settings(
            .sharing, "The grants of a person.",
            granted(["id": id, "requester": Schema.orNull(Schema.text), "precision": Schema.precision])),
        "DELETE /v1/grants/*": Operation(
            group: .sharing, summary: "End a grant and what is under way by it.", answer: Schema.changed),
        "POST /v1/people/*/pauses": Operation(
            group: .sharing, summary: "Let nobody see where a person is, as if the phone were off.",
            body: Schema.body(optional: ["until": Schema.timeGiven, "forSeconds": forSeconds]),
            answer: Schema.changed),
        "GET /v1/people/*/pauses": settings(
            .sharing, "The pauses of a person.",
            Schema.object(["from": Schema.time, "now": Schema.boolean], optional: ["until": Schema.time])),
        "DELETE /v1/people/*/pauses": Operation(
            group: .sharing, summary: "End a person's pause.", answer: Schema.changed),
        "POST /v1/people/*/invitations": change(
            .sharing, "Make a code that gives a grant to whoever shows it.",
            Schema.body(
                ["precision": Schema.precision],
                optional: [
                    "history": Schema.boolean, "asksEachTime": Schema.boolean, "from": Schema.timeGiven,
                    "until": Schema.timeGiven, "hours": Schema.hours, "expires": Schema.timeGiven,
                ]),
            makes: Schema.object(["id": id, "code": Schema.text, "expires": Schema.time, "number": Schema.event])),
        "GET /v1/people/*/invitations": settings(
            .sharing, "The codes that are open.",
            granted(["id": id, "expires": Schema.time, "precision": Schema.precision])),
        "DELETE /v1/invitations/*": Operation(
            group: .sharing, summary: "Withdraw a code.", answer: Schema.changed),
        "POST /v1/redemptions": change(
            .sharing, "Take an invitation up.", Schema.body(["code": Schema.text]),
            makes: granted([
                "id": id, "subject": Schema.handle, "precision": Schema.precision, "number": Schema.event,
            ])),
        "GET /v1/people/*/consent-requests": settings(
            .sharing, "The questions that wait for the subject's word.",
            Schema.object(
                ["query": Schema.uuid, "deadline": Schema.time],
                optional: ["requester": Schema.text, "purpose": Schema.text]), atMost: Limits.openQueries),
        "POST /v1/people/*/consent-requests/*": Operation(
            group: .sharing, summary: "Say whether a question may be answered.",
            body: Schema.body(["consent": Schema.word("given", "refused")]), answer: Schema.changed),
    ]

    // MARK: Who exists

    private static let scopes = Schema.list(Schema.word("query", "audit", "manage")).with(["minItems": 1])
    private static let token = Schema.object(
        ["id": id, "token": Schema.text, "scopes": Schema.list(Schema.text), "number": Schema.event],
        optional: ["until": Schema.time])

    static let people: KeyValuePairs<String, Operation> = [
        "POST /v1/account-invitations": change(
            .people, "Make a code that gives an account to whoever shows it, once.",
            Schema.body(optional: ["expires": Schema.timeGiven]),
            makes: Schema.object(["id": id, "code": Schema.text, "expires": Schema.time, "number": Schema.event])),
        "GET /v1/account-invitations": Operation(
            group: .people, summary: "One's own codes that are open.",
            answer: Schema.page(
                Schema.object(["id": id, "expires": Schema.time]), atMost: Limits.accountInvitationsOfOperator)),
        "DELETE /v1/account-invitations/*": Operation(
            group: .people, summary: "Withdraw a code.", answer: Schema.changed),
        "POST /v1/accounts": Operation(
            group: .people, summary: "Get an account and its first token by a code.", access: .anybody,
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
            group: .people, summary: "Everybody, and what their devices are called.",
            query: [.limit(ManageEndpoints.peoplePerPage), .after],
            answer: Schema.page(Schema.object(["handle": Schema.handle, "devices": Schema.list(Schema.handle)]))),
        "DELETE /v1/people/*": Operation(
            group: .people, summary: "Erase a person: the keys are destroyed, so that nothing can be read again.",
            answer: Schema.object(
                ["erased": Schema.boolean, "number": Schema.event, "backupsLeft": Schema.count],
                optional: ["backupsNotReached": Schema.list(Schema.text)])),
        "POST /v1/people/*/devices": change(
            .people, "Add a device; its reporting key is shown once.", Schema.body(["handle": Schema.handle]),
            makes: Schema.object([
                "handle": Schema.handle, "user": Schema.handle, "password": Schema.text, "number": Schema.event,
            ])),
        "GET /v1/people/*/devices": settings(
            .people, "The devices of a person.",
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
        "POST /v1/devices/*/tokens": change(.people, "Give a device a further reporting key.", makes: token),
        "POST /v1/people/*/tokens": change(
            .people, "Give a person a token; it is shown once.",
            Schema.body(["scopes": scopes], optional: ["until": Schema.timeGiven]), makes: token),
        "GET /v1/people/*/tokens": settings(
            .people, "The tokens of a person and of the person's devices.",
            Schema.object(
                ["id": id, "scopes": Schema.list(Schema.text)],
                optional: ["until": Schema.time, "device": Schema.handle])),
        "DELETE /v1/tokens/*": Operation(group: .people, summary: "Revoke a token.", answer: Schema.changed),
        "POST /v1/people/*/regions": change(
            .people, "Add a region to a person.",
            Schema.body(
                ["id": Schema.regionID],
                optional: [
                    "circle": Schema.ref("Circle"), "polygon": Schema.ref("Polygon"), "notifyOnEntry": Schema.boolean,
                    "notifyOnExit": Schema.boolean,
                ]
            ).with([
                "oneOf": [
                    Schema.object(["circle": Schema.ref("Circle")]), Schema.object(["polygon": Schema.ref("Polygon")]),
                ]
            ]), makes: Schema.object(["id": Schema.regionID, "number": Schema.event])),
        "DELETE /v1/people/*/regions/*": Operation(
            group: .people, summary: "Remove a region.", answer: Schema.changed),
        "POST /v1/people/*/corrections": change(
            .people, "Say what is wrong with a person's visits, or what a place is called.",
            Schema.ref("CorrectionGiven"), makes: Schema.object(["id": id, "number": Schema.event])),
        "GET /v1/people/*/corrections": settings(
            .people, "What a person says of their visits.",
            ["allOf": [Schema.ref("Correction"), Schema.object(["id": id])]]),
        "DELETE /v1/people/*/corrections/*": Operation(
            group: .people, summary: "Withdraw a correction.", answer: Schema.changed),
        "POST /v1/people/*/schedules": change(
            .people, "Have the service ask for a person by itself.",
            Schema.body(
                ["everySeconds": Schema.integer(Limits.scheduleSeconds)], optional: ["until": Schema.timeGiven]),
            makes: Schema.object(["id": id, "number": Schema.event])),
        "GET /v1/people/*/schedules": settings(
            .people, "When the service asks for a person by itself.",
            Schema.object(
                ["id": id, "everySeconds": Schema.count, "next": Schema.time], optional: ["until": Schema.time])),
        "DELETE /v1/people/*/schedules/*": Operation(
            group: .people, summary: "Stop asking for a person.", answer: Schema.changed),
        "POST /v1/people/*/webhooks": change(
            .people, "Have what happens about oneself posted to a server, signed.",
            Schema.body(["url": Schema.text], optional: ["topics": topics]),
            makes: Schema.object([
                "id": id, "url": Schema.text, "topics": topics, "secret": Schema.text, "number": Schema.event,
            ])),
        "GET /v1/people/*/webhooks": settings(
            .people, "A person's webhooks and how they fare.",
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
            group: .people, summary: "Remove a webhook and what it has not told yet.", answer: Schema.changed),
        "GET /v1/people/*/webhooks/*/dead-letters": settings(
            .people, "The messages that a webhook gave up.",
            Schema.object(
                ["id": id, "message": Schema.text],
                optional: [
                    "failedAt": Schema.time, "tries": Schema.count, "status": Schema.count, "reason": Schema.text,
                ]), atMost: Limits.deadLettersPerWebhook),
        "POST /v1/people/*/webhooks/*/dead-letters/*/retry": Operation(
            group: .people, summary: "Post a message once more.", status: 202, answer: Schema.object(["id": id])),
        "DELETE /v1/people/*/webhooks/*/dead-letters/*": Operation(
            group: .people, summary: "Forget a message that was given up.", answer: Schema.changed),
    ]

    private static let topics = Schema.list(["type": "string", "enum": .list(FeedTopics.words.map { .text($0) })])
}
