import Geodesy
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

@Suite struct TextFormatsTests {
    /// Europe/Vienna in 2026: summer time from 29 March to 25 October, by the rule of the European Union.
    private static let vienna = ZoneRules(
        name: "Europe/Vienna", offsetSeconds: 3600,
        changes: [
            .init(at: Timestamp(milliseconds: 1_774_746_000_000), offsetSeconds: 7200),
            .init(at: Timestamp(milliseconds: 1_792_890_000_000), offsetSeconds: 3600),
        ]
    ).map { LocalZone($0) }

    @Test(arguments: [
        ("2026-07-01 10:00:00", "2026-07-01T08:00:00.000Z"), ("2026-01-01T10:00:00.5", "2026-01-01T09:00:00.500Z"),
        // 02:30 occurs twice on 25 October; it is the first. On 29 March it does not occur.
        ("2026-10-25 02:30:00", "2026-10-25T00:30:00.000Z"), ("2026-03-29 02:30:00", "2026-03-29T01:30:00.000Z"),
        ("2026-10-25 03:00:00", "2026-10-25T02:00:00.000Z"), ("2026-03-29 03:00:00", "2026-03-29T01:00:00.000Z"),
        ("01.07.2026 10:00", "2026-07-01T08:00:00.000Z"), ("2026/7/1 10:00:00", "2026-07-01T08:00:00.000Z"),
        // A time with a zone needs no other.
        ("2026-07-01 10:00:00 +0100", "2026-07-01T09:00:00.000Z"), ("20260701T100000Z", "2026-07-01T10:00:00.000Z"),
        ("1782900000", "2026-07-01T10:00:00.000Z"), ("1782900000500", "2026-07-01T10:00:00.500Z"),
    ])
    func `a local time is read in the zone that is given`(text: String, utc: String) throws {
        let zone = try #require(Self.vienna)
        let found = read("time,lat,lon\n\(text),1,2\n", zone: zone)
        #expect(found.fixes.map { ISO8601.text(of: $0.timestamp) } == [utc])
    }

    @Test func `a battery below empty or above full is not known`() {
        let found = read(
            "time,lat,lon,battery\n" + ["-5", "250", "80", "0.5"].map { "2026-07-01T10:00:00Z,1,2,\($0)\n" }.joined())
        #expect(found.fixes.map(\.batteryLevel) == [nil, nil, 0.8, 0.5])
    }

