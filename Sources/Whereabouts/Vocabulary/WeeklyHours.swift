/// The hours of a week in which a grant holds, by the clock on the wall of one time zone.
///
/// A moment belongs to the hours when that clock then shows a time inside them. So the hour that is left out when summer
/// time begins is held by nobody, and the hour that comes twice when it ends is held twice: `Su 02:00-03:00` is empty on
/// the one day and two hours long on the other.
///
/// Written as OpenStreetMap writes opening hours, weekdays and times only: `Mo-Fr 08:00-18:00; Sa 10:00-12:00,22:00-02:00`.
/// A time that does not end after it begins ends on the next day; the last minute of a day is `-24:00`.
package struct WeeklyHours: Hashable, Sendable {
    /// Minutes from Monday 00:00, ascending, half open, neither overlapping nor touching; within 0 ..< 10,080.
    package let ranges: [Range<Int64>]
    package let zone: ZoneRules

    /// `nil` unless the ranges are as they must be, and at least one.
    package init?(ranges: [Range<Int64>], zone: ZoneRules) {
        guard let first = ranges.first, let last = ranges.last, first.lowerBound >= 0,
            last.upperBound <= Self.minutesAWeek, ranges.count <= Self.mostRanges,
            ranges.allSatisfy({ !$0.isEmpty }),
            zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound < $1.lowerBound })
        else { return nil }
        (self.ranges, self.zone) = (ranges, zone)
    }

    static let minutesADay: Int64 = 24 * 60
    static let minutesAWeek = 7 * minutesADay
    /// A dozen stretches a day are more than anybody's week has.
    static let mostRanges = 84

    package func contains(_ moment: Timestamp) -> Bool { range(at: minute(moment)) != nil }

    /// Whether every moment from `start` up to `end` belongs to the hours. Cost: a step for each stretch and each change of
    /// the zone in between.
    package func hold(from start: Timestamp, to end: Timestamp) -> Bool {
        var moment = start
        while true {
            let minute = minute(moment)
            guard let range = range(at: minute) else { return false }
            // The first moment of the minute after the stretch, unless the clock is changed before.
            let left = (range.upperBound - minute) * 60_000 - zone.millisecondsIntoMinute(moment)
            var next = Timestamp(milliseconds: moment.milliseconds + left)
            if let change = zone.nextChange(after: moment) { next = min(next, change) }
            if next >= end { return true }
            moment = next
        }
    }

    /// The latest moment at or before `moment` that belongs to the hours, to the millisecond.
    package func latest(atOrBefore moment: Timestamp) -> Timestamp? {
        var moment = moment
        // Each turn goes back over one change of the zone's clock; a week without one holds at least one stretch.
        for _ in 0...zone.changes.count {
            let minute = minute(moment)
            if range(at: minute) != nil { return moment }
            let end = ranges.last { $0.upperBound <= minute }?.upperBound
            // The week before ended with its last stretch.
            let back = end.map { minute - $0 } ?? minute + Self.minutesAWeek - ranges[ranges.count - 1].upperBound
            let found = Timestamp(
                milliseconds: moment.milliseconds - back * 60_000 - zone.millisecondsIntoMinute(moment) - 1)
            guard let change = zone.lastChange(atOrBefore: moment), found < change else { return found }
            moment = Timestamp(milliseconds: change.milliseconds - 1)
        }
        return nil
    }

    private func range(at minute: Int64) -> Range<Int64>? { ranges.first { $0.contains(minute) } }

    /// What the clock on the wall shows, in minutes from Monday 00:00. 1 January 1970 was a Thursday.
    private func minute(_ moment: Timestamp) -> Int64 {
        let minutes = floorDivided(zone.localMilliseconds(moment), by: 60_000) + 3 * Self.minutesADay
        return minutes - floorDivided(minutes, by: Self.minutesAWeek) * Self.minutesAWeek
    }
}

/// What the clocks of a time zone show, for as long as it is needed: the zone's name in the IANA database and the changes
/// of its offset that were known when the rules were looked up. They are kept with whatever was decided by them, so that
/// the same moment is judged the same for ever, whatever a government or a newer database says later.
package struct ZoneRules: Hashable, Sendable {
    package struct Change: Hashable, Sendable {
        package let at: Timestamp
        /// East of Greenwich, from then on.
        package let offsetSeconds: Int64

        package init(at: Timestamp, offsetSeconds: Int64) { (self.at, self.offsetSeconds) = (at, offsetSeconds) }
    }

    package let name: String
    /// East of Greenwich, before the first change.
    package let offsetSeconds: Int64
    /// In the order of time.
    package let changes: [Change]

    /// `nil` unless the changes are in order and no offset is a day or more.
    package init?(name: String, offsetSeconds: Int64, changes: [Change]) {
        guard zip(changes, changes.dropFirst()).allSatisfy({ $0.at < $1.at }),
            ([offsetSeconds] + changes.map(\.offsetSeconds)).allSatisfy({ abs($0) < 86_400 })
        else { return nil }
        (self.name, self.offsetSeconds, self.changes) = (name, offsetSeconds, changes)
    }

    func localMilliseconds(_ moment: Timestamp) -> Int64 {
        moment.milliseconds + (changes.last { $0.at <= moment }?.offsetSeconds ?? offsetSeconds) * 1000
    }

    /// How far into its minute the clock on the wall is.
    func millisecondsIntoMinute(_ moment: Timestamp) -> Int64 {
        let local = localMilliseconds(moment)
        return local - floorDivided(local, by: 60_000) * 60_000
    }

    func nextChange(after moment: Timestamp) -> Timestamp? { changes.first { $0.at > moment }?.at }
    func lastChange(atOrBefore moment: Timestamp) -> Timestamp? { changes.last { $0.at <= moment }?.at }
}
