import Geodesy
import TestSupport
import Testing

@Suite struct GeodesicTests {
    @Test func `Karney's twenty geodesics come out to the last digit, both ways`() throws {
        for row in try Repository.rows(of: "geodesics.txt") {
            let n = row.split(separator: " ").compactMap { Double($0) }
            let start = try Coordinate(latitude: n[0], longitude: n[1])
            let end = try Coordinate(latitude: n[3], longitude: n[4])
            let inverse = Geodesic.inverse(from: start, to: end)
            #expect(abs(inverse.distanceMeters - n[6]) < 1e-8)
            #expect(abs(inverse.initialAzimuth - n[2]) < 1e-12)
            #expect(abs(inverse.finalAzimuth - n[5]) < 1e-12)
            let direct = Geodesic.direct(from: start, initialAzimuth: n[2], distanceMeters: n[6])
            #expect(abs(direct.latitude - n[3]) < 1e-12)
            #expect(abs(direct.longitude - n[4]) < 1e-12)
        }
    }

    /// Karney 2013, tables 2 to 4: a direct line, a very short one, and a nearly antipodal one.
    @Test func `the worked examples of Karney 2013 come out`() throws {
        let direct = Geodesic.direct(
            from: try Coordinate(latitude: 40, longitude: 0), initialAzimuth: 30, distanceMeters: 10_000_000)
        #expect(abs(direct.latitude - 41.793_310_205_06) < 1e-10)
        #expect(abs(direct.longitude - 137.844_900_043_77) < 1e-10)

        let short = Geodesic.inverse(
            from: try Coordinate(latitude: -30.123_45, longitude: 0),
            to: try Coordinate(latitude: -30.123_44, longitude: 0.000_05))
        #expect(abs(short.distanceMeters - 4.944_208) < 1e-6)
        #expect(abs(short.initialAzimuth - 77.043_533_542_37) < 1e-7)

        let antipodal = Geodesic.inverse(
            from: try Coordinate(latitude: -30, longitude: 0), to: try Coordinate(latitude: 29.9, longitude: 179.8))
        #expect(abs(antipodal.distanceMeters - 19_989_832.827_610) < 1e-6)
        #expect(abs(antipodal.initialAzimuth - 161.890_524_736_33) < 1e-9)
        #expect(abs(antipodal.finalAzimuth - 18.090_737_245_74) < 1e-9)
    }

    /// The example of Vincenty's formulae in the GDA Technical Manual (ICSM); its GRS 80 differs by 0.1 mm at a pole.
    @Test func `Flinders Peak is 54 972.271 m from Buninyong`() throws {
        func degrees(_ d: Double, _ m: Double, _ s: Double) -> Double { d + m / 60 + s / 3600 }
        let line = Geodesic.inverse(
            from: try Coordinate(latitude: -degrees(37, 57, 3.7203), longitude: degrees(144, 25, 29.5244)),
            to: try Coordinate(latitude: -degrees(37, 39, 10.1561), longitude: degrees(143, 55, 35.3839)))
        #expect(abs(line.distanceMeters - 54_972.271) < 0.001)
        #expect(abs(line.initialAzimuth + 360 - degrees(306, 52, 5.37)) < 0.01 / 3600)
        #expect(abs(line.finalAzimuth + 180 - degrees(127, 10, 25.07)) < 0.01 / 3600)
    }

    /// Lines 0, 4, 6 and 9 to 11 of geodtest.c, which once broke an implementation.
    @Test(arguments: [
        (40.6, -73.8, 49.016_666_67, 2.55, 5_853_226.0, 0.5),
        (36.493_349_428_792, 0, 36.493_349_428_792_01, 0.000_000_8, 0.072, 0.0005),
        (88.202_499_451_857, 0, -88.202_499_451_857, 179.981_022_032_992_859_592, 20_003_898.214, 0.0005),
        (89.333_123_580_033, 0, -89.333_123_580_032_997_687, 179.992_958_123_601_484_22, 20_003_926.881, 0.0005),
        (56.320_923_501_171, 0, -56.320_923_501_171, 179.664_747_671_772_880_215, 19_993_558.287, 0.0005),
        (52.784_459_512_564, 0, -52.784_459_512_563_990_912, 179.634_407_464_943_777_557, 19_991_596.095, 0.0005),
        (48.522_876_735_459, 0, -48.522_876_735_458_982_93, 179.599_720_456_223_079_643, 19_989_144.774, 0.0005),
    ])
    func `known hard pairs have their known distance`(
        latitude1: Double, longitude1: Double, latitude2: Double, longitude2: Double, meters: Double, within: Double
    ) throws {
        let start = try Coordinate(latitude: latitude1, longitude: longitude1)
        let end = try Coordinate(latitude: latitude2, longitude: longitude2)
        #expect(abs(Geodesic.distanceMeters(from: start, to: end) - meters) <= within)
    }

