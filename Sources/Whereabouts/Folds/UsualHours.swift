/// The hours of the week in which a person is usually at a place, in its local time.
///
/// A half hour is usual if the person was there for most of it in at least half of the weeks. It takes three weeks to
/// distinguish a habit from chance.
package struct UsualHours: Sendable {
    private static let binMinutes: Int64 = 30
    private static let leastWeeks: Int64 = 3
    private static let share = 0.5
    private static let longestVisitSeconds = 100 * 86_400.0

    private let zone: ZoneRules
    /// The milliseconds spent in each half hour of the week.
    private var bins = [Int64](repeating: 0, count: Int(WeeklyHours.minutesAWeek / binMinutes))
    private var first, last: Timestamp?

    /// - Parameter zone: The time zone of the place.
    package init(in zone: ZoneRules) { self.zone = zone }

    /// Adds a visit that is over. One of months is left out: a person who never leaves has no usual hours.
    package mutating func add(from arrival: Timestamp, to departure: Timestamp) {
        guard departure.seconds(since: arrival) <= Self.longestVisitSeconds else { return }
        first = min(first ?? arrival, arrival)
        last = max(last ?? departure, departure)
        var moment = arrival
        let length = Self.binMinutes * 60_000
        while moment < departure {
            // 1 January 1970 was a Thursday.
            let local = zone.localMilliseconds(moment) + 3 * CalendarDay.milliseconds
            let week = WeeklyHours.minutesAWeek * 60_000
            let intoWeek = local - floorDivided(local, by: week) * week
            let end = min(departure, Timestamp(milliseconds: moment.milliseconds + length - intoWeek % length))
            bins[Int(intoWeek / length)] += end.milliseconds - moment.milliseconds
            moment = end
        }
    }

    /// The usual hours; `nil` if there is no habit, or too little data.
    package var hours: WeeklyHours? {
        guard let first, let last else { return nil }
        let weeks = Int64((last.seconds(since: first) / (7 * 86_400)).rounded(.up))
        guard weeks >= Self.leastWeeks else { return nil }
        let length = Self.binMinutes * 60_000
        var ranges: [Range<Int64>] = []
        for (index, milliseconds) in bins.enumerated()
        where Double(milliseconds) >= Self.share * Double(weeks * length) {
            let from = Int64(index) * Self.binMinutes
            if let open = ranges.last, open.upperBound == from {
                ranges[ranges.count - 1] = open.lowerBound..<from + Self.binMinutes
            } else {
                ranges.append(from..<from + Self.binMinutes)
            }
        }
        return WeeklyHours(ranges: ranges, zone: zone)
    }
}
