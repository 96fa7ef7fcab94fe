import Geodesy
import Testing

@testable import Whereabouts

/// The cell that a coarse asker is shown, at its border and beyond.
@Suite struct HeldCellTests {
    private static func coordinate(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        try Coordinate(latitude: latitude, longitude: longitude)
    }

    /// Rows are 0.01° high: a quarter of one is 278 m on the meridian.
    @Test(arguments: [
        (48.205, true), (48.2101, true), (48.2124, true), (48.2126, false), (48.1976, true), (48.1974, false),
    ])
    func `it is kept a quarter of a cell beyond its border`(latitude: Double, isKept: Bool) throws {
        let cell = HeldCell(around: try Self.coordinate(48.2001, 16.3698))
        #expect(cell.center.latitude == KilometerCell.center(of: try Self.coordinate(48.205, 16.3698)).latitude)
        #expect(cell.keeps(try Self.coordinate(latitude, cell.center.longitude)) == isKept)
    }

    /// In Vienna a cell is as wide as a row is high, 0.015°.
    @Test func `it is kept as far east and west`() throws {
        let cell = HeldCell(around: try Self.coordinate(48.205, 16.3698))
        let edge = cell.center.longitude + cell.widthDegrees / 2
        for (part, isKept) in [(0.0, true), (0.24, true), (0.26, false)] {
            let east = try Self.coordinate(48.205, edge + part * cell.widthDegrees)
            #expect(cell.keeps(east) == isKept)
        }
    }

    @Test func `it reaches across the antimeridian`() throws {
        let cell = HeldCell(around: try Self.coordinate(0.005, 179.9999))
        #expect(cell.keeps(try Self.coordinate(0.005, -179.9990)))
        #expect(!cell.keeps(try Self.coordinate(0.005, -179.98)))
    }
}
