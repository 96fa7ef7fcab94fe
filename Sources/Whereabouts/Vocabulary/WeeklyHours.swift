/// The hours of a week in which a grant is valid, in the local time of one zone.
///
/// A time is in the hours if its local time is. So an hour that is skipped when summer time begins is never in them,
/// and one that is repeated when it ends is in them twice: `Su 02:00-03:00` is empty on the one day and two hours long
/// on the other.
///
/// The text has OpenStreetMap's form of opening hours, with weekdays and times only: `Mo-Fr 08:00-18:00; Sa
/// 10:00-12:00,22:00-02:00`. A range whose end is not after its beginning ends on the next day; `-24:00` is the end of
/// the day.
package struct WeeklyHours: Hashable, Sendable {
    /// Minutes from Monday 00:00, ascending, half open, neither overlapping nor touching, within 0 ..< 10,080.
    package let ranges: [Range<Int64>]
    /// The time zone, with its rules as they were looked up.
    package let zone: ZoneRules

    /// `nil` unless there is at least one range and all are as ``ranges`` requires.
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
    /// A dozen ranges each day, more than anyone needs.
    static let mostRanges = 84

    /// Whether a time is in the hours.
    package func contains(_ moment: Timestamp) -> Bool { range(at: minute(moment)) != nil }

    /// Whether all times from `start` up to `end` are in the hours. Cost: one step for each range and each change of
    /// the zone in between.
    package func hold(from start: Timestamp, to end: Timestamp) -> Bool {
        var moment = start
        while true {
            let minute = minute(moment)
            guard let range = range(at: minute) else { return false }
            // The end of the range, unless the clock is changed before.
            let left = (range.upperBound - minute) * 60_000 - zone.millisecondsIntoMinute(moment)
            var next = Timestamp(milliseconds: moment.milliseconds + left)
            if let change = zone.nextChange(after: moment) { next = min(next, change) }
            if next >= end { return true }
            moment = next
        }
    }

    /// The latest time at or before `moment` that is in the hours, to the millisecond.
    package func latest(atOrBefore moment: Timestamp) -> Timestamp? {
        var moment = moment
        // Each turn passes one change of the zone's clock; a week without a change has at least one range.
        for _ in 0...zone.changes.count {
            let minute = minute(moment)
            if range(at: minute) != nil { return moment }
            let end = ranges.last { $0.upperBound <= minute }?.upperBound
            // The week before ended with its last range.
            let back = end.map { minute - $0 } ?? minute + Self.minutesAWeek - ranges[ranges.count - 1].upperBound
            let found = Timestamp(
                milliseconds: moment.milliseconds - back * 60_000 - zone.millisecondsIntoMinute(moment) - 1)
            guard let change = zone.lastChange(atOrBefore: moment), found < change else { return found }
            moment = Timestamp(milliseconds: change.milliseconds - 1)
        }
        return nil
    }

    private func range(at minute: Int64) -> Range<Int64>? { ranges.first { $0.contains(minute) } }

    /// The local time in minutes from Monday 00:00. 1 January 1970 was a Thursday.
    private func minute(_ moment: Timestamp) -> Int64 {
        let minutes = floorDivided(zone.localMilliseconds(moment), by: 60_000) + 3 * Self.minutesADay
        return minutes - floorDivided(minutes, by: Self.minutesAWeek) * Self.minutesAWeek
    }
}

/// The local time of a zone over a period: the zone's name in the IANA database, and the changes of its offset as known
/// when the rules were looked up. They are stored with the decisions based on them, so that the same time is always
/// judged in the same way, whatever a government or a newer database changes later.
package struct ZoneRules: Hashable, Sendable {
    /// A change of the offset.
    package struct Change: Hashable, Sendable {
        /// The moment of the change.
        package let at: Timestamp
        /// Seconds east of Greenwich, from then on.
        package let offsetSeconds: Int64

        package init(at: Timestamp, offsetSeconds: Int64) { (self.at, self.offsetSeconds) = (at, offsetSeconds) }
    }

    /// The zone's name in the IANA database, for example `Europe/Vienna`.
    package let name: String
    /// Seconds east of Greenwich, before the first change.
    package let offsetSeconds: Int64
    /// In order of time.
    package let changes: [Change]

    /// `nil` unless the changes are in order and each offset is less than a day.
    package init?(name: String, offsetSeconds: Int64, changes: [Change]) {
        guard zip(changes, changes.dropFirst()).allSatisfy({ $0.at < $1.at }),
            ([offsetSeconds] + changes.map(\.offsetSeconds)).allSatisfy({ abs($0) < 86_400 })
        else { return nil }
        (self.name, self.offsetSeconds, self.changes) = (name, offsetSeconds, changes)
    }

    func localMilliseconds(_ moment: Timestamp) -> Int64 {
        moment.milliseconds + (changes.last { $0.at <= moment }?.offsetSeconds ?? offsetSeconds) * 1000
    }

    /// The milliseconds of the local time within its minute.
    func millisecondsIntoMinute(_ moment: Timestamp) -> Int64 {
        let local = localMilliseconds(moment)
        return local - floorDivided(local, by: 60_000) * 60_000
    }

    func nextChange(after moment: Timestamp) -> Timestamp? { changes.first { $0.at > moment }?.at }
    func lastChange(atOrBefore moment: Timestamp) -> Timestamp? { changes.last { $0.at <= moment }?.at }
}
