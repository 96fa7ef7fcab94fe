import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Service

/// The operator's JSON of each form in `Tests/Conformance/events-v1.txt`, compared byte by byte with
/// `Tests/Conformance/events-v1-json.txt`.
@Suite struct EventJSONTests {
    /// The name of each form, and its content as JSON in one way of reading.
    private static func contents(_ reading: StoredForms.Reading) throws -> [(name: String, json: String)] {
        try StoredForms.events(reading).map { name, event, _ in
            var writer = JSONWriter()
            writer.beginObject()
            EventJSON.write(event, into: &writer)
            writer.endObject()
            // One form has a body that is not JSON, which would make the table a binary file.
            let bytes = writer.bytes.flatMap { $0 == 0 ? Array("␀".utf8) : [$0] }
            return (name, String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func `the operator sees every form as ever, member by member`() throws {
        let expected = try Repository.rows(of: "events-v1-json.txt").map(String.init)
        let written = try StoredForms.Reading.allCases.flatMap { reading in
            try Self.contents(reading).map { "\($0.name) \(reading.rawValue) \($0.json)" }
        }
        if written != expected {
            try write(
                Array((written.joined(separator: "\n") + "\n").utf8), to: "\(Repository.root)/.build/events-v1-json.txt"
            )
        }
        #expect(written.count == expected.count, "The new lines are in .build/events-v1-json.txt.")
        for (written, expected) in zip(written, expected) { #expect(written == expected) }
    }
}
