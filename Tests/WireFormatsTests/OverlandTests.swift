import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct OverlandTests {
    private func reports(_ body: String) -> [Report] {
        Overland.reports(from: Array(body.utf8), now: now)
    }

    /// The feature of the app's README, with its offset without a colon.
    private static let feature = """
        {"type":"Feature","geometry":{"type":"Point","coordinates":[-122.030581,37.331800]},"properties":{\
        "timestamp":"2015-10-01T08:00:00-0700","altitude":0,"speed":4,"horizontal_accuracy":30,"vertical_accuracy":-1,\
        "motion":["driving","stationary"],"pauses":false,"activity":"other_navigation","desired_accuracy":100,\
        "deferred":1000,"significant_change":"disabled","locations_in_payload":1,"battery_state":"charging",\
        "battery_level":0.89,"device_id":"","wifi":""}}
        """

    @Test func `the README's location becomes a fix, longitude first`() throws {
        let fix = try #require(try only(reports(#"{"locations":[\#(Self.feature)]}"#)).fix)
        // 15:00 UTC that day.
        #expect(fix.timestamp.milliseconds == 1_443_711_600_000)
        #expect(fix.coordinate.latitude == 37.3318 && fix.coordinate.longitude == -122.030581)
        #expect(fix.horizontalAccuracy == 30 && fix.speed == 4 && fix.batteryLevel == 0.89)
        // A vertical accuracy of −1 says that the altitude is unknown.
        #expect(fix.altitude == nil && fix.verticalAccuracy == nil)
        let remainder = try json(try #require(fix.remainder))
        #expect(remainder["motion"]?.array?.map(\.string) == ["driving", "stationary"])
        #expect(remainder["battery_state"]?.string == "charging")
    }

    @Test func `negative values are unknown`() throws {
        let body = """
            {"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{\
            "timestamp":"2026-01-01T00:00:00Z","speed":-1,"course":-1,"speed_accuracy":-1,"course_accuracy":-1}}]}
            """
        let fix = try #require(try only(reports(body)).fix)
        #expect(fix.speed == nil && fix.course == nil && fix.speedAccuracy == nil && fix.courseAccuracy == nil)
    }

    @Test func `a bad location is rejected, the batch is not`() throws {
        func feature(_ coordinates: String, _ time: String = "2026-01-01T00:00:00Z") -> String {
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":\#(coordinates)},"properties":{"timestamp":"\#(time)"}}"#
        }
        let body = [
            feature("[9.25,46.5]"), feature("[9.25,147]"), feature("[9.25]"), feature(#"["a",46.5]"#),
            feature("[9.25,46.5]", "yesterday"), feature("[9.25,46.5]", "2031-01-01T00:00:00Z"), "7", "{}",
            #"{"type":"Feature","geometry":null,"properties":{"timestamp":"2026-01-01T00:00:00Z"}}"#,
            feature("[9.5,46.5]", "2026-01-01T00:00:01+00:00"),
        ].joined(separator: ",")
        let reports = reports(#"{"locations":[\#(body)]}"#)
        #expect(
            Array(reports.dropFirst().dropLast()).withoutTexts == [
                .rejected(.badCoordinate), .rejected(.badCoordinate), .rejected(.badCoordinate),
                .rejected(.badTimestamp), .rejected(.inTheFuture), .rejected(.unknownType), .rejected(.unknownType),
                .rejected(.missingField),
            ])
        #expect(reports.first?.fix != nil && reports.last?.fix != nil)
        // Each is kept by itself.
        let texts = reports.compactMap {
            if case .rejected(_, let text?) = $0 { String(decoding: text, as: UTF8.self) } else { nil }
        }
        #expect(texts.count == 8 && texts[0] == feature("[9.25,147]") && texts[5] == "7")
    }

    @Test func `what is no fix is told apart, with and without a place`() throws {
        let body = """
            {"locations":[
             {"type":"Feature","properties":{"timestamp":"2026-01-01T00:00:00Z","action":"will_terminate"}},
             {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{"type":"trip",\
            "mode":"walk","start":"2026-01-01T00:00:00Z","distance":100.5,"api_token":"x"}}]}
            """
        #expect(
            reports(body) == [
                .message(type: "will_terminate", text: #"{"timestamp":"2026-01-01T00:00:00Z"}"#),
                .message(type: "trip", text: #"{"mode":"walk","start":"2026-01-01T00:00:00Z","distance":100.5}"#),
            ])
    }

    /// Dates that iOS has not observed are `null`, or year 1 and 4001 in older apps.
    @Test(
        arguments: [
            (#""2025-12-31T23:00:00Z""#, "null", -3600, nil), ("null", #""2026-01-01T00:00:00+0000""#, nil, 0),
            (#""0001-01-01T00:00:00Z""#, #""4001-01-01T00:00:00Z""#, nil, nil),
        ] as [(String, String, Int64?, Int64?)])
    func `a visit keeps the dates that were seen`(arrival: String, departure: String, from: Int64?, to: Int64?) throws {
        let body = """
            {"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},"properties":{\
            "action":"visit","timestamp":"2026-01-01T00:00:00Z","arrival_date":\(arrival),"departure_date":\(departure),\
            "horizontal_accuracy":20}}]}
            """
        let newYear = Timestamp(milliseconds: 1_767_225_600_000)
        let coordinate = try Coordinate(latitude: 46.5, longitude: 9.25)
        #expect(
            reports(body) == [
                .sighting(
                    .visit(
                        VisitReport(
                            timestamp: newYear, coordinate: coordinate, horizontalAccuracy: 20,
                            arrival: from.map(newYear.adding(seconds:)), departure: to.map(newYear.adding(seconds:)))))
            ])
        let without = body.replacing(#""geometry":{"type":"Point","coordinates":[9.25,46.5]},"#, with: "")
        #expect(reports(without).withoutTexts == [.rejected(.missingField)])
    }

    /// Sent while a backlog waits, and again in its batch later: the same fix, so that it is kept once.
    @Test func `the current location is a report like the others`() throws {
        let reports = reports(#"{"locations":[],"current":\#(Self.feature),"trip":{"distance":10}}"#)
        let alone = self.reports(#"{"locations":[\#(Self.feature)]}"#)
        #expect(reports == alone && reports.count == 1)
        #expect(self.reports(#"{"locations":[],"current":null}"#).isEmpty)
    }

    @Test func `its OwnTracks mode goes to the same address, with seconds since 2001`() throws {
        let body = #"{"_type":"location","lat":46.5,"lon":9.25,"tst":788918400,"acc":5,"batt":-100,"topic":"x"}"#
        let fix = try #require(try only(reports(body)).fix)
        #expect(fix.timestamp.milliseconds == (788_918_400 + 978_307_200) * 1000)
        #expect(fix.batteryLevel == nil)
    }

    @Test(arguments: [
        ("", RejectionReason.notJSON), ("{", .notJSON), ("[]", .unknownType), (#"{"locations":7}"#, .unknownType),
    ])
    func `a body that can never be read is one rejected report`(body: String, reason: RejectionReason) {
        #expect(reports(body) == [.rejected(reason)])
    }

    @Test func `the answer is what the app waits for, byte for byte`() {
        #expect(String(decoding: Overland.answer, as: UTF8.self) == #"{"result":"ok"}"#)
    }
}
