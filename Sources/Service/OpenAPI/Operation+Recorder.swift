import Whereabouts

/// The reads in the words of the OwnTracks Recorder.
extension Operation {
    private static let user = Parameter(name: "user", schema: Schema.parameterText, description: "A person's handle.")
    private static let device = Parameter(
        name: "device", schema: Schema.parameterText,
        description: "One of the person's devices; `phone` for all of them to whoever reads by a grant.")
    private static let fields = Parameter(
        name: "fields", schema: Schema.parameterText, description: "The members that are wanted, with commas between.")

    static let recorder: KeyValuePairs<String, Operation> = [
        "GET /api/0/version": Operation(
            group: .recorder, summary: "What answers here.", access: .person,
            answer: Schema.object(["version": Schema.text])),
        "GET /api/0/list": Operation(
            group: .recorder, summary: "Whom the caller may locate, or the devices of one of them.", access: .person,
            query: [user, device], answer: Schema.object(["results": Schema.list(Schema.text)])),
        "GET /api/0/last": Operation(
            group: .recorder, summary: "Where they were seen last.", access: .person, query: [user, device, fields],
            answer: Schema.list(anything), hasNames: true),
        "GET /api/0/locations": Operation(
            group: .recorder, summary: "The fixes of a device in a range.", access: .person,
            query: [
                Parameter(name: "user", schema: Schema.parameterText, isRequired: true, description: user.description),
                Parameter(
                    name: "device", schema: Schema.parameterText, isRequired: true, description: device.description),
                Parameter(
                    name: "from", schema: Schema.parameterText,
                    description: "UTC, like 2026-05-04T08:00:00 or shorter; six hours before the end without it."),
                Parameter(name: "to", schema: Schema.parameterText, description: "UTC, in the same form."),
                Parameter(
                    name: "limit", schema: Schema.integer(0...Int64(RecorderEndpoints.fixesMax)),
                    description: "The newest so many, newest first."),
                Parameter(
                    name: "format", schema: Schema.word("json", "geojson", "linestring", "raw"),
                    description: "`raw`: lines as in the Recorder's files."), fields,
            ], answer: anything, answerTypes: ["text/plain"]),
    ]
}
