import Geodesy
import Testing
import Whereabouts

@testable import DeviceAgent

@Suite struct TrackTests {
    /// Three points, the last without a time.
    static let gpx = Array(
        """
        <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
        <trkpt lat="48.25" lon="16.25"><ele>171</ele><time>2026-10-05T17:00:00Z</time></trkpt>
        <trkpt lat="48.5" lon="16.5"><time>2026-10-05T17:01:00Z</time><extensions><hacc>12</hacc></extensions></trkpt>
        <trkpt lat="48.75" lon="16.75"></trkpt>
        </trkseg></trk></gpx>
        """.utf8)
    static let now = Timestamp(milliseconds: 1_791_000_000_123)

    @Test(arguments: [
        (Track.Standing.end, 48.5), (.after(seconds: 0), 48.25), (.after(seconds: 59.9), 48.25),
        (.after(seconds: 60), 48.5),
    ])
    func `a phone stands at the end of its track or some seconds after its start`(
        standing: Track.Standing, latitude: Double
    ) throws {
        let fix = try Track(gpx: Self.gpx, standing: standing).fix(at: Self.now)
        #expect(fix.coordinate.latitude == latitude)
    }

    @Test func `a fix has the present time and says that software made it`() throws {
        let start = try Track(gpx: Self.gpx, standing: .after(seconds: 0)).fix(at: Self.now)
        #expect(start.timestamp == Self.now)
        #expect(start.isSimulatedBySoftware == true)
        #expect(start.altitude == 171)
        #expect(start.horizontalAccuracy == 8)
        #expect(try Track(gpx: Self.gpx, standing: .end).fix(at: Self.now).horizontalAccuracy == 12)
    }

    @Test(arguments: ["<gpx/>", "<gpx><trk>", "<kml/>", ""])
    func `a file without a timed track point is no track`(text: String) {
        #expect(throws: ScenarioError.self) { try Track(gpx: Array(text.utf8), standing: .end) }
    }

    @Test func `a track describes itself without its place`() throws {
        #expect("\(try Track(gpx: Self.gpx, standing: .end))" == "Track(…)")
    }
}
