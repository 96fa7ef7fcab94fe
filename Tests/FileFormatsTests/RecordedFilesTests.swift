import Geodesy
import JSON
import TestSupport
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

/// Files of real devices and programs, against the counts that other readers found in them: fitdecode, gpsbabel, gpxpy, and
/// plain readers of JSON and XML. `expected.json` is beside the files.
@Suite(.enabled(if: Repository.fixtures != nil, Repository.noFixtures)) struct RecordedFilesTests {
    private func expected(_ name: String) throws -> JSONValue {
        try #require(try JSONDocument.parse(Repository.recorded("expected.json")).root[name])
    }

    /// fitdecode's counts. The last three are damaged, or have no positions.
    @Test(arguments: [
        "Activity.fit", "activity-settings.fit", "2013-02-06-12-11-14.fit", "Edge810-Vector-2013-08-16-15-35-10.fit",
        "developer-types-sample.fit", "garmin-edge-500-activity.fit", "garmin-fenix-5-bike.fit",
        "garmin-fenix-5-walk.fit", "null_compressed_speed_dist.fit", "sample-activity.fit",
        "activity-settings-nodata.fit", "compressed-speed-distance.fit",
    ])
    func `a FIT file has as many positions as another reader finds`(name: String) throws {
        let found = read(try Repository.recorded("fit/\(name)"))
        let count = try expected("fit/\(name)")["fixes"]?.int
        #expect(found.fixes.count == count.map(Int.init))
        #expect(found.rejected == [])
        #expect(found.summary.parts == [.fit: 1])
        if name == "activity-settings-nodata.fit" {
            #expect(found.fault != nil)
        } else {
            #expect(found.fault == nil)
            #expect(found.summary.passedOver.notes == [])
        }
    }

    @Test(arguments: ["gxtrack.kml", "multigeometry.kml", "sample.tcx"])
    func `a KML or TCX file has the points that gpsbabel finds`(name: String) throws {
        let found = read(try Repository.recorded(name))
        let expected = try expected(name)
        #expect(found.fault == nil)
        #expect(found.records.count == expected["fixes"]?.int.map(Int.init))
        #expect(found.fixes.count == expected["timed"]?.int.map(Int.init))
        #expect(found.untimed == found.records.count - found.fixes.count)
        let times = found.fixes.map(\.timestamp)
        #expect(times.min().map { ISO8601.text(of: $0) } == expected["first"]?.string)
        #expect(times.max().map { ISO8601.text(of: $0) } == expected["last"]?.string)
        let box = expected["bbox"]?.array?.compactMap(\.double) ?? []
        let (latitudes, longitudes) = (
            found.fixes.map(\.coordinate.latitude), found.fixes.map(\.coordinate.longitude)
        )
        if let south = latitudes.min(), let west = longitudes.min(), let north = latitudes.max(),
            let east = longitudes.max()
        {
            #expect(zip([south, west, north, east], box).allSatisfy { abs($0 - $1) <= 0.5e-6 + 1e-12 })
        }
    }

    @Test func `a file of courses has plans, and no fix`() throws {
        let found = read(try Repository.recorded("tcx-courses.tcx"))
        #expect(found.fault == nil)
        #expect(found.records.isEmpty)
        // Counted by ElementTree.
        #expect(found.summary.passedOver[.coursePoints] == 30)
    }

    @Test func `a Garmin activity has the points that ElementTree finds`() throws {
        let found = read(try Repository.recorded("garmin_connect.tcx"))
        #expect(found.fault == nil)
        #expect(found.fixes.count == 316)
        #expect(found.summary.passedOver[.pointsWithoutPlace] == 1)
    }

    @Test func `a place without a geometry is nothing`() throws {
        let found = read(try Repository.recorded("null_geometry.kml"))
        #expect(found.fault == nil)
        #expect(found.records.isEmpty)
    }

    /// Read by hand: each file has one entry.
    @Test(arguments: [
        ("with_activitySegment_with_startLocation", "fix", 1_742_843_244_000),
        ("with_activitySegment_with_startLocation_timestampMs", "fix", 1_742_844_302_585),
        ("with_activitySegment_with_startLocation_with_iso_timestamp", "fix", 1_742_844_023_000),
        ("with_activitySegment_without_startLocation", "untimed", 0),
        ("with_placeVisit_with_location_with_coordinates", "visit", 1_742_844_232_000),
        ("with_placeVisit_with_location_with_coordinates_with_seconds_timestamp", "visit", 1_742_844_302_000),
        ("with_placeVisit_with_location_with_coordinates_with_iso_timestamp", "visit", 1_742_844_302_000),
        ("with_placeVisit_without_location_with_coordinates", "missingField", 0),
    ])
    func `a month of Semantic Location History has one entry in each spelling of time`(
        name: String, kind: String, milliseconds: Int64
    ) throws {
        let found = read(try Repository.recorded("google/\(name).json"))
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.googleSemantic: 1])
        #expect(found.records.count == 1)
        switch found.records.first?.content {
        case .fix(let fix, _):
            #expect(kind == "fix")
            #expect(fix.timestamp.milliseconds == milliseconds)
            #expect(fix.remainder == #"{"accuracyAssumed":true}"#)
        case .visit(let visit, _):
            #expect(kind == "visit")
            #expect(visit.arrival?.milliseconds == milliseconds)
        case .untimed: #expect(kind == "untimed")
        case .rejected(let reason): #expect(kind == reason.word)
        case .setting: #expect(kind == "setting")
        case nil: Issue.record("There is no record.")
        }
    }

    @Test(arguments: ["headerdetection.unicsv", "extensiondata.unicsv"])
    func `a table without times has points without times`(name: String) throws {
        let found = read(try Repository.recorded("csv/\(name)"))
        #expect(found.fault == nil)
        #expect((found.records.count, found.untimed) == (5, 5))
    }

    @Test func `a table with quoted heads has the visit, and not the activity with two times`() throws {
        let found = read(try Repository.recorded("csv/quoted_headers.csv"))
        #expect(found.fault == nil)
        #expect(found.records.count == 1)
        #expect(found.visits.first?.coordinate.latitude == 32.8955442)
        #expect(found.visits.first?.arrival.map { ISO8601.text(of: $0) } == "2024-12-02T19:02:12.000Z")
        #expect(found.summary.passedOver[.activitiesWithoutPlace] == 1)
    }

    @Test(arguments: [
        ("owntracks_location_with_created_at.json", 1), ("owntracks_location_timer_trigger.json", 1),
        ("owntracks_card.json", 0), ("owntracks_cmd_report_location.json", 0), ("owntracks_configuration.json", 0),
    ])
    func `a message of OwnTracks is read as it is when it comes live`(name: String, count: Int) throws {
        let bytes = try Repository.recorded(name)
        let found = read(bytes)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.ownTracks: 1])
        let live = OwnTracks.reports(from: bytes, now: now).compactMap {
            if case .fix(let fix, _) = $0 { fix } else { nil }
        }
        #expect(found.fixes == live)
        #expect(found.fixes.count == count)
    }

    @Test func `a route of Apple Health has its accuracies`() throws {
        let folder = "apple_health/apple_health_export"
        let found = read(try Repository.recorded("\(folder)/workout-routes/route_2019-06-11_3.00pm.gpx"))
        #expect(found.fixes.map(\.horizontalAccuracy) == [8.063116, 8.292910, 8.453521])
        let record = read(try Repository.recorded("\(folder)/export.xml"))
        #expect(record.fault?.description.contains("workout-routes") == true)
    }
}
