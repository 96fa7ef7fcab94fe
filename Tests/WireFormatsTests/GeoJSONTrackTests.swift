import Geodesy
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct GeoJSONTrackTests {
    private func fixes(_ text: String) -> [Fix]? {
        GeoJSONTrack.reports(from: Array(text.utf8), now: Timestamp(milliseconds: 1_800_000_000_000))?.compactMap {
            if case .fix(let fix, _) = $0 { fix } else { nil }
        }
    }

    @Test func `timed points and timed lines are fixes, longitude first`() throws {
        let read = try #require(
            fixes(
                """
                {"type":"FeatureCollection","features":[
                 {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5,410]},
                  "properties":{"timestamp":"2026-01-01T12:00:00Z","horizontalAccuracy":8,"speed":1.5}},
                 {"type":"Feature","geometry":{"type":"LineString","coordinates":[[9.25,46.5],[9.26,46.5]]},
                  "properties":{"coordTimes":["2026-01-01T12:00:10Z","2026-01-01T12:00:20Z"]}},
                 {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{}},
                 {"type":"Feature","geometry":null,"properties":{"time":1}}]}
                """))
        // 2026-01-01T12:00:00Z by `date -u -d … +%s`.
        #expect(read.map(\.timestamp.milliseconds) == [1_767_268_800_000, 1_767_268_810_000, 1_767_268_820_000])
        #expect(read.map(\.coordinate.latitude) == [46.5, 46.5, 46.5])
        #expect(read.map(\.coordinate.longitude) == [9.25, 9.25, 9.26])
        #expect(read[0].altitude == 410 && read[0].horizontalAccuracy == 8 && read[0].speed == 1.5)
    }

    @Test(arguments: [
        (#""time":1767268800"#, 1_767_268_800_000), (#""tst":1767268800123"#, 1_767_268_800_123),
        (#""recorded_at":"2026-01-01T13:00:00+01:00""#, 1_767_268_800_000),
    ])
    func `the time has one of several names and forms`(member: String, milliseconds: Int64) throws {
        let feature = #"""
            {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{\#(member)}}
            """#
        #expect(try #require(fixes(feature)).map(\.timestamp.milliseconds) == [milliseconds])
    }

    @Test(arguments: ["", "[]", "{}", #"{"type":"Point","coordinates":[1,2]}"#, #"{"type":"FeatureCollection"}"#])
    func `what is no GeoJSON of features is told apart from one without fixes`(text: String) {
        #expect(fixes(text) == nil)
    }

    @Test(arguments: ["[[9.25]]", #"["a","b"]"#, "[200,0]", "[0,91]", "[]", "7"])
    func `a place that is none is no fix`(coordinates: String) {
        let feature = #"""
            {"type":"Feature","geometry":{"type":"Point","coordinates":\#(coordinates)},"properties":{"time":1767268800}}
            """#
        #expect(fixes(feature) == [])
    }
}
