import COpenSSL
import Geodesy
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct GazetteerTests {
    let gazetteer: Gazetteer
    let transform: GeocentricTransform

    init() throws {
        gazetteer = try Gazetteer(path: Repository.gazetteerPath)
        transform = GeocentricTransform()
    }

    /// Numbers, names and codes as geonames.org shows them (geonames.org/2761369 and so on), divisions as ISO 3166-2.
    @Test(arguments: [
        Known(48.20849, 16.37208, 2_761_369, "Vienna", "AT", "Austria", "09", "Vienna", "Europe/Vienna"),
        Known(
            40.71427, -74.00597, 5_128_581, "New York City", "US", "United States", "NY", "New York", "America/New_York"
        ),
        Known(
            -33.86785, 151.20732, 2_147_714, "Sydney", "AU", "Australia", "02", "New South Wales", "Australia/Sydney"),
        Known(
            78.22334, 15.64689, 2_729_907, "Longyearbyen", "SJ", "Svalbard and Jan Mayen", "21", "Svalbard",
            "Arctic/Longyearbyen"),
        Known(1.28967, 103.85007, 1_880_252, "Singapore", "SG", "Singapore", nil, nil, "Asia/Singapore"),
    ])
    func `a city is found where GeoNames puts it`(known: Known) throws {
        let coordinate = try Coordinate(latitude: known.latitude, longitude: known.longitude)
        let place = try #require(gazetteer.nearest(to: coordinate, using: transform))
        #expect(place.geonameID == known.geonameID)
        #expect(place.name == known.name)
        #expect(place.countryCode == known.countryCode)
        #expect(place.country == known.country)
        #expect(place.administrativeAreaCode == known.areaCode)
        #expect(place.administrativeArea == known.area)
        #expect(place.timeZone == known.timeZone)
        #expect(place.coordinate == coordinate)
        #expect(place.distanceMeters == 0)
    }

    @Test func `most divisions have names, and what is absent is nil, not empty`() throws {
        var chance = SplitMix(3)
        var named = 0
        for _ in 0..<2000 {
            let place = try #require(gazetteer.nearest(to: chance.coordinate(), using: transform))
            #expect(place.administrativeAreaCode != "")
            #expect(place.administrativeArea != "" && place.administrativeAreaISOCode != "")
            if place.administrativeArea != nil { named += 1 }
        }
        // Islands far out are the nearest land to much of the sphere, and some have no divisions.
        #expect(named > 1800)
    }

    @Test(arguments: [-79.5, -16.8, 0.0, 51.9, 68.0])
    func `both ends of the longitudes are one meridian`(latitude: Double) throws {
        let ends = try [-180, 180].map { try Coordinate(latitude: latitude, longitude: $0) }
        let west = try #require(gazetteer.nearest(to: ends[0], using: transform))
        let east = try #require(gazetteer.nearest(to: ends[1], using: transform))
        #expect(west.geonameID == east.geonameID)
        #expect(abs(west.distanceMeters - east.distanceMeters) < 1e-6)
    }

    @Test(arguments: [90.0, -90.0])
    func `a pole has one nearest place at every longitude`(latitude: Double) throws {
        let places = try stride(from: -180.0, through: 180, by: 7.5).map { longitude in
            try #require(gazetteer.nearest(to: Coordinate(latitude: latitude, longitude: longitude), using: transform))
        }
        #expect(Set(places.map(\.geonameID)).count == 1)
        #expect(places.allSatisfy { abs($0.distanceMeters - places[0].distanceMeters) < 1e-6 })
    }

    @Test func `threads with a transform each share one gazetteer and agree`() async throws {
        var chance = SplitMix(1)
        let coordinates = try (0..<2000).map { _ in try chance.coordinate() }
        let expected = coordinates.map { gazetteer.nearest(to: $0, using: transform) }
        try await withThrowingTaskGroup(of: [Place?].self) { [gazetteer] group in
            for _ in 0..<4 {
                group.addTask {
                    let own = GeocentricTransform()
                    return coordinates.map { gazetteer.nearest(to: $0, using: own) }
                }
            }
            for try await found in group { #expect(found == expected) }
        }
    }

    @Test func `more neighbours come after the fewer, by rising distance`() throws {
        var chance = SplitMix(2)
        for _ in 0..<300 {
            let coordinate = try chance.coordinate()
            let many = gazetteer.nearest(to: coordinate, count: 40, using: transform)
            #expect(many.count == 40)
            #expect(Set(many.map(\.geonameID)).count == 40)
            #expect(zip(many, many.dropFirst()).allSatisfy { $0.distanceMeters <= $1.distanceMeters })
            #expect(many.prefix(7) == gazetteer.nearest(to: coordinate, count: 7, using: transform)[...])
            #expect(many.first == gazetteer.nearest(to: coordinate, using: transform))
        }
    }

    @Test func `none are asked for, none come`() throws {
        let coordinate = try Coordinate(latitude: 0, longitude: 0)
        #expect(gazetteer.nearest(to: coordinate, count: 0, using: transform).isEmpty)
        #expect(gazetteer.nearest(to: coordinate, count: -1, using: transform).isEmpty)
    }

    @Test func `a place prints without saying where it is`() throws {
        let place = try #require(gazetteer.nearest(to: Coordinate(latitude: 48.2, longitude: 16.4), using: transform))
        #expect("\(place)" == "Place(…)")
        #expect(String(reflecting: place) == "Place(…)")
    }

    @Test func `the attribution names the source and its licence`() {
        #expect(gazetteer.attribution.contains("GeoNames (https://www.geonames.org)"))
        #expect(gazetteer.attribution.contains("CC BY 4.0"))
    }

    /// The rounding the search allows for, checked on every place by the conversion the questions go through.
    @Test func `the file's geocentric coordinates are PROJ's within half a unit`() throws {
        let mapping = try MappedFile(path: Repository.gazetteerPath)
        let file = try GazetteerFile(mapping, path: Repository.gazetteerPath)
        var worst = 0.0
        for index in 0..<file.records.count {
            let coordinate = try Coordinate(
                latitude: Double(file.records.int32(index, at: 0)) / 1e7,
                longitude: Double(file.records.int32(index, at: 4)) / 1e7)
            let point = transform.point(coordinate)
            for (offset, value) in [(2, point.x), (5, point.y), (8, point.z)] {
                worst = max(worst, abs(Double(file.points.int24(index, at: offset)) - value))
            }
        }
        #expect(worst <= 0.5)
    }

    @Test func `the manifest has the hash, length and count of the file`() throws {
        let content = try contents(ofFile: Repository.gazetteerPath)
        let manifest = String(decoding: try contents(ofFile: Repository.manifestPath), as: UTF8.self)
        var digest = [UInt8](repeating: 0, count: 32)
        #expect(EVP_Digest(content, content.count, &digest, nil, EVP_sha256(), nil) == 1)
        let hexadecimal = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(manifest.contains("\"sha256\": \"\(hexadecimal)\""))
        #expect(manifest.contains("\"bytes\": \(content.count),"))
        #expect(manifest.contains("\"places\": \(gazetteer.placeCount),"))
    }
}

/// A place as GeoNames has it.
struct Known: Sendable {
    let latitude, longitude: Double
    let geonameID: Int
    let name, countryCode, country: String
    let areaCode, area: String?
    let timeZone: String

    init(
        _ latitude: Double, _ longitude: Double, _ geonameID: Int, _ name: String, _ countryCode: String,
        _ country: String, _ areaCode: String?, _ area: String?, _ timeZone: String
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.geonameID = geonameID
        self.name = name
        self.countryCode = countryCode
        self.country = country
        self.areaCode = areaCode
        self.area = area
        self.timeZone = timeZone
    }
}
