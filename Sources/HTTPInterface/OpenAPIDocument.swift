import Answers
import HTTPServer
import JSON
import Whereabouts

/// The API description in OpenAPI 3.1, made from the operations. Tests check that recorded requests and answers match
/// its schemas.
struct OpenAPIDocument {
    /// The operations that it describes.
    let operations: [Operation]

    init(_ operations: [Operation]) { self.operations = operations }

    /// The description in JSON. The paths come first, because describing them adds the schemas to the catalog.
    var bytes: [UInt8] {
        var catalog = SchemaCatalog()
        let described = paths(&catalog)
        var writer = JSONWriter()
        Self.document(described, catalog.schemas).write(into: &writer)
        return writer.bytes
    }

    /// The root: info, tags, paths and the shared components.
    private static func document(_ paths: JSONTree, _ schemas: [(key: String, value: JSONTree)]) -> JSONTree {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "Whereabouts", "version": "1",
                "description":
                    "An auditable location history service. Changes are additive: clients must ignore members that they do not know.",
            ],
            "tags": .list(Operation.Group.allCases.map { ["name": .text($0.rawValue)] }),
            "paths": paths,
            "components": [
                "schemas": .object(schemas),
                "securitySchemes": [
                    "token": ["type": "http", "scheme": "bearer"],
                    "ownTracks": ["type": "http", "scheme": "basic"],
                ],
                "headers": headers,
                "responses": [
                    "Problem": problem("The problem and what to do.", headers: ["Retry-After"]),
                    "NotAuthenticated": problem(
                        "The request has no valid credentials.", headers: ["WWW-Authenticate"]),
                ],
            ],
        ]
    }

    /// The path items, by path; the methods of one path share its parameters.
    private func paths(_ catalog: inout SchemaCatalog) -> JSONTree {
        var paths: [(key: String, value: JSONTree)] = []
        for (_, methods) in Dictionary(grouping: operations, by: \.route.path).sorted(by: { $0.key < $1.key }) {
            let parameters = PathParameter.of(methods[0].route)
            var members: [(key: String, value: JSONTree)] = []
            if !parameters.isEmpty { members.append(("parameters", .list(parameters.map(\.description)))) }
            for operation in methods {
                members.append((operation.route.method.lowercased(), description(of: operation, &catalog)))
            }
            paths.append((PathParameter.path(of: methods[0].route), .object(members)))
        }
        return .object(paths)
    }

    /// One operation: its texts, parameters, body and answers. Names its schemas in the catalog.
    private func description(of operation: Operation, _ catalog: inout SchemaCatalog) -> JSONTree {
        let route = operation.route
        let id = Self.operationID(of: route)
        let stem = id.prefix(1).uppercased() + id.dropFirst()
        var members: [(key: String, value: JSONTree)] = [
            ("operationId", .text(id)), ("summary", .text(operation.summary)),
            ("description", .text(operation.description)),
            ("tags", [.text(operation.group.rawValue)]), ("security", Self.security(operation.access)),
        ]
        let parameters =
            operation.parameters.map(Self.description) + (operation.hasNames ? [Self.languages] : [])
            + (route.takesKey ? [Self.requestKey] : [])
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body = operation.body {
            let schema = catalog.named(body.schema, body.name ?? stem + "Body")
            let example = body.example ?? SchemaExample(catalog, isBody: true).of(schema)
            let types = body.types.map { type in
                let medium: JSONTree = ["schema": schema]
                return (key: type, value: type == "application/json" ? medium.with(["example": example]) : medium)
            }
            members.append(("requestBody", ["required": .bool(!body.isOptional), "content": .object(types)]))
        }
        let answer = operation.answer.map {
            catalog.named($0.schema, $0.name ?? stem + "Answer", item: $0.item ?? stem + "Item")
        }
        members.append(("responses", responses(operation, answer, catalog)))
        return .object(members)
    }

    /// A parameter of the query string.
    private static func description(_ parameter: Operation.Parameter) -> JSONTree {
        [
            "name": .text(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
            "description": .text(parameter.description), "schema": parameter.schema,
        ]
    }

    /// The header `Accept-Language`, for answers with place names.
    private static let languages: JSONTree = [
        "name": "Accept-Language", "in": "header", "required": false,
        "description": "The languages for names of places. The first language that has a name is used.",
        "schema": Schema.text,
    ]

    /// The header `Idempotency-Key`, for requests that make something.
    private static let requestKey: JSONTree = [
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description":
            "A request that is repeated with the same key within a day is not done again, and gets the same answer.",
        "schema": Schema.pattern("^(\"\(requestKeyForm)\"|\(requestKeyForm))$"),
    ]

    /// Visible ASCII characters except the quote.
    private static let requestKeyForm = "[!#-~]{1,\(Limits.requestKeyCharacters)}"

    /// The schemes that a route accepts; none if it needs no credentials or has them in the message.
    private static func security(_ access: Operation.Access) -> JSONTree {
        switch access {
        case .anybody, .page, .message: []
        case .token, .operator, .auditor, .reportingKey: [["token": []]]
        case .ownTracks, .person: [["ownTracks": []], ["token": []]]
        }
    }

    // MARK: Responses

    /// The headers of answers that descriptions refer to.
    private static let headers: JSONTree = [
        "Whereabouts-Request": [
            "description": "The id of the request in the log and the diagnostics.",
            "schema": Schema.uuid,
        ],
        "Whereabouts-Outdated": [
            "description":
                "1 if the answer comes from a file that another version of the program made: it lacks the events since the update. Absent otherwise.",
            "schema": Schema.text,
        ],
        "Retry-After": [
            "description": "The seconds after which to send the request again.", "schema": Schema.integer(0...86_400),
        ],
        "WWW-Authenticate": ["description": "The schemes of credentials.", "schema": Schema.text],
        "Location": ["description": "The address of the created thing.", "schema": Schema.text],
        "Content-Crs": [
            "description": "The OGC address of the coordinates' reference system, if the request named one.",
            "schema": Schema.text,
        ],
        "Link": ["description": "The next page of a CSV answer, if there is one.", "schema": Schema.text],
    ]

    /// References to headers; every answer has `Whereabouts-Request` and can have `Whereabouts-Outdated`.
    private static func headers(_ names: [String]) -> JSONTree {
        .object(
            (["Whereabouts-Outdated", "Whereabouts-Request"] + names).map {
                ($0, ["$ref": .text("#/components/headers/\($0)")])
            })
    }

    /// An answer with a problem (RFC 9457).
    private static func problem(_ description: String, headers names: [String]) -> JSONTree {
        [
            "description": .text(description), "headers": headers(names),
            "content": ["application/problem+json": ["schema": Schema.problem]],
        ]
    }

    /// The answers by status: the good one with an example, 401 unless the route needs no credentials, and problems.
    private func responses(
        _ operation: Operation, _ answer: JSONTree?, _ catalog: SchemaCatalog
    ) -> JSONTree {
        let examples = SchemaExample(catalog, isBody: false)
        var content: [(key: String, value: JSONTree)] = []
        if let answer {
            content.append(("application/json", ["schema": answer, "example": examples.of(answer)]))
        }
        content += operation.answerTypes.map {
            ($0, ["schema": $0.hasSuffix("json") ? Schema.anyObject : Schema.text])
        }
        var names: [String] = []
        if operation.hasPlaces {
            let features = Schema.ref("FeatureCollection")
            content.append((AnswerForm.geoJSONType, ["schema": features, "example": examples.of(features)]))
            names.append("Content-Crs")
        }
        if operation.status == 202 { names.append("Location") }
        if operation.answerTypes.contains("text/csv") { names.append("Link") }
        let words = [200: "The answer.", 201: "Created.", 202: "Accepted; the work continues."]
        var good: JSONTree = [
            "description": .text(words[operation.status] ?? "Success."), "headers": Self.headers(names),
        ]
        if !content.isEmpty { good = good.with(["content": .object(content)]) }
        let links = links(from: operation, answer.flatMap(catalog.members))
        if !links.isEmpty { good = good.with(["links": .object(links)]) }
        let problem: JSONTree = ["$ref": "#/components/responses/Problem"]
        var all: [(key: String, value: JSONTree)] = [("\(operation.status)", good)]
        all += operation.otherStatuses.map {
            ("\($0.status)", ["description": .text($0.meaning), "headers": Self.headers([])])
        }
        if operation.access.isRequired {
            all.append(("401", ["$ref": "#/components/responses/NotAuthenticated"]))
        }
        return .object(all + [("4XX", problem), ("5XX", problem)])
    }

    /// The OpenAPI links of an answer: to the next page, and from a created thing to the operations on it.
    private func links(
        from operation: Operation, _ members: Set<String>?
    ) -> [(key: String, value: JSONTree)] {
        guard let members else { return [] }
        let route = operation.route
        let open = PathParameter.of(route).map { ($0.name, JSONTree.text("$request.path.\($0.name)")) }
        var links: [(key: String, value: JSONTree)] = []
        if members.contains("next"), operation.parameters.contains(where: { $0.name == "after" }) {
            links.append(
                (
                    "next",
                    [
                        "operationId": .text(Self.operationID(of: route)),
                        "description": "The next page, unless `next` is null.",
                        "parameters": .object(open + [("after", "$response.body#/next")]),
                    ]
                ))
        }
        guard route.method == "POST", operation.status != 200, let made = route.pattern.last,
            let member = ["id", "handle"].first(where: members.contains)
        else { return links }
        for item in operations.map(\.route)
        where item.pattern == route.pattern + ["*"] || item.pattern == ["v1", made, "*"] {
            let names = PathParameter.of(item).map(\.name)
            guard let last = names.last else { continue }
            links.append(
                (
                    Self.operationID(of: item),
                    [
                        "operationId": .text(Self.operationID(of: item)),
                        "parameters": .object(
                            open.filter { names.dropLast().contains($0.0) }
                                + [(last, .text("$response.body#/\(member)"))]),
                    ]
                ))
        }
        return links
    }

    /// The id of an operation, for example `getPeopleLocation` for `GET /v1/people/*/location`. A path that ends in a
    /// variable part adds `One`: `getPeopleVisitsOne`. More than two at the end add their number: `getLogTileOne3`.
    private static func operationID(of route: Route) -> String {
        let words = route.pattern.filter { $0 != "v1" && $0 != "*" }.flatMap { part in
            part.split { $0 == "-" || $0 == "." }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        }
        let open = route.pattern.reversed().prefix { $0 == "*" }.count
        let item = open == 0 ? "" : open <= 2 ? "One" : "One\(open)"
        return route.method.lowercased() + words.joined() + item
    }
}

