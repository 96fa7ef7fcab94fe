import HTTPServer
import JSON
import Whereabouts

/// Which sections each view has.
extension PlainSection {
    private typealias Query = [(name: String, value: String)]

    /// The sections of a view; none if it needs a person and has none.
    ///
    /// - Parameters:
    ///   - person: The person whose data the view shows; `nil` if the address names no person.
    ///   - isOperators: Whether the operator looks, who gives no consent.
    ///   - isByLink: Whether the reader is a viewer of a share link, who sees no other person.
    ///   - today: The day by UTC, for views of a day that name none.
    ///
    /// For example, `/day/2026-05-04` of Anna asks `/v1/people/anna/visits?day=2026-05-04`, and its trips and
    /// crossings.
    static func sections(
        of path: String, person: String?, isOperators: Bool, isByLink: Bool, today: CalendarDay,
        _ request: HTTPRequest
    ) -> [PlainSection] {
        let parts = path.split(separator: "/").map(String.init)
        let view = parts.first ?? "now"
        if view == "operate" { return operating(request) }
        if view == "welcome" { return [] }
        if view == "requests", parts.count == 2 {
            return [PlainSection(title: "request", path: "/v1/location-queries/\(parts[1])", columns: ofQuery)]
        }
        guard let person else { return [people(to: path, request)] }
        func section(_ title: String, _ what: String, _ query: Query = [], _ columns: [Column]) -> PlainSection {
            PlainSection(title: title, path: "/v1/people/\(person)/\(what)", query: query, columns: columns)
        }
        let page: Query = [("limit", "100")] + given(["after"], request)
        let range = given(["from", "to"], request)
        switch view {
        case "day":
            let day: Query = [("day", (day(of: path, today: today) ?? today).text)]
            return [
                section("visits", "visits", day, ofVisits), section("trips", "trips", day, ofTrips),
                section("crossings", "crossings", day, ofCrossings),
            ]
        case "audit": return [section("audit", "audit", range + page, ofAudit)]
        case "requests": return [section("asked", "asked", page, ofAsked)]
        case "sharing":
            var consent = section("consent", "consent-requests", [], ofConsent)
            var grants = section("grants", "grants", page, ofGrants)
            var pauses = section("pauses", "pauses", [], ofPauses)
            let invitations = section("invitations", "invitations", [], ofInvitations)
            // Only the person gives consent, never the operator.
            guard !isOperators else { return [grants, pauses, invitations] }
            // The forms change the reader's own sharing.
            if request.parameter("person") == nil {
                consent.buttons = [
                    .init(task: .consent, id: "query", name: "requester"),
                    .init(task: .refuse, id: "query", name: "requester"),
                ]
                grants.buttons = [.init(task: .end, id: "id", name: "requester")]
                pauses.below = { rows in
                    .init(task: rows.contains { $0["now"]?.bool == true } ? .resume : .pause)
                }
            }
            return [consent, grants, pauses, invitations]
        case "regions": return [section("regions", "regions", [], ofRegions)]
        case "places": return [section("places", "places", range, ofPlaces)]
        case "year":
            let year = parts.count == 2 ? parts[1] : String(today.text.prefix(4))
            return quarters(of: year, through: today).map { section("year", "summary", $0, ofYear) }
        case "devices": return [section("devices", "devices", [], ofDevices)]
        default:
            let located = [
                PlainSection(
                    title: "sharing", path: "/api/0/list", columns: [Column("who", "self")],
                    link: "/now?plain=true&person=*")
            ]
            return [section("location", "location", [], ofLocation)]
                + (request.parameter("person") == nil && !isByLink ? located : [])
        }
    }

    /// The day in the path of the view of a day, or `today`; `nil` for other views.
    package static func day(of path: String, today: CalendarDay) -> CalendarDay? {
        let parts = path.split(separator: "/")
        guard parts.first == "day" else { return nil }
        return parts.count == 2 ? CalendarDay(String(parts[1])) ?? today : today
    }

    /// The operator chooses a person.
    private static func people(to path: String, _ request: HTTPRequest) -> PlainSection {
        PlainSection(
            title: "people", path: "/v1/people", query: given(["after"], request),
            columns: [Column("who", "handle"), Column("devices")], link: "\(path)?plain=true&person=*")
    }

    /// The operator's view: the generations of projections.
    private static func operating(_ request: HTTPRequest) -> [PlainSection] {
        [
            PlainSection(
                title: "projections", path: "/v1/projections",
                columns: [
                    Column("name"), Column("version"), Column("generation"), Column("role"), Column("state"),
                    Column("place"), Column("head"),
                ])
        ]
    }

