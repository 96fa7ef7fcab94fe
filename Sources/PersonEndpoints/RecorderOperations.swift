import HTTPInterface
import Replies
import Whereabouts

extension RecorderEndpoints {
    /// Stored data in the protocol of the OwnTracks Recorder. Rows are the Recorder's, so only their frame has a schema.
    package var operations: [Operation] {
        [
            Operation(
                "GET", "/api/0/version", .answer(version),
                group: .recorder, summary: "Read the version in the Recorder's form.",
                description:
                    "For clients of the OwnTracks Recorder. The token can be the password of the person's handle.",
                access: .person([]), discloses: .noPerson("The name of the protocol's version."),
                answer: Operation.Answer(Schema.object(of: RecorderVersion.self), named: "RecorderVersion")),
            Operation(
                "GET", "/api/0/list", .answer(list),
                group: .recorder, summary: "List people or devices in the Recorder's form.",
                description:
                    "Without `user`, the people whom the caller may locate; with `user`, the person's devices, or `phone` for all of them under a grant.",
                access: .person(.query),
                discloses: .names("Handles of the people whom the caller may ask, and names of devices."),
                query: [Self.userParameter, Self.deviceParameter],
                answer: Operation.Answer(Schema.object(of: RecorderList.self), named: "RecorderList")),
            Operation(
                "GET", "/api/0/last", .recorded(last),
                group: .recorder, summary: "Read the newest locations in the Recorder's form.",
                description: "At most 50 people. Each person in the answer is a recorded read.",
                access: .person(.query),
                discloses: .recorded(.location),
                query: [Self.userParameter, Self.deviceParameter, Self.fieldsParameter],
                answer: Operation.Answer(Schema.list(Schema.anyObject)), hasNames: true),
            Operation(
                "GET", "/api/0/locations", .recorded(locations),
                group: .recorder, summary: "List a device's fixes in the Recorder's form.",
                description:
                    "At most 20,000 fixes. Without `from`, the range is the last six hours. The read is recorded before the answer is sent.",
                access: .person(.query), discloses: .recorded(.track),
                query: [
                    Operation.Parameter(
                        name: "user", schema: Schema.parameterText, isRequired: true,
                        description: Self.userParameter.description),
                    Operation.Parameter(
                        name: "device", schema: Schema.parameterText, isRequired: true,
                        description: Self.deviceParameter.description),
                    Operation.Parameter(
                        name: "from", schema: Schema.parameterText,
                        description:
                            "UTC, for example 2026-05-04T08:00:00 or shorter. The default is six hours before the end."),
                    Operation.Parameter(
                        name: "to", schema: Schema.parameterText, description: "UTC, in the same form."),
                    Operation.Parameter(
                        name: "limit", schema: Schema.integer(0...Int64(Self.fixesMax)),
                        description: "The number of fixes, newest first."),
                    Operation.Parameter(
                        name: "format", schema: Schema.word("json", "geojson", "linestring", "raw"),
                        description: "`raw` gives the lines of the Recorder's files."), Self.fieldsParameter,
                ],
                answer: Operation.Answer(Schema.anyObject), answerTypes: ["text/plain"]),
        ]
    }

    // MARK: Parts

    private static let userParameter = Operation.Parameter(
        name: "user", schema: Schema.parameterText, description: "A person's handle.")
    private static let deviceParameter = Operation.Parameter(
        name: "device", schema: Schema.parameterText,
        description: "One of the person's devices; under a grant, `phone` for all of them.")
    private static let fieldsParameter = Operation.Parameter(
        name: "fields", schema: Schema.parameterText, description: "The members to return, separated by commas.")
}
