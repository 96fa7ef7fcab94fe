import TestSupport
import Testing
import Whereabouts

/// The contents of a person's own log. A content that changes looks like a forgery to everyone who has an older proof.
@Suite struct ProvenFieldsTests {
    /// References that show their number, for example `principal 3`.
    private static func plain(_ number: HouseNumber) -> String {
        // In an entry a thing is always a region.
        number.kind == .thing ? "region \(number.rawValue)" : "\(number.kind) \(number.rawValue)"
    }

    private static func recorded(
        _ event: Event, in stream: StreamID, number: Int64 = 7, actor: PrincipalID = PrincipalID(rawValue: 3)
    ) -> RecordedEvent {
        RecordedEvent(
            number: number, stream: stream, version: 1, recordedAt: Timestamp(milliseconds: 1_777_881_600_000),
            actor: actor, correlation: Identifier128(high: 0, low: 0), cause: 0, event: event)
    }

    /// The content of a form as `name member=value …`; `nil` for an event that no person's audit has.
    private static func line(_ name: String, _ event: Event, _ stream: StreamID) throws -> String? {
        guard stream.person != nil, !stream.isTrack else { return nil }
        let content = try ProvenFields.content(of: recorded(event, in: stream), reference: plain)
        return "\(name) " + content.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }

    @Test func `every form has the content that it ever had, byte by byte`() throws {
        let lines = try StoredForms.events(.open).compactMap { try Self.line($0.name, $0.event, $0.stream) }
        let stored = (try? Repository.rows(of: "events-v1-proven.txt"))?.map(String.init) ?? []
        if lines != stored {
            try write(
                Array((lines.joined(separator: "\n") + "\n").utf8), to: "\(Repository.root)/.build/events-v1-proven.txt"
            )
        }
        #expect(lines == stored, "The new lines are in .build/events-v1-proven.txt.")
    }

    @Test func `a content is canonical, and each member has its own name`() throws {
        for (name, event, stream) in try StoredForms.events(.open) where stream.person != nil && !stream.isTrack {
            let content = try ProvenFields.content(of: Self.recorded(event, in: stream), reference: Self.plain)
            let value = try content.withUnsafeBytes { bytes in
                var reader = CBORReader(bytes)
                let value = try reader.value()
                try reader.end()
                return value
            }
            guard case .map(let pairs) = value else {
                Issue.record("\(name) is no map")
                continue
            }
            var writer = CBORWriter()
            value.write(to: &writer)
            #expect(writer.bytes == content, "\(name)")
            let keys = pairs.map { pair -> [UInt8] in
                var writer = CBORWriter()
                pair.key.write(to: &writer)
                return writer.bytes
            }
            for (first, second) in zip(keys, keys.dropFirst()) {
                #expect(first.lexicographicallyPrecedes(second), "\(name)")
            }
        }
    }

    /// Two houses that differ in the acts of other people: other numbers, and other people's keys destroyed.
    @Test func `a content depends on nothing of other people but their references`() throws {
        let open = try StoredForms.events(.open)
        for (name, event, stream) in open where stream.person != nil && !stream.isTrack {
            let hidden = { (_: HouseNumber) in "r" }
            let one = try ProvenFields.content(of: Self.recorded(event, in: stream), reference: hidden)
            let other = try ProvenFields.content(of: Self.recorded(event, in: stream, number: 7000), reference: hidden)
            #expect(one == other, "\(name)")
            guard case .locationQueried(let query) = event else { continue }
            let forgotten = LocationQuery(
                id: query.id, subject: query.subject, requester: query.requester, verdict: query.verdict,
                initiation: query.initiation, deadline: query.deadline, maxAgeSeconds: query.maxAgeSeconds,
                purposeForSubject: query.purposeForSubject, purposeForRequester: .erased)
            #expect(
                try ProvenFields.content(of: Self.recorded(.locationQueried(forgotten), in: stream), reference: hidden)
                    == one)
        }
        let read = try #require(
            open.first { if case .locationRead(let read) = $0.event { read.subject != nil } else { false } })
        guard case .locationRead(let first) = read.event else { return }
        let second = LocationRead(
            subject: first.subject, reader: first.reader, question: first.question, verdict: first.verdict,
            precision: first.precision, asOf: first.asOf + 1000, count: first.count, continuing: first.continuing,
            content: first.content)
        #expect(
            try ProvenFields.content(of: Self.recorded(read.event, in: read.stream), reference: Self.plain)
                == ProvenFields.content(
                    of: Self.recorded(.locationRead(second), in: read.stream), reference: Self.plain))
    }

    @Test func `what is erased has no content, nor has what no person's audit has`() throws {
        var sealed = 0
        for (_, event, stream) in try StoredForms.events(.erased) where stream.person != nil && !stream.isTrack {
            do {
                _ = try ProvenFields.content(of: Self.recorded(event, in: stream), reference: Self.plain)
            } catch ProvenFields.Absence.sealed { sealed += 1 }
        }
        #expect(sealed > 10)
        for (name, event, stream) in try StoredForms.events(.open) where stream.person == nil || stream.isTrack {
            #expect(throws: ProvenFields.Absence.notAudited, "\(name)") {
                try ProvenFields.content(of: Self.recorded(event, in: stream), reference: Self.plain)
            }
        }
    }
}
