import Glibc
import Testing
import Whereabouts

@testable import WhereaboutsTool

/// Serialized, because the zone is one for the whole process.
@Suite(.serialized) struct LocalTimeTests {
    private static let hasRules = access("/usr/share/zoneinfo/Europe/Vienna", R_OK) == 0

    /// Expected by Python's zoneinfo with the same database.
    @Test(
        .enabled(if: hasRules, "The rules of time zones (package tzdata) are not installed."),
        arguments: [
            (1_777_593_600_000, "Europe/Vienna", "2026-05-01 02:00:00 CEST"),
            (1_767_538_800_999, "Europe/Vienna", "2026-01-04 16:00:00 CET"),
            (1_767_538_800_000, "America/Sao_Paulo", "2026-01-04 12:00:00 UTC-03"),
            (1_767_538_800_000, "Asia/Kathmandu", "2026-01-04 20:45:00 UTC+0545"),
            (-1, "UTC", "1969-12-31 23:59:59 UTC"),
        ])
    func `a moment is shown in the zone of its place`(milliseconds: Int64, zone: String, text: String) {
        #expect(LocalTime.text(Timestamp(milliseconds: milliseconds), in: zone) == text)
    }

    /// The clocks of Vienna go forward on 29 March 2026 at 02:00; expected by Python's zoneinfo.
    @Test(
        .enabled(if: hasRules, "The rules of time zones (package tzdata) are not installed."),
        arguments: [
            ("now", 1_774_789_200_000), ("today", 1_774_738_800_000), ("yesterday", 1_774_652_400_000),
            ("tomorrow", 1_774_821_600_000), ("-2h", 1_774_782_000_000), ("-90m", 1_774_783_800_000),
            ("-7d", 1_774_184_400_000), ("+1h", 1_774_792_800_000), ("1774789200", 1_774_789_200_000),
        ] as [(String, Int64)])
    func `words and lengths are relative to now`(text: String, milliseconds: Int64) {
        setenv("TZ", "Europe/Vienna", 1)
        tzset()
        defer {
            unsetenv("TZ")
            tzset()
        }
        let noon = Timestamp(milliseconds: 1_774_789_200_000)
        #expect(LocalTime.parse(text, now: noon)?.milliseconds == milliseconds)
    }

    @Test(
        .enabled(if: hasRules, "The rules of time zones (package tzdata) are not installed."),
        arguments: [
            ("today", "2026-03-29"), ("yesterday", "2026-03-28"), ("2026-02-28", "2026-02-28"), ("2026-02-29", nil),
            ("tomorrow", nil), ("now", nil), ("", nil),
        ] as [(String, String?)])
    func `a date is a date or a word for one by this computer's clock`(text: String, date: String?) {
        setenv("TZ", "Europe/Vienna", 1)
        tzset()
        defer {
            unsetenv("TZ")
            tzset()
        }
        // Half past midnight in Vienna; in UTC it is still the 28th.
        #expect(LocalTime.date(text, now: Timestamp(milliseconds: 1_774_740_600_000)) == date)
    }

    @Test(arguments: ["-", "-h", "-2", "-2x", "yesterdays", "--2h", "-99999999999999999999h"])
    func `other words are not times`(text: String) {
        let time = LocalTime.parse(text, now: Timestamp(milliseconds: 0))
        #expect(time == nil || Double(text) != nil)
    }

    @Test func `an unknown zone is shown as UTC and never leads out of the folder`() {
        #expect(LocalTime.text(Timestamp(milliseconds: 0), in: "Mars/Base") == "1970-01-01 00:00:00 UTC")
        #expect(LocalTime.text(Timestamp(milliseconds: 0), in: "../../../etc/hostname") == "1970-01-01 00:00:00 UTC")
    }

    @Test(arguments: [
        ("1732147200.123", 1_732_147_200_123), ("2024-11-21T00:00:00Z", 1_732_147_200_000),
        ("2024-11-21T02:30:00+02:30", 1_732_147_200_000), ("-1.5", -1500),
    ])
    func `a moment with its own offset is one everywhere`(text: String, milliseconds: Int64) {
        #expect(LocalTime.parse(text)?.milliseconds == milliseconds)
    }

    /// In summer Vienna is two hours ahead of UTC; 2:30 on 2026-03-29 does not exist there, and either side will do.
    @Test(.enabled(if: hasRules, "The rules of time zones (package tzdata) are not installed."))
    func `a moment without an offset is this computer's`() throws {
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", "Europe/Vienna", 1)
        tzset()
        defer {
            if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
            tzset()
        }
        for text in ["2026-05-01T08:00", "2026-05-01T08:00:00", "2026-05-01 08:00"] {
            #expect(LocalTime.parse(text)?.milliseconds == 1_777_615_200_000)
        }
        #expect(LocalTime.parse("2026-05-01")?.milliseconds == 1_777_586_400_000)
        #expect(LocalTime.parse("2026-03-29T02:30") != nil)
    }

    @Test(arguments: ["", "nowadays", "2026-02-30", "2026-5-1", "2026-05-01T8", "2026-05-01T08:00:00X", "nan", "inf"])
    func `what is no moment is refused`(text: String) {
        #expect(LocalTime.parse(text) == nil)
    }

    @Test func `a duration shows its two largest units`() {
        let texts = [0, 59.6, 3599, 3600, 5400, 86_400, 93_600, -3].map { LocalTime.duration(seconds: $0) }
        #expect(texts == ["0 s", "1 min", "59 min", "1 h", "1 h 30 min", "1 d", "1 d 2 h", "0 s"])
    }
}
