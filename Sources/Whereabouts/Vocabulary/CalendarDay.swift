/// A day of the Gregorian calendar, without a time zone.
package struct CalendarDay: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01.
    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// The local day of a time in a zone, if days begin this many minutes after midnight.
    package init(at moment: Timestamp, in zone: ZoneRules, dayStartMinutes: Int64 = 0) {
        number = floorDivided(zone.localMilliseconds(moment) - dayStartMinutes * 60_000, by: Self.milliseconds)
    }

    /// The day of a time in UTC.
    package init(utc moment: Timestamp) { number = floorDivided(moment.milliseconds, by: Self.milliseconds) }

    /// Reads `2026-05-04`, of a year from 1900 to 2199; `nil` for any other text, and for a day that the month does not
    /// have.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let year = Int64(parts[0]), let month = Int64(parts[1]), let dayOfMonth = Int64(parts[2]),
            (1900...2199).contains(year), (1...12).contains(month), (1...31).contains(dayOfMonth)
        else { return nil }
        // Years that begin in March, so that the leap day is the last; 365.25 days each, except for three in 400 years.
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
        number = 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
        guard civil == (year, month, dayOfMonth) else { return nil }
    }

    /// The first time of the day in a zone; for a day that the zone skipped, that of the next one.
    package func start(in zone: ZoneRules) -> Timestamp {
        var moment = earliestStart
        while CalendarDay(at: moment, in: zone) < self {
            let left = number * Self.milliseconds - zone.localMilliseconds(moment)
            let midnight = Timestamp(milliseconds: moment.milliseconds + left)
            moment = min(midnight, zone.nextChange(after: moment) ?? midnight)
        }
        return moment
    }

    /// A time before the day begins anywhere: no zone is a day ahead of UTC or behind it.
    package var earliestStart: Timestamp { Timestamp(milliseconds: (number - 1) * Self.milliseconds) }
    /// A time after the day has begun everywhere.
    package var latestStart: Timestamp { Timestamp(milliseconds: (number + 1) * Self.milliseconds) }
    /// Noon UTC.
    package var noon: Timestamp { Timestamp(milliseconds: number * Self.milliseconds + Self.milliseconds / 2) }

    static let milliseconds: Int64 = 86_400_000

    package static func < (a: CalendarDay, b: CalendarDay) -> Bool { a.number < b.number }

    /// The days since the last Monday: 1 January 1970 was a Thursday.
    package var weekday: Int64 { number + 3 - 7 * floorDivided(number + 3, by: 7) }

    /// The Monday of the day's week.
    package var monday: CalendarDay { CalendarDay(number: number - weekday) }

    /// The first day of the day's month.
    package var firstOfMonth: CalendarDay { CalendarDay(number: number - civil.day + 1) }

    /// Year, month and day of the month, computed from eras of 400 years that begin on 1 March.
    package var civil: (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let era = floorDivided(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    /// The day in ISO 8601, for example `2026-05-04`.
    package var text: String { "\(monthText)-\(Self.digits(civil.day, 2))" }

    /// The day's month in ISO 8601, for example `2026-05`.
    package var monthText: String { "\(Self.digits(civil.year, 4))-\(Self.digits(civil.month, 2))" }

    /// The day's week in ISO 8601, for example `2026-W19`. The first week of a year is the one with its first Thursday.
    package var weekText: String {
        let thursday = CalendarDay(number: monday.number + 3)
        var first = thursday
        while CalendarDay(number: first.number - 7).civil.year == thursday.civil.year {
            first = CalendarDay(number: first.number - 7)
        }
        return "\(Self.digits(thursday.civil.year, 4))-W\(Self.digits((thursday.number - first.number) / 7 + 1, 2))"
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

/// The quotient rounded down, also for negative numbers.
func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
    value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
}
