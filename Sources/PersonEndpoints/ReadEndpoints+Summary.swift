import Answers
import Geodesy
import HTTPInterface
import HTTPServer
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// Summaries of days, weeks and months. Computed for each read from visits and trips, so that they follow every change
/// of these.
extension ReadEndpoints {
    /// The longest range: a longer one would read too many fixes at once.
    private static let summarySeconds: Int64 = 93 * 86_400

    /// `GET /v1/people/*/summary`: sums for each `period` (`day`, `week` or `month`) from `from` to `to`, at most 93
    /// days.
    ///
    /// Days begin `dayStartMinutes` after local midnight, in the zone where the person was. Times are in seconds,
    /// distances in meters. The seconds of a period are stays, moves and unknown time together; a day on which the
    /// clocks change has 23 or 25 hours.
    ///
    /// Cost: every visit from the first one, and the fixes of all trips of the range.
    ///
    /// Recorded with the question `summary`.
    ///
    /// - Throws: 400 for an unknown period, 422 without `from` or `day` and for a longer range.
    package func summary(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        guard let period = PeriodSummary.Period(rawValue: exchange.request.parameter("period") ?? "day") else {
            throw .invalid("\"period\" must be day, week or month.")
        }
        guard exchange.request.parameter("from") != nil || exchange.request.parameter("day") != nil else {
            throw .refused("\"from\" or \"day\" is missing: give the beginning of the first period.")
        }
        let dayStart = try exchange.integer("dayStartMinutes", in: 0...1439, default: 0)
        return try views.read(exchange, context, .summary, from: TimelineTable.name) { (reading) throws(Problem) in
            let permit = reading.permit
            let now = reading.now
            let range = try Self.range(reading)
            let to = min(range.to ?? now, now)
            guard let from = range.from, from < to, to.seconds(since: from) <= Double(Self.summarySeconds) else {
                throw .refused(
                    "\"from\" must be at most \(Self.summarySeconds / 86_400) days before \"to\" or the present.")
            }
            let corrections = decisions.corrections(of: reading.permit.subject)
            var places = PlaceDerivation()
            var zones = PlaceZones(views.timeZones, context, from: from, to: to)
            let (spans, asOf) = try context.read(TimelineTable.name) {
                (connection) throws(SQLiteError) -> [SummaryDerivation.Span] in
                var spans: [SummaryDerivation.Span] = []
                // From the first visit, so that a place has the same id in every answer.
                try Self.eachVisit(
                    of: permit, from: permit.notBefore, to: to, corrections, context, now, in: connection
                ) {
                    visit in
                    let place = places.add(visit)
                    guard visit.departure ?? now > from else { return }
                    spans.append(
                        SummaryDerivation.Span(
                            from: visit.arrival, to: visit.departure ?? now, zone: zones.rules(at: visit.coordinate),
                            .visit(place)))
                }
                var next: Timestamp? = from
                while let begin = next {
                    let found = try Self.waysAndGaps(
                        of: permit, from: begin, to: to, corrections, context, now, in: connection)
                    for trip in found.trips {
                        guard let way = trip.way else { continue }
                        spans.append(
                            SummaryDerivation.Span(
                                from: trip.start, to: trip.end, zone: zones.rules(at: trip.from), .way(way)))
                    }
                    next = found.next.map { max($0, begin) }
                }
                return spans.sorted { $0.from < $1.from }
            }
            let joined = JoinedPlaces(places.places, joinedBy: corrections.places)
            let periods = SummaryDerivation.periods(
                period, of: from..<to, dayStartMinutes: dayStart, spans: spans.map { $0.inPlace { joined.indices[$0] } }
            )
            let languages = exchange.languages(context)
            return PageWriter.page(periods, next: nil, asOf: asOf, reading.references) { summary in
                let longest = summary.stays.sorted { ($1.value.seconds, $0.key) < ($0.value.seconds, $1.key) }
                return SummaryItem(
                    period: period.text(summary.start), from: Moment(summary.from), to: Moment(summary.to),
                    seconds: summary.seconds, staySeconds: summary.staySeconds, moveSeconds: summary.moveSeconds,
                    unknownSeconds: summary.unknownSeconds, distanceMeters: summary.distanceMeters,
                    visits: Int64(summary.visits),
                    places: longest.map { index, stay in
                        let place = joined.places[index]
                        let name = Self.placeName(at: place.coordinate, corrections, permit, context, languages)
                        return StayItem(
                            id: place.id.hexadecimal, place: name, visits: Int64(stay.visits), seconds: stay.seconds)
                    },
                    modes: summary.movements.sorted { $0.key.rawValue < $1.key.rawValue }.map { mode, movement in
                        MovementItem(
                            mode: mode.word, trips: Int64(movement.trips), seconds: movement.seconds,
                            distanceMeters: movement.distanceMeters)
                    })
            }
        }
    }

    /// The visits read at a time.
    ///
    /// The rest of the range is read in further rounds of this size.
    private static let visitsAtOnce: Int64 = 1000

    /// Gives every visit of a range that may be shown, by arrival. A hidden visit counts as little as one that was
    /// never reported. A visit that still lasts ends at `now`.
    ///
    /// - Parameter body: Called for each visit, in order of arrival.
    static func eachVisit(
        of permit: Permit, from: Timestamp?, to: Timestamp?, _ corrections: VisitCorrections, _ context: AnswerContext,
        _ now: Timestamp, in connection: borrowing Connection, _ body: (Visit) -> Void
    ) throws(SQLiteError) {
        _ = try ShownRows.each(upTo: .max, after: nil, atOnce: Self.visitsAtOnce, key: \Visit.arrival) {
            permit.shows($0, at: now)
        } fetch: { (after, count) throws(SQLiteError) in
            try TimelineReader.visits(
                of: permit.subject, from: from, to: to, arrivingAfter: after, limit: count, at: now,
                corrected: corrections, context.geocentric, in: connection)
        } take: { (visit) throws(SQLiteError) in
            body(visit)
        }
    }
}

/// The local time of places; each zone is looked up once.
///
/// Rules are for the times of the answer only, since zones change theirs.
struct PlaceZones {
    private let timeZones: TimeZoneDatabase
    private let context: AnswerContext
    private let from, to: Timestamp
    /// The rules of the time zones used so far; `nil` for a name without rules.
    private var known: [String: ZoneRules?] = [:]

    /// - Parameters:
    ///   - from: The beginning of the times to convert.
    ///   - to: Their end.
    init(_ timeZones: TimeZoneDatabase, _ context: AnswerContext, from: Timestamp, to: Timestamp) {
        (self.timeZones, self.context, self.from, self.to) = (timeZones, context, from, to)
    }

    /// `nil` if the zone of the place is not known.
    ///
    /// Cost: a look-up in the gazetteer for each call, and one of the rules for each zone.
    mutating func rules(at coordinate: Coordinate) -> ZoneRules? {
        guard let name = context.timeZone(at: coordinate) else { return nil }
        if let rules = known[name] { return rules }
        let rules = timeZones.rules(name, from: from, to: to)
        known[name] = .some(rules)
        return rules
    }
}
