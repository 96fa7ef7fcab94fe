import Geodesy
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import WireFormats

/// Files that real clients have written, against the counts other readers have found in them (gpxpy and a plain JSON
/// reader; `expected.json` beside the files).
@Suite(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
struct RealFilesTests {
    private func expected(_ name: String) throws -> JSONValue {
        try #require(try JSONDocument.parse(Repository.recorded("expected.json")).root[name])
    }

    @Test(arguments: Repository.recordedGPX)
    func `a GPX file gives the points another reader finds`(name: String) throws {
        let expected = try expected(name)
        let (points, counts) = try readGPX(Repository.recorded(name), pieceBytes: 1000)
        #expect(counts.trackPoints == expected["fixes"]?.int.map(Int.init))
        #expect(counts.trackPoints - counts.untimed == expected["timed"]?.int.map(Int.init))
        #expect(counts.tracks == expected["tracks"]?.int.map(Int.init))
        #expect(counts.segments == expected["segments"]?.int.map(Int.init))
        #expect(counts.waypoints == expected["waypoints"]?.int.map(Int.init))
        #expect(counts.routePoints == expected["route_points"]?.int.map(Int.init))
        #expect(points.count == counts.trackPoints)
        if points.isEmpty { return }

        // The box is given with six decimals, and over all points.
        let latitudes = points.map(\.latitude)
        let longitudes = points.map(\.longitude)
        let box = try [latitudes.min(), longitudes.min(), latitudes.max(), longitudes.max()].map { try #require($0) }
        let expectedBox = expected["bbox"]?.array?.compactMap(\.double) ?? []
        #expect(expectedBox.count == 4)
        #expect(zip(box, expectedBox).allSatisfy { abs($0 - $1) <= 0.5e-6 + 1e-12 })

        let fixes = points.compactMap { $0.report(now: now)?.fix }
        #expect(fixes.count == counts.trackPoints - counts.untimed)
        try expectTimes(of: fixes, expected)
        // Different to seven decimals of a degree, as expected.json counts.
        let distinct = Set(
            fixes.map {
                [
                    $0.timestamp.milliseconds, Int64(($0.coordinate.latitude * 1e7).rounded()),
                    Int64(($0.coordinate.longitude * 1e7).rounded()),
                ]
            })
        #expect(distinct.count == expected["distinct"]?.int.map(Int.init))
        let times = Set(fixes.map(\.timestamp))
        #expect(fixes.count - times.count == expected["same_time"]?.int.map(Int.init))
        let stepsBack = zip(fixes, fixes.dropFirst()).count { $0.timestamp > $1.timestamp }
        #expect(stepsBack == expected["steps_back"]?.int.map(Int.init))
    }

    @Test(arguments: [
        "owntracks_location_with_created_at.json", "owntracks_location_timer_trigger.json", "owntracks_card.json",
        "owntracks_cmd_report_location.json", "owntracks_configuration.json",
    ])
    func `an OwnTracks message gives the fix another reader finds`(name: String) throws {
        let expected = try expected(name)
        let report = try only(OwnTracks.reports(from: Repository.recorded(name), now: now))
        guard expected["fixes"]?.int == 1 else {
            let type = try #require(expected["types"]?.members?.first { _ in true }?.key)
            guard case .message(let word, _) = report else {
                Issue.record("\(report)")
                return
            }
            #expect(word == type)
            return
        }
        let fix = try #require(report.fix)
        try expectTimes(of: [fix], expected)
        let box = expected["bbox"]?.array?.compactMap(\.double)
        #expect(box?.prefix(2).elementsEqual([fix.coordinate.latitude, fix.coordinate.longitude]) == true)
    }

    private func expectTimes(of fixes: [Fix], _ expected: JSONValue) throws {
        let times = fixes.map(\.timestamp)
        #expect(try ISO8601.text(of: #require(times.min())) == expected["first"]?.string)
        #expect(try ISO8601.text(of: #require(times.max())) == expected["last"]?.string)
    }
}
