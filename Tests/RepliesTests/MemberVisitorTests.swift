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
}
