import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// The operator's JSON of each form in `Tests/Conformance/events-v1.txt`, compared byte by byte with
/// `Tests/Conformance/events-v1-json.txt`.
@Suite struct EventJSONTests {
    /// How the sealed parts of an event are read.
    enum Reading: String, CaseIterable {
        case open, erased, keyLost
    }

    /// The name of each form, and its content as JSON in one way of reading. A form without sealed parts is only open.
    private static func contents(_ reading: Reading) throws -> [(name: String, json: String)] {
        try Repository.rows(of: "events-v1.txt").compactMap { line in
            let fields = line.split(separator: " ")
            let parts = fields[4] == "-" ? [] : fields[4].split(separator: ",").map { Hexadecimal.bytes($0) }
            if reading != .open, parts.isEmpty { return nil }
            let kind = try #require(Int64(fields[1]).flatMap(EventKind.init(rawValue:)))
            let stream = StreamID(rawValue: try #require(Int64(fields[2])))
            let event = try decoded(kind, stream, clear: Hexadecimal.bytes(fields[3]), parts, reading)
            var writer = JSONWriter()
            writer.beginObject()
            EventJSON.write(event, into: &writer)
            writer.endObject()
            // One form has a body that is not JSON, which would make the table a binary file.
            let bytes = writer.bytes.flatMap { $0 == 0 ? Array("␀".utf8) : [$0] }
            return (String(fields[0]), String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func decoded(
        _ kind: EventKind, _ stream: StreamID, clear: [UInt8], _ parts: [[UInt8]], _ reading: Reading
    ) throws -> Event {
        // The parts one after the other in one buffer, which outlives the decoding.
        let all = parts.flatMap { $0 }
        return try all.withUnsafeBytes { all in
            var start = 0
            let opened = parts.map { part -> OpenedPart in
                defer { start += part.count }
                switch reading {
                case .open: return .open(UnsafeRawBufferPointer(rebasing: all[start..<start + part.count]))
                case .erased: return .erased
                case .keyLost: return .keyLost
                }
            }
            return try clear.withUnsafeBytes { clear in
                try EventCoding.decode(kind: kind, in: stream, clear: clear, parts: opened)
            }
        }
    }

    @Test func `the operator sees every form as ever, member by member`() throws {
        let expected = try Repository.rows(of: "events-v1-json.txt").map(String.init)
        let written = try Reading.allCases.flatMap { reading in
            try Self.contents(reading).map { "\($0.name) \(reading.rawValue) \($0.json)" }
        }
        #expect(written.count == expected.count)
        for (written, expected) in zip(written, expected) { #expect(written == expected) }
    }
}

/// Bytes as the tables of `Tests/Conformance` have them.
private enum Hexadecimal {
    static func bytes(_ digits: Substring) -> [UInt8] {
        let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) }
    }
}
