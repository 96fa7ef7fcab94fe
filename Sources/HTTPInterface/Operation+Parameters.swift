/// The parameters that many routes take.
extension Operation.Parameter {
    /// Makes a read include an earlier change. Without it, a view may be some milliseconds behind.
    package static let atLeast = Self(
        name: "at-least", schema: Schema.reference,
        description:
            "The answer waits until its view has folded this event: the `number` of a change or the `asOf` of an earlier answer."
    )
    /// With ``to``, a half-open range. Both are optional.
    package static let from = Self(
        name: "from", schema: Schema.timeGiven, description: "The beginning of the range: entries that end later.")
    /// The end of the range, which is not part of it.
    package static let to = Self(
        name: "to", schema: Schema.timeGiven, description: "The end of the range: entries that begin earlier.")
    /// A cursor; its form differs between the operator and others, and clients must not interpret it.
    package static let after = Self(
        name: "after", schema: Schema.parameterText, description: "The `next` of the previous page.")

    /// Not together with ``asOfNumber``.
    package static let asOf = Self(
        name: "as-of", schema: Schema.timeGiven,
        description:
            "For the person and the operator: the answer as of this time, from the person's events recorded until then. Repeat it for each page."
    )
    /// The operator's form of ``asOf``.
    package static let asOfNumber = Self(
        name: "as-of-number", schema: Schema.integer(1...Int64.max),
        description: "For the operator: the answer as of the event with this number of the log.")

    /// Not together with ``from`` or ``to``.
    package static let day = Self(
        name: "day", schema: Schema.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
        description:
            "One day instead of a range, by the local time of `timeZone` or of where the person was at its noon."
    )
    /// Without it, ``day`` is a day where the person was.
    package static let timeZone = Self(
        name: "timeZone", schema: Schema.parameterText, description: "The time zone of `day`.")
    /// An EPSG code, in the short form or as the OGC's address.
    static let crs = Self(
        name: "crs", schema: Schema.pattern(#"^(EPSG:|http://www\.opengis\.net/def/crs/EPSG/0/)[0-9]{1,6}$"#),
        description: "The reference system of places: `x`, the easting or longitude, and `y` instead of degrees.")
    /// `geojson` or `json`.
    package static let format = Self(
        name: "format", schema: Schema.answerFormat,
        description: "GeoJSON instead of JSON; `Accept: application/geo+json` has the same effect.")

    /// `limit`, from 1 to the most items of a page.
    package static func limit(_ most: Int64) -> Self {
        Self(name: "limit", schema: Schema.integer(1...most), description: "The most items of a page.")
    }
}
