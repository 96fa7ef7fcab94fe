import Geodesy
import Testing

@testable import Whereabouts

@Suite struct PlaceDerivationTests {
    private func visit(_ hour: Int64, at coordinate: Coordinate, accuracy: Double = 10) -> Visit {
        let arrival = VisitDerivationTests.midnight.adding(seconds: hour * 3600)
        return Visit(
            id: UInt64(hour), arrival: arrival, departure: arrival.adding(seconds: 1800), coordinate: coordinate,
            horizontalAccuracy: accuracy, fixes: 5, firstReported: arrival, departureReported: nil)
    }

    @Test(arguments: VisitDerivationTests.towns)
    func `visits to one spot share a place, and others do not`(town: VisitDerivationTests.Town) throws {
        let (home, work) = (try town.home, try town.work)
        var places = PlaceDerivation()
        var indices: [Int] = []
        for day in 0..<5 {
            for (hour, spot) in [(0, home), (9, work), (18, home)] {
                let near = Geodesic.direct(
                    from: spot, initialAzimuth: Double(day) * 70, distanceMeters: Double(day) * 10)
                indices.append(places.add(visit(Int64(day * 24 + hour), at: near)))
            }
        }
        #expect(indices == Array(repeating: [0, 1, 0], count: 5).flatMap { $0 })
        #expect(places.places.map(\.visits) == [10, 5])
        #expect(places.places.map(\.totalSeconds) == [18_000, 9000])
        #expect(places.places.map(\.id) == [0, 9])
    }

    @Test func `the shop next door but one is a place of its own`() throws {
        let home = try Coordinate(latitude: 48.2, longitude: 16.37)
        var places = PlaceDerivation()
        places.add(visit(0, at: home))
        places.add(visit(1, at: Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 150)))
        #expect(places.places.count == 2)
        // A vague visit between them belongs to the nearer.
        let vague = Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 50)
        #expect(places.add(visit(2, at: vague, accuracy: 120)) == 0)
        #expect(places.places[0].horizontalAccuracy == 10)
    }
}
