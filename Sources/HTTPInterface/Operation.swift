package import Whereabouts

/// One address and method of the API: route, handler, disclosure rule, texts and schemas.
///
/// The operations of a subject are one list beside their handlers, for example `GrantEndpoints.operations`. Requests
/// are routed and checked, the API description is written and the disclosure law is tested by these values. For a new
/// route, add one value:
///
///     .command(
///         "DELETE", APIPath.grant.text, decisions.done(by: revoke), group: .sharing, summary: "End a grant.",
///         description: "For the person who gave it (scope `manage`) or the operator.", access: .token(.manage)),
package struct Operation: Sendable {
    /// The tags of the description, in the order of the reference page.
    package enum Group: String, CaseIterable, Sendable {
        case asking = "Location queries"
        case stored = "Stored data"
        case recorder = "OwnTracks Recorder"
        case sharing = "Sharing"
        case sealing = "Sealed locations"
        case people = "People and devices"
        case places = "Geocoding"
        case reports = "Device reports"
        case page = "The page"
        case operation = "Operation"
    }

    /// The credentials that a route requires.
    package enum Access: Sendable {
        /// None.
        case anybody
        /// None; without them the page asks for them.
        case page
        /// A token with these scopes. For a route about a person, it is the person's own, one with a grant, or the
        /// operator's.
        case token(Scopes)
        /// The operator's token.
        case `operator`
        /// The token of the operator, or of an auditor whom the operator has appointed.
        case auditor
        /// A device's reporting key, as the client's protocol sends it.
        case reportingKey
        /// A device's handle and reporting key as user name and password.
        case ownTracks
        /// A person's token with these scopes, also as the password of the person's handle.
        case person(Scopes)
        /// In the message, where the client's protocol puts it.
        case message(Route.Credentials)

        /// The place of the caller's secret in a request.
        package var credentials: Route.Credentials {
            switch self {
            case .anybody: .none
            case .page: .page
            case .auditor: .auditor
            case .token, .operator, .reportingKey, .ownTracks, .person: .header
            case .message(let credentials): credentials
            }
        }

        /// Whether a request without credentials is refused.
        package var isRequired: Bool {
            switch self {
            case .anybody, .page: false
            case .token, .operator, .auditor, .reportingKey, .ownTracks, .person, .message: true
            }
        }

        /// The scopes that a person's own token needs; none for devices and where no token is needed.
        package var scopes: Scopes {
            switch self {
            case .token(let scopes), .person(let scopes): scopes
            case .operator: .operate
            case .auditor: .inspect
            case .anybody, .page, .reportingKey, .ownTracks, .message: []
            }
        }
    }

    /// A parameter in the query of the URL.
    package struct Parameter: Sendable {
        package let name: String
        /// The values that it can have, for the API description; the handler checks them.
        package let schema: JSONTree
        /// Whether a request needs it.
        package var isRequired = false
        /// A sentence for developers, in the API description.
        package let description: String

        package init(name: String, schema: JSONTree, isRequired: Bool = false, description: String) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
            self.description = description
        }
    }

    /// The body of a request.
    package struct Body: Sendable {
        /// The members, for the API description; the handler checks the values.
        package let schema: JSONTree
        /// The name of the schema; `nil` if it has one, has no members, or is named after the operation.
        package let name: String?
        /// An example with more than the required members; `nil` to make one from the schema.
        package let example: JSONTree?
        /// Whether a request may leave the body out.
        package let isOptional: Bool
        /// The media types of the body; the client's protocol may set others than JSON.
        package let types: [String]

        package init(
            _ schema: JSONTree, named name: String? = nil, example: JSONTree? = nil, isOptional: Bool = false,
            types: [String] = ["application/json"]
        ) {
            (self.schema, self.name, self.example, self.isOptional) = (schema, name, example, isOptional)
            self.types = types
        }
    }

    /// The JSON of a good answer.
    package struct Answer: Sendable {
        /// The members of the answer.
        package let schema: JSONTree
        /// The name of the schema; `nil` if it has one, has no members, or is named after the operation.
        package let name: String?
        /// The name of an item of a list.
        package let item: String?

        package init(_ schema: JSONTree, named name: String? = nil, items item: String? = nil) {
            (self.schema, self.name, self.item) = (schema, name, item)
        }

        /// A list: `Visit` names an item, and `VisitPage` the page.
        package init(_ schema: JSONTree, pageOf item: String) {
            (self.schema, self.name, self.item) = (schema, item + "Page", item)
        }

        /// The number of the event that a command made.
        package static let changed = Answer(Schema.changed)
    }

    /// Another status of a good answer.
    package typealias OtherStatus = (status: Int, meaning: String)

    /// The route, with the handler.
    package private(set) var route: Route
    /// The section of the description.
    package let group: Group
    /// One sentence in the imperative.
    package let summary: String
    /// Who may call it, its effects beside the answer, and the meaning of its refusals. HTTP.md explains them in full.
    package let description: String
    /// The credentials that the route requires.
    package let access: Access
    /// All parameters in the query of the URL.
    package let parameters: [Parameter]
    /// The body; `nil` if there is none.
    package let body: Body?
    /// The status of a successful answer.
    package let status: Int
    /// Other statuses of good answers, with what they mean.
    package let otherStatuses: [OtherStatus]
    /// The JSON of the answer; `nil` if it is not JSON.
    package let answer: Answer?
    /// The other media types of the answer.
    package let answerTypes: [String]
    /// Whether places can be requested in another reference system, and as GeoJSON.
    package let hasPlaces: Bool
    /// Whether the answer names places, in the requested languages.
    package let hasNames: Bool

    /// The same operation for a description: every request is answered with 404.
    var withoutHandler: Operation {
        var operation = self
        operation.route = route.withoutHandler
        return operation
    }

    /// - Parameters:
    ///   - path: The path with `*` for each variable part.
    ///   - query: The parameters of the route itself; those of places are added.
    ///   - bodyBytes: The most bytes of a body; by default that of the kind of work.
    ///   - receivedBytes: As ``Route/receivedBytes``.
    ///   - takesKey: As ``Route/takesKey``.
    ///   - mixesTexts: As ``Route/mixesTexts``.
    package init(
        _ method: String, _ path: String, _ work: Route.Work, group: Group, summary: String, description: String,
        access: Access, discloses: Route.Disclosure, query: [Parameter] = [], body: Body? = nil, status: Int = 200,
        otherStatuses: [OtherStatus] = [], answer: Answer? = nil, answerTypes: [String] = [], hasPlaces: Bool = false,
        hasNames: Bool = false, bodyBytes: Int? = nil, receivedBytes: Int? = nil, takesKey: Bool = false,
        mixesTexts: Bool = false
    ) {
        (self.group, self.summary, self.description, self.access) = (group, summary, description, access)
        (self.body, self.status, self.otherStatuses) = (body, status, otherStatuses)
        (self.answer, self.answerTypes, self.hasPlaces, self.hasNames) = (answer, answerTypes, hasPlaces, hasNames)
        parameters = query + (hasPlaces ? [.crs, .format] : [])
        route = Route(
            method, path, work, access.credentials, discloses: discloses, bodyBytes: bodyBytes,
            receivedBytes: receivedBytes, takesKey: takesKey, mixesTexts: mixesTexts,
            needsBody: body.map { !$0.isOptional } ?? false, parameterNames: parameters.map(\.name))
    }
}

