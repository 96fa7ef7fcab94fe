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
        if view == "requests", parts.count == 2 { return question(parts[1], of: person, isByLink: isByLink) }
        guard let person else { return [people(to: path, request)] }
        func section(_ title: String, _ what: String, _ query: Query = [], _ columns: [Column]) -> PlainSection {
            PlainSection(title: title, path: "/v1/people/\(person)/\(what)", query: query, columns: columns)
        }
        let page: Query = [("limit", "100")] + given(["after"], request)
        let range = given(["from", "to"], request)
        let toRequest = "/requests/*?plain=true" + (isOperators ? "&person=\(PageEndpoints.escaped(person))" : "")
        switch view {
        case "day":
            let day: Query = [("day", (day(of: path, today: today) ?? today).text)]
            // Only the person and the operator may read who asked; for others the view leaves it out.
            let asks = section("asks", "audit", day + longPage + byOthers + given(["after"], request), ofAudit).with {
                ($0.pages, $0.mayBeAbsent, $0.link) = (mostPages, true, toRequest)
                $0.keeps = { AuditFilter.isAsk($0) }
            }
            let isNamed = request.parameter("person") != nil && !isOperators
            return [
                section("visits", "visits", day, ofVisits), section("trips", "trips", day, ofTrips),
                section("crossings", "crossings", day, ofCrossings),
            ] + (isByLink || isNamed ? [] : [asks])
        case "audit":
            let filter = AuditFilter(request)
            let by = filter.needsOwnReads(of: person) ? [] : byOthers
            return [
                section("audit", "audit", range + longPage + by + given(["after"], request), ofAudit).with {
                    ($0.pages, $0.link) = (mostPages, toRequest)
                    $0.keeps = { filter.shows($0) }
                }
            ]
        case "requests":
            return [
                section("asked", "asked", page, ofAsked).with { $0.link = toRequest },
                section("about", "audit", longPage + byOthers, ofAudit).with {
                    ($0.pages, $0.mayBeAbsent, $0.link) = (mostPages, true, toRequest)
                    $0.keeps = { $0["kind"]?.string == "query" }
                },
            ]
        case "sharing":
            let links = section("links", "links", [], ofLinks)
            let schedules = section("schedules", "schedules", [], ofSchedules)
            var consent = section("consent", "consent-requests", [], ofConsent)
            var grants = section("grants", "grants", page, ofGrants)
            var pauses = section("pauses", "pauses", [], ofPauses)
            let invitations = section("invitations", "invitations", [], ofInvitations)
            // Only the person gives consent, never the operator.
            guard !isOperators else { return [grants, links, pauses, invitations, schedules] }
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
            return [consent, grants, links, pauses, invitations, schedules]
        case "regions": return [section("regions", "regions", [], ofRegions)]
        case "places":
            let named = request.parameter("person") == nil ? "" : "&person=\(PageEndpoints.escaped(person))"
            return [section("places", "places", range, ofPlaces).with { $0.link = "/day/*?plain=true" + named }]
        case "year":
            let year = parts.count == 2 ? parts[1] : String(today.text.prefix(4))
            let quarters = quarters(of: year, through: today)
            guard let from = quarters.first?.first, let to = quarters.last?.first(where: { $0.name == "to" }) else {
                return []
            }
            // `PlainYear` makes tables of them.
            return quarters.map { section("year", "summary", $0, []) }
                + [section("places", "places", [from, to], [])]
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

    /// The year in the path of the view of a year, or that of `today`; `nil` for other views and other texts.
    static func year(of path: String, today: CalendarDay) -> Int64? {
        let parts = path.split(separator: "/")
        guard parts.first == "year" else { return nil }
        return Int64(parts.count == 2 ? String(parts[1]) : String(today.text.prefix(4)))
    }

    /// The operator chooses a person.
    private static func people(to path: String, _ request: HTTPRequest) -> PlainSection {
        PlainSection(
            title: "people", path: "/v1/people", query: given(["after"], request),
            columns: [Column("who", "handle"), Column("devices")], link: "\(path)?plain=true&person=*")
    }

    /// The operator's view: the generations of projections, the people, and events as they are stored: those that follow
    /// the number `after`, or the newest.
    private static func operating(_ request: HTTPRequest) -> [PlainSection] {
        [
            PlainSection(
                title: "projections", path: "/v1/projections",
                columns: [
                    Column("name"), Column("version"), Column("generation"),
                    Column("role", "role", .word("operate.roles")), Column("state", "state", .word("state")),
                    Column("folded", "place"), Column("head"),
                ]),
            PlainSection(
                title: "people", path: "/v1/people", query: [("limit", "100")],
                columns: [Column("who", "handle"), Column("devices")], link: "/audit?plain=true&person=*"),
            PlainSection(
                title: "events", path: "/v1/events",
                query: [("limit", "\(eventsAtOnce)"), ("asStored", "true")] + given(["after", "kind"], request),
                columns: [
                    Column("number"), Column("time", "recordedAt", .time), Column("event", "kind"), Column("cause"),
                ]
            ).with { $0.isNewestOfLog = given(["after", "kind"], request).isEmpty },
        ]
    }

    /// One question, as its asker sees it, or else as the person whom it was about sees it.
    private static func question(_ id: String, of person: String?, isByLink: Bool) -> [PlainSection] {
        var asked = PlainSection(
            title: "request", path: "/v1/location-queries/\(PageEndpoints.escaped(id))", columns: ofQuery)
        guard let person, !isByLink else { return [asked] }
        asked.mayBeAbsent = true
        let about = PlainSection(
            title: "request", path: "/v1/people/\(person)/audit", query: longPage + byOthers, columns: ofAudit
        ).with {
            ($0.pages, $0.rowsWanted, $0.mayBeAbsent) = (mostPages, 1, true)
            $0.keeps = { $0["kind"]?.string == "query" && $0["id"]?.string == id }
        }
        return [asked, about]
    }

    /// Whether a path is that of one question.
    static func isOne(_ path: String) -> Bool { path.hasPrefix("/requests/") }

    /// How many rows a list has before its link to more.
    static let rowsAtOnce = 100
    /// How many events of the log the operator's list has.
    static let eventsAtOnce: Int64 = 50
    /// How many pages of the audit are read for the rows of a list: 10,000 entries.
    private static let mostPages = 20
    private static let longPage: Query = [("limit", "500")]
    /// Without the reads of the page itself, which are on record too and would fill the pages of the audit.
    private static let byOthers: Query = [("by", "others")]

    /// A summary covers 93 days at most, so a year is read in quarters, those that have begun.
    private static func quarters(of year: String, through today: CalendarDay) -> [Query] {
        guard let number = Int(year), (1900...2198).contains(number), year.utf8.count == 4 else { return [] }
        let starts = ["\(year)-01-01", "\(year)-04-01", "\(year)-07-01", "\(year)-10-01", "\(number + 1)-01-01"]
        return zip(starts, starts.dropFirst()).filter { $0.0 <= today.text }.map { start, end in
            [("from", start + "T00:00:00Z"), ("to", end + "T00:00:00Z"), ("period", "day")]
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
        Column("accuracy", "horizontalAccuracy", .meters), Column("precision", "precision", .word("parts.precision")),
    ]
    /// The columns of visits; `departure` is empty for the present one.
    private static let ofVisits = [
        Column("arrival", "arrival", .time), Column("departure", "departure", .time), Column("place"),
        Column("latitude"), Column("longitude"), Column("accuracy", "horizontalAccuracy", .meters),
    ]
    /// The columns of trips and gaps.
    private static let ofTrips = [
        Column("start", "start", .time), Column("end", "end", .time), Column("what", "type", .word("kind")),
        Column("mode", "mode", .word("year.by")),
        Column("from", "from.place"), Column("to", "to.place"), Column("distance", "distanceMeters", .meters),
        Column("duration", "durationSeconds", .duration),
    ]
    /// The columns of crossings.
    private static let ofCrossings = [
        Column("time", "time", .time), Column("what", "type", .word("kind")), Column("region"),
        Column("stayed", "dwellSeconds", .duration),
    ]
    /// The columns of the audit. Each kind of entry fills some of them.
    private static let ofAudit = [
        Column("time", "at", .time), Column("reader", "requester|reader|actor"),
        Column("what", "event|act|question|kind", .word("audit.change|audit.act|audit.question|kind")),
        Column("name", "other|name"), Column("purpose"),
        Column("status", "end|verdict", .word("audit.end|audit.verdicts")),
        Column("reason", "reason", .word("audit.reason")),
        Column("precision", "precision", .word("parts.precision")), Column("rows", "count"),
        Column("proof", "proof.state", .word("audit.proof")), Column("path", "id"),
    ]
    /// The columns of the person's own questions.
    private static let ofAsked = [
        Column("time", "at", .time), Column("what", "kind", .word("kind")), Column("subject"),
        Column("question", "question", .word("audit.question")), Column("purpose"),
        Column("status", "status", .word("requests.status")),
        Column("precision", "precision", .word("parts.precision")), Column("rows", "count"), Column("path", "id"),
    ]
    /// The columns of one query with its answer.
    private static let ofQuery = [
        Column("status", "status", .word("requests.status")), Column("time", "location.timestamp", .time),
        Column("place", "location.place.name"),
        Column("latitude", "location.latitude"), Column("longitude", "location.longitude"),
        Column("accuracy", "location.horizontalAccuracy", .meters),
        Column("precision", "location.precision", .word("parts.precision")),
    ]
    /// The columns of queries that wait for consent.
    private static let ofConsent = [
        Column("who", "requester"), Column("purpose"), Column("deadline", "deadline", .time),
    ]
    /// The columns of grants.
    private static let ofGrants = [
        Column("who", "requester"), Column("precision", "precision", .word("parts.precision")), Column("history"),
        Column("asksEachTime"), Column("from", "from", .time), Column("until", "until", .time),
        Column("hours", "hours.weekly", .hours),
    ]
    private static let ofLinks = [
        Column("name"), Column("state", "state", .word("state")),
        Column("precision", "precision", .word("parts.precision")), Column("history"), Column("locked", "passphrase"),
        Column("opened"), Column("openings"), Column("from", "from", .time), Column("until", "until", .time),
    ]
    private static let ofSchedules = [
        Column("every", "everySeconds", .duration), Column("next", "next", .time), Column("until", "until", .time),
    ]
    /// The columns of pauses.
    private static let ofPauses = [Column("from", "from", .time), Column("until", "until", .time)]
    /// The columns of open invitations.
    private static let ofInvitations = [
        Column("precision", "precision", .word("parts.precision")), Column("history"),
        Column("expires", "expires", .time),
    ]
    /// The columns of regions; a polygon has no radius.
    private static let ofRegions = [
        Column("name", "id"), Column("latitude", "circle.latitude"), Column("longitude", "circle.longitude"),
        Column("radius", "circle.radiusMeters", .meters), Column("shape", "polygon.type", .word("kind")),
    ]
    /// The columns of places.
    private static let ofPlaces = [
        Column("place"), Column("usual", "usualHours", .hours), Column("stayed", "totalSeconds", .duration),
        Column("visits"), Column("days"), Column("newestDays", "newestDays", .links), Column("latitude"),
        Column("longitude"),
    ]
    /// The columns of devices.
    private static let ofDevices = [
        Column("name", "handle"), Column("contact", "lastContact", .time), Column("lastFix", "lastFix", .time),
        Column("app", "app.userAgent"), Column("authorization", "authorization.status", .word("devices.status")),
        Column("pushToken"), Column("rejected", "rejected", .each("reason", words: "devices.reasons")),
    ]
}
