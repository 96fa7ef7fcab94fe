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
                    "Needs the person's own token with the scopes `manage` and `audit`. The operator must have allowed the target's origin. The secret that signs messages is shown only once.",
                access: .token([.manage, .audit]), discloses: .command,
                body: Operation.Body(
                    Schema.body(["url": Schema.text], optional: ["topics": Self.topicsSchema]), named: "NewWebhook",
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