    /// Compares with geographiclib, an independent implementation: set WHEREABOUTS_PYTHON to a Python that has it.
    @Test(.enabled(if: Reference.isAvailable, "WHEREABOUTS_PYTHON names no python with geographiclib and pyproj"))
    func `ten thousand pairs of every class agree with geographiclib within 1 µm`() throws {
        let pairs = try Places.pairs(count: 10_000, seed: 2013)
        let answers = try Reference.answers(
            "inverse", to: pairs.map { [$0.latitude, $0.longitude, $1.latitude, $1.longitude] })
        try #require(answers.count == pairs.count)
        var worst = 0.0
        var worstAside = 0.0
        for ((start, end), answer) in zip(pairs, answers) {
            let line = Geodesic.inverse(from: start, to: end)
            worst = max(worst, abs(line.distanceMeters - answer[0]))
            // An azimuth is judged by where it leads: ours must arrive as well as the other's does.
            let arrival = Geodesic.direct(
                from: start, initialAzimuth: answer[1], distanceMeters: line.distanceMeters)
            worstAside = max(worstAside, Geodesic.distanceMeters(from: arrival, to: end))
        }
        #expect(worst < 1e-6)
        #expect(worstAside < 1e-6)
    }

    @Test func `distance is symmetric, and going there arrives there`() throws {
        for (start, end) in try Places.pairs(count: 10_000, seed: 1) {
            let line = Geodesic.inverse(from: start, to: end)
            #expect(abs(line.distanceMeters - Geodesic.distanceMeters(from: end, to: start)) < 1e-7)
            #expect(line.distanceMeters <= Geodesic.longestDistanceMeters + 1e-7)
            let arrival = Geodesic.direct(
                from: start, initialAzimuth: line.initialAzimuth, distanceMeters: line.distanceMeters)
            #expect(Geodesic.distanceMeters(from: arrival, to: end) < 1e-6)
        }
    }

    @Test func `a place is no distance from itself, under each of its names`() throws {
        for latitude in [-90, -89.999, -45, 0, 45, 90.0] {
            let west = try Coordinate(latitude: latitude, longitude: -180)
            let east = try Coordinate(latitude: latitude, longitude: 180)
            #expect(Geodesic.distanceMeters(from: west, to: west) == 0)
            #expect(Geodesic.distanceMeters(from: west, to: east) == 0)
        }
        for pole in [-90.0, 90] {
            let one = try Coordinate(latitude: pole, longitude: 12)
            let other = try Coordinate(latitude: pole, longitude: -70)
            #expect(Geodesic.distanceMeters(from: one, to: other) < 1e-9)
        }
    }

    /// The quarter meridian is 10 001 965.7293 m (Karney 2013, after equation 6 for WGS 84).
    @Test func `no two places are farther apart than the poles`() throws {
        let north = try Coordinate(latitude: 90, longitude: 33)
        let south = try Coordinate(latitude: -90, longitude: -100)
        let meridian = Geodesic.inverse(from: north, to: south)
        #expect(abs(meridian.distanceMeters - 2 * 10_001_965.729_3) < 1e-3)
        #expect(abs(meridian.distanceMeters - Geodesic.longestDistanceMeters) < 1e-7)
        let equator = Geodesic.inverse(
            from: try Coordinate(latitude: 0, longitude: 0), to: try Coordinate(latitude: 0, longitude: 180))
        #expect(abs(equator.distanceMeters - meridian.distanceMeters) < 1e-7)
        #expect(equator.initialAzimuth == 0 || abs(equator.initialAzimuth) == 180)
    }

    /// Karney 2013, section 4: which of several shortest paths is meant is a convention; these rows state PROJ's.
    @Test(
        arguments: [
            // from, to, initial and final azimuth
            ([10, 20], [10, 20], 180, 180), ([-10, 20], [-10, 20], 0, 0), ([0, 20], [0, 20], 180, 180),
            ([90, 20], [0, 50], 150, 180), ([-90, 20], [0, 50], 30, 0), ([90, 20], [-90, 50], 150, 180),
            ([30, 0], [-30, 180], 0, 180), ([-30, 0], [30, 180], 180, 0), ([0, 0], [0, 180], 0, 180),
            ([0, 0], [0, 179.5], 55.966_495_140_16, 124.033_504_859_84),
        ] as [([Double], [Double], Double, Double)])
    func `where several ways are shortest, the documented one is taken`(
        start: [Double], end: [Double], initial: Double, final: Double
    ) throws {
        let line = Geodesic.inverse(
            from: try Coordinate(latitude: start[0], longitude: start[1]),
            to: try Coordinate(latitude: end[0], longitude: end[1]))
        #expect(abs(line.initialAzimuth - initial) < 1e-9 && abs(line.finalAzimuth - final) < 1e-9)
    }

    /// One degree of the equator is 2π·6 378 137 m / 360.
    @Test func `along the equator a degree is 111 319.49 m and the way is east`() throws {
        let line = Geodesic.inverse(
            from: try Coordinate(latitude: 0, longitude: 179.5), to: try Coordinate(latitude: 0, longitude: -179.5))
        #expect(abs(line.distanceMeters - 111_319.490_793_273_57) < 1e-7)
        #expect(line.initialAzimuth == 90 && line.finalAzimuth == 90)
    }

    @Test func `going nowhere or backwards is allowed`() throws {
        let start = try Coordinate(latitude: 51, longitude: 7)
        let stay = Geodesic.direct(from: start, initialAzimuth: 123, distanceMeters: 0)
        #expect(Geodesic.distanceMeters(from: start, to: stay) < 1e-8)
        let back = Geodesic.direct(from: start, initialAzimuth: 30, distanceMeters: -1000)
        let forth = Geodesic.direct(from: start, initialAzimuth: -150, distanceMeters: 1000)
        #expect(Geodesic.distanceMeters(from: back, to: forth) < 1e-8)
    }
}
