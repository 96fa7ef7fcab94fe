import Testing
import Whereabouts

/// The operator's counts of events, over every form that was ever stored.
@Suite struct EventTallyTests {
    @Test(arguments: StoredForms.Reading.allCases)
    func `every kind is counted once, and beyond that only kinds that concern the tally`(
        reading: StoredForms.Reading
    ) throws {
        for (name, event, _) in try StoredForms.events(reading) {
            var tally = EventTally()
            // In debug builds, it stops at a kind that concerns it and has no case.
            tally.fold(event, kind: event.kind, recordedAt: Timestamp(milliseconds: 1_777_593_600_000))
            #expect(tally.kinds.reduce(0, +) == 1 && tally.kinds[Int(event.kind.rawValue)] == 1, "\(name)")
            let isCountedBeyond = !tally.queryEnds.isEmpty || !tally.rejections.isEmpty || !tally.pushEnds.isEmpty
            #expect(!isCountedBeyond || event.concerns.contains(.tally), "\(name)")
        }
    }
}
