import Geodesy
import TestSupport
import Testing

@testable import Whereabouts

/// The grid itself: each place has one cell, which is around it, and the meridian of 180° is one line.
@Suite struct KilometerCellTests {
    private static func center(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        KilometerCell.center(of: try Coordinate(latitude: latitude, longitude: longitude))
    }

    @Test(arguments: 1...20) func `a place lies in its own cell, whose center is its own`(seed: UInt64) throws {
        var random = SplitMix(seed)
        for _ in 0..<200 {
            let coordinate = try Coordinate(
                latitude: Double.random(in: -89.9...89.9, using: &random),
                longitude: Double.random(in: -180..<180, using: &random))
            let center = KilometerCell.center(of: coordinate)
            #expect(KilometerCell.center(of: center) == center)
            // Rows are 0.01° high; cells are about as wide, nowhere more than twice as near the poles.
            #expect(abs(center.latitude - coordinate.latitude) <= 0.005 + 1e-9)
            #expect(
                Geodesic.distanceMeters(from: coordinate, to: center) < (abs(coordinate.latitude) < 89 ? 800 : 1300))
        }
    }

    @Test func `180 degrees east and west are one meridian`() throws {
        for tenth in -899...899 {
            let latitude = Double(tenth) / 10
            let (east, west) = (try Self.center(latitude, 180), try Self.center(latitude, -180))
            #expect(east == west, "\(latitude)")
            // The nearest places on either side are in cells that meet there.
            let before = try Self.center(latitude, 179.99999)
            let width = HeldCell(around: before).widthDegrees
            #expect(abs((180 - before.longitude) - width / 2) < 1e-6 && abs((west.longitude + 180) - width / 2) < 1e-6)
        }
    }

    /// Going round a row, cells follow one another without a gap, each as wide as the others.
    @Test(arguments: [0.005, 48.205, -33.865, 89.005]) func `a row has equal cells`(latitude: Double) throws {
        let first = HeldCell(around: try Coordinate(latitude: latitude, longitude: -180))
        let columns = Int((360 / first.widthDegrees).rounded())
        for column in stride(from: 0, to: columns, by: max(1, columns / 500)) {
            let west = -180 + Double(column) * 360 / Double(columns)
            for part in [0.001, 0.5, 0.999] {
                let center = try Self.center(latitude, west + part * first.widthDegrees)
                #expect(abs(center.longitude - (west + first.widthDegrees / 2)) < 1e-9)
            }
        }
    }
}