    /// A summary covers 93 days at most, so a year is read in quarters, those that have begun.
    private static func quarters(of year: String, through today: CalendarDay) -> [Query] {
        guard let number = Int(year), (1900...2198).contains(number), year.utf8.count == 4 else { return [] }
        let starts = ["\(year)-01-01", "\(year)-04-01", "\(year)-07-01", "\(year)-10-01", "\(number + 1)-01-01"]
        return zip(starts, starts.dropFirst()).filter { $0.0 <= today.text }.map { start, end in
            [("from", start + "T00:00:00Z"), ("to", end + "T00:00:00Z"), ("period", "month")]
        }
    }

    /// The parameters of the page's address that the API takes too.
    private static func given(_ names: [String], _ request: HTTPRequest) -> Query {
        request.query.filter { names.contains($0.name) }
    }

    // MARK: Columns

    /// The columns of the newest location.
    private static let ofLocation = [
        Column("time", "timestamp", .time), Column("place", "place.name"), Column("city", "place.locality"),
        Column("country", "place.country"), Column("latitude"), Column("longitude"),
        Column("accuracy", "horizontalAccuracy", .meters), Column("precision"),
    ]
    /// The columns of visits; `departure` is empty for the present one.
    private static let ofVisits = [
        Column("arrival", "arrival", .time), Column("departure", "departure", .time), Column("place"),
        Column("latitude"), Column("longitude"), Column("accuracy", "horizontalAccuracy", .meters),
    ]
    /// The columns of trips and gaps.
    private static let ofTrips = [
        Column("start", "start", .time), Column("end", "end", .time), Column("what", "type"), Column("mode"),
        Column("from", "from.place"), Column("to", "to.place"), Column("distance", "distanceMeters", .meters),
        Column("duration", "durationSeconds", .duration),
    ]
    /// The columns of crossings.
    private static let ofCrossings = [
        Column("time", "time", .time), Column("what", "type"), Column("region"),
        Column("stayed", "dwellSeconds", .duration),
    ]
    /// The columns of the audit. Each kind of entry fills some of them.
    private static let ofAudit = [
        Column("time", "at", .time), Column("what", "kind"), Column("who", "requester"), Column("reader"),
        Column("actor"), Column("question"), Column("event"), Column("name"), Column("other"), Column("purpose"),
        Column("verdict"), Column("reason"), Column("precision"), Column("end"), Column("rows", "count"),
    ]
    /// The columns of the person's own questions.
    private static let ofAsked = [
        Column("time", "at", .time), Column("what", "kind"), Column("subject"), Column("question"), Column("purpose"),
        Column("status"), Column("precision"), Column("rows", "count"),
    ]
    /// The columns of one query with its answer.
    private static let ofQuery = [
        Column("status"), Column("time", "location.timestamp", .time), Column("place", "location.place.name"),
        Column("latitude", "location.latitude"), Column("longitude", "location.longitude"),
        Column("accuracy", "location.horizontalAccuracy", .meters), Column("precision", "location.precision"),
    ]
    /// The columns of queries that wait for consent.
    private static let ofConsent = [
        Column("who", "requester"), Column("purpose"), Column("deadline", "deadline", .time),
    ]
    /// The columns of grants.
    private static let ofGrants = [
        Column("who", "requester"), Column("precision"), Column("history"), Column("asksEachTime"),
        Column("from", "from", .time), Column("until", "until", .time), Column("hours", "hours.weekly"),
    ]
    /// The columns of pauses.
    private static let ofPauses = [Column("from", "from", .time), Column("until", "until", .time)]
    /// The columns of open invitations.
    private static let ofInvitations = [
        Column("precision"), Column("history"), Column("expires", "expires", .time),
    ]
    /// The columns of regions; a polygon has no radius.
    private static let ofRegions = [
        Column("name", "id"), Column("latitude", "circle.latitude"), Column("longitude", "circle.longitude"),
        Column("radius", "circle.radiusMeters", .meters), Column("shape", "polygon.type"),
    ]
    /// The columns of places.
    private static let ofPlaces = [
        Column("place"), Column("visits"), Column("stayed", "totalSeconds", .duration), Column("latitude"),
        Column("longitude"),
    ]
    /// The columns of the months of a year.
    private static let ofYear = [
        Column("period"), Column("visits"), Column("places", "places", .each("place")),
        Column("distance", "distanceMeters", .meters), Column("moving", "moveSeconds", .duration),
        Column("unknown", "unknownSeconds", .duration),
    ]
    /// The columns of devices.
    private static let ofDevices = [
        Column("name", "handle"), Column("contact", "lastContact", .time), Column("lastFix", "lastFix", .time),
        Column("app", "app.userAgent"), Column("authorization", "authorization.status"), Column("pushToken"),
        Column("rejected", "rejected", .each("reason")),
    ]
}
