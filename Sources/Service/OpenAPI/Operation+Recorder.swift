import Whereabouts

/// The reads of the OwnTracks Recorder.
extension Operation {
    private static let user = Parameter(name: "user", schema: Schema.parameterText, description: "A person's handle.")
    private static let device = Parameter(
        name: "device", schema: Schema.parameterText,
        description: "One of the person's devices; under a grant, `phone` for all of them.")
    private static let fields = Parameter(
        name: "fields", schema: Schema.parameterText, description: "The members to return, separated by commas.")

    /// The routes below `/api/0`. Their rows are the Recorder's, so only their frame has a schema.
    static let recorder: KeyValuePairs<String, Operation> = [
        "GET /api/0/version": Operation(
            group: .recorder, summary: "Read the version in the Recorder's form.", access: .person,
            answer: Schema.object(["version": Schema.text])),
        "GET /api/0/list": Operation(
            group: .recorder, summary: "List people or devices in the Recorder's form.", access: .person,
            query: [user, device], answer: Schema.object(["results": Schema.list(Schema.text)])),
        "GET /api/0/last": Operation(
            group: .recorder, summary: "Read the newest locations in the Recorder's form.", access: .person,
            query: [user, device, fields],
            answer: Schema.list(anything), hasNames: true),
        "GET /api/0/locations": Operation(
            group: .recorder, summary: "List a device's fixes in the Recorder's form.", access: .person,
            query: [
                Parameter(name: "user", schema: Schema.parameterText, isRequired: true, description: user.description),
                Parameter(
                    name: "device", schema: Schema.parameterText, isRequired: true, description: device.description),
                Parameter(
                    name: "from", schema: Schema.parameterText,
                    description:
                        "UTC, for example 2026-05-04T08:00:00 or shorter. The default is six hours before the end."),
                Parameter(name: "to", schema: Schema.parameterText, description: "UTC, in the same form."),
                Parameter(
                    name: "limit", schema: Schema.integer(0...Int64(RecorderEndpoints.fixesMax)),
                    description: "The number of fixes, newest first."),
                Parameter(
                    name: "format", schema: Schema.word("json", "geojson", "linestring", "raw"),
                    description: "`raw` gives the lines of the Recorder's files."), fields,
            ], answer: anything, answerTypes: ["text/plain"]),
    ]
}
