import TestSupport
import Testing
import Whereabouts

@testable import WireFormats

/// The gpxpy of PyPI reads the same files, where `WHEREABOUTS_PYTHON` names a python that has it.
@Suite struct GPXForeignTests {
    private static let hasGPXPy = Foreign.hasPython(with: "gpxpy")

    /// A line of counts, then a line for each track point: time in milliseconds, latitude, longitude, elevation, speed.
    private static let program = """
        import sys, gpxpy, datetime
        gpx = gpxpy.parse(sys.stdin.buffer)
        segments = [segment for track in gpx.tracks for segment in track.segments]
        print(len(gpx.tracks), len(segments), len(gpx.waypoints), sum(len(route.points) for route in gpx.routes))
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        for segment in segments:
            for point in segment.points:
                time = point.time
                if time is not None:
                    time = time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)
                    time = (time - epoch) // datetime.timedelta(milliseconds=1)
                print(time, repr(point.latitude), repr(point.longitude), repr(point.elevation), repr(point.speed))
        """

    @Test(.enabled(if: hasGPXPy, "WHEREABOUTS_PYTHON names no python with gpxpy."))
    func `gpxpy finds the same points in files of our own`() throws {
        var random = SplitMix(5)
        for _ in 0..<5 { try expectSame(syntheticGPX(using: &random)) }
    }

    @Test(
        .enabled(if: hasGPXPy, "WHEREABOUTS_PYTHON names no python with gpxpy."),
        .enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."),
        arguments: Repository.recordedGPX)
    func `gpxpy finds the same points in recorded files`(name: String) throws {
        try expectSame(Repository.recorded(name))
    }

    private func expectSame(_ bytes: [UInt8]) throws {
        let (points, counts) = try readGPX(bytes, pieceBytes: 333)
        let lines = try answer(for: bytes)
        let expectedCounts = [counts.tracks, counts.segments, counts.waypoints, counts.routePoints]
        #expect(lines.first.map(String.init) == expectedCounts.map(\.description).joined(separator: " "))
        try #require(lines.count == points.count + 1)
        for (line, point) in zip(lines[1...], points) {
            let words = line.split(separator: " ")
            let time: Timestamp? = if case .at(let timestamp) = point.time { timestamp } else { nil }
            #expect(Int64(words[0]) == time?.milliseconds)
            #expect(Double(words[1]) == point.latitude && Double(words[2]) == point.longitude)
            #expect(Double(words[3]) == point.altitude && Double(words[4]) == point.speed)
        }
    }

    private func answer(for bytes: [UInt8]) throws -> [Substring] {
        try Foreign.python(Self.program, input: String(decoding: bytes, as: UTF8.self)).split(separator: "\n")
    }

    /// A file of GPX 1.0, where speed is the point's own, with every form of time gpxpy reads.
    private func syntheticGPX(using random: inout SplitMix) -> [UInt8] {
        var text =
            "<?xml version='1.0' encoding='UTF-8'?><gpx version='1.0' creator='t' xmlns='http://www.topografix.com/GPX/1/0'>"
        for _ in 0..<3 { text += "<wpt lat='1.5' lon='2.5'/>" }
        text += "<rte><rtept lat='1' lon='2'/></rte>"
        for _ in 0..<4 {
            text += "<trk><name>Å</name>"
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                text += "<trkseg>"
                for _ in 0..<Int.random(in: 0..<40, using: &random) { text += point(using: &random) }
                text += "</trkseg>"
            }
            text += "</trk>"
        }
        return Array("\(text)</gpx>".utf8)
    }

    private func point(using random: inout SplitMix) -> String {
        let latitude = Double.random(in: -90...90, using: &random)
        let longitude = Double.random(in: -180...180, using: &random)
        var text = "<trkpt lat='\(latitude)' lon='\(longitude)'>"
        if Bool.random(using: &random) { text += "<ele>\(Double.random(in: -400...9000, using: &random))</ele>" }
        if Int.random(in: 0..<5, using: &random) > 0 {
            let moment = Timestamp(milliseconds: Int64.random(in: 631_152_000_000...now.milliseconds, using: &random))
            let plain = ISO8601.text(of: moment).dropLast(5)
            text += "<time>\(plain)"
            text += ["", ".5", ".250", ".123", ".001"].randomElement(using: &random) ?? ""
            text += ["Z", "", "+02:00", "-09:30"].randomElement(using: &random) ?? ""
            text += "</time>"
        }
        if Bool.random(using: &random) { text += "<speed>\(Double.random(in: 0...90, using: &random))</speed>" }
        return text + "</trkpt>"
    }
}
