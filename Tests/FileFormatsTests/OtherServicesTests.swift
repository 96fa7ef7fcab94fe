import Geodesy
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

/// Exports of services and apps, written by hand after their programs' sources.
@Suite struct OtherServicesTests {
    @Test func `a day of Moves has stays and points`() {
        let found = read(
            """
            [{"date":"20160312","segments":[
              {"type":"place","startTime":"20160311T201500+0100","endTime":"20160312T081430+0100","place":{"id":1,"name":"Home","type":"home","location":{"lat":48.5,"lon":16.25}},"activities":[{"activity":"walking","trackPoints":[]}],"lastUpdate":"20160312T090000Z"},
              {"type":"move","startTime":"20160312T081430+0100","endTime":"20160312T083000+0100","activities":[{"activity":"cycling","startTime":"20160312T081430+0100","trackPoints":[{"lat":48.5,"lon":16.25,"time":"20160312T081430+0100"},{"lat":48.51,"lon":16.26,"time":"20160312T073000Z"}]}]},
              {"type":"off","startTime":"20160312T083000+0100","endTime":"20160312T090000+0100"}]}]
            """)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.moves: 1])
        #expect(
            found.fixes.map { ISO8601.text(of: $0.timestamp) } == [
                "2016-03-12T07:14:30.000Z", "2016-03-12T07:30:00.000Z",
            ])
        #expect(found.fixes.map(\.coordinate.latitude) == [48.5, 48.51])
        #expect(found.fixes.map(\.horizontalAccuracy) == [nil, nil])
        #expect(found.visits.map { $0.arrival.map(ISO8601.text) } == ["2016-03-11T19:15:00.000Z"])
        #expect(found.visits.map { $0.departure.map(ISO8601.text) } == ["2016-03-12T07:14:30.000Z"])
        #expect(found.summary.passedOver[.placeholders] == 1)
    }

    @Test func `an exercise of Samsung Health has points, and its other files have none`() {
        var zip = ZipWriter()
        let folder = "samsunghealth_a_20260701/"
        let exercise = folder + "jsons/com.samsung.shealth.exercise/6/641aab23.com.samsung.health.exercise."
        zip.add(
            folder + "com.samsung.shealth.exercise.20260701.csv",
            Array(
                "com.samsung.shealth.exercise,6310000,9\nlive_data,com.samsung.health.exercise.start_time,com.samsung.health.exercise.time_offset\n641aab23,2026-07-01 10:00:00.000,UTC+0200\n"
                    .utf8))
        zip.add(
            exercise + "live_data.json", Array(#"[{"start_time":1782900000000,"heart_rate":91.0,"cadence":80}]"#.utf8))
        zip.add(
            exercise + "location_data.json",
            Array(
                #"[{"start_time":1782900000123,"latitude":48.5,"longitude":16.25,"altitude":171.5,"accuracy":3.9},{"start_time":1782900001000,"latitude":48.5,"longitude":16.26,"accuracy":0.0},{"start_time":1782900002000}]"#
                    .utf8))
        let found = read(zip.file)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.samsungHealth: 1])
        #expect(found.fixes.map(\.timestamp.milliseconds) == [1_782_900_000_123, 1_782_900_001_000])
        #expect(found.fixes.map(\.altitude) == [171.5, nil])
        #expect(found.fixes.map(\.horizontalAccuracy) == [3.9, nil])
        #expect(found.summary.passedOver[.pointsWithoutPlace] == 1)
        #expect(found.summary.skipped.reduce(0) { $0 + $1.count } == 2, "\(found.summary.skipped)")
    }

    @Test func `Dawarich's archive has the visits that the person confirmed`() {
        func visit(_ status: String, _ place: String) -> String {
            #"{"started_at":"2026-07-01T10:00:00.000Z","ended_at":"2026-07-01T11:30:00.000Z","duration":90,"name":"Home","status":"\#(status)","place_reference":\#(place)}"#
        }
        let place = #"{"name":"Home","latitude":"48.5","longitude":"16.25","source":"manual","visit_radius":50}"#
        var zip = ZipWriter()
        zip.add("manifest.json", Array(#"{"format_version":2,"files":{"points":["points/2026/2026-07.jsonl"]}}"#.utf8))
        zip.add("areas.jsonl", Array(#"{"name":"Home","longitude":"16.25","latitude":"48.5","radius":100}"#.utf8))
        zip.add(
            "points/2026/2026-07.jsonl",
            Array(#"{"lonlat":"POINT (16.25 48.5)","timestamp":1782900000,"velocity":"1.5"}"#.utf8))
        let lines = [
            visit("confirmed", place), visit("suggested", place), visit("declined", place), visit("confirmed", "null"),
        ]
        zip.add("visits/2026/2026-07.jsonl", Array(lines.joined(separator: "\n").utf8))
        let found = read(zip.file)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.dawarich: 2])
        #expect(found.fixes.count == 1)
        #expect(found.visits.count == 1)
        #expect(found.visits.first?.coordinate.latitude == 48.5)
        #expect(found.visits.first?.horizontalAccuracy == 50)
        #expect(found.visits.first?.departure.map(ISO8601.text) == "2026-07-01T11:30:00.000Z")
        #expect(found.summary.passedOver[.unconfirmedVisits] == 2)
        #expect(found.rejected == [.missingField])
        #expect(found.summary.skipped.map(\.count) == [2])
    }

    @Test func `GeoPulse's archive has points and stays, and its favorites are neither`() {
        var zip = ZipWriter()
        zip.add(
            "raw_gps_data.json",
            Array(
                #"{"dataType":"rawGps","exportDate":"2026-07-02T00:00:00Z","points":[{"id":1,"timestamp":"2026-07-01T10:00:00Z","latitude":48.5,"longitude":16.25,"accuracy":5.0,"speed":36.0,"battery":50.0,"source":"OWNTRACKS"}]}"#
                    .utf8))
        zip.add(
            "timeline_data.json",
            Array(
                #"{"dataType":"timeline","stays":[{"id":1,"timestamp":"2026-07-01T10:00:00Z","endTime":"2026-07-01T11:00:00Z","latitude":48.5,"longitude":16.25,"duration":3600}],"trips":[{"id":2,"timestamp":"2026-07-01T11:00:00Z","startLatitude":48.5}],"dataGaps":[]}"#
                    .utf8))
        zip.add(
            "favorites.json",
            Array(#"{"dataType":"favorites","points":[{"id":1,"name":"x","latitude":48.5,"longitude":16.25}]}"#.utf8))
        let found = read(zip.file)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.geoPulse: 2])
        #expect(found.fixes.map(\.speed) == [10])
        #expect(found.fixes.map(\.batteryLevel) == [0.5])
        #expect(found.visits.map { $0.departure.map(ISO8601.text) } == ["2026-07-01T11:00:00.000Z"])
        #expect(found.untimed == 0)
        #expect(found.summary.skipped.map(\.count) == [1])
    }

    @Test(arguments: [
        "timestamp,latitude,longitude,accuracy,velocity,altitude,battery,device_id,source_type\n2026-07-01T10:00:00Z,48.5,16.25,10.5,36,100.0,85.0,device123,OWNTRACKS\n",
        #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[16.25,48.5,100]},"properties":{"timestamp":"2026-07-01T10:00:00Z","altitude":100,"velocity":36,"accuracy":10.5,"battery":85,"deviceId":"device123","sourceType":"OWNTRACKS"}}]}"#,
    ])
    func `GeoPulse's tables and GeoJSON have the speed in km/h`(text: String) {
        let found = read(text)
        #expect(found.fixes.map(\.speed) == [10])
        #expect(found.fixes.map(\.altitude) == [100])
        #expect(found.fixes.map(\.batteryLevel) == [0.85])
        #expect(found.fixes.map(\.horizontalAccuracy) == [10.5])
        // Of another program, meters per second are meant.
        let other = read(text.replacing("sourceType", with: "source").replacing("source_type", with: "source"))
        #expect(other.fixes.map(\.speed) == [36])
    }

    @Test(arguments: [
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Reitti" xmlns="http://www.topografix.com/GPX/1/1">
          <metadata><name>Location Data Export</name></metadata>
          <trk><name>Location Track</name><trkseg>
            <trkpt lat="48.5" lon="16.25"><ele>100.0</ele><time>2026-07-01T10:00:00Z</time>
              <extensions><accuracy>10.5</accuracy></extensions></trkpt>
            <trkpt lat="48.5" lon="16.26"><time>2026-07-01T10:00:15.250Z</time></trkpt>
          </trkseg></trk>
        </gpx>
        """,
        #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[16.25,48.5,100.0]},"properties":{"id":1,"timestamp":"2026-07-01T10:00:00Z","accuracy":10.5,"elevation":100.0}},{"type":"Feature","geometry":{"type":"Point","coordinates":[16.26,48.5]},"properties":{"id":2,"timestamp":"2026-07-01T10:00:15.250Z","accuracy":null,"elevation":null}}]}"#,
    ])
    func `Reitti's exports have accuracies and heights where it knows them`(text: String) {
        let found = read(text)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.milliseconds) == [1_782_900_000_000, 1_782_900_015_250])
        #expect(found.fixes.map(\.horizontalAccuracy) == [10.5, nil])
        #expect(found.fixes.map(\.altitude) == [100, nil])
    }

    @Test func `GeoPulse's debug export is refused, because its coordinates are not the person's`() {
        var zip = ZipWriter()
        zip.add(
            "metadata.json",
            Array(#"{"export_version":"1.0","coordinate_shift_applied":true,"gps_point_count":1}"#.utf8))
        zip.add("gps_data.json", Array(#"[{"_type":"location","lat":1,"lon":2,"tst":1782900000}]"#.utf8))
        let found = read(zip.file)
        #expect(found.fixes.isEmpty)
        #expect(found.fault == .shiftedOnPurpose)
        #expect(found.fault?.description.contains("shifted on purpose") == true)
    }
}
