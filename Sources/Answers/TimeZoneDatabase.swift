import Glibc
import Log
package import Whereabouts

// The time zones of this computer, as TZif files (RFC 9636):
//
//     "TZif" version(1) unused(15) isutcnt isstdcnt leapcnt timecnt typecnt charcnt    six 4-byte counts, big-endian
//     times(timecnt × 8) types(timecnt × 1) [offset(4) isdst(1) name(1)](typecnt × 6) …
//     "\n" POSIX TZ text "\n"                                                          for times after the last one
//
// Before this comes a block of the same form with 4-byte times, for readers of version 1. It is skipped.

/// The rules of time zones, from Debian's `tzdata`.
///
/// A name in a request is looked up among the names found on disk; it never becomes a path.
package struct TimeZoneDatabase: Sendable {
    /// The most bytes of a zone's file.
    private static let mostBytes = 64 << 10
    private let paths: [String: String]

    /// Lists the zones under a folder. Their files are read when they are asked for.
    package init(folder: String = "/usr/share/zoneinfo") {
        var paths: [String: String] = [:]
        Self.collect(folder, prefix: "", depth: 3, into: &paths)
        self.paths = paths
    }

    /// The names of all zones, for example `Europe/Vienna`, in no order.
    package var names: some Collection<String> { paths.keys }

    /// Whether there is a zone of this name.
    package func has(_ name: String) -> Bool { paths[name] != nil }

    /// The offset of a zone's clock at a time and its label, for example `CEST`; a zone without letters has a label like
    /// `UTC+05`. `nil` if there is no such zone or its file is damaged. Cost: one file read.
    package func clock(_ name: String, at time: Timestamp) -> (offsetSeconds: Int64, label: String)? {
        guard let path = paths[name], let bytes = DataDirectory.read(path, atMost: Self.mostBytes),
            let file = TimeZoneFile(bytes, through: time.adding(seconds: 1))
        else { return nil }
        let last = file.labels.last { $0.at <= time }
        let (offset, label) = (last?.offsetSeconds ?? file.offsetSeconds, last?.label ?? file.label)
        let isName = label.utf8.first.map { (65...90).contains($0) } ?? false
        return (offset, isName ? label : "UTC" + label)
    }

    private static func collect(_ folder: String, prefix: String, depth: Int, into paths: inout [String: String]) {
        guard depth > 0, let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // "right" counts leap seconds, "posix" repeats everything; zones begin with a capital.
            guard let first = name.utf8.first, (65...90).contains(first) else { continue }
            let path = "\(folder)/\(name)"
            paths[prefix + name] = path
            collect(path, prefix: "\(prefix)\(name)/", depth: depth - 1, into: &paths)
        }
    }

    /// The local times of a zone between two times; `nil` if there is no such zone or its file is damaged.
    ///
    /// Times after the last change of the file follow its POSIX rule. Cost: one file read.
    package func rules(_ name: String, from: Timestamp, to: Timestamp) -> ZoneRules? {
        guard let path = paths[name], let bytes = DataDirectory.read(path, atMost: Self.mostBytes),
            let file = TimeZoneFile(bytes, through: to)
        else { return nil }
        let past = file.changes.prefix { $0.at <= from }
        let coming = file.changes.dropFirst(past.count).prefix { $0.at < to }
        return ZoneRules(
            name: name, offsetSeconds: past.last?.offsetSeconds ?? file.offsetSeconds, changes: Array(coming))
    }
}

/// The file of one zone, with its changes of offset.
private struct TimeZoneFile {
    /// The offset before the first change, seconds east of UTC.
    let offsetSeconds: Int64
    private(set) var changes: [ZoneRules.Change] = []
    /// The label before the first of ``labels``.
    let label: String
    /// The labels with their offsets from a time on, in order of time; also those that keep the offset.
    private(set) var labels: [(at: Timestamp, offsetSeconds: Int64, label: String)] = []

