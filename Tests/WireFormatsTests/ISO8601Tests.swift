import Glibc
import TestSupport
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct ISO8601Tests {
    /// Seconds by GNU `date -u -d … +%s`; the first four texts are the examples of RFC 3339 section 5.8.
    @Test(arguments: [
        ("1985-04-12T23:20:50.52Z", 482_196_050_520),
        ("1996-12-19T16:39:57-08:00", 851_042_397_000),
        ("1990-12-31T23:59:60Z", 662_688_000_000),
        ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130),
        ("2012-10-24T23:29:40.000Z", 1_351_121_380_000),
        ("2015-10-01T08:00:00-0700", 1_443_711_600_000),
        ("2015-10-01T08:00:00+05", 1_443_668_400_000),
        ("2015-10-01 08:00:00", 1_443_686_400_000),
        ("2015-10-01t08:00:00z", 1_443_686_400_000),
        ("2000-02-29T24:00:00Z", 951_868_800_000),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0000-03-01T00:00:00Z", -62_162_035_200_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ])
    func `every offset and fraction of a second counts`(text: String, milliseconds: Int64) {
        #expect(ISO8601.parse(text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        (".1", 100), (".123", 123), (",123", 123), (".1234999999", 123), (".1235", 124), (".9995", 1000), (".0004", 0),
        (".000499999999999999999999999", 0),
    ])
    func `a fraction is rounded to the nearest millisecond`(fraction: String, milliseconds: Int64) {
        #expect(ISO8601.parse("1970-01-01T00:00:00\(fraction)Z")?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2015-10-01", "2015-10-01T08:00", "2015-10-01T08:00:00.", "2015-10-01T08:00:00ZZ", " 2015-10-01T08:00:00Z",
        "2015-13-01T08:00:00Z", "2015-00-01T08:00:00Z", "2015-02-29T08:00:00Z", "1900-02-29T08:00:00Z",
        "2015-04-31T08:00:00Z", "2015-10-01T24:00:01Z", "2015-10-01T25:00:00Z", "2015-10-01T08:60:00Z",
        "2015-10-01T08:00:61Z", "2015-10-01T08:00:00+24:00", "2015-10-01T08:00:00+05:60", "2015-10-01T08:00:00+05:",
        "2015-10-01T08:00:00+5", "15-10-01T08:00:00Z", "+2015-10-01T08:00:00Z", "2015-10-01T24:00:00.5Z",
        "2015-10-01T08:00:00Z\u{0}", "２０15-10-01T08:00:00Z",
    ])
    func `what is no date and time is none`(text: String) {
        #expect(ISO8601.parse(text) == nil)
    }

    @Test func `text agrees with the C library's calendar and reads back the same`() throws {
        var random = SplitMix(7)
        for _ in 0..<20_000 {
            let milliseconds = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random)
            let text = ISO8601.text(of: Timestamp(milliseconds: milliseconds))
            let rest = (milliseconds % 1000 + 1000) % 1000
            var seconds = time_t((milliseconds - rest) / 1000)
            var date = tm()
            try #require(gmtime_r(&seconds, &date) != nil)
            let numbers = [date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec]
                .map(Int64.init)
            #expect(text.split(whereSeparator: { "-T:.Z".contains($0) }).map { Int64($0) } == numbers + [rest])
            #expect(text.utf8.count == 24)
            #expect(ISO8601.parse(text)?.milliseconds == milliseconds)
        }
    }

    @Test func `years beyond four digits have a sign`() {
        #expect(ISO8601.text(of: Timestamp(milliseconds: 253_402_300_800_000)) == "+10000-01-01T00:00:00.000Z")
        #expect(ISO8601.text(of: Timestamp(milliseconds: -62_167_219_200_001)) == "-0001-12-31T23:59:59.999Z")
        #expect(ISO8601.text(of: Timestamp(milliseconds: .max)) == "+292278994-08-17T07:12:55.807Z")
        #expect(ISO8601.text(of: Timestamp(milliseconds: .min)) == "-292275055-05-16T16:47:04.192Z")
    }
}
