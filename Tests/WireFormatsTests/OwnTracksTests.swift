import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct OwnTracksTests {
    private func reports(_ body: String) -> [Report] {
        OwnTracks.reports(from: Array(body.utf8), now: now)
    }

    private func report(_ body: String) throws -> Report {
        try only(reports(body))
    }

    /// A location with the required members and these.
    private func fix(_ members: String) throws -> Fix {
        try #require(try report(#"{"_type":"location","lat":46.5,"lon":9.25,"tst":1767225610,"# + members + "}").fix)
    }

    /// The example both apps take and send, from the formats sheet of the OwnTracks booklet.
    @Test func `a location becomes a fix in meters, meters a second and parts of one`() throws {
        let fix = try #require(
            try report(
                """
                {"_type":"location","acc":5,"alt":410,"batt":87,"bs":1,"conn":"m","created_at":1767225612,"lat":47.378177,\
                "lon":8.540192,"m":1,"t":"u","tid":"jp","topic":"owntracks/jane/phone","tst":1767225610,"vac":3,"vel":4}
                """
            ).fix)
        #expect(fix.timestamp.milliseconds == 1_767_225_610_000)
        #expect(fix.coordinate.latitude == 47.378177 && fix.coordinate.longitude == 8.540192)
        #expect(fix.horizontalAccuracy == 5)
        #expect(fix.altitude == 410 && fix.verticalAccuracy == 3)
        // 4 km/h by hand: 10/9 m/s.
        #expect(fix.speed == 10.0 / 9.0)
        #expect(fix.batteryLevel == 0.87)
        #expect(fix.course == nil && fix.ellipsoidalAltitude == nil && fix.receivedAt == nil && fix.clientID == nil)
        #expect(
            fix.remainder == """
                {"bs":1,"conn":"m","created_at":1767225612,"m":1,"t":"u","tid":"jp","topic":"owntracks/jane/phone"}
                """)
    }

    @Test(arguments: ["", " \r\n", "[]"])
    func `an empty body tells of nothing`(body: String) {
        #expect(reports(body).isEmpty)
    }

    @Test func `an array comes to one report an element, the bad ones alone rejected`() {
        let body = """
            [{"_type":"location","lat":46.5,"lon":9.25,"tst":1767225610}, {"_type":"card","tid":"x"},
             {"_type":"location","lat":147,"lon":9.25,"tst":1767225610}, 7,
             {"_type":"location","lat":46.5,"lon":9.25,"tst":1767225611}]
            """
        let reports = reports(body)
        #expect(
            reports.map(\.description) == [
                "fix(…)", "message(…)", "rejected(badCoordinate)", "rejected(unknownType)", "fix(…)",
            ])
        #expect(reports.last?.fix?.timestamp.milliseconds == 1_767_225_611_000)
    }

    @Test(arguments: [
        ("not json", RejectionReason.notJSON), (#"{"_type":"location","#, .notJSON),
        ("{\"_type\":\"\u{1}\"}", .notJSON),
        (#"{"_type":"location","lat":1,"lat":1,"lon":2,"tst":1767225610}"#, .notJSON),
        (#"{"_type":"hologram"}"#, .unknownType), (#"{"_type":5}"#, .unknownType), ("5", .unknownType),
        (#"{"lat":1,"lon":2,"tst":1767225610}"#, .missingField),
        (#"{"_type":"location","lon":2,"tst":1767225610}"#, .missingField),
        (#"{"_type":"location","lat":1,"tst":1767225610}"#, .missingField),
        (#"{"_type":"location","lat":1,"lon":2}"#, .missingField),
        (#"{"_type":"location","lat":147,"lon":2,"tst":1767225610}"#, .badCoordinate),
        (#"{"_type":"location","lat":1,"lon":180.001,"tst":1767225610}"#, .badCoordinate),
        (#"{"_type":"location","lat":"north","lon":2,"tst":1767225610}"#, .badCoordinate),
        (#"{"_type":"location","lat":null,"lon":2,"tst":1767225610}"#, .badCoordinate),
        (#"{"_type":"location","lat":1,"lon":2,"tst":"soon"}"#, .badTimestamp),
        (#"{"_type":"location","lat":1,"lon":2,"tst":"0x60000000"}"#, .badTimestamp),
        (#"{"_type":"location","lat":1,"lon":2,"tst":631151999,"tid":"a"}"#, .badTimestamp),
        (#"{"_type":"location","lat":1,"lon":2,"tst":0}"#, .badTimestamp),
        (#"{"_type":"location","lat":1,"lon":2,"tst":1767225610000}"#, .badTimestamp),
        (#"{"_type":"location","lat":1,"lon":2,"tst":1893542401}"#, .inTheFuture),
        (#"{"_type":"location","lat":0,"lon":0,"tst":1767225610,"acc":0}"#, .noFix),
        (#"{"_type":"location","lat":0,"lon":0,"tst":1767225610}"#, .noFix),
        (#"{"_type":"location","lat":0,"lon":-0.0,"tst":0,"acc":10}"#, .noFix),
        (#"{"_type":"encrypted","data":"AAAA"}"#, .encryptedWithoutKey),
    ])
    func `a message that can never be a fix is rejected with the reason`(body: String, reason: RejectionReason) throws {
        #expect(try report(body) == .rejected(reason))
    }

    @Test(arguments: [631_152_000, 1_893_542_400])
    func `the first second of 1990 and 24 hours from now are still fixes`(seconds: Int64) throws {
        let fix = try report(#"{"_type":"location","lat":1,"lon":2,"tst":\#(seconds),"tid":"a"}"#).fix
        #expect(fix?.timestamp.milliseconds == seconds * 1000)
    }

    @Test func `null island with an accuracy is a place`() throws {
        #expect(try report(#"{"_type":"location","lat":0,"lon":0,"tst":1767225610,"acc":1}"#).fix != nil)
    }

    @Test func `a time may be text`() throws {
        let fix = try report(#"{"_type":"location","lat":1,"lon":2,"tst":" 1767225610.25","tid":"a"}"#).fix
        #expect(fix?.timestamp.milliseconds == 1_767_225_610_250)
    }

    @Test func `minus one means not known, but for the accuracy of the coordinate`() throws {
        let fix = try fix(#""vel":-1,"cog":-1,"batt":-1,"vac":-1,"alt":400,"acc":-1"#)
        #expect(fix.speed == nil && fix.course == nil && fix.batteryLevel == nil)
        #expect(fix.altitude == nil && fix.verticalAccuracy == nil)
        #expect(fix.horizontalAccuracy == -1)
        #expect(fix.remainder == nil)
    }

    @Test func `an accuracy of zero is one not told`() throws {
        let fix = try fix(#""acc":0,"vac":0,"alt":50"#)
        #expect(fix.horizontalAccuracy == nil && fix.verticalAccuracy == nil)
        #expect(fix.altitude == 50)
    }

    @Test func `north is 0 degrees however it is written`() throws {
        #expect(try fix(#""cog":360"#).course == 0)
        #expect(try fix(#""cog":359.9"#).course == 359.9)
    }

    @Test func `values that cannot be what their name says go to the remainder`() throws {
        let fix = try fix(#""cog":361,"batt":101,"alt":"high","vel":true,"_id":7,"acc":null"#)
        #expect(fix.remainder == #"{"cog":361,"batt":101,"alt":"high","vel":true,"_id":7}"#)
        #expect(fix.course == nil && fix.batteryLevel == nil && fix.altitude == nil && fix.speed == nil)
    }

    @Test func `the remainder is verbatim, bounded and without secrets`() throws {
        let fix = try fix(
            #""p" : 100.4770, "inregions":[ "a]\"}" , {"n":1e2}], "image":"\#(String(repeating: "A", count: 2000))","#
                + #""Password":"x","accessToken":"y","big":18446744073709551615"#)
        #expect(
            fix.remainder == #"{"p" : 100.4770,"inregions":[ "a]\"}" , {"n":1e2}],"big":18446744073709551615}"#)
        let long = (0..<200).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        let text = try #require(try self.fix(long).remainder)
        #expect(text.utf8.count <= Limits.remainderBytes && text.utf8.count > Limits.remainderBytes - 20)
        #expect(try json(text).count > 80)
    }

    /// Found by libFuzzer: the members fitted one by one, and not together.
    @Test func `brackets in strings are no depth, and the remainder comes back whole`() throws {
        let fix = try fix(#""a[[[[[[[[[[":"\"[[[[[[[[[[","b{{{{{{{{{{":1"#)
        #expect(fix.remainder == #"{"a[[[[[[[[[[":"\"[[[[[[[[[[","b{{{{{{{{{{":1}"#)
        var writer = JSONWriter()
        FixJSON.write(fix, answering: nil, into: &writer)
        #expect(FixJSON.reports(from: writer.bytes, now: now) == [.fix(fix, answering: nil)])
    }

    /// Overland's OwnTracks mode sends these members only and counts from 2001-01-01.
    @Test func `Overland's time is put right`() throws {
        let seconds = 1_767_225_610 - 978_307_200
        let body = #"{"_type":"location","lat":1,"lon":2,"tst":\#(seconds),"acc":5,"batt":-100,"topic":"a/b/c"}"#
        let fix = try #require(try report(body).fix)
        #expect(fix.timestamp.milliseconds == 1_767_225_610_000)
        #expect(fix.batteryLevel == nil)
        // With any other member it is another client, whose clock may well say so.
        let other = body.replacing(#""acc""#, with: #""tid":"x","acc""#)
        #expect(try report(other).fix?.timestamp.milliseconds == Int64(seconds) * 1000)
    }

    /// A request of GPSLogger with its values in a template that quotes them, as the one in Dawarich's and
    /// GeoPulse's documentation does (GPSLogger, `CustomUrlManager.java`: `%SPD` is Android's `getSpeed()`).
    private static let quoted = """
        {
          "_type" : "location", "t": "u", "acc": "4.5", "alt": "410.0", "batt": "87.0", "bs": "false",
          "lat": "46.5", "lon": "-9.25", "tst": "1767225610", "vel": "3.5"
        }
        """

    @Test func `a template's quoted numbers are numbers, and its speed is in meters a second`() throws {
        let fix = try #require(try report(Self.quoted).fix)
        #expect(fix.timestamp.milliseconds == 1_767_225_610_000)
        #expect(fix.coordinate.latitude == 46.5 && fix.coordinate.longitude == -9.25)
        #expect(fix.horizontalAccuracy == 4.5 && fix.altitude == 410 && fix.batteryLevel == 0.87 && fix.speed == 3.5)
        #expect(fix.remainder == #"{"t": "u","bs": "false"}"#)
    }

    /// Android uses 0 for an unknown accuracy (`Location.getAccuracy()`).
    @Test func `a template's accuracy of zero is not known`() throws {
        let fix = try #require(try report(Self.quoted.replacing("4.5", with: "0.0")).fix)
        #expect(fix.horizontalAccuracy == nil)
        #expect(
            try report(
                Self.quoted.replacing("4.5", with: "0.0").replacing("46.5", with: "0.0").replacing("-9.25", with: "0"))
                == .rejected(.noFix))
        #expect(try report(Self.quoted.replacing("46.5", with: "nowhere")) == .rejected(.badCoordinate))
    }

    /// The same in the other form that GPSLogger's body can have.
    @Test func `fields of a form are read as the message that they are`() throws {
        var form = [
            ("_type", "location"), ("t", "u"), ("acc", "4.5"), ("alt", "410.0"), ("batt", "87"), ("lat", "46.5"),
            ("lon", "-9.25"), ("tst", "1767225610"), ("vel", "3.5"), ("desc", "a & b"),
        ].map { (name: $0, value: $1) }
        let fix = try #require(try only(OwnTracks.reports(ofForm: form, now: now)).fix)
        #expect(fix.timestamp.milliseconds == 1_767_225_610_000)
        #expect(fix.coordinate.latitude == 46.5 && fix.coordinate.longitude == -9.25)
        #expect(fix.horizontalAccuracy == 4.5 && fix.altitude == 410 && fix.batteryLevel == 0.87 && fix.speed == 3.5)
        #expect(fix.remainder == #"{"t":"u","desc":"a & b"}"#)
        form.removeAll { $0.name == "lon" }
        #expect(OwnTracks.reports(ofForm: form, now: now).withoutTexts == [.rejected(.missingField)])
        form[0].value = "hologram"
        #expect(OwnTracks.reports(ofForm: form, now: now).withoutTexts == [.rejected(.unknownType)])
        // The same name twice is ambiguous.
        #expect(OwnTracks.reports(ofForm: form + form, now: now).withoutTexts == [.rejected(.notJSON)])
    }

    @Test func `bodies and arrays beyond their bounds are too large`() throws {
        let space = String(repeating: " ", count: Limits.ingestBodyBytes)
        #expect(try report("[]" + space) == .rejected(.tooLarge))
        let many = "[" + Array(repeating: "1", count: Limits.batchCommands + 1).joined(separator: ",") + "]"
        #expect(try report(many) == .rejected(.tooLarge))
    }

    @Test func `a report never prints where it is`() throws {
        let report = try report(#"{"_type":"location","lat":12.345,"lon":67.89,"tst":1767225610,"tid":"a"}"#)
        var dumped = ""
        dump(report, to: &dumped)
        for text in ["\(report)", String(reflecting: report), dumped] {
            #expect(!text.contains("12.") && !text.contains("67.") && text.contains("fix(…)"))
        }
    }
}
