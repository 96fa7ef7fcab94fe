import Geodesy
import TestSupport
import Testing

@Suite struct GeocentricTests {
    /// IOGP Guidance Note 373-7-2, section 4.1.1, example.
    @Test func `the example of the IOGP guidance note converts both ways`() throws {
        let transform = GeocentricTransform()
        let coordinate = try Coordinate(
            latitude: 53 + 48 / 60 + 33.820 / 3600, longitude: 2 + 7 / 60 + 46.380 / 3600)
        let point = transform.point(coordinate, ellipsoidalHeight: 73)
        #expect(abs(point.x - 3_771_793.968) < 0.01)
        #expect(abs(point.y - 140_253.342) < 0.01)
        #expect(abs(point.z - 5_124_304.349) < 0.01)
    }

    @Test func `poles and corners of the axes lie where WGS 84 has them`() throws {
        let transform = GeocentricTransform()
        let cases: [(Double, Double, Double, Double, Double)] = [
            (0, 0, 6_378_137, 0, 0), (0, 90, 0, 6_378_137, 0), (0, 180, -6_378_137, 0, 0), (0, -180, -6_378_137, 0, 0),
            (90, 0, 0, 0, 6_356_752.314_245), (-90, 77, 0, 0, -6_356_752.314_245),
        ]
        for (latitude, longitude, x, y, z) in cases {
            let point = transform.point(try Coordinate(latitude: latitude, longitude: longitude))
            #expect(abs(point.x - x) < 1e-6 && abs(point.y - y) < 1e-6 && abs(point.z - z) < 1e-6)
        }
    }

    @Test(arguments: [
        (0.0, 1e-8), (8_848, 1e-6), (-9_000, 1e-6), (-100_000, 2e-4), (100_000, 2e-4), (1_000_000, 2e-2),
        (-1_000_000, 2e-2),
    ])
    func `there and back is the same place, within a bound that grows with the height`(
        height: Double, within: Double
    ) throws {
        let transform = GeocentricTransform()
        for (place, _) in try Places.pairs(count: 2_000, seed: 7) {
            let back = transform.coordinate(transform.point(place, ellipsoidalHeight: height))
            #expect(Geodesic.distanceMeters(from: place, to: back.coordinate) < within)
            #expect(abs(back.ellipsoidalHeight - height) < within)
        }
    }

    @Test func `a batch gives the same points as one by one`() throws {
        let transform = GeocentricTransform()
        let places = try Places.pairs(count: 2_000, seed: 7).flatMap { [$0, $1] }
        #expect(transform.points(places) == places.map { transform.point($0) })
    }

    /// Needs a python with pyproj: set WHEREABOUTS_PYTHON.
    @Test(.enabled(if: Reference.isAvailable, "WHEREABOUTS_PYTHON names no python with geographiclib and pyproj"))
    func `points agree with pyproj within 1 µm`() throws {
        let transform = GeocentricTransform()
        let places = try Places.pairs(count: 1_000, seed: 8).map(\.0)
        for height in [0, 4_810.5] {
            let answers = try Reference.answers("cart", to: places.map { [$0.latitude, $0.longitude, height] })
            try #require(answers.count == places.count)
            for (place, answer) in zip(places, answers) {
                let point = transform.point(place, ellipsoidalHeight: height)
                #expect(point.chordMeters(to: GeocentricPoint(x: answer[0], y: answer[1], z: answer[2])) < 1e-6)
            }
        }
    }

    @Test func `a geodesic lies between the bounds its chord gives`() throws {
        let transform = GeocentricTransform()
        for (start, end) in try Places.pairs(count: 40_000, seed: 9) {
            let chord = transform.point(start).chordMeters(to: transform.point(end))
            let distance = Geodesic.distanceMeters(from: start, to: end)
            #expect(Geodesic.distanceBoundsMeters(chordMeters: chord).contains(distance))
            let chords = Geodesic.chordBoundsMeters(distanceMeters: distance)
            #expect(chords.contains(chord))
        }
    }

    /// c³/24r²: 1 µm at 1 km, 1.1 mm at 10 km, 1.1 m at 100 km.
    @Test(arguments: [(1_000.0, 1.04e-6), (10_000, 1.04e-3), (100_000, 1.04), (1_000_000, 1_047)])
    func `the bounds are as narrow as documented`(chord: Double, gap: Double) {
        let bounds = Geodesic.distanceBoundsMeters(chordMeters: chord)
        #expect(bounds.upperBound - bounds.lowerBound <= gap + 3e-7)
        let chords = Geodesic.chordBoundsMeters(distanceMeters: chord)
        #expect(chords.upperBound - chords.lowerBound <= gap + 3e-7)
    }

    @Test func `the bounds hold where chords are longest`() throws {
        let transform = GeocentricTransform()
        var generator = SplitMix(10)
        for _ in 0..<20_000 {
            let start = try Places.place(&generator)
            let end = Geodesic.direct(
                from: start, initialAzimuth: .random(in: -180...180, using: &generator),
                distanceMeters: .random(in: 19_000_000...20_003_931, using: &generator))
            let chord = transform.point(start).chordMeters(to: transform.point(end))
            let distance = Geodesic.distanceMeters(from: start, to: end)
            #expect(Geodesic.distanceBoundsMeters(chordMeters: chord).contains(distance))
            #expect(Geodesic.chordBoundsMeters(distanceMeters: distance).contains(chord))
        }
        #expect(Geodesic.distanceBoundsMeters(chordMeters: 0).contains(0))
        #expect(Geodesic.chordBoundsMeters(distanceMeters: 0).contains(0))
    }
}
