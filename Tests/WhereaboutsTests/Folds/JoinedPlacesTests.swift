import Geodesy
import TestSupport
import Testing

@testable import Whereabouts

@Suite struct JoinedPlacesTests {
    private static let town: Coordinate = {
        guard let town = try? Coordinate(latitude: 48.2, longitude: 16.37) else { preconditionFailure() }
        return town
    }()

    /// A spot of the town, 300 m from the next one, moved by up to 10 m.
    private static func spot(_ index: Int, offMeters: Double = 0) -> Coordinate {
        let spot = Geodesic.direct(from: town, initialAzimuth: 90, distanceMeters: Double(index) * 300)
        return Geodesic.direct(from: spot, initialAzimuth: Double(index) * 40, distanceMeters: offMeters)
    }

    private static func visit(_ hour: Int64, at spot: Int, minutes: Double = 30) -> Visit {
        let arrival = VisitDerivationTests.midnight.adding(seconds: hour * 3600)
        return Visit(
            id: UInt64(1 + hour), arrival: arrival, departure: arrival.adding(seconds: Int64(minutes * 60)),
            coordinate: Self.spot(spot), horizontalAccuracy: 10, fixes: 5, firstReported: arrival,
            departureReported: nil)
    }

    private static func derived(_ visits: [Visit]) -> PlaceDerivation {
        var places = PlaceDerivation()
        for visit in visits { places.add(visit) }
        return places
    }

    private static func joined(_ visits: [Visit], _ corrections: [Correction]) -> JoinedPlaces {
        JoinedPlaces(derived(visits).places, joinedBy: VisitCorrections(corrections).places)
    }

    @Test func `the visits and times of two places that are one add up, and the first named gives the name`() {
        let visits = [
            Self.visit(0, at: 0), Self.visit(2, at: 1, minutes: 45), Self.visit(4, at: 2), Self.visit(6, at: 0),
        ]
        let corrections = [Correction.samePlace(Self.spot(1, offMeters: 20), with: Self.spot(0, offMeters: 20))]
        let joined = Self.joined(visits, corrections)
        #expect(joined.indices == [0, 0, 1])
        #expect(joined.places.map(\.visits) == [3, 1])
        #expect(joined.places.map(\.totalSeconds) == [105 * 60, 30 * 60])
        #expect(joined.places[0].id == visits[0].id && joined.places[0].coordinate == Self.spot(1))
        #expect(joined.places[0].firstArrival == visits[0].arrival)
        #expect(
            joined.places[0].lastArrival == visits[3].arrival && joined.places[0].lastDeparture == visits[3].departure)