    @Test(arguments: [
        "time,lat,lon\n2026-07-01 10:00:00,1,2\n",
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"time":"2026-07-01T10:00:00"}}"#,
        #"{"locations":[{"latitudeE7":1,"longitudeE7":2,"timestamp":"2026-07-01T10:00:00"}]}"#,
    ])
    func `a local time is refused without a zone`(text: String) {
        let sentence = read(text).fault?.description ?? ""
        #expect(sentence.contains("--timezone"))
    }

    @Test func `a table may have semicolons, decimal commas, quotes, sides and units`() {
        let found = read(
            """
            "Date";"Time (UTC)";"Latitude";"Longitude";"Altitude (ft)";"Speed (km/h)";Accuracy;Note
            2026-07-01;10:00:00;"48,5N";"16,25W";100;36;7,5;"a;""b""
            c"
            2026-07-01;10:00:01Z;48,5;181;;;;
            2026-07-01;10:00:02Z;;;;;;
            """)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == [1_782_900_000])
        let fix = found.fixes.first
        #expect((fix?.coordinate.latitude, fix?.coordinate.longitude) == (48.5, -16.25))
        #expect(fix?.altitude.map { abs($0 - 30.48) < 1e-9 } == true)
        #expect(fix?.speed.map { abs($0 - 10) < 1e-9 } == true)
        #expect(fix?.horizontalAccuracy == 7.5)
        #expect(found.records.map(\.place) == [2, 4])
        #expect(found.rejected == [.badCoordinate])
        #expect(found.summary.passedOver[.linesWithoutPlace] == 1)
    }

    @Test func `Traccar's report has the time of the fix, in knots`() throws {
        let text = """
            id,deviceId,protocol,serverTime,deviceTime,fixTime,valid,latitude,longitude,altitude,speed,course,address,accuracy
            1,1,osmand,2026-07-01 10:00:09,2026-07-01 10:00:05,2026-07-01 10:00:00,true,48.5,16.25,171,10,90,,5
            2,1,osmand,2026-07-01 10:00:09,2026-07-01 10:00:05,2026-07-01 10:00:01,false,48.5,16.25,171,10,90,,5
            """
        let found = read(text, zone: LocalZone(offsetSeconds: 0))
        #expect(found.fixes.map(\.timestamp.seconds) == [1_782_900_000])
        // A knot is 1852 m per hour.
        #expect(found.fixes.first?.speed.map { abs($0 - 5.144444) < 1e-6 } == true)
        #expect(found.summary.passedOver[.invalidPositions] == 1)
    }

    @Test func `a table without a head is refused with the names to use`() {
        #expect(read("1,2,3\n4,5,6\n7,8,9\n").fault == .noHead)
        #expect(read("1,2,3\n4,5,6\n7,8,9\n", format: .csv).fault == .noHead)
        #expect(FormatFault.noHead.description.contains("time,latitude,longitude"))
    }

    @Test func `lines of the Recorder are read as live messages`() {
        let message =
            #"{"_type":"location","tid":"jp","lat":47.378177,"lon":8.540192,"tst":1767225610,"acc":5,"vel":36}"#
        let found = read(
            """
            2026-01-01T00:00:10Z\t*                 \t\(message)
            2026-01-01T00:00:11Z\tlwt               \t{"_type":"lwt","tst":1767225611}
            2026-01-01T00:00:12Z *                  {"_type":"location","lat":47.4,"lon":8.5,"tst":1767225612}
            2026-01-01T00:00:13Z\t*                 \tno JSON
            2026-01-01T00:00:14Z\tevent             \t{"_type":"transition","event":"enter","desc":"home","tst":1767225614}
            2026-01-01T00:00:15Z\t*                 \t[\(message),{"_type":"card","tid":"jp"}]

            """)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.ownTracks: 1])
        let live = OwnTracks.reports(from: Array(message.utf8), now: now)
        #expect(found.fixes.count == 3)
        #expect([.fix(found.fixes[0], answering: nil)] == live)
        #expect(found.records.map(\.place) == [1, 3, 6])
        #expect(found.summary.passedOver[.otherMessages] == 4)
    }

    @Test func `GeoJSON has points and lines in several dialects`() {
        let found = read(
            """
            {"type": "FeatureCollection", "name": "a", "features": [
              {"type": "Feature", "geometry": {"type": "Point", "coordinates": [16.25, 48.5, 171]},
               "properties": {"time": "2026-07-01T10:00:00Z", "accuracy": 5, "speed": 1.5, "hdop": 0.9, "bs": 2, "batt": 80}},
              {"type": "Feature", "geometry": {"type": "Point", "coordinates": [16.25, 48.5]},
               "properties": {"timestamp": "1782900001", "velocity": "2.5", "battery_level": 0.5}},
              {"type": "Feature", "geometry": {"type": "Point", "coordinates": [16.25, 48.5]},
               "properties": {"tst": 1782900002000, "vel": 36, "heading": 90}},
              {"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[16.25, 48.5], [16.26, 48.6]]},
               "properties": {"coordTimes": ["2026-07-01T10:00:03Z"]}},
              {"type": "Feature", "geometry": {"type": "MultiLineString", "coordinates": [[[1, 2]], [[3, 4]]]},
               "properties": {"coordinateProperties": {"times": [["2026-07-01T10:00:04Z"], ["2026-07-01T10:00:05Z"]]}}},
              {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": []}, "properties": {}}
            ]}
            """)
        #expect(found.fault == nil)
        #expect(found.fixes.map(\.timestamp.seconds) == (0...5).map { 1_782_900_000 + Double($0) })
        #expect(found.fixes.map(\.horizontalAccuracy) == [5, nil, nil, nil, nil, nil])
        #expect(found.fixes.map(\.batteryLevel) == [0.8, 0.5, nil, nil, nil, nil])
        #expect(found.fixes.map(\.speed) == [1.5, 2.5, 10, nil, nil, nil])
        #expect(found.untimed == 1)
    }

    /// The example of the specification's section A.2.2, with a date and a second day.
    @Test func `a flight record goes on after midnight`() {
        let found = read(
            """
            AXXX001 flight
            HFDTEDATE:310726,01
            I023638FXA3940SIU
            B2359505206343N00006198WA0058700558012
            B0000105206343S00006198EV00587005580000
            GREJNGJERJKNJKRE31895478537H
            """)
        #expect(found.fault == nil)
        #expect(
            found.fixes.map { ISO8601.text(of: $0.timestamp) } == [
                "2026-07-31T23:59:50.000Z", "2026-08-01T00:00:10.000Z",
            ])
        // 52° 06.343′ and 0° 06.198′.
        #expect(found.fixes.map { ($0.coordinate.latitude * 1e6).rounded() } == [52_105_717, -52_105_717])
        #expect(found.fixes.map { ($0.coordinate.longitude * 1e6).rounded() } == [-103_300, 103_300])
        #expect(found.fixes.map(\.ellipsoidalAltitude) == [558, nil])
        #expect(found.fixes.map(\.horizontalAccuracy) == [12, 0])
    }

    @Test func `a receiver's log may lack checksums`() {
        let found = read(
            """
            $GPRMC,120000.00,A,4812.34567,N,01621.23456,E,1.94,87.5,211126,,
            $GPGGA,120000.00,4812.34567,N,01621.23456,E,1,08,0.9,171.3,M,43.2,M,,
            $GPRMC,120001.00,A,4812.34567,N,01621.23456,E,1.94,87.5,211126,,,A*00
            """)
        #expect(found.summary.parts == [.nmea: 1])
        #expect(found.fixes.map(\.altitude) == [171.3])
        #expect(found.summary.passedOver[.damagedSentences] == 1)
    }

    @Test func `other services' JSON has fixes and visits`() {
        let polarsteps = read(#"{"locations":[{"lat":48.5,"lon":16.25,"time":1782900000.25}]}"#)
        #expect(polarsteps.summary.parts == [.polarsteps: 1])
        #expect(polarsteps.fixes.map(\.timestamp.milliseconds) == [1_782_900_000_250])
        let overland = read(
            #"{"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[16.25,48.5]},"properties":{"timestamp":"2026-07-01T10:00:00Z","horizontal_accuracy":5}},{"type":"Feature","properties":{"action":"will_terminate","timestamp":"2026-07-01T10:00:00Z"}}]}"#
        )
        #expect(overland.summary.parts == [.overland: 1])
        #expect(overland.fixes.map(\.horizontalAccuracy) == [5])
        let arc = read(
            #"{"timelineItems":[{"isVisit":true,"startDate":"2026-07-01T10:00:00Z","endDate":"2026-07-01T11:00:00Z","center":{"latitude":48.5,"longitude":16.25},"samples":[{"date":"2026-07-01T10:00:00Z","location":{"latitude":48.5,"longitude":16.25,"horizontalAccuracy":5,"speed":-1,"course":-1,"altitude":171,"verticalAccuracy":-1,"timestamp":"2026-07-01T10:00:00Z"}},{"date":"2026-07-01T10:00:05Z"}]}]}"#
        )
        #expect(arc.summary.parts == [.arc: 1])
        #expect(arc.visits.count == 1)
        #expect(arc.fixes.map(\.altitude) == [nil])
        #expect(arc.fixes.map(\.speed) == [nil])
        let dawarich = read(#"{"lonlat":"POINT (16.25 48.5)","timestamp":1782900000,"velocity":"1.5","accuracy":5}"#)
        #expect(dawarich.summary.parts == [.dawarich: 1])
        #expect(dawarich.fixes.map(\.speed) == [1.5])
        let geoPulse = read(
            #"{"dataType":"rawgps","points":[{"timestamp":"2026-07-01T10:00:00Z","latitude":48.5,"longitude":16.25,"velocity":36,"battery":50}]}"#
        )
        #expect(geoPulse.fixes.map(\.batteryLevel) == [0.5])
    }
}
