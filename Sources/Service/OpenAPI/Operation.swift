/// One route in the API description: its parameters, bodies and answers, with texts and schemas.
///
/// The same values check requests: a parameter that is not listed is refused (``Route/refusal(ofQuery:)``).
struct Operation: Sendable {
    /// The tags of the description, in the order of the reference page.
    enum Group: String, CaseIterable, Sendable {
        case asking = "Location queries"
        case stored = "Stored data"
        case recorder = "OwnTracks Recorder"
        case sharing = "Sharing"
        case people = "People and devices"
        case places = "Geocoding"
        case reports = "Device reports"
        case page = "The page"
        case operation = "Operation"
    }

    /// The credentials that a route requires.
    enum Access: Sendable {
        /// None.
        case anybody
        /// A token with a scope. For a route about a person, it is the person's own, one with a grant, or the
        /// operator's.
        case token
        /// A device's reporting key, as the client's protocol sends it.
        case reportingKey
        /// A device's handle and reporting key as user name and password.
        case ownTracks
        /// A person's token, also as the password of the person's handle.
        case person
        /// In the message, where the client's protocol puts it.
        case message
    }

    /// A parameter in the query of the URL.
    struct Parameter: Sendable {
        let name: String
        let schema: JSONTree
        var isRequired = false
        let description: String
    }

    /// The section of the description.
    let group: Group
    /// One sentence in the imperative.
    let summary: String
    /// The credentials that the route requires.
    var access = Access.token
    /// The parameters of the route itself; ``parameters`` has all of them.
    var query: [Parameter] = []
    /// The schema of the body; `nil` if there is none.
    var body: JSONTree?
    /// Whether a request may leave the body out.
    var isBodyOptional = false
    /// The media types of the body; the client's protocol may set others than JSON.
    var bodyTypes: [String] = ["application/json"]
    /// The status of a successful answer.
    var status = 200
    /// Other statuses of good answers, with what they mean.
    var otherStatuses: [(status: Int, meaning: String)] = []
    /// The schema of the answer; `nil` if it is not JSON.
    var answer: JSONTree?
    /// The other media types of the answer.
    var answerTypes: [String] = []
    /// Whether places can be requested in another reference system, and as GeoJSON.
    var hasPlaces = false
    /// Whether the answer names places, in the requested languages.
    var hasNames = false

    /// All parameters in the query of the URL.
    var parameters: [Parameter] { query + (hasPlaces ? [.crs, .format] : []) }
}

extension Operation.Parameter {
    /// For reads after a change of one's own: without it, a view may be some milliseconds behind.
    static let atLeast = Self(
        name: "at-least", schema: Schema.reference,
        description:
            "The answer waits until its view has folded this event: the `number` of a change or the `asOf` of an earlier answer."
    )
    /// With ``to``, a half-open range. Both are optional.
    static let from = Self(
        name: "from", schema: Schema.timeGiven, description: "The beginning of the range: entries that end later.")
    static let to = Self(
        name: "to", schema: Schema.timeGiven, description: "The end of the range: entries that begin earlier.")
    /// A cursor; its form differs between the operator and others, and clients must not interpret it.
    static let after = Self(
        name: "after", schema: Schema.parameterText, description: "The `next` of the previous page.")

    /// Not together with ``from`` or ``to``.
    static let day = Self(
        name: "day", schema: Schema.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        description:
            "One day instead of a range, by the local time of `timeZone` or of where the person was at its noon."
    )
    static let timeZone = Self(
        name: "timeZone", schema: Schema.parameterText, description: "The time zone of `day`.")
    /// An EPSG code, in the short form or as the OGC's address.
    static let crs = Self(
        name: "crs", schema: Schema.pattern(#"^(EPSG:|http://www\.opengis\.net/def/crs/EPSG/0/)[0-9]{1,6}$"#),
        description: "The reference system of places: `x`, the easting or longitude, and `y` instead of degrees.")
    static let format = Self(
        name: "format", schema: Schema.answerFormat,
        description: "GeoJSON instead of JSON; `Accept: application/geo+json` has the same effect.")

    /// `limit`, from 1 to the most items of a page.
    static func limit(_ most: Int64) -> Self {
        Self(name: "limit", schema: Schema.integer(1...most), description: "The most items of a page.")
    }
}
