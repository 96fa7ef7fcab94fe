/// What one route takes and answers, in words and schemas.
struct Operation: Sendable {
    enum Group: String, CaseIterable, Sendable {
        case asking = "Where is X?"
        case stored = "What is stored"
        case recorder = "The same as the OwnTracks Recorder has it"
        case sharing = "Who may see where somebody is"
        case people = "Who exists"
        case places = "Where is what?"
        case reports = "Reports of devices"
        case operation = "Operation"
    }

    /// Whose credentials open it.
    enum Access: Sendable {
        case anybody
        /// A token with a scope; about a person it must be the person's own, a granted one or the operator's.
        case token
        /// A device's reporting key, as the client's protocol sends it.
        case reportingKey
        case ownTracks
        /// A person's token, also as the password of the person's handle.
        case person
        /// In the message itself.
        case message
    }

    /// One member of the query of the URL.
    struct Parameter: Sendable {
        let name: String
        let schema: JSONTree
        var isRequired = false
        let description: String
    }

    let group: Group
    let summary: String
    var access = Access.token
    var query: [Parameter] = []
    var body: JSONTree?
    var isBodyOptional = false
    /// Other forms of the body, which the client's protocol sets.
    var bodyTypes: [String] = ["application/json"]
    /// What a good answer has for its status.
    var status = 200
    /// `nil`: nothing that JSON could say.
    var answer: JSONTree?
    /// Other forms of the answer.
    var answerTypes: [String] = []
    /// Whether places can be had in another reference system, and as GeoJSON.
    var hasPlaces = false
    /// Whether places are named, in the languages that are wanted.
    var hasNames = false

    /// All members of the query of the URL.
    var parameters: [Parameter] { query + (hasPlaces ? [.crs, .format] : []) }
}

extension Operation.Parameter {
    static let atLeast = Self(
        name: "at-least", schema: Schema.reference,
        description:
            "The answer waits until its view has folded this event: the `number` of a change or the `asOf` of an answer before."
    )
    static let from = Self(name: "from", schema: Schema.timeGiven, description: "What ends later counts.")
    static let to = Self(name: "to", schema: Schema.timeGiven, description: "What begins earlier counts.")
    static let after = Self(
        name: "after", schema: Schema.parameterText, description: "The `next` of the page before.")

    static let day = Self(
        name: "day", schema: Schema.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        description:
            "Instead of a range: a day by the clocks of `timeZone`, or of where the person was at its noon."
    )
    static let timeZone = Self(
        name: "timeZone", schema: Schema.parameterText, description: "Whose clocks `day` goes by.")
    static let crs = Self(
        name: "crs", schema: Schema.pattern(#"^(EPSG:|http://www\.opengis\.net/def/crs/EPSG/0/)[0-9]{1,6}$"#),
        description: "The reference system of places: `x`, the easting or longitude, and `y` instead of degrees.")
    static let format = Self(
        name: "format", schema: Schema.word("json", "geojson"),
        description: "GeoJSON instead of JSON, as `Accept: application/geo+json` has it too.")

    static func limit(_ most: Int64) -> Self {
        Self(name: "limit", schema: Schema.integer(1...most), description: "Items of a page at the most.")
    }
}
