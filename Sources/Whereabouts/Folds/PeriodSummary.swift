/// The summary of a day, a week or a month, in the local time where the person was.
package struct PeriodSummary: Hashable, Sendable {
    /// The length of the periods. Weeks begin on Monday.
    package enum Period: String, Sendable, CaseIterable {
        case day, week, month

        /// The first day of the period that contains a day.
        func start(of day: CalendarDay) -> CalendarDay {
            switch self {
            case .day: day
            case .week: day.monday
            case .month: day.firstOfMonth
            }
        }

        /// The period that begins with a day, in ISO 8601, for example `2026-W19`.
        package func text(_ start: CalendarDay) -> String {
            switch self {
            case .day: start.text
            case .week: start.weekText
            case .month: start.monthText
            }
        }
    }

    /// The trips with one mode.
    package struct Movement: Hashable, Sendable {
        /// The trips that began in the period.
        package internal(set) var trips = 0
        /// The seconds of the trips that fall into the period.
        package internal(set) var seconds = 0.0
        /// The meters of these seconds; a trip across the border is divided in proportion to time.
        package internal(set) var distanceMeters = 0.0
    }

    /// The time at one place.
    package struct Stay: Hashable, Sendable {
        /// The visits that overlap the period.
        package internal(set) var visits = 0
        /// The seconds of visits that fall into the period.
        package internal(set) var seconds = 0.0
    }

    /// The first day of the period.
    package let start: CalendarDay
    /// The part of the period that was summarized: shorter than the period if the range begins or ends within it.
    package internal(set) var from, to: Timestamp
    /// The period's length for this person in seconds. A day has 23 or 25 hours when clocks change, and other lengths
    /// for a traveler.
    package internal(set) var seconds = 0.0
    /// The seconds without a visit and without a trip.
    package internal(set) var unknownSeconds = 0.0
    /// The movements by mode; modes without a movement are missing.
    package internal(set) var movements: [Trip.Mode: Movement] = [:]
    /// By the place's index, as given.
    package internal(set) var stays: [Int: Stay] = [:]

    /// The visits in the period.
    package var visits: Int { stays.values.reduce(0) { $0 + $1.visits } }
    /// The seconds at places.
    package var staySeconds: Double { sum(stays, by: \.self, \.seconds) }
    /// The seconds on the way.
    package var moveSeconds: Double { sum(movements, by: \.rawValue, \.seconds) }
    /// The meters on the way.
    package var distanceMeters: Double { sum(movements, by: \.rawValue, \.distanceMeters) }

    /// Adds in a fixed order, which affects sums of floating-point numbers, so that equal summaries have equal bytes.
    private func sum<Key, Value, Rank: Comparable>(
        _ values: [Key: Value], by order: (Key) -> Rank, _ part: (Value) -> Double
    ) -> Double {
        values.sorted { order($0.key) < order($1.key) }.reduce(0) { $0 + part($1.value) }
    }
}

