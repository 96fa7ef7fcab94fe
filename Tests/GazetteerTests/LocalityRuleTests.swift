import Geodesy
import Testing

@testable import Gazetteer

/// Invented places; the radii follow from the rule's 5,000 people to the square kilometer by hand.
@Suite struct LocalityRuleTests {
    private func place(_ name: String, _ population: Int, meters: Double, area: String = "1") throws -> Place {
        Place(
            name: name, countryCode: "AT", country: "Austria", administrativeAreaCode: area, administrativeArea: nil,
            administrativeAreaISOCode: nil, timeZone: "Europe/Vienna",
            coordinate: try Coordinate(latitude: 0, longitude: 0), population: population, geonameID: 1,
            distanceMeters: meters)
    }

    private func city(_ name: String, _ population: Int, area: String = "1") -> LocalityRule.City {
        LocalityRule.City(name: name, population: population, administrativeAreaCode: area)
    }

    @Test func `a town reaches further than a hamlet`() throws {
        // 100,000 people reach 2.5 km: 2 km is within, 1.6 km is beyond the 1.5 km of a hamlet.
        let places = [try place("Hamlet", 30, meters: 1600), try place("Town", 100_000, meters: 2000)]
        #expect(LocalityRule.answer(among: places, in: []) == .init(locality: "Town"))
    }

    @Test func `a village is itself in its middle, also beside a town`() throws {
        let places = [try place("Village", 2000, meters: 200), try place("Town", 100_000, meters: 2000)]
        #expect(LocalityRule.answer(among: places, in: []) == .init(locality: "Village"))
    }

    @Test func `a part of a city ten times as large is its sublocality`() throws {
        let places = [try place("Quarter", 20_000, meters: 300)]
        #expect(
            LocalityRule.answer(among: places, in: [city("City", 200_000)])
                == .init(locality: "City", subLocality: "Quarter"))
        #expect(LocalityRule.answer(among: places, in: [city("City", 199_999)]) == .init(locality: "Quarter"))
    }

    @Test func `a town of another division is not part of the city`() throws {
        let places = [try place("Newark", 280_000, meters: 300, area: "NJ")]
        #expect(
            LocalityRule.answer(among: places, in: [city("New York", 8_000_000, area: "NY")])
                == .init(locality: "Newark"))
    }

    @Test func `far from everything there is no locality`() throws {
        #expect(LocalityRule.answer(among: [try place("Far", 500, meters: 25_001)], in: []) == .init())
        #expect(LocalityRule.answer(among: [try place("Near", 500, meters: 24_999)], in: []) == .init(locality: "Near"))
        #expect(LocalityRule.answer(among: [], in: []) == .init())
    }
}
