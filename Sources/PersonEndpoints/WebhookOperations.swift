import Answers
import HTTPInterface
import Replies
import Whereabouts

extension WebhookEndpoints {
    /// Webhooks and the messages that they gave up on.
    package var operations: [Operation] {
        [
            .change(
                APIPath.peopleWebhooks.text, add,
                group: .people, summary: "Add a webhook.",
                description:
                    "Needs the person's own token with the scopes `manage` and `audit`. A session of the page issues a token for the webhook, which is revoked with it. `kind` says how messages are delivered: `webhook` posts signed JSON to `url`, `ntfy` a text to the topic `url` of an ntfy server, `email` mails a text to `address` once a mailed code has confirmed it, and `homeAssistant` keeps a device tracker at the MQTT broker. The operator must have allowed the origin of `url`, or configured the relay or broker. `silentAfter` is in seconds and goes with the topic `silence`. The texts of `ntfy` and `email` are in `language`, by default English. Their times are in `zone`, an IANA name, and without it in the zone of the place that a message is about, or in UTC. The secret that signs messages is shown only once.",
                access: .token([.manage, .audit]), discloses: .command,
                body: Operation.Body(
                    Schema.body(optional: [
                        "kind": Schema.words(NoticeKind.words), "url": Schema.text, "address": Schema.text,
                        "token": Schema.text, "priority": Schema.integer(1...5), "detailedTitle": Schema.boolean,
                        "topics": Self.topicsSchema, "silentAfter": Schema.integer(Limits.silenceSeconds),
                        "language": Schema.words(NoticeWording.Language.words), "zone": Schema.timeZone,
                    ]), named: "NewWebhook",
                    example: ["url": "https://hooks.example/whereabouts", "topics": ["visit", "crossing"]]),
                answer: Operation.Answer(
                    Schema.made(MadeWebhook.self), named: "AddedWebhook")),
            .settings(
                APIPath.peopleWebhooks.text, list,
                group: .people, summary: "List a person's webhooks.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings,
                items: Schema.object(of: WebhookItem.self),
                named: "Webhook", atMost: Limits.webhooksPerPerson),
            .command(
                "POST", APIPath.peopleWebhooksConfirmation.text, decisions.done(by: confirm),
                group: .people, summary: "Confirm a webhook's address.",
                description:
                    "Shows the code that was mailed to the address; capitals and the hyphen do not matter. The messages begin now. For the person (scope `manage`) or the operator.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(["code": Schema.text]), named: "Confirmation", example: ["code": "H7QKM-29XTD"]),
                isRepeatable: true),
            .command(
                "POST", APIPath.peopleWebhooksTest.text, test,
                group: .people, summary: "Send a test message.",
                description:
                    "Sends a message that holds nothing about the person, after the messages that wait. `testOutcome` of the list says whether the target has accepted it. A webhook that would not send it, for example to an address that is not confirmed, is refused with 422. For the person (scopes `manage` and `audit`) or the operator.",
                access: .token([.manage, .audit])),
            .command(
                "DELETE", APIPath.peopleWebhook.text, decisions.done(by: remove),
                group: .people, summary: "Remove a webhook.",
                description: "For the person (scope `manage`) or the operator. Unsent messages are dropped.",
                access: .token(.manage)),
            .settings(
                APIPath.peopleWebhooksDeadLetters.text, deadLetters,
                group: .people, summary: "List a webhook's dead letters.",
                description:
                    "The messages that the webhook gave up on, after about a day. For the person (scope `manage`) or the operator.",
                access: .token(.manage), discloses: .settings,
                items: Schema.object(of: DeadLetterItem.self),
                named: "DeadLetter", atMost: Limits.deadLettersPerWebhook),
            Operation(
                "POST", APIPath.peopleWebhooksDeadLettersRetry.text, .answer(retry),
                group: .people, summary: "Post a dead letter again.",
                description: "The message leaves the list when the target takes it. The act is recorded first.",
                access: .token(.manage), discloses: .command, status: 202,
                answer: Operation.Answer(Schema.object(of: MadeItem.self), named: "RetriedDeadLetter")),
            .command(
                "DELETE", APIPath.peopleWebhooksDeadLetter.text, decisions.done(by: discard),
                group: .people, summary: "Discard a dead letter.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage)),
        ]
    }

    private static let topicsSchema = Schema.list(Schema.topic)
}