/// A variable part of a path, with the name that the API description gives it.
struct PathParameter {
    /// The name in the path, without braces.
    let name: String
    let schema: JSONTree

    /// The parameter as OpenAPI describes it.
    var description: JSONTree { ["name": .text(name), "in": "path", "required": true, "schema": schema] }

    /// A reporting key, or a client's name for its device.
    private static let clientName = Schema.pattern("^[A-Za-z0-9._-]{1,128}$")

    /// The parameters by the part of the path before them. Without an entry, `notes/*` is the reference of a `note`.
    private static let byParent: [String: PathParameter] = [
        "people": .init(name: "person", schema: Schema.handle.with(["examples": ["anna"]])),
        "previews": .init(name: "requester", schema: Schema.handle.with(["examples": ["ben"]])),
        "devices": .init(name: "device", schema: Schema.handle.with(["examples": ["anna-phone"]])),
        "location-queries": .init(name: "query", schema: Schema.uuid),
        "consent-requests": .init(name: "query", schema: Schema.uuid),
        "exports": .init(name: "form", schema: Schema.word("gpx", "geojson", "kml", "csv", "rec", "fixes", "archive")),
        "visits": .init(name: "visit", schema: Schema.visitID),
        "track": .init(name: "fix", schema: Schema.reference),
        "regions": .init(name: "region", schema: Schema.regionID),
        "account-invitations": .init(name: "invitation", schema: Schema.reference),
        "keys": .init(name: "key", schema: Schema.pattern("^[0-9a-f]{32}$")),
        "pins": .init(name: "key", schema: Schema.pattern("^[0-9a-f]{32}$")),
        "dead-letters": .init(name: "letter", schema: Schema.reference),
        "imports": .init(name: "import", schema: Schema.uuid),
        "heads": .init(name: "number", schema: Schema.eventNumber),
        "webhook": .init(name: "key", schema: clientName),
        "logGet": .init(name: "key", schema: clientName),
        "logPost": .init(name: "key", schema: clientName),
        "logPostMultiple": .init(name: "key", schema: clientName),
        // A client's name for its device, after its key.
        "*": .init(name: "device", schema: clientName),
        "projections": .init(
            name: "projection", schema: Schema.projectionName),
    ]

