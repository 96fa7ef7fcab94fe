import Geodesy
import TestSupport
import Testing

@testable import Gazetteer

@Suite final class PlaceTreeTests {
    /// The memory that `file` and `tree` point into.
    let mapping: MappedFile
    let file: GazetteerFile
    let tree: PlaceTree
    let transform: GeocentricTransform

    init() throws {
        mapping = try MappedFile(path: Repository.gazetteerPath)
        file = try GazetteerFile(mapping, path: Repository.gazetteerPath)
        tree = PlaceTree(nodes: file.nodes, points: file.points, countries: file.countries)
        transform = GeocentricTransform()
    }

    /// Every place and the square of its chord, by rising chords.
    private func all(around point: GeocentricPoint, in country: Int?) -> [(index: Int, chordSquare: Double)] {
        (0..<file.points.count).filter { index in
            country.map { file.areas.uint16(Int(file.points.uint16(index, at: 0)), at: 12) == UInt16($0) } ?? true
        }.map { index in
            let stored = GeocentricPoint(
                x: Double(file.points.int24(index, at: 2)), y: Double(file.points.int24(index, at: 5)),
                z: Double(file.points.int24(index, at: 8)))
            return (index, stored.chordSquareMeters(to: point))
        }.sorted { $0.1 < $1.1 }
    }

    /// By looking at every place: near one of the country's, far from all, in a country of one place and in the
    /// largest.
    @Test func `the places found around a point are those a scan of the country finds`() throws {
        var chance = SplitMix(31)
        for round in 0..<40 {
            let country = Int.random(in: 0..<file.countries.count, using: &chance)
            let own = Int(file.countries.uint32(country, at: 8))
            var point = transform.point(try chance.coordinate())
            if round % 4 != 0 {
                let spread = [1000.0, 10_000, 100_000][round % 4 - 1]
                func near(_ axis: Int) -> Double {
                    Double(file.points.int24(own, at: 2 + 3 * axis))
                        + Double.random(in: -spread...spread, using: &chance)
                }
                point = GeocentricPoint(x: near(0), y: near(1), z: near(2))
            }
            let expected = all(around: point, in: country)
            let found = tree.nearPlaces(to: point, in: country)
            let around = expected.prefix(NearPlaces.most).prefix { $0.chordSquare <= 28_000 * 28_000 }
            #expect(found.aroundCount == around.count)
            #expect((0..<around.count).allSatisfy { found[$0].chordSquare == expected[$0].chordSquare })
            #expect(found[0].chordSquare == expected[0].chordSquare)
            let ties = expected.prefix { $0.chordSquare <= found.tieSquare }
            #expect((found.ties?.count ?? NearPlaces.most) == min(ties.count, NearPlaces.most))
            #expect(Set(tree.places(within: found.tieSquare, of: point, in: country)) == Set(ties.map(\.index)))
        }
    }

    @Test func `of all countries those found are the ones a scan of all places finds`() throws {
        var chance = SplitMix(32)
        for _ in 0..<10 {
            let point = transform.point(try chance.coordinate())
            let expected = all(around: point, in: nil)
            let reach = ChordReach.square(beyond: expected[4].chordSquare)
            let found = tree.candidates(for: point, count: 5)
            #expect(Set(found.map(\.index)) == Set(expected.prefix { $0.chordSquare <= reach }.map(\.index)))
            let nearest = tree.nearPlaces(to: point, in: nil)
            #expect(nearest[0].chordSquare == expected[0].chordSquare)
        }
    }

    @Test func `the bound that a search goes by is never below the reach of the law`() {
        var chord = 0.0
        while chord < 12_800_000 {
            let square = chord * chord
            #expect(ChordReach.bound(beyond: square) >= ChordReach.square(beyond: square), "\(chord)")
            chord += max(1, chord / 1000)
        }
    }
}
