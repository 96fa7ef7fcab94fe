import Whereabouts

/// Signing in to the web page. The addresses of the page itself answer HTML and are not described.
extension Operation {
    static let page: KeyValuePairs<String, Operation> = [
        "GET /session": Operation(
            group: .page, summary: "Read who is signed in.", access: .anybody, otherStatuses: [(204, "No one is signed in.")],
            answer: Schema.object([
                "person": Schema.orNull(Schema.handle), "handle": Schema.text, "operator": Schema.boolean,
                "scopes": Schema.list(Schema.text), "expires": Schema.orNull(Schema.time),
                "language": Schema.word("en", "de"), "assets": Schema.text, "demo": Schema.boolean,
            ])),
        "POST /session": Operation(
            group: .page, summary: "Sign in.", access: .anybody,
            body: Schema.body(optional: ["token": Schema.text, "code": Schema.text, "next": Schema.text]),
            bodyTypes: ["application/json", "application/x-www-form-urlencoded"],
            otherStatuses: [(303, "A form is answered with the way to `next`.")],
            answer: Schema.object(["next": Schema.text])),
        "DELETE /session": Operation(
            group: .page, summary: "Sign out.", query: [.everywhere], status: 204),
        "POST /session/end": Operation(
            group: .page, summary: "Sign out by a form.", query: [.everywhere], status: 204,
            otherStatuses: [(303, "A browser's form is answered with the way to the first page.")]),
        "GET /v1/shared-with-me": Operation(
            group: .sharing, summary: "List the people who share with you.",
            answer: Schema.object([
                "items": Schema.list(
                    Schema.object(["handle": Schema.handle, "location": Schema.boolean, "history": Schema.boolean])),
                "next": Schema.orNull(Schema.text),
            ])),
        "GET /v1/people/*/previews/*": Operation(
            group: .sharing, summary: "Read your location as another person would.", query: [.atLeast],
            answer: Schema.object(
                [
                    "location": Schema.orNull(Schema.location), "history": Schema.boolean, "asOf": Schema.asOf,
                ], optional: ["reason": Schema.text]), hasNames: true),
        "GET /v1/places/names": Operation(
            group: .places, summary: "Name the places of a map.",
            query: [
                Parameter(name: "west", schema: Schema.longitude, isRequired: true, description: "Degrees."),
                Parameter(name: "south", schema: Schema.latitude, isRequired: true, description: "Degrees."),
                Parameter(name: "east", schema: Schema.longitude, isRequired: true, description: "Degrees."),
                Parameter(name: "north", schema: Schema.latitude, isRequired: true, description: "Degrees."),
                Parameter(
                    name: "zoom", schema: Schema.integer(0...22),
                    description: "The map's zoom; quarters of cities have names from 11 on.")
            ],
            answer: Schema.object([
                "items": Schema.list(
                    Schema.object([
                        "name": Schema.text, "latitude": Schema.latitude, "longitude": Schema.longitude,
                        "population": Schema.count,
                    ]), 0...MapEndpoints.namesMax)
            ]), hasNames: true),
        "POST /v1/sign-in-codes": Operation(
            group: .page, summary: "Create a one-time code for the page.",
            body: Schema.body(optional: ["person": Schema.handle]), isBodyOptional: false, status: 201,
            answer: Schema.object([
                "code": Schema.text, "path": Schema.text, "expires": Schema.time, "number": Schema.event,
            ])),
    ]
}

extension Operation.Parameter {
    static let everywhere = Self(
        name: "everywhere", schema: Schema.boolean,
        description: "Ends all sessions of the caller, and codes that are not used yet.")
}
