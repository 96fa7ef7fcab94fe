/// A time in whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds, as in POSIX.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The last millisecond of the year 9999, in seconds since 1970.
    package static let lastSeconds = 253_402_300_799.999

    /// Seconds since 1970, rounded to the nearest millisecond; `nil` if not finite or beyond ``lastSeconds``.
    package init?(seconds: Double) {
        guard abs(seconds) <= Self.lastSeconds else { return nil }
        milliseconds = Int64((seconds * 1000).rounded())
    }

    /// Seconds since 1970.
    package var seconds: Double { Double(milliseconds) / 1000 }

    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// The time this many seconds later. Overflow is a precondition failure.
    package func adding(seconds: Int64) -> Timestamp { .init(milliseconds: milliseconds + seconds * 1000) }

    /// The seconds from `earlier` to this time; negative if this one is earlier.
    package func seconds(since earlier: Timestamp) -> Double { Double(milliseconds - earlier.milliseconds) / 1000 }
}
