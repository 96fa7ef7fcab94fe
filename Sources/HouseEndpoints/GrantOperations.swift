import Answers
import HTTPInterface
import Replies
import Whereabouts

extension GrantEndpoints {
    /// Grants, pauses, invitations and consent.
    package var operations: [Operation] {
        [
            .change(
                APIPath.peopleGrants.text, give,
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
                    Schema.made(MadeGrant.self), named: "AddedGrant")),
            .settings(
                APIPath.peopleGrants.text, list,
                group: .sharing, summary: "List a person's grants.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings,
                items: Schema.object(of: GrantItem.self),
                named: "Grant"),
            .command(
                "DELETE", APIPath.grant.text, decisions.done(by: revoke),
                group: .sharing, summary: "End a grant.",
                description:
                    "For the person who gave it (scope `manage`) or the operator. Queries under way by this grant end too.",
                access: .token(.manage)),
            .command(
                "POST", APIPath.peoplePauses.text, decisions.done(by: pause),
                group: .sharing, summary: "Pause a person's sharing.",
                description:
                    "For the person (scope `manage`) or the operator. Others see a phone that is switched off, and never see data from the pause. A second pause replaces the end of the first.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(optional: ["until": Schema.timeGiven, "forSeconds": Self.forSeconds]),
                    named: "NewPause",
                    example: ["forSeconds": 3600])),
            .settings(
                APIPath.peoplePauses.text, pauses,
                group: .sharing, summary: "List a person's pauses.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings,
                items: Schema.object(of: PauseItem.self),
                named: "Pause"),
            .command(
                "DELETE", APIPath.peoplePauses.text, decisions.done(by: resume),
                group: .sharing, summary: "End a person's pause.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage)),
            .change(
                APIPath.peopleInvitations.text, invite,
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
                    Schema.made(MadeInvitation.self), named: "AddedInvitation")),
            .settings(
                APIPath.peopleInvitations.text, invitations,
                group: .sharing, summary: "List a person's open invitations.",
                description: "For the person (scope `manage`) or the operator. Codes are not shown.",
                access: .token(.manage),
                discloses: .settings,
                items: Schema.object(of: InvitationItem.self),
                named: "Invitation"),
            .command(
                "DELETE", APIPath.invitation.text, decisions.done(by: withdraw),
                group: .sharing, summary: "Withdraw an invitation.",
                description: "For the person (scope `manage`) or the operator. The code stops working.",
                access: .token(.manage)),
            .change(
                APIPath.redemptions.text, redeem,
                group: .sharing, summary: "Redeem an invitation.",
                description:
                    "Needs the token (scope `query`) of the person who gets the grant. A wrong, used, withdrawn or expired code is 404.",
                access: .token(.query), discloses: .command,
                body: Operation.Body(Schema.body(["code": Schema.text]), named: "Redemption"),
                answer: Operation.Answer(
                    Self.redeemed, named: "RedeemedInvitation")),
            .settings(
                APIPath.peopleConsentRequests.text, consentRequests,
                group: .sharing, summary: "List the questions that wait for a person's consent.",
                description: "For the person (scope `manage`) or the person's device, never for the operator.",
                access: .token(.manage), discloses: .consent,
                items: Schema.object(of: ConsentRequestItem.self),
                named: "ConsentRequest", atMost: Limits.openQueries, mixesTexts: true),
            .command(
                "POST", APIPath.peopleConsentRequest.text, decisions.done(by: answerConsent),
                group: .sharing, summary: "Give or refuse consent to a question.",
                description: "For the person (scope `manage`) or the person's device, never for the operator.",
                access: .token(.manage),
                body: Operation.Body(Schema.body(["consent": Schema.word("given", "refused")]), named: "ConsentAnswer")),
        ]
    }

    // MARK: Parts

    /// A redeemed grant, with the number of its event behind the precision.
    private static let redeemed: JSONTree = {
        let made = Schema.made(RedeemedItem.self)
        let members = made["properties"]?.moving("number", after: "precision") ?? [:]
        let required = ["id", "subject", "precision", "number", "history", "asksEachTime"].map(JSONTree.text)
        return made.replacing("properties", members).replacing("required", .list(required))
    }()

    /// A duration instead of an end.
    private static let forSeconds = Schema.integer(1...Limits.longestGrantSeconds)
}
