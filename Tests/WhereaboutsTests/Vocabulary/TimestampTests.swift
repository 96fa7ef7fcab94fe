import Testing

@testable import Whereabouts

@Suite struct TimestampTests {
    @Test func `time ends with the year 9999, and what would be rounded beyond is refused`() {
        #expect(Timestamp(seconds: 253_402_300_799.999)?.milliseconds == 253_402_300_799_999)
        #expect(Timestamp(seconds: -253_402_300_799.999)?.milliseconds == -253_402_300_799_999)
        for seconds in [253_402_300_799.9996, 253_402_300_800, -253_402_300_799.9996, .infinity, -.infinity, .nan] {
            #expect(Timestamp(seconds: seconds) == nil, "\(seconds)")
        }
    }

    @Test func `seconds are taken to the nearest millisecond`() {
        #expect(Timestamp(seconds: 1_777_881_600.0004)?.milliseconds == 1_777_881_600_000)
        #expect(Timestamp(seconds: 1_777_881_600.0006)?.milliseconds == 1_777_881_600_001)
    }
}
