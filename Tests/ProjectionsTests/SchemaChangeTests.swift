import TestSupport
import Testing
import Whereabouts

/// The worked example of the page Schema changes: a field is added, a field is split, a unit changes, and one event
/// becomes two. Stored bytes stay as they are; reading lifts them.
@Suite struct SchemaChangeTests {
    /// The events of today.
    private enum Sighting: CustomStringConvertible {
        case seen(latitude: Double, longitude: Double, accuracyMeters: Double?, altitudeMeters: Double?)
        case arrived(latitude: Double, longitude: Double, at: Int64)
        case left(latitude: Double, longitude: Double, at: Int64)

        var description: String {
            switch self {
            case .seen(let latitude, let longitude, let accuracy, let altitude):
                "seen \(latitude) \(longitude)" + (accuracy.map { " ±\($0)" } ?? "")
                    + (altitude.map { " at \($0)" } ?? "")
            case .arrived(let latitude, let longitude, let time): "arrived \(latitude) \(longitude) \(time)"
            case .left(let latitude, let longitude, let time): "left \(latitude) \(longitude) \(time)"
            }
        }
    }

    /// A stored form that the program does not know.
    private struct Unknown: Error {}

    /// Reads any form that was ever stored. Pure: the same bytes give the same events for ever, without a look at
    /// the clock or at other events.
    private static func lifted(_ bytes: [UInt8]) throws -> [Sighting] {
        try bytes.withUnsafeBytes { buffer in
            var reader = CBORReader(buffer)
            let count = try reader.array()
            let kind = try reader.integer()
            func optional() throws -> Double? { try reader.readNull() ? nil : reader.float() }
            switch (kind, count) {
            // One text became two numbers, and kilometers became meters: a changed meaning is a new kind.
            case (1, 3):
                let parts = try reader.text().split(separator: " ").compactMap { Double($0) }
                guard parts.count == 2 else { throw Unknown() }
                let kilometers = try optional()
                return [
                    .seen(
                        latitude: parts[0], longitude: parts[1], accuracyMeters: kilometers.map { $0 * 1000 },
                        altitudeMeters: nil)
                ]
            // A field that was added is optional, with a meaning for its absence: here "not known".
            case (2, 4), (2, 5):
                let (latitude, longitude) = (try reader.float(), try reader.float())
                let accuracy = try optional()
                let altitude = try count == 5 ? optional() : nil
                return [
                    .seen(
                        latitude: latitude, longitude: longitude, accuracyMeters: accuracy,
                        altitudeMeters: altitude)
                ]
            // One event became two: the old one is read as both, in the order in which they happened.
            case (3, 5):
                let (latitude, longitude) = (try reader.float(), try reader.float())
                let arrival = Sighting.arrived(latitude: latitude, longitude: longitude, at: try reader.integer())
                if try reader.readNull() { return [arrival] }
                return [arrival, .left(latitude: latitude, longitude: longitude, at: try reader.integer())]
            case (4, 4):
                return [
                    .arrived(latitude: try reader.float(), longitude: try reader.float(), at: try reader.integer())
                ]
            case (5, 4):
                return [.left(latitude: try reader.float(), longitude: try reader.float(), at: try reader.integer())]
            default: throw Unknown()
            }
        }
    }

    private static func golden() throws -> [(form: String, bytes: [UInt8], events: String)] {
        let text = String(
            decoding: try contents(ofFile: "\(Repository.root)/Tests/Golden/schema-change.txt"), as: UTF8.self)
        return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { $0.drop { $0 == " " } }.map { part in
                part.last == " " ? part.dropLast() : part
            }
            try #require(parts.count == 3)
            let digits = Array(parts[1])
            let bytes = try stride(from: 0, to: digits.count, by: 2).map { index in
                try #require(UInt8(String(digits[index...index + 1]), radix: 16))
            }
            return (String(parts[0]), bytes, String(parts[2]))
        }
    }

    @Test func `every form that was ever stored is read as the events of today`() throws {
        let golden = try Self.golden()
        #expect(Set(golden.map(\.form)).count == 5)
        for (form, bytes, events) in golden {
            let read = try Self.lifted(bytes).map(\.description).joined(separator: "; ")
            #expect(read == events, "\(form)")
        }
    }

    @Test func `a form of the future is refused, and never guessed`() throws {
        #expect(throws: Unknown.self) { try Self.lifted([0x83, 0x09, 0xF6, 0xF6]) }
        #expect(throws: Unknown.self) { try Self.lifted([0x82, 0x01, 0xF6]) }
    }
}
