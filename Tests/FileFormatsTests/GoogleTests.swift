import Geodesy
import Testing
import Whereabouts
import WireFormats

@testable import FileFormats

@Suite struct GoogleTests {
    @Test func `Records have positions in ten-millionths of a degree, and both spellings of time`() {
        let found = read(
            """
            {"locations": [
              {"latitudeE7": 482083333, "longitudeE7": 163730000, "accuracy": 20, "altitude": 171, "verticalAccuracy": 3,
               "velocity": 2, "heading": 360, "source": "WIFI", "deviceTag": -1234, "timestamp": "2021-05-04T08:00:00.123Z",
               "activity": [{"timestamp": "x", "activity": [{"type": "STILL", "confidence": 100}]}]},
              {"timestampMs": "1620115201456", "latitudeE7": -338567844, "longitudeE7": 1512152967},
              {"timestampMs": "1620115202000", "latitudeE7": 3956284052, "longitudeE7": 4131237296},
              {"timestamp": "2021-05-04T08:00:00Z", "activity": []},
              {"latitudeE7": 1, "longitudeE7": 2}
            ], "other": [{"latitudeE7": 1, "longitudeE7": 2, "timestampMs": "1620115201456"}]}
            """)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.googleRecords: 1])
        #expect(found.records.map(\.place) == [1, 2, 3, 5])
        #expect(found.fixes.map(\.timestamp.milliseconds) == [1_620_115_200_123, 1_620_115_201_456, 1_620_115_202_000])
        #expect(found.fixes.map(\.coordinate.latitude) == [48.2083333, -33.8567844, -33.8683244])
        // 4,131,237,296 − 2³² = −163,730,000: a coordinate that overflowed 32 bits.
        #expect(found.fixes.map(\.coordinate.longitude) == [16.373, 151.2152967, -16.373])
        let first = found.fixes.first
        #expect((first?.horizontalAccuracy, first?.altitude, first?.verticalAccuracy) == (20, 171, 3))
        #expect((first?.speed, first?.course) == (2, 0))
        #expect(first?.remainder == #"{"source":"WIFI","deviceTag":"-1234"}"#)
        #expect(found.untimed == 1)
        #expect(found.summary.passedOver[.placeholders] == 1)
    }

    @Test func `a month of semantic history has visits, the ends of activities and timed paths`() {
        let found = read(
            """
            {"timelineObjects": [
              {"placeVisit": {"location": {"latitudeE7": 482083333, "longitudeE7": 163730000, "name": "Café"},
                "duration": {"startTimestamp": "2021-05-04T08:00:00Z", "endTimestampMs": "1620118800000"},
                "childVisits": [{}, {}]}},
              {"activitySegment": {"startLocation": {"latitudeE7": 482083333, "longitudeE7": 163730000}, "endLocation": {},
                "duration": {"startTimestamp": "2021-05-04T09:00:00Z", "endTimestamp": "2021-05-04T09:30:00Z"},
                "waypointPath": {"waypoints": [{"latE7": 482083333, "lngE7": 163730000}]},
                "simplifiedRawPath": {"points": [
                  {"latE7": 482090000, "lngE7": 163740000, "accuracyMeters": 12, "timestamp": "2021-05-04T09:10:00Z"}]}}}
            ]}
            """)
        #expect(found.fault == nil)
        #expect(found.visits.map(\.arrival?.seconds) == [1_620_115_200])
        #expect(found.visits.map(\.departure?.seconds) == [1_620_118_800])
        #expect(found.fixes.map(\.horizontalAccuracy) == [100, 12])
        #expect(found.fixes.map(\.remainder) == [#"{"accuracyAssumed":true}"#, nil])
        #expect(found.untimed == 1)
        #expect(found.summary.passedOver[.nestedVisits] == 2)
    }

    @Test func `the timeline of Android has visits, activities, paths and raw positions`() {
        let found = read(
            """
            {"semanticSegments": [
              {"startTime": "2024-05-04T08:00:00.000+02:00", "endTime": "2024-05-04T09:00:00.000+02:00",
               "startTimeTimezoneUtcOffsetMinutes": 540, "visit": {"hierarchyLevel": 0, "probability": 0.9,
               "topCandidate": {"placeId": "x", "placeLocation": {"latLng": "48.2083°, 16.3730°"}}}},
              {"startTime": "2024-05-04T08:10:00.000+02:00", "endTime": "2024-05-04T08:20:00.000+02:00",
               "visit": {"hierarchyLevel": 1, "topCandidate": {"placeLocation": "48.2083°, 16.3730°"}}},
              {"startTime": "2024-05-04T09:00:00.000+02:00", "endTime": "2024-05-04T09:30:00.000+02:00",
               "activity": {"start": {"latLng": "48.2083°, 16.3730°"}, "end": {"latLng": "48.21°, -16.38°"}}},
              {"startTime": "2024-05-04T09:00:00.000+02:00", "endTime": "2024-05-04T10:00:00.000+02:00",
               "timelinePath": [{"point": "48.2083°, 16.3730°", "time": "2024-05-04T09:05:00.000+02:00"},
                                {"point": "48.2084°, 16.3731°", "time": "2024-05-04T09:05:00.000+02:00"}]},
              {"startTime": "2024-05-04T09:00:00", "startTimeTimezoneUtcOffsetMinutes": 60,
               "activity": {"start": {"latLng": "1, 2"}}},
              {"startTime": "2024-05-04T09:00:00+02:00", "timelineMemory": {}}
            ], "rawSignals": [
              {"position": {"LatLng": "48.2083333, 16.3730000", "accuracyMeters": 13, "altitudeMeters": 171.5,
                "source": "GPS", "timestamp": "2024-05-04T09:05:01.500+02:00", "speedMetersPerSecond": 1.5}},
              {"wifiScan": {}}
            ], "userLocationProfile": {"frequentPlaces": [{"placeLocation": "1, 2"}]}}
            """)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.googleTimeline: 1])
        // The text's own offset is right, in any local time of the place.
        #expect(found.visits.map(\.arrival?.seconds) == [1_714_802_400])
        #expect(
            found.fixes.map(\.timestamp.seconds) == [
                1_714_806_000, 1_714_807_800, 1_714_806_300, 1_714_806_300, 1_714_809_600, 1_714_806_301.5,
            ])
        #expect(found.fixes.last?.horizontalAccuracy == 13)
        #expect(found.fixes.dropLast().allSatisfy { $0.remainder == #"{"accuracyAssumed":true}"# })
        #expect(found.fixes[1].coordinate.longitude == -16.38)
        #expect(found.summary.passedOver[.nestedVisits] == 1)
        #expect(found.summary.passedOver[.placeholders] == 2)
    }

    @Test func `the timeline of an iPhone is an array with texts for numbers`() {
        let found = read(
            """
            [{"endTime": "2024-05-04T09:00:00.000+02:00", "startTime": "2024-05-04T08:00:00.000+02:00",
              "visit": {"hierarchyLevel": "0", "topCandidate": {"probability": "0.8", "semanticType": "Home",
              "placeID": "x", "placeLocation": "geo:48.208333,16.373000"}, "probability": "0.9"}},
             {"startTime": "2024-05-04T09:00:00.000+02:00", "endTime": "2024-05-04T11:00:00.000+02:00",
              "timelinePath": [{"point": "geo:48.208333,16.373000", "durationMinutesOffsetFromStartTime": "7"},
                {"point": "geo:bad", "durationMinutesOffsetFromStartTime": "8"}]},
             {"startTime": "2024-05-04T11:00:00.000+02:00", "endTime": "2024-05-04T12:00:00.000+02:00",
              "activity": {"start": "geo:48.2,16.3", "end": "geo:48.3,16.4", "distanceMeters": "1000.5"}}]
            """)
        #expect(found.fault == nil)
        #expect(found.summary.parts == [.googleTimelineIPhone: 1])
        #expect(found.visits.count == 1)
        #expect(found.fixes.map(\.timestamp.seconds) == [1_714_806_420, 1_714_813_200, 1_714_816_800])
        #expect(found.rejected == [.badCoordinate])
    }

    @Test func `edits have raw positions`() {
        let found = read(
            """
            {"timelineEdits": [{"deviceId": "1", "rawSignal": {"signal": {"position": {"point": {"latE7": 482083333,
              "lngE7": 163730000}, "accuracyMm": 13500, "timestamp": "2024-05-04T08:00:00Z"}}}},
              {"deviceId": "1", "rawSignal": {"signal": {"wifiScan": {}}}}]}
            """)
        #expect(found.fixes.map(\.horizontalAccuracy) == [13.5])
        #expect(found.summary.passedOver[.placeholders] == 1)
    }

    @Test(arguments: [
        (#"{"createdTime": "x", "deviceSettings": [{}]}"#, "Settings.json"),
        ("<!DOCTYPE html><html><body>My Activity</body></html>", "HTML"),
        ("You have encrypted Timeline backups stored on Google servers.", "encrypted backup"),
    ])
    func `what has no history is refused by name, with a way out`(text: String, word: String) {
        let sentence = read(text).fault?.description ?? ""
        #expect(sentence.contains(word))
        #expect(sentence.contains("; "))
    }
}
