import Answers
import HTTPInterface
import Whereabouts

extension GrantEndpoints {
    /// Grants, pauses, invitations and consent.
    package var operations: [Operation] {
        [
            .change(
                "/v1/people/*/grants", give,
                group: .sharing, summary: "Give a grant.",
                description:
                    "For the person (scope `manage`) or the operator. Without an end the grant lasts 30 days, at most 366. For a requester who does not exist the answer is the same, except to the operator.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        ["requester": Schema.handle, "precision": Schema.precision],
                        optional: [
                            "history": Schema.boolean, "asksEachTime": Schema.boolean, "from": Schema.timeGiven,
                            "until": Schema.timeGiven, "forSeconds": Self.forSeconds, "hours": Schema.hours,
                        ]), named: "NewGrant",
                    example: [
                        "requester": "ben", "precision": "city", "forSeconds": 86_400,
                        "hours": ["timeZone": "Europe/Vienna", "weekly": "Mo-Fr 08:00-18:00"],
                    ]),
                answer: Operation.Answer(
                    Schema.object(["id": Schema.id, "number": Schema.event], optional: ["until": Schema.time]),
                    named: "AddedGrant")),
            .settings(
                "/v1/people/*/grants", list,
                group: .sharing, summary: "List a person's grants.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings,
                items: Self.granted([
                    "id": Schema.id, "requester": Schema.orNull(Schema.text), "precision": Schema.precision,
                ]),
                named: "Grant"),
            .command(
                "DELETE", "/v1/grants/*", decisions.done(by: revoke),
                group: .sharing, summary: "End a grant.",
                description:
                    "For the person who gave it (scope `manage`) or the operator. Queries under way by this grant end too.",
                access: .token(.manage)),
            .command(
                "POST", "/v1/people/*/pauses", decisions.done(by: pause),
                group: .sharing, summary: "Pause a person's sharing.",
                description:
                    "For the person (scope `manage`) or the operator. Others see a phone that is switched off, and never see what happens during the pause. A second pause replaces the end of the first.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(optional: ["until": Schema.timeGiven, "forSeconds": Self.forSeconds]),
                    named: "NewPause",
                    example: ["forSeconds": 3600])),
            .settings(
                "/v1/people/*/pauses", pauses,
                group: .sharing, summary: "List a person's pauses.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings,
                items: Schema.object(["from": Schema.time, "now": Schema.boolean], optional: ["until": Schema.time]),
                named: "Pause"),
            .command(
                "DELETE", "/v1/people/*/pauses", decisions.done(by: resume),
                group: .sharing, summary: "End a person's pause.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage)),
            .change(
                "/v1/people/*/invitations", invite,
                group: .sharing, summary: "Create an invitation.",
                description:
                    "For the person (scope `manage`) or the operator. The code gives the grant to the first person who redeems it, and is shown only once.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        ["precision": Schema.precision],
                        optional: [
                            "history": Schema.boolean, "asksEachTime": Schema.boolean, "from": Schema.timeGiven,
                            "until": Schema.timeGiven, "hours": Schema.hours, "expires": Schema.timeGiven,
                        ]), named: "NewInvitation", example: ["precision": "exact", "history": true]),
                answer: Operation.Answer(
                    Schema.object([
                        "id": Schema.id, "code": Schema.text, "expires": Schema.time, "number": Schema.event,
                    ]),
                    named: "AddedInvitation")),
            .settings(
                "/v1/people/*/invitations", invitations,
                group: .sharing, summary: "List a person's open invitations.",
                description: "For the person (scope `manage`) or the operator. Codes are not shown.",
                access: .token(.manage),
                discloses: .settings,
                items: Self.granted(["id": Schema.id, "expires": Schema.time, "precision": Schema.precision]),
                named: "Invitation"),
            .command(
                "DELETE", "/v1/invitations/*", decisions.done(by: withdraw),
                group: .sharing, summary: "Withdraw an invitation.",
                description: "For the person (scope `manage`) or the operator. The code stops working.",
                access: .token(.manage)),
            .change(
                "/v1/redemptions", redeem,
                group: .sharing, summary: "Redeem an invitation.",
                description:
                    "Needs the token (scope `query`) of the person who gets the grant. A wrong, used, withdrawn or expired code is 404.",
                access: .token(.query), discloses: .command,
                body: Operation.Body(Schema.body(["code": Schema.text]), named: "Redemption"),
                answer: Operation.Answer(
                    Self.granted([
                        "id": Schema.id, "subject": Schema.handle, "precision": Schema.precision,
                        "number": Schema.event,
                    ]), named: "RedeemedInvitation")),
            .settings(
                "/v1/people/*/consent-requests", consentRequests,
                group: .sharing, summary: "List the questions that wait for a person's consent.",
                description: "For the person (scope `manage`) or the person's device, never for the operator.",
                access: .token(.manage), discloses: .consent,
                items: Schema.object(
                    ["query": Schema.uuid, "deadline": Schema.time],
                    optional: ["requester": Schema.text, "purpose": Schema.text]),
                named: "ConsentRequest", atMost: Limits.openQueries, mixesTexts: true),
            .command(
                "POST", "/v1/people/*/consent-requests/*", decisions.done(by: answerConsent),
                group: .sharing, summary: "Give or refuse consent to a question.",
                description: "For the person (scope `manage`) or the person's device, never for the operator.",
                access: .token(.manage),
                body: Operation.Body(Schema.body(["consent": Schema.word("given", "refused")]), named: "ConsentAnswer")),
        ]
    }

    // MARK: Parts

    /// An object with the terms of a grant and more members.
    private static func granted(_ more: KeyValuePairs<String, JSONTree>) -> JSONTree {
        Schema.object(
            Array(more) + [("history", Schema.boolean), ("asksEachTime", Schema.boolean)],
            [("from", Schema.time), ("until", Schema.time), ("hours", Schema.hours)])
    }

    /// A duration instead of an end.
    private static let forSeconds = Schema.integer(1...Limits.longestGrantSeconds)
}
