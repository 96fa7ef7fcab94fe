import Geodesy
import TestSupport
import Testing
import Whereabouts

@testable import PersonEndpoints
@testable import Service

/// The binary track: its bytes, and which points it leaves out.
@Suite struct TrackPointsTests {
    private static func fix(_ seconds: Double, _ latitude: Double, _ longitude: Double, _ accuracy: Double? = nil)
        throws -> StoredFix
    {
        StoredFix(
            device: DeviceID(rawValue: 1), timestamp: try #require(Timestamp(seconds: seconds)),
            coordinate: try Coordinate(latitude: latitude, longitude: longitude), horizontalAccuracy: accuracy,
            receivedAt: nil)
    }

    /// The bytes are computed by hand: 48.2e6 in zigzag is 96,400,000, in LEB128 80 E5 FB 2D.
    @Test func `the bytes of one point are those of the specification`() throws {
        var points = TrackPoints(zoom: 22)
        points.add(try Self.fix(5, 48.2, 16.3, 7), isOutlier: false)
        #expect(
            points.bytes == [
                0x57, 0x54, 0x52, 0x4B, 0x01, 0x01, 0x01, 0x80, 0xE5, 0xFB, 0x2D, 0xC0, 0xDF, 0xC5, 0x0F, 0x0A, 0x08,
            ])
    }

    @Test func `what is read back is what was written, also west and south and before 1970`() throws {
        var points = TrackPoints(zoom: 22)
        let places = [(-1.0, -33.9, -70.6), (100, -33.8, -70.7), (200, 60, 170), (300, 60, -170)]
        for place in places { points.add(try Self.fix(place.0, place.1, place.2), isOutlier: false) }
        let read = try #require(DecodedTrack(points.bytes))
        #expect(read.total == 4 && read.points.count == 4)
        for (point, place) in zip(read.points, places) {
            #expect(point.seconds == Int64(place.0) && abs(point.latitude - place.1) < 1e-6)
            #expect(abs(point.longitude - place.2) < 1e-6 && point.meters == nil)
        }
    }

    @Test func `from afar a walk is one point and a flight is whole`() throws {
        var walk = TrackPoints(zoom: 3), near = TrackPoints(zoom: 18)
        for step in 0..<100 {
            let fix = try Self.fix(Double(step * 30), 48.2 + 0.0002 * Double(step), 16.3)
            walk.add(fix, isOutlier: false)
            near.add(fix, isOutlier: step == 50)
        }
        #expect(try #require(DecodedTrack(walk.bytes)).points.count < 12)
        let read = try #require(DecodedTrack(near.bytes))
        // The outlier is counted and not drawn.
        #expect(read.total == 100 && read.points.count == 99)
    }

    @Test func `a gap keeps both its ends`() throws {
        var points = TrackPoints(zoom: 3)
        for seconds in [0.0, 60, 120, 7200, 7260] { points.add(try Self.fix(seconds, 48.2, 16.3), isOutlier: false) }
        let times = try #require(DecodedTrack(points.bytes)).points.map(\.seconds)
        #expect(times.contains(0) && times.contains(7200) && times.last == 7260)
    }

    @Test func `a million fixes become as many points as a map can draw`() throws {
        var points = TrackPoints(zoom: 22)
        var generator = SplitMix(5)
        for second in 0..<400_000 {
            let fix = try Self.fix(
                Double(second), .random(in: -80...80, using: &generator), .random(in: -179...179, using: &generator))
            points.add(fix, isOutlier: false)
        }
        let read = try #require(DecodedTrack(points.bytes))
        #expect(read.total == 400_000 && (50_000...TrackPoints.pointsMax).contains(read.points.count))
        #expect(zip(read.points, read.points.dropFirst()).allSatisfy { $0.seconds <= $1.seconds })
    }

    @Test func `the track of a person is the same read as ever: on record, and of the grant's precision`() throws {
        let village = try Village()
        _ = village.house.settled()
        let whole = village.house.send("GET", "/v1/people/walker/track?limit=3000", as: village.tokens[.subject]).items
        let answer = village.house.send("GET", "/v1/people/walker/track?form=points", as: village.tokens[.subject])
        #expect(answer.status == 200 && answer.header("Content-Type") == TrackPoints.mediaType)
        let read = try #require(DecodedTrack(answer.body))
        #expect(read.total == Int64(whole.count) && read.points.count > 20)
        for target in ["form=lines", "zoom=3", "form=points&limit=3", "form=points&zoom=40"] {
            let refused = village.house.send("GET", "/v1/people/walker/track?\(target)", as: village.tokens[.subject])
            #expect([400, 422].contains(refused.status), "\(target)")
        }
        for asker in [Village.Asker.kilometerFriend, .liveFriend, .stranger, .askingFriend] {
            let refused = village.house.send("GET", "/v1/people/walker/track?form=points", as: village.tokens[asker])
            #expect(refused.status == 404, "\(asker)")
        }
    }
}

/// A second reader of the bytes, written from the specification.
private struct DecodedTrack {
    struct Point {
        let seconds: Int64
        let latitude, longitude: Double
        let meters: Int64?
    }

    let total: Int64
    var points: [Point] = []

    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("WTRK\u{1}".utf8)) else { return nil }
        var rest = bytes.dropFirst(5)
        func number() -> UInt64 {
            var value: UInt64 = 0, shift: UInt64 = 0
            while let byte = rest.popFirst() {
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { break }
                shift += 7
            }
            return value
        }
        func difference() -> Int64 {
            let value = number()
            return value % 2 == 0 ? Int64(value / 2) : -Int64(value / 2) - 1
        }
        total = Int64(number())
        let count = number()
        var (latitude, longitude, seconds) = (Int64(0), Int64(0), Int64(0))
        for _ in 0..<count {
            latitude += difference()
            longitude += difference()
            seconds += difference()
            let meters = number()
            points.append(
                Point(
                    seconds: seconds, latitude: Double(latitude) / 1e6, longitude: Double(longitude) / 1e6,
                    meters: meters == 0 ? nil : Int64(meters) - 1))
        }
        guard rest.isEmpty else { return nil }
    }
}
