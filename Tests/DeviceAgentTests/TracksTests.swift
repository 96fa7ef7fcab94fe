import CoreLocation
import Foundation
import Testing

@testable import DeviceAgent

@Suite struct TracksTests {
    /// Three points, the last without a time.
    static let gpx = Array(
        """
        <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
        <trkpt lat="48.25" lon="16.25"><ele>171</ele><time>2026-10-05T17:00:00Z</time></trkpt>
        <trkpt lat="48.5" lon="16.5"><time>2026-10-05T17:01:00Z</time><extensions><hacc>12</hacc></extensions></trkpt>
        <trkpt lat="48.75" lon="16.75"></trkpt>
        </trkseg></trk></gpx>
        """.utf8)
    static let now = Date(timeIntervalSince1970: 1_791_000_000.123)

    private func read(_ bytes: [UInt8]) throws -> SimulatedTrack {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("track-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try writeFile(bytes, to: path)
        return try SimulatedTrack(file: path)
    }

    @Test(arguments: [
        (Scenario.Standing.end, 48.5), (.after(seconds: 0), 48.25), (.after(seconds: 59.9), 48.25),
        (.after(seconds: 60), 48.5),
    ])
    func `a phone stands at the end of its track or some seconds after its start`(
        standing: Scenario.Standing, latitude: Double
    ) throws {
        let fixes = try read(Self.gpx).standing(standing, at: Self.now).fixes
        #expect(fixes.count == 1 && fixes[0].coordinate.latitude == latitude)
        #expect(fixes[0].timestamp == Self.now && fixes[0].speed == 0)
        #expect(fixes[0].sourceInformation?.isSimulatedBySoftware == true)
    }

    @Test(arguments: [
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{"time":1767268800}}"#,
        #"{"timestamp":1767268800,"latitude":46.5,"longitude":9.25}"#,
        "$GPRMC,120000,A,4630.000,N,00915.000,E,0.0,,010126,,,A*55\n",
    ])
    func `the kind of a file is told by its content`(text: String) throws {
        let fixes = try read(Array(text.utf8)).fixes
        #expect(fixes.map(\.timestamp.timeIntervalSince1970) == [1_767_268_800])
        #expect(fixes.map(\.coordinate.latitude) == [46.5] && fixes.map(\.coordinate.longitude) == [9.25])
    }

    @Test(arguments: ["<gpx/>", "<gpx><trk>", "<kml/>", "", "{}", "$GPRMC,1*00"])
    func `a file without a timed point is no track`(text: String) {
        #expect(throws: ScenarioError.self) { try read(Array(text.utf8)) }
    }
}
