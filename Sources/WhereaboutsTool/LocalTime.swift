import Glibc
import Log
import Whereabouts
import WireFormats

/// Times for people, in the zone of this computer or of a place.
///
/// The C library has one zone at a time, that of `TZ`. It is changed here and restored, which is safe only while no
/// other thread reads the environment: commands close the service before they print.
enum LocalTime {
    private static let zoneFolder = "/usr/share/zoneinfo/"

    /// `2026-05-01 08:00:00 CEST`.
    ///
    /// - Parameter zone: A name of the IANA database; `nil` for this computer's zone. A zone without rules on this
    ///   computer is shown as UTC; the C library would use UTC under the wrong label.
    static func text(_ time: Timestamp, in zone: String? = nil) -> String {
        guard let zone else { return text(time.milliseconds) }
        let known = zone.utf8.allSatisfy { $0 != UInt8(ascii: ".") } && access(zoneFolder + zone, R_OK) == 0
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", known ? zone : "UTC0", 1)
        tzset()
        defer {
            if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
            tzset()
        }
        return text(time.milliseconds)
    }

    private static func text(_ milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "?" }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S %Z", &parts)
        let text = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Zones without letters are labeled by their offset: "-03" would look like part of the time.
        guard let space = text.lastIndex(of: " "), let sign = text[space...].dropFirst().first, "+-".contains(sign)
        else {
            return text
        }
        return text[...space] + "UTC" + text[space...].dropFirst()
    }

    /// Parses a time that a person typed.
    ///
    /// - Unix seconds.
    /// - `2026-05-01`, `2026-05-01T08:00` or with seconds, in this computer's time zone.
    /// - ISO 8601 with an offset or `Z`.
    /// - `now`.
    /// - `today`, `yesterday` and `tomorrow`: the midnight at which that day begins in this computer's time zone.
    /// - `-90m`, `-2h`, `-7d`: this long ago; `+2h`: this far in the future.
    ///
    /// - Parameter now: The time that relative forms refer to.
    /// - Returns: `nil` for any other text.
    static func parse(_ text: String, now: Timestamp = .now) -> Timestamp? {
        if let relative = relative(text, now) { return relative }
        if let seconds = Double(text) { return Timestamp(seconds: seconds) }
        let clock = text.dropFirst(10)
        if clock.contains(where: { "Zz+-".contains($0) }) { return ISO8601.parse(text) }
        // Read as UTC first, which finds impossible dates; then the C library finds the time at which this computer's
        // clock shows it.
        let whole = text + (clock.isEmpty ? "T00:00:00Z" : clock.count == 6 ? ":00Z" : "Z")
        guard let shown = ISO8601.parse(whole) else { return nil }
        var seconds = time_t(shown.milliseconds / 1000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return nil }
        parts.tm_isdst = -1
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1000 + shown.milliseconds % 1000)
    }

    private static func relative(_ text: String, _ now: Timestamp) -> Timestamp? {
        switch text {
        case "now": return now
        case "yesterday": return midnight(daysAway: -1, now)
        case "today": return midnight(daysAway: 0, now)
        case "tomorrow": return midnight(daysAway: 1, now)
        default:
            guard let sign = text.first, "+-".contains(sign), let seconds = Self.seconds(text.dropFirst()) else {
                return nil
            }
            return now.adding(seconds: sign == "-" ? -seconds : seconds)
        }
    }

    /// Parses a date that a person typed: `2026-05-01`, or `today` and `yesterday` by this computer's clock.
    ///
    /// - Returns: The date as `2026-05-01`; `nil` for any other text.
    static func date(_ text: String, now: Timestamp = .now) -> String? {
        switch text {
        case "today", "yesterday": relative(text, now).map { String(Self.text($0.milliseconds).prefix(10)) }
        default: CalendarDay(text) == nil ? nil : text
        }
    }

    /// The seconds of a length, for example `90m`, `8h` or `7d`; `nil` for any other text.
    static func seconds(_ length: some StringProtocol) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = length.last.flatMap({ units[$0] }), let count = Int64(length.dropLast()),
            (1...100_000_000).contains(count)
        else { return nil }
        return count * unit
    }

    /// The midnight at which a day begins. `mktime` handles days beyond the end of a month, and changes of the clock.
    private static func midnight(daysAway days: Int32, _ now: Timestamp) -> Timestamp? {
        var seconds = time_t(now.milliseconds / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
        parts.tm_mday += days
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1000)
    }

    /// For example `12 s`, `5 min`, `3 h 20 min` or `4 d 2 h`: the two largest units.
    static func duration(seconds: Double) -> String {
        let whole = Int64(max(0, seconds).rounded())
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return "\(whole / 60) min"
        case ..<86_400: return pair(whole / 3600, "h", whole / 60 % 60, "min")
        default: return pair(whole / 86_400, "d", whole / 3600 % 24, "h")
        }
    }

    private static func pair(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }
}
