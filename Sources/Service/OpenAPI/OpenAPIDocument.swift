import HTTPServer
import JSON
import Whereabouts

/// The interface as OpenAPI 3.1 has it, made from the list of routes and what each of them says of itself.
enum OpenAPIDocument {
    /// `GET /openapi.json`.
    static func read(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        .json(bytes)
    }

    /// Made once: it is the same for everybody.
    private static let bytes: [UInt8] = {
        var writer = JSONWriter()
        document.write(into: &writer)
        return writer.bytes
    }()

    private static let document: JSONTree = [
        "openapi": "3.1.0",
        "info": [
            "title": "Whereabouts", "version": "1",
            "description":
                "An auditable location history service. Changes are additive: readers pass over members they do not know.",
        ],
        "tags": .list(Operation.Group.allCases.map { ["name": .text($0.rawValue)] }),
        "paths": paths,
        "components": [
            "schemas": .object(Schema.named.map { ($0.key, $0.value) }),
            "securitySchemes": [
                "token": ["type": "http", "scheme": "bearer"],
                "ownTracks": ["type": "http", "scheme": "basic"],
            ],
            "responses": [
                "Problem": [
                    "description": "What was wrong, and what to do.",
                    "content": ["application/problem+json": ["schema": Schema.problem]],
                ]
            ],
        ],
    ]

    private static let paths: JSONTree = .object(
        Dictionary(grouping: Route.all, by: \.path).sorted { $0.key < $1.key }.map { _, routes in
            let parameters = PathParameter.of(routes[0])
            let members =
                (parameters.isEmpty ? [] : [(key: "parameters", value: JSONTree.list(parameters.map(\.description)))])
                + routes.map { (key: $0.method.lowercased(), value: description(of: $0)) }
            return (PathParameter.path(of: routes[0]), .object(members))
        })

    private static func description(of route: Route) -> JSONTree {
        guard let operation = Operation.all["\(route.method) \(route.path)"] else { return [:] }
        var members: [(key: String, value: JSONTree)] = [
            ("operationId", .text(operationID(of: route))), ("summary", .text(operation.summary)),
            ("tags", [.text(operation.group.rawValue)]), ("security", security(operation.access)),
        ]
        let parameters =
            operation.parameters.map(description) + (operation.hasNames ? [languages] : [])
            + (route.takesKey ? [requestKey] : [])
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body = operation.body {
            let types = operation.bodyTypes.map { (key: $0, value: ["schema": body] as JSONTree) }
            members.append(("requestBody", ["required": .bool(!operation.isBodyOptional), "content": .object(types)]))
        }
        members.append(("responses", responses(operation)))
        return .object(members)
    }

    private static func description(_ parameter: Operation.Parameter) -> JSONTree {
        [
            "name": .text(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
            "description": .text(parameter.description), "schema": parameter.schema,
        ]
    }

    private static let languages: JSONTree = [
        "name": "Accept-Language", "in": "header", "required": false,
        "description": "What names of places are wanted in: the first language that has a name counts.",
        "schema": Schema.text,
    ]

    private static let requestKey: JSONTree = [
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description":
            "Sent again within a day with the same key, the request is answered as before and not done again.",
        "schema": Schema.pattern("^(\"\(requestKeyForm)\"|\(requestKeyForm))$"),
    ]

    private static let requestKeyForm = "[!#-~]{1,\(Limits.requestKeyCharacters)}"

    private static func security(_ access: Operation.Access) -> JSONTree {
        switch access {
        case .anybody, .message: []
        case .token, .reportingKey: [["token": []]]
        case .ownTracks, .person: [["ownTracks": []], ["token": []]]
        }
    }

    private static func responses(_ operation: Operation) -> JSONTree {
        var content = operation.answerTypes.map { (key: $0, value: ["schema": Schema.text] as JSONTree) }
        if operation.hasPlaces {
            content.append((AnswerForm.geoJSONType, ["schema": Schema.ref("FeatureCollection")]))
        }
        if let answer = operation.answer { content.insert(("application/json", ["schema": answer]), at: 0) }
        var good: JSONTree = ["description": .text(operation.status == 200 ? "As asked." : "Done.")]
        if !content.isEmpty { good = good.with(["content": .object(content)]) }
        let problem: JSONTree = ["$ref": "#/components/responses/Problem"]
        return .object([("\(operation.status)", good), ("4XX", problem), ("5XX", problem)])
    }

    /// `getPeopleLocation` for `GET /v1/people/*/location`.
    private static func operationID(of route: Route) -> String {
        let words = route.pattern.filter { $0 != "v1" && $0 != "*" }.flatMap { part in
            part.split { $0 == "-" || $0 == "." }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        }
        let item = route.pattern.last == "*" ? "One" : ""
        return route.method.lowercased() + words.joined() + item
    }
}

/// What stands open in a path.
struct PathParameter {
    let name: String
    let schema: JSONTree

    var description: JSONTree { ["name": .text(name), "in": "path", "required": true, "schema": schema] }

    /// A key, or what a client calls its device.
    private static let clientName = Schema.pattern("^[A-Za-z0-9._-]{1,128}$")

    /// By the part of the path before it.
    private static let byParent: [String: PathParameter] = [
        "people": .init(name: "person", schema: Schema.handle.with(["examples": ["anna"]])),
        "devices": .init(name: "device", schema: Schema.handle.with(["examples": ["anna-phone"]])),
        "location-queries": .init(name: "query", schema: Schema.uuid),
        "consent-requests": .init(name: "query", schema: Schema.uuid),
        "visits": .init(name: "visit", schema: Schema.visitID),
        "regions": .init(name: "region", schema: Schema.regionID),
        "tokens": .init(name: "token", schema: Schema.reference),
        "grants": .init(name: "grant", schema: Schema.reference),
        "account-invitations": .init(name: "invitation", schema: Schema.reference),
        "invitations": .init(name: "invitation", schema: Schema.reference),
        "corrections": .init(name: "correction", schema: Schema.reference),
        "schedules": .init(name: "schedule", schema: Schema.reference),
        "webhooks": .init(name: "webhook", schema: Schema.reference),
        "dead-letters": .init(name: "letter", schema: Schema.reference),
        "imports": .init(name: "import", schema: Schema.uuid),
        "webhook": .init(name: "key", schema: clientName),
        "logGet": .init(name: "key", schema: clientName),
        "logPost": .init(name: "key", schema: clientName),
        "logPostMultiple": .init(name: "key", schema: clientName),
        // What a client calls its device, after its key.
        "*": .init(name: "device", schema: clientName),
        "projections": .init(
            name: "projection",
            schema: ["type": "string", "enum": .list(ProjectionKind.all.map { .text($0.name) })]),
    ]

    static func of(_ route: Route) -> [PathParameter] {
        zip(route.pattern, route.pattern.dropFirst()).filter { $1 == "*" }.compactMap { byParent[$0.0] }
    }

    static func path(of route: Route) -> String {
        var names = of(route).map(\.name)[...]
        return "/" + route.pattern.map { $0 == "*" ? "{\(names.popFirst() ?? "")}" : $0 }.joined(separator: "/")
    }
}
