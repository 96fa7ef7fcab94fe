import Geodesy
import Testing

@testable import Whereabouts

@Suite struct AnomalyTests {
    private static let home = VisitDerivationTests.midnight

    private static func fix(_ second: Int64, metersOff: Double = 0, accuracy: Double? = 10, ahead: Int64 = 0) throws
        -> StoredFix
    {
        let center = try Coordinate(latitude: 48.2, longitude: 16.37)
        let time = home.adding(seconds: second)
        return StoredFix(
            device: MemoryTimeline.device, timestamp: time,
            coordinate: Geodesic.direct(from: center, initialAzimuth: 90, distanceMeters: metersOff),
            horizontalAccuracy: accuracy, receivedAt: time.adding(seconds: -ahead))
    }

    private static func marks(_ fixes: [StoredFix], _ before: StoredFix? = nil, _ after: StoredFix? = nil) throws
        -> [Anomaly?]
    {
        Anomaly.marks(of: fixes, between: before, and: after, GeocentricTransform())
    }

    @Test func `a fix is marked with why it does not count`() throws {
        let zero = StoredFix(
            device: MemoryTimeline.device, timestamp: Self.home.adding(seconds: 30),
            coordinate: try Coordinate(latitude: 0, longitude: 0),
            horizontalAccuracy: 5, receivedAt: nil)
        let fixes = [
            try Self.fix(0), try Self.fix(10, accuracy: -1), zero, try Self.fix(40, ahead: 61),
            try Self.fix(50, accuracy: 3001), try Self.fix(60, accuracy: nil),
        ]
        #expect(try Self.marks(fixes) == [nil, .invalid, .noFix, .inTheFuture, .vague, nil])
    }

    /// 5 km and back within a minute; a drive of 5 km in six minutes is none.
    @Test func `a spike is told by its neighbours, also beyond the page`() throws {
        let spike = try Self.fix(30, metersOff: 5000)
        let (before, after) = (try Self.fix(0), try Self.fix(60))
        #expect(try Self.marks([before, spike, after]) == [nil, .spike, nil])
        #expect(try Self.marks([spike], before, after) == [.spike])
        #expect(try Self.marks([before, spike], nil, after) == [nil, .spike])
        #expect(try Self.marks([spike, after], before) == [.spike, nil])
        // Without its successor it counts until that says otherwise.
        #expect(try Self.marks([before, spike]) == [nil, nil])
        let drive = try (0...6).map { try Self.fix($0 * 60, metersOff: Double($0) * 833) }
        #expect(try Self.marks(drive) == Array(repeating: nil, count: 7))
    }
}
