import FileFormats
import Geodesy
import JSON
import Service
import TestSupport
import Testing
import Whereabouts
import WhereaboutsClient

@testable import WhereaboutsTool

/// Files of other programs through the whole of an import.
@Suite struct ImportFormatsTests {
    /// 2030-01-01T00:00:00Z: later than every fix in these tests.
    private static let now = Timestamp(milliseconds: 1_893_456_000_000)

    private func run(
        _ service: FakeService, person: String? = "anna", zone: LocalZone? = nil, format: FileFormat? = nil,
        console: Console = Screen().console
    ) -> ImportRun {
        ImportRun(
            client: Client(service: ServiceClient(transport: service, token: "wo_test")),
            choices: ImportRun.Choices(
                person: person.flatMap { Handle($0) }, format: format, zone: zone, now: Self.now), console: console)
    }

    /// The counts of fitdecode, gpsbabel and readers of JSON and XML; the visits and the Google entries were read by hand.
    @Test(
        .enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."),
        arguments: [
            ("fit/Activity.fit", "fit", 14, 0), ("fit/activity-settings.fit", "fit", 14, 0),
            ("fit/activity-settings-nodata.fit", "fit", 14, 0), ("fit/2013-02-06-12-11-14.fit", "fit", 583, 0),
            ("fit/Edge810-Vector-2013-08-16-15-35-10.fit", "fit", 4700, 0),
            ("fit/developer-types-sample.fit", "fit", 3424, 0), ("fit/garmin-edge-500-activity.fit", "fit", 10677, 0),
            ("fit/garmin-fenix-5-bike.fit", "fit", 19, 0), ("fit/garmin-fenix-5-walk.fit", "fit", 17, 0),
            ("fit/null_compressed_speed_dist.fit", "fit", 1808, 0), ("fit/sample-activity.fit", "fit", 2965, 0),
            ("fit/compressed-speed-distance.fit", "fit", 0, 0), ("gxtrack.kml", "kml", 7, 0),
            ("multigeometry.kml", "kml", 0, 0), ("null_geometry.kml", "kml", 0, 0), ("sample.tcx", "tcx", 17, 0),
            ("garmin_connect.tcx", "tcx", 316, 0), ("tcx-courses.tcx", "tcx", 0, 0),
            ("csv/quoted_headers.csv", "csv", 0, 1), ("csv/headerdetection.unicsv", "csv", 0, 0),
            ("csv/extensiondata.unicsv", "csv", 0, 0),
            ("owntracks_location_timer_trigger.json", "owntracks", 1, 0), ("owntracks_card.json", "owntracks", 0, 0),
            ("owntracks_location_with_created_at.json", "owntracks", 1, 0),
            ("owntracks_cmd_report_location.json", "owntracks", 0, 0),
            ("owntracks_configuration.json", "owntracks", 0, 0),
            ("google/with_activitySegment_with_startLocation.json", "google-semantic", 1, 0),
            ("google/with_activitySegment_with_startLocation_timestampMs.json", "google-semantic", 1, 0),
            ("google/with_activitySegment_with_startLocation_with_iso_timestamp.json", "google-semantic", 1, 0),
            ("google/with_activitySegment_without_startLocation.json", "google-semantic", 0, 0),
            ("google/with_placeVisit_with_location_with_coordinates.json", "google-semantic", 0, 1),
            ("google/with_placeVisit_with_location_with_coordinates_with_iso_timestamp.json", "google-semantic", 0, 1),
            (
                "google/with_placeVisit_with_location_with_coordinates_with_seconds_timestamp.json", "google-semantic",
                0,
                1
            ), ("google/with_placeVisit_without_location_with_coordinates.json", "google-semantic", 0, 0),
        ])
    func `a recorded file is imported with the counts of another reader, and again with none`(
        name: String, format: String, fixes: Int, visits: Int
    ) throws {
        let folder = try #require(Repository.fixtures)
        var run = run(FakeService())

        let report = try run.importFile("\(folder)/\(name)")

        #expect(report.format == format)
        #expect(report.new + report.duplicate == fixes)
        #expect(report.visits == visits)
        // A stay at no place.
        let isNowhere = name == "google/with_placeVisit_without_location_with_coordinates.json"
        #expect(report.rejected.map(\.reason) == (isNowhere ? ["missingField"] : []))
        #expect((report.fault != nil) == (name == "fit/activity-settings-nodata.fit"))
        let again = try run.importFile("\(folder)/\(name)")
        #expect((again.new, again.visits, again.duplicate, again.knownVisits) == (0, 0, fixes, visits))
    }

