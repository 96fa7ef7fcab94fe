import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct OsmAndTests {
    /// The report of the message in a query; none of these texts has escapes.
    private func report(_ query: String) -> Report {
        OsmAnd.report(of: Self.parameters(query), now: now)
    }

    private static func parameters(_ query: String) -> [OsmAnd.Parameter] {
        query.split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return (sides[0], sides.count == 2 ? sides[1] : "")
        }
    }

    // From the tests of Traccar's decoder.
    @Test func `a query becomes a fix; knots become meters a second`() throws {
        let query =
            "id=902064&lat=42.06288&lon=-88.23412&timestamp=2016-01-27T18:55:47Z&hdop=6.0&altitude=224.0&speed=10.0"
        let fix = try #require(report(query).fix)
        #expect(fix.timestamp.milliseconds == 1_453_920_947_000)
        #expect(fix.coordinate.latitude == 42.06288 && fix.coordinate.longitude == -88.23412)
        #expect(fix.altitude == 224)
        // 1 knot is 1852 m an hour.
        #expect(try abs(#require(fix.speed) - 5.144444444444445) < 1e-12)
        #expect(fix.remainder == #"{"hdop":"6.0"}"#)
        #expect(OsmAnd.deviceKey(in: Self.parameters(query)) == "902064")
        #expect(OsmAnd.deviceKey(in: Self.parameters("deviceid=7&lat=1")) == "7")
    }

    @Test(arguments: [
        ("1377177267", 1_377_177_267_000), ("1377177267123", 1_377_177_267_123),
        ("2013-08-22T13:14:27Z", 1_377_177_267_000), ("2013-08-22 13:14:27", 1_377_177_267_000),
        ("2013-08-22T15:14:27.5+0200", 1_377_177_267_500),
    ])
    func `time comes in four forms`(text: String, milliseconds: Int64) throws {
        let fix = try #require(report("id=1&location=46.5,9.25&timestamp=\(text)").fix)
        #expect(fix.timestamp.milliseconds == milliseconds)
        #expect(fix.coordinate.latitude == 46.5 && fix.coordinate.longitude == 9.25)
    }

    @Test func `no time means now`() throws {
        #expect(try #require(report("id=1&lat=46.5&lon=9.25").fix).timestamp == now)
    }

    /// OsmAnd's own template for live tracking (OsmAnd, `LiveSender.java`): `{2}` is `System.currentTimeMillis()`,
    /// `{3}` is `getAccuracy()` and `{5}` is `getSpeed()`, meters and meters a second.
    @Test func `OsmAnd's hdop is an accuracy and its speed is in meters a second`() throws {
        let query =
            "id=key&lat=46.5&lon=9.25&timestamp=1767225610123&hdop=12.5&altitude=410.0&speed=10.0&bearing=90.0&batproc=87"
        let fix = try #require(report(query).fix)
        #expect(fix.timestamp.milliseconds == 1_767_225_610_123)
        #expect(fix.horizontalAccuracy == 12.5 && fix.speed == 10 && fix.course == 90 && fix.batteryLevel == 0.87)
        #expect(fix.remainder == nil)
        // Any of the three missing, it is a client of Traccar's.
        for other in [
            query.replacing("5610123", with: "5610"), query + "&accuracy=8", query.replacing("&hdop=12.5", with: ""),
        ] {
            let fix = try #require(report(other).fix)
            #expect(try abs(#require(fix.speed) - 5.144444444444445) < 1e-12)
            #expect(fix.horizontalAccuracy == (other.contains("accuracy") ? 8 : nil))
        }
    }

    /// For templates of clients that know meters a second only, as OsmAnd and GPSLogger.
    @Test func `a speed can be given in meters a second by its name`() throws {
        let fix = try #require(
            report("id=key&lat=46.5&lon=9.25&timestamp=1767225610&accuracy=0.0&speed_mps=10.0&batt=87").fix)
        // Android says 0 for an accuracy that it does not know.
        #expect(fix.speed == 10 && fix.horizontalAccuracy == nil && fix.remainder == nil)
    }

    /// The request of the SDK of Traccar's client (`traccar-client-sdk`, `HttpUploader.kt` with `uploadJson`): flat
    /// objects in an array, numbers as numbers, speed in knots.
    @Test func `an array of the SDK becomes a fix each, and its key is no part of what is kept`() throws {
        let body = """
            [{"id":"key","lat":46.5,"lon":9.25,"timestamp":1767225610,"accuracy":4.5,"altitude":410.2,"speed":10,\
            "bearing":90,"batt":87,"charge":true,"alarm":"sos"},
             {"id":"key","timestamp":1767225620,"batt":86},
             {"id":"key","lat":147,"lon":9.25,"timestamp":1767225630}, 7]
            """
        #expect(OsmAnd.deviceKey(inJSON: Array(body.utf8)) == "key")
        let reports = OsmAnd.reports(ofJSON: Array(body.utf8), now: now)
        try #require(reports.count == 4)
        let fix = try #require(reports[0].fix)
        #expect(fix.timestamp.milliseconds == 1_767_225_610_000 && fix.coordinate.latitude == 46.5)
        #expect(fix.horizontalAccuracy == 4.5 && fix.altitude == 410.2 && fix.course == 90 && fix.batteryLevel == 0.87)
        #expect(try abs(#require(fix.speed) - 5.144444444444445) < 1e-12)
        #expect(fix.remainder == #"{"charge":"true","alarm":"sos"}"#)
        #expect(reports[1] == .message(type: "status", text: #"{"timestamp":"1767225620","batt":"86"}"#))
        #expect(reports.suffix(2).withoutTexts == [.rejected(.badCoordinate), .rejected(.unknownType)])
        guard case .rejected(_, let text?) = reports[2] else {
            Issue.record("What is rejected is kept without the key, so not as it came.")
            return
        }
        #expect(!String(decoding: text, as: UTF8.self).contains("key"))
    }

    @Test func `one of the SDK's objects alone is read, and too many are too large`() throws {
        let one = #"{"id":"key","lat":46.5,"lon":9.25,"timestamp":1767225610}"#
        #expect(OsmAnd.deviceKey(inJSON: Array(one.utf8)) == "key")
        #expect(try only(OsmAnd.reports(ofJSON: Array(one.utf8), now: now)).fix?.coordinate.latitude == 46.5)
        let many = "[" + Array(repeating: one, count: Limits.batchCommands + 1).joined(separator: ",") + "]"
        #expect(OsmAnd.reports(ofJSON: Array(many.utf8), now: now).withoutTexts == [.rejected(.tooLarge)])
        // An element of another device is none of this one's.
        let mixed = "[\(one),\(one.replacing("key", with: "other"))]"
        #expect(
            OsmAnd.reports(ofJSON: Array(mixed.utf8), now: now).last.map { [$0] }?.withoutTexts == [
                .rejected(.badValue)
            ])
    }

    @Test func `the other fields`() throws {
        let fix = try #require(
            report(
                "id=1&lat=46.5&lon=9.25&timestamp=1377177267&accuracy=5&bearing=360&batt=87&charge=true&valid=true"
                    + "&driverUniqueId=x&notificationToken=abc"
            ).fix)
        #expect(fix.horizontalAccuracy == 5 && fix.course == 0 && fix.batteryLevel == 0.87)
        let remainder = try json(try #require(fix.remainder))
        #expect(remainder["charge"]?.string == "true" && remainder["driverUniqueId"]?.string == "x")
        #expect(remainder["notificationToken"] == nil)
        let heading = try #require(report("id=1&lat=46.5&lon=9.25&timestamp=1377177267&heading=90").fix)
        #expect(heading.course == 90)
    }

    /// Core Location's way to say so: a negative accuracy.
    @Test func `a fix that its receiver calls invalid is kept and invalid`() throws {
        let fix = try #require(report("id=1&lat=46.5&lon=9.25&timestamp=1377177267&accuracy=5&valid=false").fix)
        #expect(try #require(fix.horizontalAccuracy) < 0)
    }

    @Test(arguments: [
        ("lat=91&lon=9.25", RejectionReason.badCoordinate), ("lat=46.5", .missingField),
        ("lat=x&lon=9.25", .badCoordinate), ("location=46.5", .badCoordinate), ("location=1,2,3", .badCoordinate),
        ("lat=46.5&lon=9.25&timestamp=now", .badTimestamp), ("lat=46.5&lon=9.25&timestamp=-5", .badTimestamp),
        ("lat=46.5&lon=9.25&timestamp=1e300", .badTimestamp), ("lat=0&lon=0&accuracy=0", .noFix),
    ])
    func `what can never be a fix is rejected with its reason`(query: String, reason: RejectionReason) throws {
        let report = report("id=key&" + query)
        #expect([report].withoutTexts == [.rejected(reason)])
        // Kept are the parameters, without the key.
        guard case .rejected(_, let text?) = report else { return }
        let members = try json(String(decoding: text, as: UTF8.self)).members
        #expect(members.map { Array($0).count } == query.split(separator: "&").count)
        #expect(!String(decoding: text, as: UTF8.self).contains("key"))
    }

    @Test func `a parameter may come several times`() throws {
        let fix = try #require(
            report("id=1&lat=46.5&lon=9.25&timestamp=1377177267&wifi=00-11,-60&wifi=22-33,-70&cell=1,2,3,4").fix)
        #expect(fix.remainder == #"{"wifi":["00-11,-60","22-33,-70"],"cell":"1,2,3,4"}"#)
    }

    @Test func `a message without a position tells of no fix`() {
        #expect(
            report("id=1&batt=50&timestamp=1377177267")
                == .message(type: "status", text: #"{"batt":"50","timestamp":"1377177267"}"#))
    }

    // The newer client, from the documentation of its protocol.
    @Test func `the JSON form`() throws {
        let body = Array(
            """
            {"device_id":"key","location":{"timestamp":"2026-01-01T00:00:00.250Z","coords":{"latitude":46.5,\
            "longitude":9.25,"accuracy":4.5,"speed":-1,"heading":-1,"altitude":410,"altitude_accuracy":3,\
            "ellipsoidal_altitude":457,"floor":null},"is_moving":true,"odometer":1234.5,"event":"motionchange",\
            "uuid":"3F2A","mock":false,"activity":{"type":"walking","confidence":90},\
            "battery":{"level":0.87,"is_charging":false},"extras":{}}}
            """.utf8)
        let fix = try #require(OsmAnd.reports(ofJSON: body, now: now).first?.fix)
        #expect(OsmAnd.deviceKey(inJSON: body) == "key")
        #expect(fix.timestamp.milliseconds == 1_767_225_600_250)
        #expect(fix.coordinate.latitude == 46.5 && fix.coordinate.longitude == 9.25 && fix.horizontalAccuracy == 4.5)
        #expect(fix.speed == nil && fix.course == nil && fix.floor == nil)
        #expect(fix.altitude == 410 && fix.ellipsoidalAltitude == 457 && fix.verticalAccuracy == 3)
        #expect(fix.batteryLevel == 0.87 && fix.clientID == "3F2A" && fix.isSimulatedBySoftware == false)
        let remainder = try json(try #require(fix.remainder))
        #expect(remainder["activity"]?["type"]?.string == "walking" && remainder["is_charging"]?.bool == false)
        #expect(remainder["odometer"]?.double == 1234.5)
    }

    /// Found by libFuzzer: an object of two equal names is none that a reader takes.
    @Test func `a name in two of the objects is kept once`() throws {
        let body = """
            {"device_id":"key","location":{"timestamp":"2026-01-01T00:00:00Z","coords":{"latitude":46.5,"longitude":9.25,\
            "odometer":1},"odometer":2,"battery":{"odometer":3,"is_charging":true}}}
            """
        let fix = try #require(OsmAnd.reports(ofJSON: Array(body.utf8), now: now).first?.fix)
        #expect(fix.remainder == #"{"odometer":1,"is_charging":true}"#)
    }

    @Test func `a battery that is no object is kept as it was written`() throws {
        let body = """
            {"device_id":"key","location":{"timestamp":"2026-01-01T00:00:00Z","coords":{"latitude":46.5,"longitude":9.25},\
            "battery":"full"}}
            """
        let fix = try #require(OsmAnd.reports(ofJSON: Array(body.utf8), now: now).first?.fix)
        #expect(fix.batteryLevel == nil && fix.remainder == #"{"battery":"full"}"#)
    }

    @Test func `minus one is not known, and the key is no part of what is kept`() throws {
        let body = """
            {"device_id":"key","location":{"timestamp":"2026-01-01T00:00:00Z","coords":{"latitude":46.5,"longitude":9.25,\
            "accuracy":-1,"altitude":410,"altitude_accuracy":-1},"battery":{"level":-1}}}
            """
        let fix = try #require(OsmAnd.reports(ofJSON: Array(body.utf8), now: now).first?.fix)
        #expect(fix.horizontalAccuracy == nil && fix.altitude == nil && fix.batteryLevel == nil)
        guard
            case .rejected(.badCoordinate, let text?)? = OsmAnd.reports(
                ofJSON: Array(body.replacing("46.5", with: "147").utf8), now: now
            ).first
        else {
            Issue.record("A latitude of 147 is none.")
            return
        }
        #expect(!String(decoding: text, as: UTF8.self).contains("key"))
    }

    @Test(arguments: [
        ("{", Report.rejected(.notJSON)), ("7", .rejected(.unknownType)), ("{}", .rejected(.unknownType)),
        (
            #"{"device_id":"a","location":{"event":"heartbeat"}}"#,
            .message(type: "status", text: #"{"event":"heartbeat"}"#)
        ),
        (#"{"location":{"coords":{"latitude":1,"longitude":2}}}"#, .rejected(.missingField)),
    ])
    func `other JSON`(body: String, report: Report) {
        #expect(OsmAnd.reports(ofJSON: Array(body.utf8), now: now).withoutTexts == [report])
    }
}
