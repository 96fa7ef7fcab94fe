/// The local dates on which a person was at a place: how many, and the newest of them.
///
/// A visit over midnight counts for each date that it touches; one of no length counts for its date.
package struct VisitedDays: Sendable {
    /// How many dates ``newest`` keeps.
    package static let newestMax = 10

    /// `nil` if the zone of the place is not known: dates are then those of UTC.
    private let zone: ZoneRules?
    /// The number of dates.
    package private(set) var count: Int64 = 0
    /// The newest dates, at most ``newestMax``, the newest first.
    package private(set) var newest: [CalendarDay] = []

    /// - Parameter zone: The time zone of the place; `nil` for UTC.
    package init(in zone: ZoneRules?) { self.zone = zone }

    /// Adds a visit. Visits come in the order of their arrivals; a date that two of them touch counts once.
    ///
    /// Cost: constant, whatever the length of the visit.
    package mutating func add(from arrival: Timestamp, to end: Timestamp) {
        // A visit that ends at midnight does not touch the date that begins then.
        let last = Timestamp(milliseconds: max(arrival.milliseconds, end.milliseconds - 1))
        let from = max(day(of: arrival).number, (newest.first?.number ?? .min) + (newest.isEmpty ? 0 : 1))
        let through = day(of: last).number
        guard from <= through else { return }
        count += through - from + 1
        let added = (max(from, through - Int64(Self.newestMax) + 1)...through).reversed().map {
            CalendarDay(number: $0)
        }
        newest = Array((added + newest).prefix(Self.newestMax))
    }

    private func day(of moment: Timestamp) -> CalendarDay {
        zone.map { CalendarDay(at: moment, in: $0) } ?? CalendarDay(utc: moment)
    }
}