    /// The parts of a tile's path: a level or `entries`, and the number of the tile in groups of three digits; the last
    /// group may be a width.
    private static let ofTile: [PathParameter] =
        [.init(name: "level", schema: Schema.pattern("^([0-9]{1,2}|entries)$").with(["examples": ["0"]]))]
        + ["tile", "second", "third", "fourth"].map {
            .init(name: $0, schema: Schema.pattern(#"^(x?[0-9]{3}(\.p)?|[0-9]{1,3})$"#).with(["examples": ["000"]]))
        }

    /// The variable parts of a route, in order.
    static func of(_ route: Route) -> [PathParameter] {
        if route.pattern.starts(with: ["v1", "log", "tile"]) { return Array(ofTile.prefix(route.pattern.count - 3)) }
        return zip(route.pattern, route.pattern.dropFirst()).filter { $1 == "*" }.map { parent, _ in
            byParent[parent] ?? PathParameter(name: String(parent.dropLast()), schema: Schema.reference)
        }
    }

    /// The path with names in place of `*`, for example `/v1/people/{person}/visits/{visit}`.
    static func path(of route: Route) -> String {
        var names = of(route).map(\.name)[...]
        return "/" + route.pattern.map { $0 == "*" ? "{\(names.popFirst() ?? "")}" : $0 }.joined(separator: "/")
    }
}
