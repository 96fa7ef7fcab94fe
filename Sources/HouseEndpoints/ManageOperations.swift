import Answers
import HTTPInterface
import Replies
import Whereabouts

extension ManageEndpoints {
    /// Persons, devices, tokens and regions.
    package var operations: [Operation] {
        [
            .change(
                APIPath.people.text, addPerson,
                group: .people, summary: "Add a person.",
                description:
                    "Only for the operator. The answer is 409 if the handle is taken. In a house with shards, the person lives in `shard`, or in the one with the fewest people.",
                access: .operator,
                discloses: .command,
                body: Operation.Body(
                    Schema.body(["handle": Schema.handle], optional: ["shard": Schema.integer(ShardNumber.range)]),
                    named: "NewPerson", example: ["handle": "ben"]),
                answer: Operation.Answer(
                    Schema.made(MadePerson.self), named: "AddedPerson")),
            Operation(
                "GET", APIPath.people.text, .answer(people),
                group: .people, summary: "List the people and their devices.",
                description: "Only for the operator.", access: .operator,
                discloses: .names("Handles of people and devices, for the operator."),
                query: [.limit(Self.peoplePerPage), .after],
                answer: Operation.Answer(
                    Schema.page(of: PersonItem.self),
                    pageOf: "Person")),
            Operation(
                "DELETE", APIPath.person.text, .answer(erasePerson),
                group: .people, summary: "Erase a person.",
                description:
                    "For the person (scope `manage`) or the operator. Destroys the person's keys here and in the known backups. No data of the person can be read again, and the log still verifies. `receipt` is a signed note that says so. `filesLeft` means that a file beside the log still has data of the person, which the service continues to remove.",
                access: .token(.manage), discloses: .command,
                answer: Operation.Answer(Schema.object(of: ErasedPerson.self), named: "Erasure")),
            .change(
                APIPath.peopleDevices.text, addDevice,
                group: .people, summary: "Add a device.",
                description:
                    "For the person (scope `manage`) or the operator. The password is the reporting key and is shown only once. A person's device is called `PERSON.NAME`.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(["handle": Schema.handle]), named: "NewDevice", example: ["handle": "anna-tablet"]),
                answer: Operation.Answer(
                    Schema.made(MadeDevice.self), named: "AddedDevice")),
            .settings(
                APIPath.peopleDevices.text, devices,
                group: .people, summary: "List a person's devices.",
                description:
                    "With last contact, last fix, battery, app, wrong passwords, and the reports of the last seven days that could not be used.",
                access: .token(.manage), discloses: .settings,
                items: Schema.object(of: DeviceItem.self),
                named: "Device"),
            .command(
                "DELETE", APIPath.device.text, decisions.done(by: removeDevice),
                group: .people, summary: "Remove a device.",
                description:
                    "For the person (scope `manage`) or the operator. The reporting keys stop working; the history stays.",
                access: .token(.manage)),
            .change(
                APIPath.devicesTokens.text, addReportingKey,
                group: .people, summary: "Issue another reporting key.",
                description: "For the person (scope `manage`) or the operator. The key is shown only once.",
                access: .token(.manage), discloses: .command,
                answer: Operation.Answer(Self.token, named: "AddedToken")),
            .change(
                APIPath.peopleTokens.text, addToken,
                group: .people, summary: "Issue a token.",
                description: "For the person (scope `manage`) or the operator. The token is shown only once.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(["scopes": Self.scopes], optional: ["until": Schema.timeGiven]), named: "NewToken",
                    example: ["scopes": ["query", "audit"]]),
                answer: Operation.Answer(Self.token, named: "AddedToken")),
            .settings(
                APIPath.peopleTokens.text, tokens,
                group: .people, summary: "List a person's tokens.",
                description: "Reporting keys of the person's devices included. Secrets are not shown.",
                access: .token(.manage),
                discloses: .settings,
                items: Schema.object(of: TokenItem.self),
                named: "Token"),
            .command(
                "DELETE", APIPath.token.text, decisions.done(by: revokeToken),
                group: .people, summary: "Revoke a token.",
                description: "For the person (scope `manage`) or the operator. The token stops working at once.",
                access: .token(.manage)),
            .change(
                APIPath.peopleRegions.text, addRegion,
                group: .people, summary: "Add a region.",
                description: "For the person (scope `manage`) or the operator. The id is unique for the person.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.ref("NewRegion"), named: "NewRegion",
                    example: [
                        "id": "home", "circle": ["latitude": 48.1737, "longitude": 16.3778, "radiusMeters": 150],
                    ]),
                answer: Operation.Answer(
                    Schema.made(MadeRegion.self), named: "AddedRegion")),
            .command(
                "DELETE", APIPath.peopleRegion.text, decisions.done(by: removeRegion),
                group: .people, summary: "Remove a region.",
                description: "For the person (scope `manage`) or the operator. Its crossings are removed too.",
                access: .token(.manage)),
        ]
    }

    // MARK: Parts

    /// One or more scopes; a token without scopes would be useless.
    private static let scopes = Schema.list(Schema.scope).with(["minItems": 1])
    /// A new token, with its secret.
    private static let token = Schema.made(IssuedToken.self)
}