/// Divides a person's time into days, weeks or months. No other rule depends on days.
///
/// Each visit, trip and gap belongs to the zone in which it began. A day begins by that zone's clock, or some hours
/// later. So a person who flies east has a short day, and one who crosses the date line westward skips a day, or
/// eastward has one twice as long. The seconds of all periods add up to those of the range.
package struct SummaryDerivation {
    /// A time of one kind.
    package struct Span: Sendable {
        /// The kind.
        package enum Content: Sendable {
            /// A visit to the place with this index.
            case visit(Int)
            case way(Trip.Way)
            case unknown
        }
        /// When it begins and ends.
        package let from, to: Timestamp
        /// The zone; `nil` for that of the span before.
        package let zone: ZoneRules?
        /// Where the person was.
        package let content: Content

        package init(from: Timestamp, to: Timestamp, zone: ZoneRules?, _ content: Content) {
            (self.from, self.to, self.zone, self.content) = (from, to, zone, content)
        }

        /// The span with another index of its place; other spans as they are.
        package func inPlace(_ index: (Int) -> Int) -> Span {
            guard case .visit(let place) = content else { return self }
            return Span(from: from, to: to, zone: zone, .visit(index(place)))
        }
    }

    private let period: PeriodSummary.Period
    private let dayStartMinutes: Int64
    private var periods: [CalendarDay: PeriodSummary] = [:]

    /// The periods of a range by time; the range may cut the first and the last.
    ///
    /// - Parameters:
    ///   - dayStartMinutes: The minutes after midnight at which days begin, 0 ..< 1440. With four hours, an evening out
    ///     belongs to the day on which it began.
    ///   - spans: The spans in order of time, without overlap. The time between them is unknown.
    package static func periods(
        _ period: PeriodSummary.Period, of range: Range<Timestamp>, dayStartMinutes: Int64, spans: [Span]
    ) -> [PeriodSummary] {
        var derivation = SummaryDerivation(period: period, dayStartMinutes: dayStartMinutes)
        var zone = spans.lazy.compactMap(\.zone).first ?? ZoneRules.greenwich
        var reached = range.lowerBound
        for span in spans {
            let (from, to) = (max(span.from, reached), min(span.to, range.upperBound))
            guard from < to else { continue }
            derivation.add(reached..<from, of: nil, in: zone)
            zone = span.zone ?? zone
            derivation.add(from..<to, of: span, in: zone)
            reached = to
        }
        derivation.add(reached..<range.upperBound, of: nil, in: zone)
        return derivation.periods.values.sorted { $0.start < $1.start }
    }

    private init(period: PeriodSummary.Period, dayStartMinutes: Int64) {
        (self.period, self.dayStartMinutes) = (period, dayStartMinutes)
    }

    private mutating func add(_ time: Range<Timestamp>, of span: Span?, in zone: ZoneRules) {
        var moment = time.lowerBound
        var isFirst = true
        // A visit counts in each period that it overlaps, a trip in the period in which it began.
        var visited: Set<CalendarDay> = []
        while moment < time.upperBound {
            let day = CalendarDay(at: moment, in: zone, dayStartMinutes: dayStartMinutes)
            let end = min(time.upperBound, nextDay(after: moment, on: day, in: zone))
            let seconds = end.seconds(since: moment)
            let start = period.start(of: day)
            var summary = periods[start] ?? PeriodSummary(start: start, from: moment, to: end)
            (summary.from, summary.to) = (min(summary.from, moment), max(summary.to, end))
            summary.seconds += seconds
            switch span?.content ?? .unknown {
            case .unknown: summary.unknownSeconds += seconds
            case .visit(let place):
                summary.stays[place, default: PeriodSummary.Stay()].seconds += seconds
                if visited.insert(start).inserted { summary.stays[place, default: PeriodSummary.Stay()].visits += 1 }
            case .way(let way):
                let whole = span.map { $0.to.seconds(since: $0.from) } ?? seconds
                var movement = summary.movements[way.mode] ?? PeriodSummary.Movement()
                movement.seconds += seconds
                movement.distanceMeters += way.distanceMeters * seconds / whole
                if isFirst, time.lowerBound == span?.from { movement.trips += 1 }
                summary.movements[way.mode] = movement
            }
            periods[start] = summary
            isFirst = false
            moment = end
        }
    }

    /// The first time after `moment` at which the local day is another one.
    private func nextDay(after moment: Timestamp, on day: CalendarDay, in zone: ZoneRules) -> Timestamp {
        var moment = moment
        while true {
            let local = zone.localMilliseconds(moment) - dayStartMinutes * 60_000
            let left = (day.number + 1) * CalendarDay.milliseconds - local
            let midnight = Timestamp(milliseconds: moment.milliseconds + left)
            guard let change = zone.nextChange(after: moment), change < midnight else { return midnight }
            // The clock changes before the day ends: with the change the day may end, begin again, or continue.
            if CalendarDay(at: change, in: zone, dayStartMinutes: dayStartMinutes) != day { return change }
            moment = change
        }
    }
}

extension ZoneRules {
    /// The zone if none is known.
    static var greenwich: ZoneRules {
        guard let rules = ZoneRules(name: "Etc/UTC", offsetSeconds: 0, changes: []) else {
            preconditionFailure("Greenwich has no changes.")
        }
        return rules
    }
}
