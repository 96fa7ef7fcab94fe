import Geodesy
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct FixJSONTests {
    private func reports(_ body: String) -> [Report] {
        FixJSON.reports(from: Array(body.utf8), now: now)
    }

    private func fix(_ members: String) throws -> Fix {
        let body = #"{"timestamp":1767225610,"latitude":46.5,"longitude":9.25,"# + members + "}"
        return try #require(try only(reports(body)).fix)
    }

    private func text(_ fix: Fix, answering: QueryID? = nil) -> [UInt8] {
        var writer = JSONWriter()
        FixJSON.write(fix, answering: answering, into: &writer)
        return writer.bytes
    }

    @Test func `every field of a location is read by Core Location's name`() throws {
        let body = """
            {"timestamp": 1732147200.123, "latitude": 46.5, "longitude": 9.25, "horizontalAccuracy": 12.5,
             "altitude": 410, "ellipsoidalAltitude": 457.5, "verticalAccuracy": 3, "floor": -2, "speed": 1.5,
             "speedAccuracy": 0.3, "course": 277, "courseAccuracy": 11, "batteryLevel": 0.87,
             "sourceInformation": {"isSimulatedBySoftware": false, "isProducedByAccessory": true},
             "id": "3F2A", "receivedAt": "2024-11-21T00:00:01.5Z",
             "answering": "6B1C4F6E-0D3A-4E58-9A52-0123456789AB", "conn": "w"}
            """
        guard case .fix(let fix, let answering) = try only(reports(body)) else {
            Issue.record("This is a fix.")
            return
        }
        var expected = Fix(
            timestamp: Timestamp(milliseconds: 1_732_147_200_123),
            coordinate: try Coordinate(latitude: 46.5, longitude: 9.25), horizontalAccuracy: 12.5)
        (expected.altitude, expected.ellipsoidalAltitude, expected.verticalAccuracy) = (410, 457.5, 3)
        (expected.floor, expected.speed, expected.speedAccuracy) = (-2, 1.5, 0.3)
        (expected.course, expected.courseAccuracy, expected.batteryLevel) = (277, 11, 0.87)
        (expected.isSimulatedBySoftware, expected.isProducedByAccessory) = (false, true)
        expected.clientID = "3F2A"
        expected.receivedAt = Timestamp(milliseconds: 1_732_147_201_500)
        expected.remainder = #"{"conn": "w"}"#
        #expect(fix == expected)
        #expect(answering?.description == "6b1c4f6e-0d3a-4e58-9a52-0123456789ab")
    }

    @Test func `negative values mean what they mean in Core Location`() throws {
        let fix = try fix(
            #""horizontalAccuracy":-1,"speed":-1,"speedAccuracy":-1,"course":-1,"courseAccuracy":-1,"batteryLevel":-1"#)
        #expect(fix.horizontalAccuracy == -1)
        #expect(fix.speed == nil && fix.speedAccuracy == nil && fix.course == nil && fix.courseAccuracy == nil)
        #expect(fix.batteryLevel == nil && fix.remainder == nil)
    }

    @Test(arguments: [0.0, -1])
    func `without vertical accuracy no altitude is known`(accuracy: Double) throws {
        let fix = try fix(#""altitude":400,"ellipsoidalAltitude":450,"verticalAccuracy":\#(accuracy)"#)
        #expect(fix.altitude == nil && fix.ellipsoidalAltitude == nil && fix.verticalAccuracy == nil)
    }

    @Test(arguments: [
        (#"{"timestamp":1767225610,"latitude":1}"#, RejectionReason.missingField), ("{}", .missingField),
        (#"{"timestamp":"yesterday","latitude":1,"longitude":2}"#, .badTimestamp),
        (#"{"timestamp":1e300,"latitude":1,"longitude":2}"#, .badTimestamp),
        (#"{"timestamp":"2030-01-02T00:00:00.001Z","latitude":1,"longitude":2}"#, .inTheFuture),
        (#"{"timestamp":1767225610,"latitude":-180,"longitude":-180,"horizontalAccuracy":-1}"#, .badCoordinate),
        (#"{"timestamp":1767225610,"latitude":0,"longitude":0,"horizontalAccuracy":0}"#, .noFix),
        (#"{"timestamp":0,"latitude":0,"longitude":0}"#, .noFix),
        ("[]", .unknownType), (#"{"fixes":{}}"#, .unknownType), (#"{"fixes":[1]}"#, .unknownType), ("", .notJSON),
    ])
    func `what is no fix is rejected with the reason`(body: String, reason: RejectionReason) throws {
        #expect(try only(reports(body)) == .rejected(reason))
    }

    @Test func `a batch comes to one report a fix, in order`() {
        let body =
            #"{"fixes":[{"timestamp":1767225610,"latitude":1,"longitude":2},{},"# + "\n"
            + #"{"timestamp":1767225611,"latitude":1,"longitude":2}]}"#
        #expect(reports(body).map(\.description) == ["fix(…)", "rejected(missingField)", "fix(…)"])
        #expect(reports(#"{"fixes":[]}"#).isEmpty)
    }

    @Test func `a batch beyond its bound is too large`() throws {
        let fixes = Array(repeating: "{}", count: Limits.batchCommands + 1).joined(separator: ",")
        #expect(try only(reports(#"{"fixes":[\#(fixes)]}"#)) == .rejected(.tooLarge))
    }

    @Test func `times have the service's own form and stay exact`() throws {
        var fix = try fix(#""id":"a""#)
        fix.timestamp = Timestamp(milliseconds: 1_767_225_610_120)
        let expected = #"{"id":"a","timestamp":1767225610.12,"latitude":46.5,"longitude":9.25}"#
        #expect(String(decoding: text(fix), as: UTF8.self) == expected)
        for milliseconds in 1_767_225_610_000...1_767_225_610_999 as ClosedRange<Int64> {
            fix.timestamp = Timestamp(milliseconds: milliseconds)
            #expect(try only(FixJSON.reports(from: text(fix), now: now)).fix == fix)
        }
    }

    @Test func `a fix written and read again is the same in every bit`() throws {
        var random = SplitMix(11)
        for _ in 0..<20_000 {
            let fix = try anyFix(using: &random)
            let answering = Bool.random(using: &random) ? QueryID(random: random.next(), random.next()) : nil
            let report = try only(FixJSON.reports(from: text(fix, answering: answering), now: now))
            try #require(report == .fix(fix, answering: answering))
            // Equality does not distinguish zero from minus zero; the text does.
            let again = try #require(report.fix)
            try #require(text(again) == text(fix))
        }
    }

    @Test func `in a list, each fix is read as if it were alone`() throws {
        let fixes = try [
            #""a":1"#, #""remainder":{ "b" : 2 }"#, #""speed":1"#, #""c":[3],"remainder":{"d":4}"#, #""remainder":{}"#,
            #""e":"\#(String(repeating: "x", count: 300))""#, #""f":null"#,
        ].map { members in
            (text: #"{"timestamp":1767225610,"latitude":46.5,"longitude":9.25,\#(members)}"#, alone: try fix(members))
        }
        for list in [fixes, fixes.reversed()] {
            let body = #"{"fixes":[\#(list.map(\.text).joined(separator: ","))]}"#
            #expect(reports(body).map(\.fix) == list.map(\.alone))
            let devices = #"{"devices":[{"person":"ada","device":"phone",\#(body.dropFirst())]}"#
            let parts = try #require(
                FixJSON.deviceBatches(in: JSONDocument.message(Array(devices.utf8)[...]), now: now))
            #expect(parts.map { $0.reports?.map(\.fix) } == [list.map(\.alone)])
        }
    }

    @Test func `a remainder is the same after any number of turns`() throws {
        for remainder in [
            "{}", #"{ "a" : 1.0 , "remainder": {"b":[18446744073709551615, -0.0]} }"#, #"{"remainder":{"c":1},"d":2}"#,
            #"{"password":"kept: it has been a remainder before"}"#,
        ] {
            var fix = try fix(#""id":"a""#)
            fix.remainder = remainder
            for _ in 0..<3 { fix = try #require(try only(FixJSON.reports(from: text(fix), now: now)).fix) }
            #expect(fix.remainder == remainder)
        }
    }

    @Test func `what is nested too deeply to be nested again is left out`() throws {
        let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        #expect(try fix(#""a":1,"deep":\#(deep)"#).remainder == #"{"a":1}"#)
    }

    private func anyFix(using random: inout SplitMix) throws -> Fix {
        func number(_ range: ClosedRange<Double>) -> Double? {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: nil
            case 1: Double(Int.random(in: Int(range.lowerBound)...Int(range.upperBound), using: &random))
            default: Double.random(in: range, using: &random)
            }
        }
        func flag() -> Bool? { [nil, false, true][Int.random(in: 0..<3, using: &random)] }
        let milliseconds = Int64.random(in: Limits.oldestFix.milliseconds...now.milliseconds, using: &random)
        var fix = Fix(
            timestamp: Timestamp(milliseconds: milliseconds),
            coordinate: try Coordinate(
                latitude: .random(in: -90...90, using: &random), longitude: .random(in: -180...180, using: &random)),
            horizontalAccuracy: number(-100...10_000))
        fix.altitude = number(-1000...9000)
        fix.ellipsoidalAltitude = number(-1000...9000)
        fix.verticalAccuracy = number(1...100)
        fix.floor = flag() == nil ? nil : Int64(bitPattern: random.next())
        fix.speed = flag() == nil ? 0 : number(0...1e9)
        fix.speedAccuracy = number(0...10)
        fix.course = number(0...359)
        fix.courseAccuracy = number(0...180)
        fix.isSimulatedBySoftware = flag()
        fix.isProducedByAccessory = flag()
        fix.batteryLevel = number(0...1)
        fix.clientID = [nil, "", "id \"\\\u{0}\u{7f}é😀", "\(random.next())"].randomElement(using: &random) ?? nil
        fix.receivedAt =
            flag() == nil ? nil : fix.timestamp.adding(seconds: Int64.random(in: -9...99_999, using: &random))
        fix.remainder = flag() == nil ? nil : #"{"conn":"w","p":100.4770,"in": ["é}"]}"#
        return fix
    }
}
