import Answers
import HTTPInterface
import Replies
import Whereabouts

extension SealingEndpoints {
    /// Keys for sealed locations, and the devices that seal.
    var operations: [Operation] {
        [
            .command(
                "POST", APIPath.peopleKeys.text, decisions.done(by: publish),
                group: .sealing, summary: "Publish an identity key or a recipient key.",
                description:
                    "For the person (scope `manage`), or one of the person's devices with its reporting key. The signature is over the statement that SealedLocations describes. Publishing a key again changes nothing.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(
                        ["kind": Schema.word("identity", "recipient"), "key": Self.key, "signature": Self.signature],
                        optional: ["previousSignature": Self.signature, "madeAt": Schema.timeGiven]),
                    named: "NewKey",
                    example: [
                        "kind": "recipient", "key": .text(String(repeating: "0f", count: 32)),
                        "signature": .text(String(repeating: "a0", count: 64)), "madeAt": 1_777_881_600,
                    ]), isRepeatable: true),
            Operation(
                "GET", APIPath.peopleKeys.text, .answer(keys),
                group: .sealing, summary: "List a person's public keys.",
                description:
                    "For the person, the operator, and people who share with the person or with whom the person shares. Everyone else gets 404. Check the signatures, and compare the safety number once.",
                access: .token(.query), discloses: .names("The public keys of the person, for those who share."),
                answer: Operation.Answer(Schema.object(of: KeysAnswer.self), named: "Keys")),
            Operation(
                "DELETE", APIPath.peopleKey.text, .answer(decisions.done(by: withdraw)),
                group: .sealing, summary: "Withdraw a key.",
                description:
                    "For the person (scope `manage`), or one of the person's devices. Nothing new is sealed for the key. Envelopes that were sealed for it stay readable for those who have its private half.",
                access: .token(.manage), discloses: .command,
                query: [
                    Operation.Parameter(
                        name: "reason", schema: Schema.word("replaced", "lost"),
                        description: "Why it is good for nothing new; `replaced` if absent.")
                ],
                answer: .changed),
            .settings(
                APIPath.peoplePins.text, pins,
                group: .sealing, summary: "List the keys of others that a person accepts.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings, items: Schema.object(of: PinItem.self), named: "Pin"),
            .command(
                "POST", APIPath.peoplePins.text, decisions.done(by: pin),
                group: .sealing, summary: "Accept a recipient key of another person.",
                description:
                    "For the person (scope `manage`), or one of the person's devices. The person's phones may then seal for the key. Compare the safety number first: it shows whether both of you have each other's identity key.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(["person": Schema.handle, "key": Self.name, "signature": Self.signature]),
                    named: "NewPin",
                    example: [
                        "person": "ben", "key": .text(String(repeating: "0f", count: 16)),
                        "signature": .text(String(repeating: "a0", count: 64)),
                    ]), isRepeatable: true),
            .command(
                "DELETE", APIPath.peoplePin.text, decisions.done(by: unpin),
                group: .sealing, summary: "Accept a key no longer.",
                description: "For the person (scope `manage`), or one of the person's devices.",
                access: .token(.manage)),
            .command(
                "PUT", APIPath.devicesSealing.text, decisions.done(by: seal),
                group: .sealing, summary: "Take only envelopes of a device, or open fixes again.",
                description:
                    "For the person (scope `manage`), or the device itself; not for the operator. While a device is sealed, every open report of it is refused in every dialect, and nothing of the report is kept.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(["sealed": Schema.boolean]), named: "Sealing", example: ["sealed": true])),
        ]
    }

    // MARK: Parts

    private static let key = Schema.pattern("^[0-9a-fA-F]{64}$")
    private static let signature = Schema.pattern("^[0-9a-fA-F]{128}$")
    private static let name = Schema.pattern("^[0-9a-fA-F]{32}$")
}
