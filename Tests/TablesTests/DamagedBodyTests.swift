import Cryptography
import TestSupport
import Testing

@testable import AuditTables
@testable import Tables
@testable import Whereabouts

/// Only its leaf protects the clear part of an event, and a fold does not check it. A damaged part is refused or folded, and
/// never ends the process.
@Suite struct DamagedBodyTests {
    private struct Form {
        let kind: EventKind
        let stream: StreamID
        let clear: [UInt8]
        let parts: [[UInt8]]

        init(_ line: Substring) throws {
            let row = line.split(separator: " ").map(String.init)
            kind = try #require(Int64(row[1]).flatMap(EventKind.init(rawValue:)))
            stream = StreamID(rawValue: try #require(Int64(row[2])))
            clear = try #require(Hex.decode(row[3]))
            parts = row[4] == "-" ? [] : try row[4].split(separator: ",").map { try #require(Hex.decode(String($0))) }
        }

        /// The event with another clear part; `nil` if it is refused.
        func decode(_ clear: [UInt8]) -> Event? { decode(clear, parts[...], []) }

        private func decode(_ clear: [UInt8], _ rest: ArraySlice<[UInt8]>, _ opened: [OpenedPart]) -> Event? {
            guard let part = rest.first else {
                return clear.withUnsafeBytes { clear in
                    try? EventCoding.decode(kind: kind, in: stream, at: nil, clear: clear, parts: OpenedParts(opened))
                }
            }
            return part.withUnsafeBytes { decode(clear, rest.dropFirst(), opened + [.open($0)]) }
        }
    }

    /// The greatest and the least number, and some that overflow when they are multiplied or incremented.
    private static let extremes: [[UInt8]] = [
        [0x1B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x3B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x1B, 0x40, 0, 0, 0, 0, 0, 0, 0], [0x1B, 0, 0x20, 0, 0, 0, 0, 0, 0], [0x20], [0x00],
    ]

    @Test func `numbers out of bounds in a clear part do not end the process`() throws {
        let forms = try Repository.rows(of: "events-v1.txt").map(Form.init)
        func recorded(_ event: Event, _ stream: StreamID, _ number: Int64) -> RecordedEvent {
            RecordedEvent(
                number: number, stream: stream, version: number,
                recordedAt: Timestamp(milliseconds: 1_767_225_600_000 + number), actor: .operator,
                correlation: RequestID(high: 0, low: 0), cause: 0, event: event)
        }
        let whole = forms.compactMap { form in form.decode(form.clear).map { ($0, form.stream) } }
        #expect(whole.count == forms.count)
        var events = whole.enumerated().map { recorded($1.0, $1.1, Int64($0) + 1) }
        var base = Standing()
        for event in events { base.fold(event) }
        var taken = 0
        for form in forms {
            for offset in form.clear.indices {
                for extreme in Self.extremes {
                    let clear = form.clear[..<offset] + extreme + form.clear[(offset + 1)...]
                    guard let event = form.decode(Array(clear)) else { continue }
                    taken += 1
                    var standing = base
                    standing.fold(recorded(event, form.stream, standing.place + 1))
                    for next in whole.prefix(20) { standing.fold(recorded(next.0, next.1, standing.place + 1)) }
                    standing.forEachEntry { _ in }
                    _ = standing.hasOverdueQuery { _, _ in Timestamp(milliseconds: 1_767_225_700_000) }
                    events.append(recorded(event, form.stream, Int64(events.count) + 1))
                }
            }
        }
        #expect(taken > 500)
        try Folded<AuditTable>().fold(events, batch: 100)
        try Folded<CurrentTable>().fold(events, batch: 100)
        try Folded<TimelineTable>().fold(events, batch: 100)
    }
}