        let names = VisitCorrections(corrections + [.rename(Self.spot(0), "Annex"), .rename(Self.spot(1), "Office")])
        #expect(names.name(at: Self.spot(0)) == "Office" && names.name(at: Self.spot(1)) == "Office")
        #expect(names.name(at: Self.spot(2)) == nil)
        // Without a name of its own, the place has that of the other part.
        let one = VisitCorrections(corrections + [.rename(Self.spot(0), "Annex")])
        #expect(one.name(at: Self.spot(1)) == "Annex")
        #expect(names.namingCoordinate(at: Self.spot(0)) == Self.spot(1, offMeters: 20))
        #expect(names.namingCoordinate(at: Self.spot(2)) == Self.spot(2))
    }

    @Test func `a place in which no visit counts adds no times`() {
        var places = PlaceDerivation()
        places.add(Self.visit(0, at: 0), counts: false)
        places.add(Self.visit(5, at: 1))
        places.add(Self.visit(8, at: 0), counts: false)
        let joined = JoinedPlaces(
            places.places, joinedBy: VisitCorrections([.samePlace(Self.spot(0), with: Self.spot(1))]).places)
        #expect(joined.places.map(\.visits) == [1])
        #expect(joined.places[0].firstArrival == Self.visit(5, at: 1).arrival)
        #expect(joined.places[0].lastArrival == Self.visit(5, at: 1).arrival)
        #expect(joined.places[0].totalSeconds == 1800)
    }

    @Test func `a place in which no visit counts adds no times to an earlier one either`() {
        var places = PlaceDerivation()
        places.add(Self.visit(0, at: 0))
        places.add(Self.visit(5, at: 1), counts: false)
        let joined = JoinedPlaces(
            places.places, joinedBy: VisitCorrections([.samePlace(Self.spot(0), with: Self.spot(1))]).places)
        #expect(joined.indices == [0, 0] && joined.places.map(\.visits) == [1])
        #expect(joined.places[0].lastArrival == Self.visit(0, at: 0).arrival)
        #expect(joined.places[0].lastDeparture == Self.visit(0, at: 0).departure)
    }

    @Test func `two groups that share a place are one, with the name of the later group`() {
        let visits = (0..<3).map { Self.visit(Int64($0) * 2, at: $0) }
        // Both coordinates are near the last spot, and too far from each other to be one coordinate.
        let (north, south) = (0.0, 180.0)
        let near = { Geodesic.direct(from: Self.spot(2), initialAzimuth: $0, distanceMeters: 40) }
        let corrections = [
            Correction.samePlace(Self.spot(1), with: near(north)), .samePlace(Self.spot(0), with: near(south)),
        ]
        #expect(VisitCorrections(corrections).places.groups.count == 2)
        let joined = Self.joined(visits, corrections)
        #expect(joined.indices == [0, 0, 0] && joined.places.map(\.visits) == [3])
        #expect(joined.places[0].coordinate == Self.spot(0))
    }

    @Test func `a coordinate without a place joins nothing`() {
        let visits = [Self.visit(0, at: 0), Self.visit(2, at: 1)]
        for correction in [
            Correction.samePlace(Self.spot(0), with: Self.spot(7)), .samePlace(Self.spot(7), with: Self.spot(1)),
        ] {
            #expect(Self.joined(visits, [correction]).places == Self.derived(visits).places)
        }
    }

    /// The second implementation: places are numbers, and a place is joined by painting all of its color.
    private static func colors(_ count: Int, _ pairs: [(Int, Int)]) -> [Int] {
        var colors = Array(0..<count)
        for (first, other) in pairs {
            let (kept, painted) = (colors[first], colors[other])
            for index in colors.indices where colors[index] == painted { colors[index] = kept }
        }
        return colors
    }

    @Test(arguments: 0..<60) func `places are joined as a second implementation joins them`(seed: UInt64) {
        var random = SplitMix(seed)
        let spots = Int.random(in: 2...8, using: &random)
        let visits = (0..<40).map { Self.visit(Int64($0), at: Int.random(in: 0..<spots, using: &random)) }
        let pairs = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            (Int.random(in: 0..<spots, using: &random), Int.random(in: 0..<spots, using: &random))
        }.filter { $0.0 != $0.1 }
        let corrections = pairs.map { pair in
            Correction.samePlace(
                Self.spot(pair.0, offMeters: .random(in: 0...15, using: &random)),
                with: Self.spot(pair.1, offMeters: .random(in: 0...15, using: &random)))
        }
        let places = Self.derived(visits).places
        let joined = Self.joined(visits, corrections)
        // Every spot counts for a color, also one that was never visited.
        let spotOfPlace = places.map { place in
            (0..<spots).first { Geodesic.distanceMeters(from: Self.spot($0), to: place.coordinate) < 1 } ?? -1
        }
        let colors = Self.colors(spots, pairs)
        for (index, spot) in spotOfPlace.enumerated() {
            for (other, otherSpot) in spotOfPlace.enumerated() {
                // A spot that no visit was to connects nothing, so only the one direction holds then.
                if joined.indices[index] == joined.indices[other] {
                    #expect(colors[spot] == colors[otherSpot])
                } else if Set(spotOfPlace).count == spots {
                    #expect(colors[spot] != colors[otherSpot])
                }
            }
        }
        #expect(joined.places.map(\.visits).reduce(0, +) == Int64(visits.count))
        #expect(joined.places.map(\.totalSeconds).reduce(0, +) == Double(visits.count) * 1800)
        #expect(joined.places.map(\.firstArrival) == joined.places.map(\.firstArrival).sorted())
        // The order in which the places were joined decides about the name alone.
        let shuffled = Self.joined(visits, corrections.shuffled(using: &random))
        #expect(shuffled.indices == joined.indices && shuffled.places.map(\.visits) == joined.places.map(\.visits))
        // Without the corrections the places are as derived.
        #expect(Self.joined(visits, []).places == places)
    }
}