    @Test(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
    func `a packed folder of recorded files is imported as its parts are`() throws {
        let fixtures = try #require(Repository.fixtures)
        let folder = TemporaryFolder()
        let (status, output) = Foreign.run(
            "cd '\(fixtures)' && python3 -m zipfile -c '\(folder.path)/inner.zip' apple_health fit/Activity.fit && cd '\(folder.path)' && gzip --stdout '\(fixtures)/sample.tcx' > sample.tcx.gz && python3 -m zipfile -c outer.zip inner.zip sample.tcx.gz"
        )
        #expect(status == 0, "\(output)")
        var run = run(FakeService())
        let screen = Screen()
        let report = try run.importFile("\(folder.path)/outer.zip")
        #expect(report.fault == nil, "\(screen.notes)")
        #expect(report.format == "archive")
        // 3 points of the route of Apple Health, 14 of the FIT file, 17 of the TCX file.
        #expect(report.new == 3 + 14 + 17)
    }

    @Test func `a visit of another system is posted beside the fixes`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            #"{"timelineObjects":[{"placeVisit":{"location":{"latitudeE7":481000000,"longitudeE7":163000000},"duration":{"startTimestamp":"2021-05-04T08:00:00Z","endTimestamp":"2021-05-04T09:00:00Z"}}},{"activitySegment":{"startLocation":{"latitudeE7":1,"longitudeE7":2},"duration":{"startTimestamp":"2021-05-04T10:00:00Z"}}}]}"#,
            to: "month.json")
        var run = run(FakeService())
        let report = try run.importFile(file)
        #expect((report.read, report.new, report.visits) == (2, 1, 1))
        let answer = try json(String(decoding: report.json, as: UTF8.self))
        #expect(answer["visits"]?["new"]?.int == 1)
        #expect(ImportReport.text(of: [report]).contains("VISITS"))
    }

    @Test func `local times need a zone`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("time,lat,lon\n2026-07-01 10:00:00,1,2\n", to: "a.csv")
        var without = run(FakeService())
        #expect(try without.importFile(file).fault?.contains("add --timezone") == true)
        var with = run(FakeService(), zone: LocalZone(offsetSeconds: 7200))
        #expect(try with.importFile(file).firstFix?.seconds == 1_782_892_800)
        let wrong = whereabouts("import", "--timezone", "Europe/Nowhere", file)
        #expect(wrong.exitCode == 2)
        #expect(wrong.notes.contains("--timezone"))
    }

    @Test func `what is not imported is said`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(
            #"<gpx><wpt lat="1" lon="2"/><rte><rtept lat="1" lon="2"/></rte></gpx>"#, to: "plan.gpx")
        let screen = Screen()
        var run = run(FakeService(), console: screen.console)
        _ = try run.importFile(file)
        #expect(
            screen.notes.contains("1 way points and 1 route points were skipped: they are places and plans, not fixes.")
        )
    }

    @Test func `every file but JSON lines needs a person`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("time,lat,lon\n1782900000,1,2\n", to: "a.csv")
        var run = run(FakeService(), person: nil)
        #expect(throws: ToolError.usage("\(file) does not name a person; add --person HANDLE.")) {
            try run.importFile(file)
        }
    }
}
