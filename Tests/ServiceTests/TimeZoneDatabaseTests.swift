import Glibc
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Service

@Suite struct TimeZoneDatabaseTests {
    private static let database = TimeZoneDatabase()
    private static let hasPython = Foreign.hasPython(with: "zoneinfo")

    /// Every zone, over a century, beyond the year at which the lists in the files end.
    @Test(.enabled(if: hasPython, "There is no Python with zoneinfo."))
    func `every zone's offsets are those that Python's zoneinfo gives`() throws {
        var dice = SplitMix(5)
        let from = Timestamp(milliseconds: 631_152_000_000), to = Timestamp(milliseconds: 4_102_444_800_000)
        var lines: [String] = []
        for name in Self.database.names.sorted() {
            guard let rules = Self.database.rules(name, from: from, to: to) else { continue }
            // At random, and around each change.
            var moments = (0..<10).map { _ in Int64.random(in: 631_152_000..<4_102_444_800, using: &dice) }
            for change in rules.changes.shuffled(using: &dice).prefix(6) {
                moments += [change.at.milliseconds / 1000 - 1, change.at.milliseconds / 1000]
            }
            for moment in moments {
                let offset =
                    rules.changes.last { $0.at.milliseconds <= moment * 1000 }?.offsetSeconds ?? rules.offsetSeconds
                lines.append("\(name) \(moment) \(offset)")
            }
        }
        try #require(lines.count > 5000)
        let program = """
            import datetime, zoneinfo
            for line in '''\(lines.joined(separator: "\n"))'''.splitlines():
                name, moment, offset = line.split()
                zone = zoneinfo.ZoneInfo(name)
                shown = datetime.datetime.fromtimestamp(int(moment), zone).utcoffset().total_seconds()
                assert shown == int(offset), (line, shown)
            """
        try Foreign.python(program)
    }

    /// Every zone, with the names that its clocks have.
    @Test(.enabled(if: hasPython, "There is no Python with zoneinfo."))
    func `every zone's labels are those that Python's zoneinfo gives`() throws {
        var dice = SplitMix(6)
        var lines: [String] = []
        for name in Self.database.names.sorted() {
            for _ in 0..<4 {
                let moment = Int64.random(in: 631_152_000..<4_102_444_800, using: &dice)
                guard let clock = Self.database.clock(name, at: Timestamp(milliseconds: moment * 1000)) else {
                    continue
                }
                lines.append("\(name) \(moment) \(clock.offsetSeconds) \(clock.label)")
            }
        }
        try #require(lines.count > 1500)
        let program = """
            import datetime, zoneinfo
            for line in '''\(lines.joined(separator: "\n"))'''.splitlines():
                name, moment, offset, label = line.split()
                shown = datetime.datetime.fromtimestamp(int(moment), zoneinfo.ZoneInfo(name))
                wanted = shown.tzname() if shown.tzname()[0].isalpha() else 'UTC' + shown.tzname()
                assert (shown.utcoffset().total_seconds(), wanted) == (int(offset), label), (line, wanted)
            """
        try Foreign.python(program)
    }

    @Test(arguments: [
        "", "Nowhere", "europe/vienna", "../../etc/passwd", "/usr/share/zoneinfo/Europe/Vienna", "Europe", "Europe/",
        "Europe/Vienna/", "posix/Europe/Vienna", "Europe/../Europe/Vienna", "Europe/Vienna\0",
    ])
    func `what is no zone's name opens nothing`(name: String) {
        #expect(Self.database.rules(name, from: Timestamp(milliseconds: 0), to: .now) == nil)
        #expect(Self.database.clock(name, at: .now) == nil)
    }

    /// Twice a year, and no more is kept than asked for.
    @Test func `a year of Vienna has two changes`() throws {
        let start = Timestamp(milliseconds: 1_767_225_600_000)
        let rules = try #require(
            Self.database.rules("Europe/Vienna", from: start, to: start.adding(seconds: 365 * 86_400)))
        #expect(rules.offsetSeconds == 3600)
        #expect(rules.changes.map(\.at.milliseconds) == [1_774_746_000_000, 1_792_890_000_000])
        #expect(rules.changes.map(\.offsetSeconds) == [7200, 3600])
    }

    /// From tzdata: Vienna's clocks go to 03:00 at 01:00 UTC on 29 March 2026, Havana's from 00:00 to 01:00 on 8 March 2026,
    /// and Apia had no 30 December 2011.
    @Test(arguments: [
        ("Europe/Vienna", "2026-03-29", 1_774_738_800), ("Europe/Vienna", "2026-03-30", 1_774_821_600),
        ("America/Havana", "2026-03-08", 1_772_946_000), ("America/Havana", "2026-03-09", 1_773_028_800),
        ("Pacific/Apia", "2011-12-29", 1_325_152_800), ("Pacific/Apia", "2011-12-30", 1_325_239_200),
        ("Pacific/Apia", "2011-12-31", 1_325_239_200), ("Etc/UTC", "1970-01-01", 0),
    ])
    func `a day begins when the clocks first show it`(name: String, text: String, seconds: Int64) throws {
        let day = try #require(CalendarDay(text))
        #expect(day.text == text)
        let zone = try #require(Self.database.rules(name, from: day.earliestStart, to: day.latestStart))
        #expect(day.start(in: zone).milliseconds == seconds * 1000)
    }
}
