import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct NMEALinesTests {
    /// The pair of sentences with which NMEA 0183 is usually explained (Dale DePriest, "NMEA data"): checksums, place,
    /// time and speed are that page's.
    static let published = """
        $GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
        $GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47

        """

    private func read(_ text: String) -> (fixes: [Fix], counts: NMEALines.Counts) {
        var lines = NMEALines()
        let fixes = lines.feed(Array(text.utf8)) + lines.finish()
        return (fixes, lines.counts)
    }

    @Test func `sentences of one time are one fix, with the published place, time, height and speed`() throws {
        let (fixes, counts) = read(Self.published)
        let fix = try #require(fixes.first)
        #expect(fixes.count == 1 && counts == NMEALines.Counts(sentences: 2, damaged: 0))
        // 1994-03-23T12:35:19Z by `date -u -d … +%s`.
        #expect(fix.timestamp == Timestamp(milliseconds: 764_426_119_000))
        #expect(abs(fix.coordinate.latitude - 48.1173) < 1e-9)
        #expect(abs(fix.coordinate.longitude - (11 + 31.0 / 60)) < 1e-9)
        #expect(fix.altitude == 545.4 && abs((fix.ellipsoidalAltitude ?? 0) - (545.4 + 46.9)) < 1e-9)
        // 22.4 knots of 1852 m an hour.
        #expect(abs((fix.speed ?? 0) - 22.4 * 1852 / 3600) < 1e-9 && fix.course == 84.4)
        // A dilution is no accuracy.
        #expect(fix.horizontalAccuracy == nil && fix.remainder == #"{"hdop":0.9}"#)
    }

    /// Found by libFuzzer: a fix with impossible values, so that its JSON was another fix.
    @Test func `numbers that no receiver means are not known`() throws {
        for (course, knots, altitude) in [("4187.5", "0.9", "171.3"), ("360.5", "-0.0", "-0.0")] {
            var lines = NMEALines(requiresChecksum: false)
            let fixes =
                lines.feed(
                    Array(
                        """
                        $GPRMC,120000.00,A,4812.34567,N,01621.23456,E,\(knots),\(course),211126,,
                        $GPGGA,120000.00,4812.34567,N,01621.23456,E,1,08,0.9,\(altitude),M,\(altitude),M,,

                        """.utf8)) + lines.finish()
            let fix = try #require(fixes.first)
            #expect(fix.course == nil)
            for number in [fix.speed, fix.altitude, fix.ellipsoidalAltitude, fix.verticalAccuracy] {
                #expect(number?.isFinite ?? true)
            }
            var writer = JSONWriter()
            FixJSON.write(fix, into: &writer)
            #expect(FixJSON.reports(from: writer.bytes, now: fix.timestamp) == [.fix(fix, answering: nil)])
        }
    }

    @Test(arguments: ["*6B", "", "*", "*6", "*6AX", "*GG"])
    func `a sentence without its checksum is passed over and counted`(ending: String) {
        let sentence = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W"
        let (fixes, counts) = read("\(sentence)\(ending)\r\n")
        #expect(fixes.isEmpty && counts.damaged == 1)
    }

    @Test func `south and west are negative, a void epoch is no fix, and one before the first date gets it`() throws {
        func line(_ body: String) -> String {
            let sum = body.utf8.reduce(0, ^)
            return "$\(body)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n"
        }
        let undated = line("GPGGA,235958.00,3351.000,S,15112.000,W,1,08,1.0,10.0,M,20.0,M,,")
        let void = line("GPRMC,235959.00,V,,,,,,,311226,,,N")
        let late = line("GPRMC,235959.50,A,3351.000,S,15112.000,W,0.0,,311226,,,A")
        let nextDay = line("GPGGA,000000.25,3351.000,S,15112.000,W,1,08,1.0,10.0,M,20.0,M,,")
        let (fixes, counts) = read(undated + void + late + nextDay)
        #expect(fixes.count == 3 && counts.damaged == 0)
        #expect(fixes.allSatisfy { abs($0.coordinate.latitude + 33.85) < 1e-9 })
        #expect(fixes.allSatisfy { abs($0.coordinate.longitude + 151.2) < 1e-9 })
        // 2027-01-01T00:00:00.250Z: the GGA after midnight has no date.
        #expect(fixes.map(\.timestamp.milliseconds) == [1_798_761_598_000, 1_798_761_599_500, 1_798_761_600_250])
        // The first date is after midnight, the epoch before it was not.
        let morning = line("GPRMC,000001.00,A,3351.000,S,15112.000,W,0.0,,010127,,,A")
        #expect(read(undated + morning).fixes.map(\.timestamp.milliseconds) == [1_798_761_598_000, 1_798_761_601_000])
        #expect(read(undated).fixes.isEmpty)
        let many = (0..<NMEALines.undatedMax + 10).map { index in
            line("GPGGA,\(100_000 + index / 60 * 100 + index % 60),3351.000,S,15112.000,W,1,08,1.0,10.0,M,20.0,M,,")
        }
        #expect(read(many.joined() + late).fixes.count == NMEALines.undatedMax + 1)
    }

    /// The second roll-over of the weeks was at 2019-04-06T23:59:42Z; 1,024 weeks before the next day is 1999-08-22.
    @Test func `a receiver whose weeks roll over is read on`() {
        func line(_ time: String, _ date: String) -> String {
            let body = "GPRMC,\(time),A,3351.000,S,15112.000,W,0.0,,\(date),,,A"
            let sum = body.utf8.reduce(0, ^)
            return "$\(body)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n"
        }
        let fixes = read(
            line("235941", "060419") + line("235943", "210899") + line("000001", "220899") + line("000002", "230899")
        ).fixes
        // By `date -u -d … +%s`: 2019-04-06T23:59:41Z, two seconds later, then the next two days.
        #expect(
            fixes.map(\.timestamp.milliseconds)
                == [1_554_595_181_000, 1_554_595_183_000, 1_554_595_201_000, 1_554_681_602_000])
        // A log of 1999 stays one.
        #expect(read(line("000001", "220899")).fixes.first?.timestamp.milliseconds == 935_280_001_000)
    }

    @Test func `deviations are better than dilutions`() throws {
        let sum = "GPGST,123519,1.2,,,,3.0,4.0,7.5".utf8.reduce(0, ^)
        let deviations = "$GPGST,123519,1.2,,,,3.0,4.0,7.5*\(String(sum, radix: 16, uppercase: true))\n"
        let fix = try #require(read(Self.published + deviations).fixes.first)
        #expect(fix.horizontalAccuracy == 5 && fix.verticalAccuracy == 7.5 && fix.remainder == #"{"hdop":0.9}"#)
    }

    @Test func `any pieces give the same, and no bytes end the reader`() {
        let whole = read(Self.published).fixes
        var lines = NMEALines()
        var fixes: [Fix] = []
        for byte in Self.published.utf8 { fixes += lines.feed([byte]) }
        #expect(fixes + lines.finish() == whole)
        var state: UInt64 = 1
        var noise: [UInt8] = []
        for _ in 0..<200_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            noise.append(UInt8(truncatingIfNeeded: state >> 56))
        }
        var others = NMEALines()
        #expect(others.feed(noise).isEmpty && others.finish().isEmpty)
        // A cut sentence does not take the next one with it.
        #expect(read("$GPRMC,1235" + Self.published).fixes == whole)
    }
}
