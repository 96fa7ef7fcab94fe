import Testing

@testable import Whereabouts

/// The dates on which a person was at a place.
@Suite struct VisitedDaysTests {
    /// Two hours east of Greenwich.
    private let zone = ZoneRules(name: "Etc/GMT-2", offsetSeconds: 7200, changes: [])

    private func time(_ text: String) throws -> Timestamp {
        let day = try #require(CalendarDay(String(text.prefix(10))))
        let parts = text.dropFirst(11).split(separator: ":").compactMap { Int64($0) }
        return Timestamp(milliseconds: day.number * 86_400_000 + (parts[0] * 60 + parts[1]) * 60_000)
    }

    private func days(_ visits: [(String, String)], in zone: ZoneRules?) throws -> (Int64, [String]) {
        var days = VisitedDays(in: zone)
        for (arrival, end) in visits { days.add(from: try time(arrival), to: try time(end)) }
        return (days.count, days.newest.map(\.text))
    }

    @Test func `dates are those of the place`() throws {
        let evening = [("2026-05-04 20:00", "2026-05-04 23:00")]
        #expect(try days(evening, in: nil) == (1, ["2026-05-04"]))
        #expect(try days(evening, in: zone) == (2, ["2026-05-05", "2026-05-04"]))
    }

    @Test func `a date that several visits touch counts once`() throws {
        let visits = [
            ("2026-05-04 08:00", "2026-05-04 09:00"), ("2026-05-04 12:00", "2026-05-05 01:00"),
            ("2026-05-05 10:00", "2026-05-05 11:00"), ("2026-05-09 10:00", "2026-05-09 10:00"),
        ]
        #expect(try days(visits, in: nil) == (3, ["2026-05-09", "2026-05-05", "2026-05-04"]))
    }

    @Test func `a visit that ends at midnight does not touch the next date`() throws {
        #expect(try days([("2026-05-04 20:00", "2026-05-05 00:00")], in: nil) == (1, ["2026-05-04"]))
    }

    @Test func `a long visit counts all its dates and keeps the newest ten`() throws {
        let (count, newest) = try days([("2025-05-04 08:00", "2026-05-04 08:00")], in: zone)
        #expect(count == 366)
        #expect(newest.count == VisitedDays.newestMax && newest.first == "2026-05-04" && newest.last == "2026-04-25")
    }
}
