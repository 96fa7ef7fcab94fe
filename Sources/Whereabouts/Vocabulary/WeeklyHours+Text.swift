/// Why a text is not valid weekly hours: a sentence with the expected form.
package struct WeeklyHoursError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence, for example `Hours must have a form such as "Mo-Fr 08:00-18:00; Sa 10:00-12:00".`
    package let description: String
}

/// The written form.
extension WeeklyHours {
    /// The weekdays in the order of the week, as OpenStreetMap writes them.
    private static let days = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
    /// The longest text: a dozen ranges each day, written out.
    private static let mostCharacters = 1200

    /// - Throws: ``WeeklyHoursError`` if `text` is not valid.
    ///
    /// Reads a text such as `Mo-Fr 08:00-18:00; Sa 10:00-12:00,22:00-02:00` in the local time of a zone. A range over
    /// midnight ends on the next day.
    package init(_ text: String, in zone: ZoneRules) throws(WeeklyHoursError) {
        guard text.utf8.count <= Self.mostCharacters else { throw Self.malformed }
        var seen = Set<Int>()
        var ranges: [Range<Int64>] = []
        for rule in text.split(separator: ";", omittingEmptySubsequences: false) {
            let sides = rule.split(separator: " ")
            guard sides.count == 2 else { throw Self.malformed }
            let days = try Self.days(sides[0])
            for day in days where !seen.insert(day).inserted {
                throw WeeklyHoursError(
                    description: "A weekday may be in one part of the hours only; \(Self.days[day]) is in two.")
            }
            for day in days { ranges += try Self.times(sides[1], on: Int64(day)) }
        }
        guard let hours = WeeklyHours(ranges: Self.joined(ranges), zone: zone) else { throw Self.malformed }
        self = hours
    }

    /// A text that has another form.
    private static let malformed = WeeklyHoursError(
        description: "Hours must have a form such as \"Mo-Fr 08:00-18:00; Sa 10:00-12:00\".")

    private static func days(_ text: Substring) throws(WeeklyHoursError) -> [Int] {
        var found: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map {
                days.firstIndex(of: String($0))
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else {
                throw malformed
            }
            var day = first
            found.append(day)
            while day != last {
                day = (day + 1) % 7
                found.append(day)
            }
        }
        return found
    }

    private static func times(_ text: Substring, on day: Int64) throws(WeeklyHoursError) -> [Range<Int64>] {
        var found: [Range<Int64>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(minute)
            guard ends.count == 2, let from = ends[0], let to = ends[1], from < minutesADay, from != to else {
                throw malformed
            }
            let start = day * minutesADay + from
            let end = day * minutesADay + (to > from ? to : to + minutesADay)
            found.append(start..<min(end, minutesAWeek))
            // Sunday night continues on Monday morning.
            if end > minutesAWeek { found.append(0..<end - minutesAWeek) }
        }
        return found
    }

    /// `08:30` as minutes; `24:00` is the end of the day.
    private static func minute(_ text: Substring) -> Int64? {
        let digits = text.utf8.map { Int64($0) - 48 }
        guard digits.count == 5, digits[2] == 10 else { return nil }
        guard [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) }) else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
        guard minutes < 60, hours < 24 || (hours == 24 && minutes == 0) else { return nil }
        return hours * 60 + minutes
    }

    private static func joined(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        var joined: [Range<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }

    /// The text, in which days with the same times are together. Reading it gives equal ranges.
    package var text: String {
        var times = [String](repeating: "", count: 7)
        for range in ranges {
            var start = range.lowerBound
            while start < range.upperBound {
                let day = start / Self.minutesADay
                let end = min(range.upperBound, (day + 1) * Self.minutesADay)
                let from = Self.clock(start - day * Self.minutesADay), to = Self.clock(end - day * Self.minutesADay)
                times[Int(day)] += (times[Int(day)].isEmpty ? "" : ",") + "\(from)-\(to)"
                start = end
            }
        }
        var parts: [String] = []
        var first = 0
        while first < 7 {
            var last = first
            while last < 6, times[last + 1] == times[first] { last += 1 }
            if !times[first].isEmpty {
                parts.append(
                    (first == last ? Self.days[first] : "\(Self.days[first])-\(Self.days[last])") + " \(times[first])")
            }
            first = last + 1
        }
        return parts.joined(separator: "; ")
    }

    private static func clock(_ minutes: Int64) -> String {
        func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))"
    }
}
