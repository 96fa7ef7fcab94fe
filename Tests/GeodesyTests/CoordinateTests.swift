import Geodesy
import Testing

@Suite struct CoordinateTests {
    @Test(arguments: [(90.0, 180.0), (-90, -180), (0, 0), (-0.0, 179.999_999_999_999_97)])
    func `the ends of both ranges are coordinates`(latitude: Double, longitude: Double) throws {
        let coordinate = try Coordinate(latitude: latitude, longitude: longitude)
        #expect(coordinate.latitude == latitude && coordinate.longitude == longitude)
    }

    @Test(arguments: [
        (Double.nan, 0.0, CoordinateError.notFinite),
        (0, .infinity, .notFinite),
        (-.infinity, 500, .notFinite),
        (90.000_000_000_000_014, 100, .latitudeOutOfRange(looksSwapped: false)),
        (120, 45, .latitudeOutOfRange(looksSwapped: true)),
        (-180, -90, .latitudeOutOfRange(looksSwapped: true)),
        (181, 45, .latitudeOutOfRange(looksSwapped: false)),
        (1e308, 0, .latitudeOutOfRange(looksSwapped: false)),
        (45, 180.000_000_000_000_03, .longitudeOutOfRange),
        (45, -1e308, .longitudeOutOfRange),
    ])
    func `anything else is refused with the reason`(latitude: Double, longitude: Double, reason: CoordinateError) {
        #expect(throws: reason) { try Coordinate(latitude: latitude, longitude: longitude) }
    }

    @Test func `a coordinate never prints where it is`() throws {
        let coordinate = try Coordinate(latitude: 12.345, longitude: 67.89)
        var dumped = ""
        dump(coordinate, to: &dumped)
        for text in ["\(coordinate)", String(reflecting: coordinate), dumped, "\([coordinate])"] {
            #expect(text.contains("Coordinate(…)"))
            #expect(!text.contains("12.") && !text.contains("67."))
        }
    }

    @Test func `an error hints at swapped numbers and prints none`() {
        let text = CoordinateError.latitudeOutOfRange(looksSwapped: true).description
        #expect(text.contains("swapped"))
        #expect(!CoordinateError.latitudeOutOfRange(looksSwapped: false).description.contains("swapped"))
    }
}
