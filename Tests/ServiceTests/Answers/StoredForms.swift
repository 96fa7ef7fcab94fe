import TestSupport
import Testing
import Whereabouts

/// The forms of `Tests/Conformance/events-v1.txt`: every kind of event as it was ever stored.
enum StoredForms {
    /// How the sealed parts of an event are read.
    enum Reading: String, CaseIterable {
        case open, erased, keyLost
    }

    /// The name of each form, and the event with its stream in one way of reading. A form without sealed parts is only
    /// open.
    static func events(_ reading: Reading) throws -> [(name: String, event: Event, stream: StreamID)] {
        try Repository.rows(of: "events-v1.txt").compactMap { line in
            let fields = line.split(separator: " ")
            let parts = fields[4] == "-" ? [] : fields[4].split(separator: ",").map { Hexadecimal.bytes($0) }
            if reading != .open, parts.isEmpty { return nil }
            let kind = try #require(Int64(fields[1]).flatMap(EventKind.init(rawValue:)))
            let stream = StreamID(rawValue: try #require(Int64(fields[2])))
            let event = try decoded(kind, stream, clear: Hexadecimal.bytes(fields[3]), parts, reading)
            return (String(fields[0]), event, stream)
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
                try EventCoding.decode(kind: kind, in: stream, at: nil, clear: clear, parts: OpenedParts(opened))
            }
        }
    }
}

/// Bytes as the tables of `Tests/Conformance` have them.
private enum Hexadecimal {
    static func bytes(_ digits: Substring) -> [UInt8] {
        let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) }
    }
}
