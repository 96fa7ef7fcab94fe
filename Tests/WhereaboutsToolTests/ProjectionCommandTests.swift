import Replies
import Testing

@testable import WhereaboutsTool

/// What the tool shows of a rebuild.
@Suite struct ProjectionCommandTests {
    private static func item(
        _ name: String, _ place: Int64, state: String = ProjectionItem.loading, rate: Double? = nil,
        left: Double? = nil
    ) -> ProjectionItem {
        var item = ProjectionItem(
            generation: GenerationItem(name: name, version: 1, generation: 2, role: "candidate"), place: place,
            head: 1_000_000, state: state, fingerprint: "00")
        (item.eventsPerSecond, item.secondsLeft) = (rate, left)
        return item
    }

    @Test func `the line of progress has the share, the rate and the time left of the last projection`() {
        #expect(ProjectionCommands.progress(of: [Self.item("current", 0)]) == "Folding current: 0 %")
        let line = ProjectionCommands.progress(of: [
            Self.item("current", 600_000, rate: 50_000, left: 8),
            Self.item("audit", 455_000, rate: 120_000.4, left: 4.2),
            Self.item("timeline", 1_000_000, state: ProjectionItem.ready),
        ])
        #expect(line == "Folding current, audit: 45 %, 120,000 events/s, 5 s left")
        #expect(
            ProjectionCommands.progress(of: [Self.item("audit", 1, rate: 1, left: 1000)])
                == "Folding audit: 0 %, 1 events/s, 17 min left")
        #expect(
            ProjectionCommands.progress(of: [Self.item("audit", 1, rate: 1, left: 7500)])
                == "Folding audit: 0 %, 1 events/s, 2 h 5 min left")
        #expect(ProjectionCommands.progress(of: [Self.item("audit", 1, state: ProjectionItem.ready)]) == "")
    }
}
