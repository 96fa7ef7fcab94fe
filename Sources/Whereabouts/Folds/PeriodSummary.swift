/// What a day, a week or a month held, by the clocks on the wall where the person was.
package struct PeriodSummary: Hashable, Sendable {
    package enum Period: String, Sendable, CaseIterable {
        case day, week, month

        /// The first day of the period that a day is in.
        func start(of day: CalendarDay) -> CalendarDay {
            switch self {
            case .day: day
            case .week: day.monday
            case .month: day.firstOfMonth
            }
        }

        /// The period that begins with a day, as ISO 8601 writes it.
        package func text(_ start: CalendarDay) -> String {
            switch self {
            case .day: start.text
            case .week: start.weekText
            case .month: start.monthText
            }
        }
    }

    package struct Movement: Hashable, Sendable {
        /// Ways that began in the period.
        package internal(set) var trips = 0
        package internal(set) var seconds = 0.0
        package internal(set) var distanceMeters = 0.0
    }

    package struct Stay: Hashable, Sendable {
        package internal(set) var visits = 0
        package internal(set) var seconds = 0.0
    }

    package let start: CalendarDay
    /// The time of it that was looked at: shorter than the period where the range begins or ends within it.
    package internal(set) var from, to: Timestamp
    /// As long as the period was for this person: a day has 23 or 25 hours when clocks are changed, and more or fewer for
    /// who travels.
    package internal(set) var seconds = 0.0
    /// Of which nothing is known: without a visit and without a way.
    package internal(set) var unknownSeconds = 0.0
    package internal(set) var movements: [Trip.Mode: Movement] = [:]
    /// By the place's index, as given.
    package internal(set) var stays: [Int: Stay] = [:]

    package var visits: Int { stays.values.reduce(0) { $0 + $1.visits } }
    package var staySeconds: Double { sum(stays, by: \.self, \.seconds) }
    package var moveSeconds: Double { sum(movements, by: \.rawValue, \.seconds) }
    package var distanceMeters: Double { sum(movements, by: \.rawValue, \.distanceMeters) }

    /// Adds in a fixed order, on which sums of floating-point numbers depend, so that equal summaries have equal bytes.
    private func sum<Key, Value, Order: Comparable>(
        _ values: [Key: Value], by order: (Key) -> Order, _ part: (Value) -> Double
    ) -> Double {
        values.sorted { order($0.key) < order($1.key) }.reduce(0) { $0 + part($1.value) }
    }
}

/// Cuts a person's time into days, weeks or months. Only here does a rule mention a day.
///
/// Each visit, way and time between belongs to the zone it began in. Days begin where that zone's clock says so, or some
/// hours later; so whoever flies east has a short day, and whoever crosses the date line westward skips one, or has one
/// twice as long eastward. Nothing is counted twice and nothing left out: the seconds of all periods are those of the range.
package struct SummaryDerivation {
    /// A time of one kind.
    package struct Span: Sendable {
        package enum Content: Sendable {
            /// At the place of this index.
            case visit(Int)
            case way(Trip.Way)
            case unknown
        }
        package let from, to: Timestamp
        /// `nil`: as before it.
        package let zone: ZoneRules?
        package let content: Content

        package init(from: Timestamp, to: Timestamp, zone: ZoneRules?, _ content: Content) {
            (self.from, self.to, self.zone, self.content) = (from, to, zone, content)
        }
    }

    private let period: PeriodSummary.Period
    private let dayStartMinutes: Int64
    private var periods: [CalendarDay: PeriodSummary] = [:]

    /// The periods of a range, by time; the first and the last may be cut by it.
    ///
    /// - Parameters:
    ///   - dayStartMinutes: how long after midnight days begin, 0 ..< 1440: with 4 hours, an evening out belongs to the day
    ///     it began on.
    ///   - spans: in the order of time, not overlapping; what lies between them is unknown.
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
        // A visit is one of each period it reaches into, a way one of the period it began in.
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

    /// The first moment after `moment` at which the clock shows another day.
    private func nextDay(after moment: Timestamp, on day: CalendarDay, in zone: ZoneRules) -> Timestamp {
        var moment = moment
        while true {
            let local = zone.localMilliseconds(moment) - dayStartMinutes * 60_000
            let left = (day.number + 1) * CalendarDay.milliseconds - local
            let midnight = Timestamp(milliseconds: moment.milliseconds + left)
            guard let change = zone.nextChange(after: moment), change < midnight else { return midnight }
            // The clock is changed before the day ends: it may end with that, begin again, or go on.
            if CalendarDay(at: change, in: zone, dayStartMinutes: dayStartMinutes) != day { return change }
            moment = change
        }
    }
}

extension ZoneRules {
    /// Where nothing is known of a zone.
    static var greenwich: ZoneRules {
        guard let rules = ZoneRules(name: "Etc/UTC", offsetSeconds: 0, changes: []) else {
            preconditionFailure("Greenwich has no changes.")
        }
        return rules
    }
}
