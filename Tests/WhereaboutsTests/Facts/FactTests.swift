import TestSupport
import Testing

@testable import Whereabouts

/// The promises that the declarations in `Sources/Whereabouts/Facts` promise together.
@Suite struct FactTests {
    /// Kinds that a later version may give a form.
    private static let reserved: Set<EventKind> = []

    @Test(arguments: EventKind.allCases) func `every kind but a reserved one has a declaration of its own`(
        kind: EventKind
    ) {
        if Self.reserved.contains(kind) {
            #expect(kind.fact == nil)
        } else {
            #expect(kind.fact?.kind == kind)
        }
    }

    @Test func `events_cddl is what the declarations say`() throws {
        let written = EventDescription.text
        let path = "\(Repository.root)/Sources/Whereabouts/Documentation.docc/events.cddl"
        let stored = String(decoding: try contents(ofFile: path), as: UTF8.self)
        if written != stored { try write(written.utf8, to: "\(Repository.root)/.build/events.cddl") }
        #expect(written == stored, "The new text is in .build/events.cddl.")
    }

    /// The rows of the tables of the page, for example `| 1 | `PersonAdded` | audit | …`.
    @Test func `the page Events has a row for each kind, with its streams`() throws {
        let path = "\(Repository.root)/Sources/Whereabouts/Documentation.docc/Events.md"
        let page = String(decoding: try contents(ofFile: path), as: UTF8.self)
        var rows: [Int64: (name: Substring, streams: Set<Substring>)] = [:]
        for line in page.split(separator: "\n") {
            let cells = line.split(separator: " | ").map { $0.drop { "| `".contains($0) } }
            guard cells.count > 2, let number = Int64(cells[0]) else { continue }
            rows[number] = (cells[1].prefix { $0 != "`" }, Set(cells[2].split(separator: ", ")))
        }
        for kind in EventKind.allCases {
            guard let fact = kind.fact else { continue }
            let found = rows.removeValue(forKey: kind.rawValue)
            let row = try #require(found, "\(kind) has no row.")
            #expect(row.name == kind.name)
            let streams: [(FactStreams, Substring)] = [(.audit, "audit"), (.track, "track"), (.house, "house")]
            #expect(row.streams == Set(streams.filter { fact.streams.contains($0.0) }.map(\.1)), "\(kind)")
        }
        #expect(rows.isEmpty)
    }

    /// The audit keeps decisions and actions; a device's report is neither.
    @Test(arguments: EventKind.allCases) func `what only devices report is in no row of the audit`(kind: EventKind)
        throws
    {
        var events = AnyEvent(random: SplitMix(UInt64(kind.rawValue)))
        for _ in 0..<20 {
            let next = events.next(kind)
            guard let (event, stream) = next else { return }
            let recorded = RecordedEvent(
                number: 7, stream: stream, version: 1, recordedAt: Timestamp(milliseconds: 0), actor: .house,
                correlation: Identifier128(high: 0, low: 0), cause: 0, event: event)
            switch recorded.audited {
            case .nothing, .rejection: break
            default: #expect(!stream.isTrack)
            }
            #expect(event.kind == kind)
        }
    }

    /// Answers name the item of such a row by the reference that the list of these items gives it.
    @Test(arguments: EventKind.allCases) func `a kind has an item if the audit has rows about one, and only then`(
        kind: EventKind
    ) throws {
        let hasRows = try AnyEvent.some(of: kind).contains { recorded in
            switch recorded.audited {
            case .change, .quietChange: true
            default: false
            }
        }
        #expect(hasRows == (kind.fact.map { $0.item != nil } ?? false))
    }

    /// In debug builds, a fold stops at a kind that says it concerns the fold, if the fold has no case for it.
    @Test(arguments: EventKind.allCases) func `the folds have a case for each kind that concerns them`(
        kind: EventKind
    ) throws {
        let concerns = kind.fact?.concerns ?? []
        for recorded in try AnyEvent.some(of: kind) {
            let steps = AskPatterns.Step.steps(of: recorded)
            #expect(steps.isEmpty || concerns.contains(.patterns))
            let timeline = try MemoryTimeline()
            try timeline.record([(recorded.stream, recorded.recordedAt, .house, recorded.event)])
            #expect((timeline.visits.isEmpty && timeline.leads.isEmpty) || concerns.contains(.timeline))
        }
    }
}
