import HTTPInterface
import Replies
import Whereabouts

extension ReadEndpoints {
    /// Stored data about a person. Each answer is recorded before it leaves.
    package var operations: [Operation] {
        [
            .read(
                APIPath.peopleLocation.text, location,
                summary: "Read a person's newest location.",
                description:
                    "For the person, the operator, or a person with a grant. The read is recorded before the answer is sent. `location` is null if there is none.",
                access: .token(.query), discloses: .location,
                answer: Operation.Answer(
                    Schema.object(of: LocationAnswer.self), named: "LastLocation"),
                hasPlaces: true, hasNames: true),
            .read(
                APIPath.peopleTrack.text, track,
                summary: "List a person's fixes.",
                description:
                    "In order of time. For the person, the operator, or a person with a grant that includes history. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .track,
                query: Self.fixParameters + [
                    Operation.Parameter(
                        name: "distanceFilter", schema: Schema.integer(0...Self.mostFilterMeters),
                        description:
                            "Only fixes without an anomaly, each at least this many meters from the one before."),
                    Operation.Parameter(
                        name: "heights", schema: Schema.word("both", "reported"),
                        description:
                            "`reported`: only the heights that the device reported, and no height computed from the other one."
                    ),
                    Operation.Parameter(
                        name: "form", schema: Schema.word("points"),
                        description: "The whole range as points for a map, in bytes that HTTP.md specifies."),
                    Operation.Parameter(
                        name: "zoom", schema: Schema.integer(0...22),
                        description: "The map's zoom, by which `points` are thinned."),
                ],
                answer: Operation.Answer(
                    Schema.page(
                        Schema.placedFix(
                            ["timestamp": Schema.time, "device": Schema.handle, "number": Schema.event],
                            optional: ["anomaly": Schema.word("invalid", "noFix", "inTheFuture", "vague", "spike")])),
                    pageOf: "TrackFix"),
                answerTypes: [TrackPoints.mediaType], hasPlaces: true),
            .read(
                APIPath.peopleVisits.text, visits,
                summary: "List a person's visits.",
                description:
                    "In order of arrival. `departure` is null for a visit under way. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .visits, query: Self.rowParameters + Self.pastParameters,
                answer: Operation.Answer(Schema.page(of: VisitItem.self), pageOf: "Visit"), hasPlaces: true,
                hasNames: true),
            .read(
                APIPath.peopleVisit.text, visit,
                summary: "Explain a visit by its fixes.",
                description:
                    "The three fixes before and after the visit, and those during it. If the visit has changed since, `visit` is null and `successor` is the id of the visit at its time. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .visits,
                answer: Operation.Answer(
                    Schema.object(of: ExplainedVisit.self), named: "ExplainedVisit"),
                hasPlaces: true, hasNames: true),
            .read(
                APIPath.peopleCrossings.text, crossings,
                summary: "List a person's crossings of regions.",
                description:
                    "Entries and exits in order of time; an exit has the seconds that the person stayed. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .crossings, query: Self.rowParameters + Self.pastParameters,
                answer: Operation.Answer(Schema.page(of: CrossingItem.self), pageOf: "Crossing")),
            .read(
                APIPath.peopleTrips.text, trips,
                summary: "List a person's trips and gaps.",
                description:
                    "The movements between visits, with distance and mode, and the gaps of more than ten minutes without data. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .trips, query: Self.rangeParameters + [.after] + Self.pastParameters,
                answer: Operation.Answer(Schema.page(Self.trip), pageOf: "Trip"),
                hasPlaces: true, hasNames: true),
            .read(
                APIPath.peoplePlaces.text, places,
                summary: "List the places a person visited.",
                description:
                    "The place with the most time comes first. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .places, query: Self.rangeParameters + Self.pastParameters,
                answer: Operation.Answer(Schema.page(of: PlaceItem.self), pageOf: "VisitedPlace"),
                hasPlaces: true, hasNames: true),
            .read(
                APIPath.peopleSummary.text, summary,
                summary: "Sum up a person's days, weeks or months.",
                description:
                    "Stays, trips and time without data, at most 93 days at once. Periods begin by the local time where the person was. The read is recorded before the answer is sent.",
                access: .token(.query), discloses: .summary,
                query: [
                    Operation.Parameter(
                        name: "from", schema: Schema.timeGiven,
                        description: "The beginning of the first period; required without `day`."),
                    .to, .day, .timeZone,
                    Operation.Parameter(
                        name: "period", schema: Schema.word("day", "week", "month"),
                        description: "The length of a period."),
                    Operation.Parameter(
                        name: "dayStartMinutes", schema: Schema.integer(0...1439),
                        description: "The time after midnight at which a day begins."),
                ],
                answer: Operation.Answer(Schema.page(of: SummaryItem.self), pageOf: "SummaryPeriod"),
                hasNames: true),
            .read(
                APIPath.peopleAudit.text, audit,
                summary: "List who asked for, read or changed a person's data.",
                description:
                    "The newest entry comes first. Needs the scope `audit`. Entries are queries with their pushes, fixes and disclosures, reads, changes of rights, and the operator's acts that concern everyone. The read is recorded too.",
                access: .token(.audit), discloses: .audit,
                query: Self.rangeParameters + Self.newestParameters + Self.pastParameters + [
                    Operation.Parameter(
                        name: "by", schema: Schema.word(Self.byOthers),
                        description: "With `others`, the person's own reads are left out.")
                ],
                answer: Operation.Answer(
                    Schema.page(
                        Schema.object(
                            ["kind": Schema.word("query", "read", "change", "act"), "at": Schema.time],
                            optional: ["number": Schema.event, "proof": Schema.object(of: AuditProofItem.self)])),
                    pageOf: "AuditEntry"),
                answerTypes: ["text/csv"], mixesTexts: true),
            .read(
                APIPath.peopleAsked.text, asked,
                summary: "List a person's questions about others.",
                description:
                    "The newest entry comes first. Needs the scope `audit`. Entries show the answers that the person saw, as hashes instead of locations.",
                access: .token(.audit), discloses: .audit, query: Self.newestParameters,
                answer: Operation.Answer(
                    Schema.page(
                        Schema.object([
                            "kind": Schema.word("query", "read", "refusals"), "number": Schema.event, "at": Schema.time,
                            "status": Schema.text,
                        ])), pageOf: "AskedEntry")),
            .read(
                APIPath.peopleFindings.text, findings,
                summary: "List conspicuous patterns of questions about a person.",
                description:
                    "Over 90 days, for example 12 questions in one day or questions in three nights of two weeks. Needs the scope `audit`.",
                access: .token(.audit), discloses: .audit,
                answer: Operation.Answer(Schema.page(of: FindingItem.self), pageOf: "Finding")),
            .read(
                APIPath.peopleRegions.text, regions,
                summary: "List a person's regions.",
                description: "Each has the form in which it was added. The read is recorded before the answer is sent.",
                access: .token(.manage), discloses: .settings,
                answer: Operation.Answer(
                    Schema.page(of: RegionItem.self, atMost: Limits.regionsPerPerson), pageOf: "Region"),
                hasPlaces: true),
        ]
    }

    // MARK: Parts

    /// A trip, with its time zone beside its ends.
    private static let trip: JSONTree = {
        let item = Schema.object(of: TripItem.self)
        return item.replacing("properties", item["properties"]?.moving("timeZone", after: "to") ?? [:])
    }()

    /// The parameters that choose a time range.
    static let rangeParameters: [Operation.Parameter] = [.from, .to, .day, .timeZone]
    /// The parameters of an answer as of an earlier moment.
    private static let pastParameters: [Operation.Parameter] = [.asOf, .asOfNumber]
    /// The parameters of a list of derived rows, such as visits.
    static let rowParameters: [Operation.Parameter] = rangeParameters + [.limit(rowsPerPage), .after]
    /// The parameters of a list of fixes, whose pages are longer.
    private static let fixParameters: [Operation.Parameter] = rangeParameters + [.limit(fixesPerPage), .after]
    /// The parameters of a list that is newest first and has no time range.
    private static let newestParameters: [Operation.Parameter] = [.limit(auditRowsPerPage), .after]
}
