import JSON
import Replies
import Testing

@Suite struct MemberVisitorTests {
    private static let visit = VisitItem(
        id: "0c31f9a27b5e64d8", arrival: Moment(milliseconds: 1_777_881_600_120),
        at: .degrees(latitude: 48.1737, longitude: 16.3778), horizontalAccuracy: 12.5, place: "Favoriten, Wien",
        firstReported: Moment(milliseconds: 1_777_881_601_000))

    private static let written =
        #"{"id":"0c31f9a27b5e64d8","arrival":1777881600.12,"departure":null,"latitude":48.1737,"longitude":16.3778,"#
        + #""horizontalAccuracy":12.5,"place":"Favoriten, Wien","firstReported":1777881601}"#

    private static func read<Object: Reply>(_: Object.Type, _ text: String) throws -> Object? {
        try Object.read(try JSONDocument.parse(Array(text.utf8)).root)
    }

    @Test func `a reply is written in the order of its declaration and read back equal`() throws {
        #expect(String(decoding: Self.visit.bytes, as: UTF8.self) == Self.written)
        #expect(try Self.read(VisitItem.self, Self.written) == Self.visit)
    }

    @Test func `an unknown member is ignored, and a member that can be absent may be null`() throws {
        let more = Self.written.dropLast() + #","timeZone":null,"weather":{"rain":true}}"#
        #expect(try Self.read(VisitItem.self, String(more)) == Self.visit)
    }

    @Test func `a missing member and one of another form are named`() throws {
        #expect(throws: ReplyError.missing("arrival")) {
            try Self.read(VisitItem.self, #"{"id":"0c31f9a27b5e64d8"}"#)
        }
        #expect(throws: ReplyError.missing("departure")) {
            try Self.read(VisitItem.self, #"{"id":"0c31f9a27b5e64d8","arrival":1}"#)
        }
        #expect(throws: ReplyError.unexpected("arrival")) {
            try Self.read(VisitItem.self, #"{"id":"0c31f9a27b5e64d8","arrival":"noon"}"#)
        }
        #expect(throws: ReplyError.missing("latitude")) {
            try Self.read(VisitItem.self, #"{"id":"0c31f9a27b5e64d8","arrival":1,"departure":null}"#)
        }
        #expect(try Self.read(VisitItem.self, "[]") == nil)
        #expect("\(ReplyError.missing("arrival"))" == #"has no member "arrival""#)
    }

    @Test func `in another system x and y take the place of the degrees, and are null outside its area`() throws {
        func written(_ conversion: @escaping MemberWriter.Conversion) -> String {
            var writer = MemberWriter(JSONWriter(), in: conversion)
            TripEndItem(at: .degrees(latitude: 48, longitude: 16), place: "Wien").write(into: &writer)
            return String(decoding: writer.json.bytes, as: UTF8.self)
        }
        let planar = written { latitude, longitude in (longitude * 1000, latitude * 1000) }
        #expect(planar == #"{"x":16000,"y":48000,"place":"Wien"}"#)
        #expect(try Self.read(TripEndItem.self, planar)?.at == .planar(x: 16_000, y: 48_000))
        let outside = written { _, _ in nil }
        #expect(outside == #"{"x":null,"y":null,"place":"Wien"}"#)
        #expect(try Self.read(TripEndItem.self, outside)?.at == .outside)
    }

    @Test func `a feature has the id and the place outside its properties`() {
        var writer = MemberWriter(JSONWriter(), isGeoJSON: true)
        writer.feature(Self.visit)
        #expect(
            String(decoding: writer.json.bytes, as: UTF8.self)
                == #"{"type":"Feature","id":"0c31f9a27b5e64d8","geometry":{"type":"Point","coordinates":[16.3778,48.1737]},"#
                + #""properties":{"arrival":1777881600.12,"departure":null,"horizontalAccuracy":12.5,"#
                + #""place":"Favoriten, Wien","firstReported":1777881601}}"#)
    }

    @Test func `the list of members has what an object always has`() {
        let always = MemberLister.members(of: VisitItem.self).filter { $0.presence == .always }.map(\.name)
        #expect(always == ["id", "arrival", "horizontalAccuracy", "firstReported"])
    }

    @Test func `an expected member is described as there, and a reader goes on without it`() throws {
        let always = MemberLister.members(of: VerifiedProjection.self).filter { $0.presence == .always }.map(\.name)
        #expect(always == ["name", "version", "generation", "place", "fingerprint", "rows", "refold"])
        let closed = VerifiedProjection(
            name: "timeline", version: 7, generation: 1, place: nil, fingerprint: nil, rows: "damaged",
            refold: "different")
        let written = #"{"name":"timeline","version":7,"generation":1,"rows":"damaged","refold":"different"}"#
        #expect(String(decoding: closed.bytes, as: UTF8.self) == written)
        #expect(try Self.read(VerifiedProjection.self, written) == closed)
        #expect(!closed.isGood)
    }

    @Test func `only the wanted members of an object are written, in their order`() {
        var writer = JSONWriter()
        writer.value(Self.visit, only: ["place", "arrival", "departure", "weather"])
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"arrival":1777881600.12,"departure":null,"place":"Favoriten, Wien"}"#)
    }

    @Test func `header fields keep their order, and only texts are fields`() throws {
        let request = PushRequestItem(
            url: "https://push.example/3/device/a1",
            headers: HeaderFields([.init(name: "b", value: "1"), .init(name: "a", value: "2")]), body: "{}",
            bundleID: "example.app", environment: "production")
        let written =
            #"{"url":"https://push.example/3/device/a1","headers":{"b":"1","a":"2"},"body":"{}","#
            + #""bundleID":"example.app","environment":"production"}"#
        #expect(String(decoding: request.bytes, as: UTF8.self) == written)
        #expect(try Self.read(PushRequestItem.self, written) == request)
        #expect(throws: ReplyError.unexpected("headers")) {
            try Self.read(PushRequestItem.self, written.replacing(#""a":"2""#, with: #""a":2"#))
        }
    }

    /// The whole is good only if each part is.
    @Test func `a verification with a fault in any part is not good`() {
        let log = VerifiedLog(events: 9, root: "00")
        let keys = VerifiedKeys(erased: 1, lost: 0)
        let good = VerifiedProjection(
            name: "audit", version: 5, generation: 1, place: 9, fingerprint: "00", rows: "ok", refold: "equal")
        var other = good
        other.refold = "different"
        func isGood(
            _ log: VerifiedLog, _ keys: VerifiedKeys, _ fixes: VerifiedFixes?, _ projections: [VerifiedProjection]
        ) -> Bool {
            Verification(log: log, keys: keys, fixes: fixes, projections: projections).isGood
        }
        let lost = VerifiedLog(events: 9, root: "00", number: 10, problem: "it is lost")
        #expect(isGood(log, keys, nil, [good]))
        #expect(isGood(log, keys, VerifiedFixes(events: 0, fixes: 0), [good]))
        #expect(!isGood(lost, keys, nil, [good]))
        #expect(!isGood(log, VerifiedKeys(erased: 0, lost: 1), nil, [good]))
        #expect(!isGood(log, keys, VerifiedFixes(events: 9, fixes: 1, problem: "a mark is missing"), [good]))
        #expect(!isGood(log, keys, nil, [good, other]))
    }
}
