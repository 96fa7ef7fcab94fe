import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

/// The messages beside `location`, by the members that the booklet names.
@Suite struct OwnTracksMessageTests {
    private let time = Timestamp(milliseconds: 1_767_225_610_000)

    private func reports(_ body: String, opening open: OwnTracks.Opener? = nil) -> [Report] {
        OwnTracks.reports(from: Array(body.utf8), now: now, opening: open)
    }

    private func circle(_ latitude: Double, _ longitude: Double, _ meters: Double) throws -> Circle {
        try Circle(center: Coordinate(latitude: latitude, longitude: longitude), radiusMeters: meters)
    }

    // MARK: Transitions and beacons

    @Test(arguments: [
        (#""desc":"home","rid":"ab12""#, "home"), (#""desc":"","rid":"ab12""#, "ab12"), (#""rid":"ab12""#, "ab12"),
        (#""t":"c""#, "1"),
    ])
    func `a transition is a crossing of the device's own, by the best name there is`(names: String, region: String) {
        for (event, isEntry) in [("enter", true), ("leave", false)] {
            let body = #"{"_type":"transition","event":"\#(event)","tst":1767225610,"wtst":1,"acc":3,\#(names)}"#
            #expect(
                reports(body) == [
                    .sighting(.crossing(CrossingReport(timestamp: time, region: region, isEntry: isEntry)))
                ])
        }
    }

    @Test(arguments: [
        (#""event":"enter","wtst":1"#, RejectionReason.missingField), (#""tst":1767225610,"wtst":1"#, .missingField),
        (#""event":"enter","tst":1767225610"#, .missingField),
        (#""event":"stroll","tst":1767225610,"wtst":1"#, .badValue),
        (#""event":"enter","tst":5,"wtst":1"#, .badTimestamp),
        (#""event":"enter","tst":1893542401,"wtst":1"#, .inTheFuture),
    ])
    func `a transition that says too little is rejected`(members: String, reason: RejectionReason) {
        #expect(reports(#"{"_type":"transition",\#(members)}"#) == [.rejected(reason)])
    }

    @Test func `a beacon is a beacon`() throws {
        let body = """
            {"_type":"beacon","desc":"desk","uuid":"00010203-0405-0607-0809-0A0B0C0D0E0F","major":1,"minor":65535,\
            "tst":1767225610,"acc":-1,"rssi":-60,"prox":2}
            """
        let uuid = Identifier128(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
        #expect(
            reports(body) == [
                .sighting(
                    .beacon(
                        BeaconReport(
                            timestamp: time, uuid: uuid, major: 1, minor: 65_535, proximity: 2, accuracy: nil,
                            rssi: -60)))
            ])
        #expect(reports(body.replacing("65535", with: "65536")) == [.rejected(.badValue)])
        #expect(reports(body.replacing(#""minor":65535,"#, with: "")) == [.rejected(.missingField)])
    }

    // MARK: Waypoints

    @Test func `a waypoint with a radius is a region, and one at no place on earth is deleted`() throws {
        let body = #"{"_type":"waypoint","desc":"home","tst":1767225610,"lat":46.5,"lon":9.25,"rad":150,"rid":"ab"}"#
        #expect(
            reports(body) == [
                .waypoint(Waypoint(created: time, name: "home", circle: try circle(46.5, 9.25, 150)))
            ])
        let gone = #"{"_type":"waypoint","desc":"home","tst":1767225610,"lat":-1000000,"lon":-1000000,"rad":0}"#
        #expect(reports(gone) == [.waypoint(Waypoint(created: time, name: "home", circle: nil))])
    }

    @Test(arguments: [
        #""lat":46.5,"lon":9.25,"rad":0"#, #""lat":46.5,"lon":9.25"#,
        #""uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f","major":1"#,
    ])
    func `a waypoint that is no region is kept in the app's words`(members: String) {
        let body = #"{"_type":"waypoint","desc":"tree","tst":1767225610,\#(members)}"#
        #expect(
            reports(body) == [
                .message(type: "waypoint", text: #"{"desc":"tree","tst":1767225610,\#(members)}"#)
            ])
    }

    /// As an Android release did (a real configuration has both).
    @Test func `a time of creation in milliseconds is the same`() {
        let body = #"{"_type":"waypoint","desc":"work","tst":1767225610,"lat":46.5,"lon":9.25,"rad":150}"#
        #expect(reports(body) == reports(body.replacing("610,", with: "610000,")))
    }

    @Test func `a list of waypoints comes to one report each, the bad ones alone rejected`() throws {
        let body = """
            {"_type":"waypoints","_creator":"app","waypoints":[
            {"_type":"waypoint","desc":"a","tst":1767225610,"lat":46.5,"lon":9.25,"rad":150},
            {"_type":"waypoint","tst":1767225610}, 7, {"desc":"","tst":1767225610},
            {"desc":"\(String(repeating: "ö", count: 70))","tst":1767225610.0,"lat":46.5,"lon":9.25,"rad":1}]}
            """
        let reports = reports(body)
        #expect(
            reports.dropFirst().dropLast() == [
                .rejected(.missingField, text: Array(#"{"_type":"waypoint","tst":1767225610}"#.utf8)),
                .rejected(.unknownType, text: Array("7".utf8)),
                .rejected(.badValue, text: Array(#"{"desc":"","tst":1767225610}"#.utf8)),
            ])
        #expect(reports.first == .waypoint(Waypoint(created: time, name: "a", circle: try circle(46.5, 9.25, 150))))
        let long = String(repeating: "ö", count: 64)
        #expect(reports.last == .waypoint(Waypoint(created: time, name: long, circle: try circle(46.5, 9.25, 1))))
        #expect(self.reports(#"{"_type":"waypoints"}"#) == [.rejected(.missingField)])
        let many = Array(repeating: "{}", count: Limits.batchCommands + 1).joined(separator: ",")
        #expect(self.reports(#"{"_type":"waypoints","waypoints":[\#(many)]}"#) == [.rejected(.tooLarge)])
        let nested = Array(repeating: #"{"_type":"waypoints","waypoints":[{},{}]}"#, count: 600).joined(separator: ",")
        #expect(self.reports("[\(nested)]") == [.rejected(.tooLarge)])
    }

    // MARK: In the app's words

    @Test(arguments: ["lwt", "status", "steps", "card", "cmd", "request", "dump"])
    func `a message of another type is kept as it is, without secrets`(type: String) {
        let body = #"{"_type":"\#(type)","tst":"1767225610","steps":-1,"iOS":{"version":"18"},"password":"x"}"#
        #expect(
            reports(body) == [
                .message(type: type, text: #"{"tst":"1767225610","steps":-1,"iOS":{"version":"18"}}"#)
            ])
    }

    @Test func `of settings nothing is kept but that they came`() {
        let body = #"{"_type":"configuration","url":"https://a:b@example.org","password":"x","mode":3}"#
        #expect(reports(body) == [.message(type: "configuration", text: "{}")])
    }

    @Test func `what a request asks for can be read from its text`() {
        guard case .message("request", let text)? = reports(#"{"_type":"request","request":"tours"}"#).first else {
            Issue.record("A request is a message.")
            return
        }
        #expect(OwnTracks.request(text) == "tours")
    }

    // MARK: Encrypted

    @Test func `an encrypted message is read where it can be opened, and marked`() throws {
        let plain = #"{"_type":"location","lat":46.5,"lon":9.25,"tst":1767225610,"tid":"ab"}"#
        let open: OwnTracks.Opener = { $0 == "sealed" ? Array(plain.utf8) : nil }
        let fix = try #require(try only(reports(#"{"_type":"encrypted","data":"sealed"}"#, opening: open)).fix)
        #expect(fix.timestamp == time && fix.coordinate.latitude == 46.5)
        #expect(fix.remainder == #"{"_decrypted":true,"tid":"ab"}"#)
        #expect(
            reports(#"{"_type":"encrypted","data":"other"}"#, opening: open) == [.rejected(.encryptedWithoutKey)])
        #expect(reports(#"{"_type":"encrypted","data":7}"#, opening: open) == [.rejected(.missingField)])
        #expect(reports(#"{"_type":"encrypted","data":"sealed"}"#) == [.rejected(.encryptedWithoutKey)])
    }

    @Test(arguments: [
        ("", RejectionReason.notJSON), ("plain words", .notJSON), ("[]", .unknownType),
        (#"{"_type":"encrypted","data":"sealed"}"#, .encryptedWithoutKey),
        (#"{"_type":"location","lat":147,"lon":1,"tst":1767225610}"#, .badCoordinate),
    ])
    func `what was encrypted and makes no sense is rejected as it came`(plain: String, reason: RejectionReason) {
        #expect(
            reports(#"{"_type":"encrypted","data":"sealed"}"#) { _ in Array(plain.utf8) } == [.rejected(reason)])
    }

    // MARK: Answers

    @Test(arguments: [(#""t":"r""#, true), (#""t":"p""#, false), (#""m":1"#, false)])
    func `a fix says whether it answers a command`(member: String, isAnswer: Bool) throws {
        let body = #"{"_type":"location","lat":46.5,"lon":9.25,"tst":1767225610,\#(member)}"#
        #expect(OwnTracks.isAnswer(try #require(try only(reports(body)).fix)) == isAnswer)
    }
}
