import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct ZonesTests {
    let zones: Zones

    init() throws {
        zones = try Zones(path: Repository.zonesPath)
    }

    private func answer(_ latitude: Double, _ longitude: Double) throws -> (zone: String, country: String?) {
        let number = try #require(zones.number(at: Coordinate(latitude: latitude, longitude: longitude)))
        return (try #require(zones.timeZone(number)), zones.country(number)?.description)
    }

    /// Zones and countries as tzdata's zone.tab pairs them, save for the cases that the comments name.
    @Test(
        arguments: [
            (48.20849, 16.37208, "Europe/Vienna", "AT"),
            // Zone.tab has Asia/Bangkok in Thailand and Europe/Belgrade in Serbia only.
            (21.0285, 105.8542, "Asia/Bangkok", "VN"),
            (20.8449, 106.6881, "Asia/Bangkok", "VN"),
            (13.7563, 100.5018, "Asia/Bangkok", "TH"),
            (10.8231, 106.6297, "Asia/Ho_Chi_Minh", "VN"),
            (42.6629, 21.1655, "Europe/Belgrade", "XK"),
            (42.2139, 20.7397, "Europe/Belgrade", "XK"),
            (44.7866, 20.4489, "Europe/Belgrade", "RS"),
            (41.9981, 21.4254, "Europe/Skopje", "MK"),
            (-77.846, 166.676, "Antarctica/McMurdo", "AQ"),
            // Enclaves and small states.
            (43.9424, 12.4578, "Europe/San_Marino", "SM"),
            (41.9029, 12.4534, "Europe/Vatican", "VA"),
            (-29.31, 27.48, "Africa/Maseru", "LS"),
            (35.8894, -5.3198, "Africa/Ceuta", "ES"),
            // Zones that overlap: the smaller answers.
            (43.8256, 87.6168, "Asia/Urumqi", "CN"),
        ] as [(Double, Double, String, String)])
    func `a place has its time zone and country`(
        latitude: Double, longitude: Double, zone: String, country: String
    ) throws {
        let found = try answer(latitude, longitude)
        #expect(found.zone == zone)
        #expect(found.country == country)
    }

    @Test(arguments: [
        (0.0, -30.0, "Etc/GMT+2"), (-40, 80, "Etc/GMT-5"), (30, -150, "Etc/GMT+10"), (89.9, 3, "Etc/GMT"),
    ])
    func `the high seas have a nautical zone and no country`(latitude: Double, longitude: Double, zone: String) throws {
        let found = try answer(latitude, longitude)
        #expect(found.zone == zone)
        #expect(found.country == nil)
    }

    @Test func `the middle of every cell of a tenth of a degree is in a zone that has a name`() throws {
        let named = (0..<zones.count).map { zones.timeZone($0) != nil }
        #expect(named.allSatisfy { $0 })
        var without = 0
        for row in 0..<1800 {
            for column in 0..<3600 {
                let coordinate = try Coordinate(
                    latitude: Double(row) / 10 - 89.95, longitude: Double(column) / 10 - 179.95)
                if zones.number(at: coordinate) == nil { without += 1 }
            }
        }
        #expect(without == 0)
    }

    @Test func `a point anywhere, also on the sides and corners of cells, is in a zone`() throws {
        var chance = SplitMix(11)
        for _ in 0..<200_000 {
            #expect(try zones.number(at: chance.coordinate()) != nil)
            let corner = try Coordinate(
                latitude: Double(Int.random(in: -900...900, using: &chance)) / 10,
                longitude: Double(Int.random(in: -1800...1800, using: &chance)) / 10)
            #expect(zones.number(at: corner) != nil)
        }
    }

    @Test func `both ends of the longitudes are one meridian`() throws {
        for step in -90_000...90_000 {
            let latitude = Double(step) / 1000
            #expect(
                try zones.number(at: Coordinate(latitude: latitude, longitude: -180))
                    == zones.number(at: Coordinate(latitude: latitude, longitude: 180)))
        }
    }

    @Test(arguments: [(90.0, "Etc/GMT", nil), (-90, "Antarctica/McMurdo", "AQ")] as [(Double, String, String?)])
    func `a pole has one zone at every longitude`(latitude: Double, zone: String, country: String?) throws {
        for longitude in stride(from: -180.0, through: 180, by: 0.5) {
            let found = try answer(latitude, longitude)
            #expect(found.zone == zone)
            #expect(found.country == country)
        }
    }

    @Test func `many at once are the same as one by one, in order`() throws {
        var chance = SplitMix(12)
        let coordinates = try (0..<20_000).map { _ in try chance.coordinate() }
        #expect(zones.numbers(at: coordinates) == coordinates.map { zones.number(at: $0) })
    }

    @Test func `the attribution names the source, its licence and that this file is under it`() {
        #expect(zones.attribution.contains("OpenStreetMap contributors"))
        #expect(zones.attribution.contains("Open Database License 1.0"))
    }

    /// Points on the sphere and 100 m to 1 km from borders, each further than the simplification from any border of the
    /// full-resolution polygons (scripts/gazetteer/zones_by_timezonefinder.py), so that both must agree.
    @Test(
        .enabled(
            if: Foreign.hasPython(with: "numpy, timezonefinder"),
            "WHEREABOUTS_PYTHON names no python with numpy and timezonefinder 9.0.0"))
    func `full-resolution polygons give the same zone beyond the reach of the simplification`() throws {
        let lines = try Foreign.python(path: "\(Repository.root)/scripts/gazetteer/zones_by_timezonefinder.py")
            .split(separator: "\n")
        #expect(lines.count > 4000)
        for line in lines {
            let fields = line.split(separator: " ")
            let found = try answer(#require(Double(fields[0])), #require(Double(fields[1])))
            #expect(fields.dropFirst(2).contains { $0 == found.zone }, "\(line) instead of \(found.zone)")
        }
    }
}
