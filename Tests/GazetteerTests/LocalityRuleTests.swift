import Geodesy
import Testing

@testable import Gazetteer

/// Invented places; the radii follow from the rule's 5,000 people to the square kilometer by hand.
@Suite struct LocalityRuleTests {
    private func place(_ number: Int, _ population: Int, meters: Double) -> LocalityRule.Neighbor {
        LocalityRule.Neighbor(number: number, population: population, distanceSquareMeters: meters * meters)
    }

    private func answer(
        among places: [LocalityRule.Neighbor], in cities: [LocalityRule.City], isOnLake: Bool = false,
        area: String = "1"
    ) -> LocalityRule.Answer {
        LocalityRule.answer(among: places, in: cities, isOnLake: isOnLake) { _ in area }
    }

    private func city(_ number: Int, _ population: Int, area: String = "1") -> LocalityRule.City {
        LocalityRule.City(number: number, population: population, area: area)
    }

    @Test func `a town reaches further than a hamlet`() {
        // 100,000 people reach 2.5 km: 2 km is within, 1.6 km is beyond the 1.5 km of a hamlet.
        let (hamlet, town) = (place(1, 30, meters: 1600), place(2, 100_000, meters: 2000))
        #expect(answer(among: [hamlet, town], in: []) == .init(locality: .place(2)))
    }

    @Test func `a village is itself in its middle, also beside a town`() {
        let (village, town) = (place(1, 2000, meters: 200), place(2, 100_000, meters: 2000))
        #expect(answer(among: [village, town], in: []) == .init(locality: .place(1)))
    }

    @Test func `of two villages at one point the more populous is named, whichever comes first`() {
        let (small, large) = (place(1, 300, meters: 500), place(2, 700, meters: 500))
        #expect(answer(among: [small, large], in: []) == .init(locality: .place(2)))
        #expect(answer(among: [large, small], in: []) == .init(locality: .place(2)))
    }

    @Test func `a part of a city seven times as large is its sublocality`() {
        let places = [place(1, 20_000, meters: 300)]
        #expect(
            answer(among: places, in: [city(9, 140_000)]) == .init(locality: .city(9), subLocality: 1))
        #expect(answer(among: places, in: [city(9, 139_999)]) == .init(locality: .place(1)))
    }

    @Test func `in the middle of a city the part around is told too`() {
        let middle = place(5, 1_000_000, meters: 1800)
        func answer(_ part: LocalityRule.Neighbor) -> LocalityRule.Answer {
            self.answer(among: [part, middle], in: [city(9, 1_000_000)])
        }
        #expect(answer(place(1, 20_000, meters: 500)) == .init(locality: .place(5), subLocality: 1))
        #expect(answer(place(1, 20_000, meters: 1501)) == .init(locality: .place(5)))
        #expect(answer(place(1, 100_001, meters: 2000)) == .init(locality: .place(5)))
        #expect(
            self.answer(
                among: [place(1, 20_000, meters: 500), place(5, 1_000_000, meters: 499)],
                in: [city(9, 1_000_000)]) == .init(locality: .place(5)))
        let village = self.answer(among: [place(1, 2000, meters: 500), middle], in: [])
        #expect(village == .init(locality: .place(5)))
    }

    @Test func `a town of another division is not part of the city`() {
        let newark = place(1, 280_000, meters: 300)
        #expect(
            answer(among: [newark], in: [city(9, 8_000_000, area: "NY")], area: "NJ") == .init(locality: .place(1)))
    }

    @Test func `far from everything there is no locality`() {
        #expect(answer(among: [place(1, 500, meters: 25_001)], in: []) == .init())
        #expect(answer(among: [place(1, 500, meters: 24_999)], in: []) == .init(locality: .place(1)))
        #expect(answer(among: [], in: []) == .init())
    }

    @Test func `on a lake only the places on its very shore count`() {
        #expect(answer(among: [place(1, 2_000_000, meters: 1501)], in: [], isOnLake: true) == .init())
        #expect(answer(among: [place(1, 500, meters: 1499)], in: [], isOnLake: true) == .init(locality: .place(1)))
    }
}
