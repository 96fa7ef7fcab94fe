import Geodesy
import TestSupport
import Testing

@Suite struct CircleTests {
    /// 0.001° of longitude on the equator is 111.3195 m.
    @Test(arguments: [(111.31, false), (111.33, true)])
    func `a place 111.32 m away is inside only the larger circle`(radiusMeters: Double, inside: Bool) throws {
        let circle = try Circle(center: Coordinate(latitude: 0, longitude: 179.9995), radiusMeters: radiusMeters)
        let place = try Coordinate(latitude: 0, longitude: -179.9995)
        #expect(circle.contains(place) == inside)
        #expect(abs(circle.signedDistanceMeters(to: place) - (111.319_490_8 - radiusMeters)) < 1e-6)
        #expect(circle.signedDistanceMeters(to: circle.center) == -radiusMeters)
    }

    @Test(arguments: [0, -1, .nan, .infinity, 20_037_509])
    func `a circle has a radius above 0 and at most half the equator`(radiusMeters: Double) throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        #expect(throws: ShapeError.radiusOutOfRange) { try Circle(center: center, radiusMeters: radiusMeters) }
    }

    @Test func `the largest circle is the whole earth`() throws {
        let circle = try Circle(
            center: Coordinate(latitude: 0, longitude: 0), radiusMeters: Circle.largestRadiusMeters)
        #expect(circle.contains(try Coordinate(latitude: 0, longitude: 180)))
        #expect(circle.contains(try Coordinate(latitude: -90, longitude: 5)))
        #expect(circle.boundingBox.contains(try Coordinate(latitude: 0, longitude: 180)))
    }

    @Test func `a circle contains a place exactly when the signed distance is not positive, and its box then does`()
        throws
    {
        var generator = SplitMix(31)
        for round in 0..<4_000 {
            let center =
                round % 5 == 0
                ? try Coordinate(
                    latitude: round % 10 == 0 ? 90 - .random(in: 0...0.5, using: &generator) : -90,
                    longitude: .random(in: -180...180, using: &generator))
                : try Places.place(&generator)
            let exponent = Double.random(in: 0...7.3, using: &generator)
            var radius = 1.0
            for _ in 0..<Int(exponent) { radius *= 10 }
            radius = min(radius * (1 + 9 * (exponent - exponent.rounded(.down))), Circle.largestRadiusMeters)
            let circle = try Circle(center: center, radiusMeters: radius)
            for _ in 0..<8 {
                let place = Geodesic.direct(
                    from: center, initialAzimuth: .random(in: -180...180, using: &generator),
                    distanceMeters: radius * .random(in: 0.9...1.1, using: &generator))
                let distance = circle.signedDistanceMeters(to: place)
                #expect(circle.contains(place) == (distance <= 0))
                #expect(!circle.contains(place) || circle.boundingBox.contains(place))
            }
            for azimuth in [-90, 0, 90, 180.0] {
                let edge = Geodesic.direct(from: center, initialAzimuth: azimuth, distanceMeters: radius)
                #expect(!circle.contains(edge) || circle.boundingBox.contains(edge))
            }
        }
    }

    /// On the equator the circle's own width is radius / 111 319.49 m per degree.
    @Test func `the box is less than one percent wider than the circle`() throws {
        let box = try Circle(center: Coordinate(latitude: 0, longitude: 0), radiusMeters: 1_000).boundingBox
        let degrees = 1_000 / 111_319.490_793
        #expect(box.east >= degrees && box.east < degrees * 1.007)
        #expect(box.west == -box.east)
        #expect(box.north > 1_000 / 110_575.0 && box.north < 1_000 / 110_574.0)
    }

    @Test func `a circle across the antimeridian has a box across it`() throws {
        let box = try Circle(center: Coordinate(latitude: 50, longitude: 179.99), radiusMeters: 5_000).boundingBox
        #expect(box.west > 179 && box.east < -179)
        #expect(box.contains(try Coordinate(latitude: 50, longitude: -180)))
        #expect(!box.contains(try Coordinate(latitude: 50, longitude: 0)))
    }
}

@Suite struct BoundingBoxTests {
    @Test(
        arguments: [
            // south west north east, place, inside
            ([-10, 170, 10, -170], [0, 180], true),
            ([-10, 170, 10, -170], [0, -180], true),
            ([-10, 170, 10, -170], [0, 0], false),
            ([-10, 170, 10, 180], [0, -180], true),
            ([-10, -180, 10, -170], [0, 180], true),
            ([-10, -180, 10, 180], [0, 12], true),
            ([-10, -20, 10, 20], [10, 20], true),
            ([-10, -20, 10, 20], [10.1, 20], false),
            ([-10, -20, 10, 20], [0, 180], false),
            ([-10, 180, 10, 180], [0, -180], true),
            ([60, 10, 90, 20], [90, -100], true),
            ([60, 10, 90, 20], [89.9, -100], false),
            ([-90, 10, -60, 20], [-90, 0], true),
        ] as [([Double], [Double], Bool)])
    func `a box knows its edges, the antimeridian and the poles`(box: [Double], place: [Double], inside: Bool) throws {
        let box = try BoundingBox(
            southWest: Coordinate(latitude: box[0], longitude: box[1]),
            northEast: Coordinate(latitude: box[2], longitude: box[3]))
        #expect(box.contains(try Coordinate(latitude: place[0], longitude: place[1])) == inside)
    }

    @Test func `a box upside down is refused`() throws {
        let south = try Coordinate(latitude: 1, longitude: 0)
        let north = try Coordinate(latitude: 0, longitude: 0)
        #expect(throws: ShapeError.southAboveNorth) { try BoundingBox(southWest: south, northEast: north) }
    }
}