extension Operation {
    /// A read of stored data about a person.
    package static func read(
        _ path: String, _ work: @escaping Route.Reader, summary: String, description: String, access: Access,
        discloses question: LocationRead.Question, query: [Parameter] = [], answer: Answer, answerTypes: [String] = [],
        hasPlaces: Bool = false, hasNames: Bool = false, mixesTexts: Bool = false
    ) -> Operation {
        Operation(
            "GET", path, .recorded(work), group: .stored, summary: summary, description: description, access: access,
            discloses: .recorded(question), query: query + [.atLeast], answer: answer, answerTypes: answerTypes,
            hasPlaces: hasPlaces, hasNames: hasNames, mixesTexts: mixesTexts)
    }

    /// A list of a person's settings.
    ///
    /// - Parameters:
    ///   - item: The schema of an item.
    ///   - name: The name of an item.
    ///   - count: The most items, if all are in one page; `nil` for a list with pages.
    package static func settings(
        _ path: String, _ work: @escaping Route.Reader, group: Group, summary: String, description: String,
        access: Access, discloses question: LocationRead.Question, items item: JSONTree, named name: String,
        atMost count: Int? = nil,
        mixesTexts: Bool = false
    ) -> Operation {
        Operation(
            "GET", path, .recorded(work), group: group, summary: summary, description: description, access: access,
            discloses: .recorded(question),
            query: (count == nil ? [.limit(RowPage.mostRows), .after] : []) + [.atLeast],
            answer: Answer(Schema.page(item, atMost: count), pageOf: name), mixesTexts: mixesTexts)
    }

    /// A `POST` that makes something by one command, and so takes a key. The answer is 201.
    package static func change(
        _ path: String, _ work: @escaping Route.Handler, group: Group, summary: String, description: String,
        access: Access, discloses: Route.Disclosure, body: Body? = nil, answer: Answer
    ) -> Operation {
        Operation(
            "POST", path, .answer(work), group: group, summary: summary, description: description, access: access,
            discloses: discloses, body: body, status: 201, answer: answer, takesKey: true)
    }

    /// A request that is one command, answered with the number of its event.
    ///
    /// - Parameters:
    ///   - work: As ``Decisions/done(by:)`` makes it.
    ///   - isRepeatable: Whether a repetition of a `POST` changes nothing more, so that it needs no key.
    package static func command(
        _ method: String, _ path: String, _ work: @escaping Route.Handler, group: Group, summary: String,
        description: String, access: Access, body: Body? = nil, isRepeatable: Bool = false
    ) -> Operation {
        Operation(
            method, path, .answer(work), group: group, summary: summary, description: description, access: access,
            discloses: .command, body: body, answer: .changed, takesKey: method == "POST" && !isRepeatable)
    }
}