    /// Reads the version 2 part of a TZif file; `nil` if the bytes do not have that form.
    init?(_ bytes: [UInt8], through end: Timestamp) {
        guard let first = Header(bytes, at: 0), let second = Header(bytes, at: first.end(timeBytes: 4)) else {
            return nil
        }
        let times = second.start, types = times + second.times * 8, kinds = types + second.times
        guard second.kinds > 0, second.end(timeBytes: 8) <= bytes.count else { return nil }
        func offset(_ kind: Int) -> Int64? {
            kind < second.kinds ? Int64(Int32(truncatingIfNeeded: Self.integer(bytes, kinds + kind * 6, 4))) : nil
        }
        // The text up to a zero byte at the place that the sixth byte of a kind names.
        let letters = bytes[(kinds + second.kinds * 6)..<(kinds + second.kinds * 6 + second.letters)]
        let kindLabels = (0..<second.kinds).map { kind in
            String(decoding: letters.dropFirst(Int(bytes[kinds + kind * 6 + 5])).prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let initial = offset(0) else { return nil }
        (offsetSeconds, label) = (initial, kindLabels[0])
        for index in 0..<second.times {
            let seconds = Self.integer(bytes, times + index * 8, 8)
            let kind = Int(bytes[types + index])
            guard let offset = offset(kind) else { return nil }
            // The first "change" may be at the beginning of time.
            if abs(seconds) < 1 << 40 { append(seconds, offset, kindLabels[kind]) }
        }
        let footer = bytes[second.end(timeBytes: 8)...].dropFirst().prefix { $0 != UInt8(ascii: "\n") }
        guard let rule = PosixZone(String(decoding: footer, as: UTF8.self)) else { return }
        let last = changes.last?.at.milliseconds ?? 0
        let years =
            PosixZone.year(
                of: last / 1000)...max(PosixZone.year(of: end.milliseconds / 1000), PosixZone.year(of: last / 1000))
        for year in years {
            for (change, label) in rule.changes(in: year) where change.at.milliseconds > last {
                append(change.at.milliseconds / 1000, change.offsetSeconds, label)
            }
        }
    }

    /// Adds a change; one that keeps the offset, for example a change of name, is dropped.
    private mutating func append(_ seconds: Int64, _ offset: Int64, _ label: String) {
        labels.append((Timestamp(milliseconds: seconds * 1000), offset, label))
        guard offset != changes.last?.offsetSeconds ?? offsetSeconds else { return }
        changes.append(ZoneRules.Change(at: Timestamp(milliseconds: seconds * 1000), offsetSeconds: offset))
    }

    /// The counts of one part of the file.
    private struct Header {
        let start, times, kinds, letters, rest, leaps: Int

        init?(_ bytes: [UInt8], at place: Int) {
            guard place + 44 <= bytes.count, bytes[place..<place + 4].elementsEqual("TZif".utf8),
                bytes[place + 4] >= UInt8(ascii: "2")
            else { return nil }
            func count(_ index: Int) -> Int { Int(TimeZoneFile.integer(bytes, place + 20 + index * 4, 4)) }
            start = place + 44
            letters = count(5)
            rest = count(0) + count(1) + letters
            (leaps, times, kinds) = (count(2), count(3), count(4))
        }

        /// The offset behind the part.
        func end(timeBytes: Int) -> Int { start + times * (timeBytes + 1) + kinds * 6 + leaps * (timeBytes + 4) + rest }
    }

    /// A big-endian number; four bytes are unsigned.
    private static func integer(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int64 {
        bytes[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// The rule for times after a zone's last listed change, for example `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX.1 section 8.3,
/// RFC 9636 section 3.3.1).
private struct PosixZone {
    private let standard: (offset: Int64, label: String)
    private let summer: (offset: Int64, label: String, start: Day, end: Day)?

    private enum Day {
        /// Week 5 is the last week with that weekday; weekday 0 is Sunday.
        case weekday(month: Int64, week: Int64, weekday: Int64, seconds: Int64)
        /// 1 to 365; 29 February is not counted.
        case julian(Int64, seconds: Int64)
        /// 0 to 365.
        case ofYear(Int64, seconds: Int64)
    }

    /// `nil` if the text does not have the form. West of Greenwich is positive in it.
    init?(_ text: String) {
        var rest = Substring(text).utf8
        guard let label = Self.name(&rest), let west = Self.offset(&rest) else { return nil }
        standard = (-west, label)
        guard !rest.isEmpty else {
            summer = nil
            return
        }
        guard let summerLabel = Self.name(&rest) else { return nil }
        let ahead = rest.first == UInt8(ascii: ",") ? standard.offset + 3600 : Self.offset(&rest).map { -$0 }
        guard let ahead, rest.popFirst() == UInt8(ascii: ","), let start = Self.day(&rest),
            rest.popFirst() == UInt8(ascii: ","), let end = Self.day(&rest), rest.isEmpty
        else { return nil }
        summer = (ahead, summerLabel, start, end)
    }

    /// The two changes of a year with the label that follows, by time; none without summer time.
    func changes(in year: Int64) -> [(change: ZoneRules.Change, label: String)] {
        guard let summer else { return [] }
        let changes = [
            (Self.seconds(summer.start, year) - standard.offset, summer.offset, summer.label),
            (Self.seconds(summer.end, year) - summer.offset, standard.offset, standard.label),
        ]
        return changes.sorted { $0.0 < $1.0 }.map {
            (ZoneRules.Change(at: Timestamp(milliseconds: $0.0 * 1000), offsetSeconds: $0.1), $0.2)
        }
    }

    /// The year of a time in UTC.
    static func year(of seconds: Int64) -> Int64 {
        var now = time_t(seconds)
        var parts = tm()
        gmtime_r(&now, &parts)
        return Int64(parts.tm_year) + 1900
    }

    /// The time of a rule in local seconds since 1970.
    private static func seconds(_ day: Day, _ year: Int64) -> Int64 {
        switch day {
        case .weekday(let month, let week, let weekday, let seconds):
            let first = days(year, month, 1)
            // 1 January 1970 was a Thursday.
            var found = first + ((weekday - (first + 4)) % 7 + 7) % 7 + (week - 1) * 7
            let next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
            while found >= next { found -= 7 }
            return found * 86_400 + seconds
        case .julian(let day, let seconds):
            let isAfterFebruary = day >= 60 && days(year, 3, 1) - days(year, 2, 1) == 29
            return (days(year, 1, 1) + day - 1 + (isAfterFebruary ? 1 : 0)) * 86_400 + seconds
        case .ofYear(let day, let seconds): return (days(year, 1, 1) + day) * 86_400 + seconds
        }
    }

    /// Days since 1970-01-01 in the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (CInt(year - 1900), CInt(month - 1), CInt(day))
        return Int64(timegm(&parts)) / 86_400
    }

    private typealias Bytes = Substring.UTF8View

    /// Takes a zone's abbreviation from the text: three letters or more, or any text in `<>`; `nil` without one.
    private static func name(_ rest: inout Bytes) -> String? {
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let name = String(Substring(rest[..<end].dropFirst()))
            rest = rest[rest.index(after: end)...]
            return name
        }
        let letters = rest.prefix { (65...90).contains($0 & 0xDF) }
        rest = rest.dropFirst(letters.count)
        return letters.count >= 3 ? String(Substring(letters)) : nil
    }

    /// Takes a number of one to three digits.
    private static func number(_ rest: inout Bytes) -> Int64? {
        let digits = rest.prefix { (48...57).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits.count <= 3 ? Int64(Substring(digits)) : nil
    }

    /// `[+|-]hh[:mm[:ss]]`.
    private static func offset(_ rest: inout Bytes) -> Int64? {
        let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
        if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        guard var seconds = number(&rest).map({ $0 * 3600 }) else { return nil }
        for unit in [Int64(60), 1] where rest.first == UInt8(ascii: ":") {
            rest = rest.dropFirst()
            guard let more = number(&rest) else { return nil }
            seconds += more * unit
        }
        return sign * seconds
    }

    /// `Mm.w.d`, `Jn` or `n`, each with `/time` unless it is 02:00.
    private static func day(_ rest: inout Bytes) -> Day? {
        func time(_ rest: inout Bytes) -> Int64? {
            guard rest.first == UInt8(ascii: "/") else { return 7200 }
            rest = rest.dropFirst()
            return offset(&rest)
        }
        switch rest.first {
        case UInt8(ascii: "M"):
            rest = rest.dropFirst()
            guard let month = number(&rest), rest.popFirst() == UInt8(ascii: "."), let week = number(&rest),
                rest.popFirst() == UInt8(ascii: "."), let weekday = number(&rest), (1...12).contains(month),
                (1...5).contains(week), (0...6).contains(weekday), let seconds = time(&rest)
            else { return nil }
            return .weekday(month: month, week: week, weekday: weekday, seconds: seconds)
        case UInt8(ascii: "J"):
            rest = rest.dropFirst()
            guard let day = number(&rest), let seconds = time(&rest) else { return nil }
            return .julian(day, seconds: seconds)
        default:
            guard let day = number(&rest), let seconds = time(&rest) else { return nil }
            return .ofYear(day, seconds: seconds)
        }
    }
}
