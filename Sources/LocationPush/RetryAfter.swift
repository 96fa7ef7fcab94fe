internal import Glibc

/// The header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date in any of the three forms of section 5.6.7.
enum RetryAfter: Equatable {
    case seconds(Int64)
    /// Seconds since 1970 UTC.
    case date(Int64)

    /// `nil` for any other text.
    init?(_ text: String) {
        if let seconds = Int64(text) {
            self = .seconds(seconds)
            return
        }
        guard let moment = Self.moment(text) else { return nil }
        self = .date(moment)
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    private static func moment(_ text: String) -> Int64? {
        let words = text.split { " ,-".contains($0) }
        let isOldest = words.count == 5
        guard isOldest || (words.count == 6 && words[5] == "GMT") else { return nil }
        let time = words[isOldest ? 3 : 4].split(separator: ":").compactMap { Int32($0) }
        guard let day = Int32(words[isOldest ? 2 : 1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(words[isOldest ? 1 : 2])),
            let year = Int32(words[isOldest ? 4 : 3]), (0...9999).contains(year), time.count == 3,
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }
        var parts = tm()
        (parts.tm_sec, parts.tm_min, parts.tm_hour) = (time[2], time[1], time[0])
        // Two digits are of the years 1969 to 2068, as POSIX reads them.
        parts.tm_year = year >= 100 ? year - 1900 : year < 69 ? year + 100 : year
        (parts.tm_mday, parts.tm_mon) = (day, Int32(month))
        return Int64(timegm(&parts))
    }

    /// Seconds to wait from a moment on, at most a day.
    func seconds(atUnixMs unixMs: Int64) -> Int64 {
        switch self {
        case .seconds(let seconds): min(max(seconds, 0), 86_400)
        case .date(let date): min(max((date * 1000 - unixMs + 999) / 1000, 0), 86_400)
        }
    }
}
