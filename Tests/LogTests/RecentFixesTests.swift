import Geodesy
import Testing
import Threading
import Whereabouts

@testable import Log

/// Folds take the newest fixes from memory. They must equal those of the file, and an erased person's must be gone.
@Suite struct RecentFixesTests {
    private static func header(_ event: RecordedEvent) -> [Int64] {
        [
            event.number, event.stream.rawValue, event.version, event.recordedAt.milliseconds, event.actor.rawValue,
            Int64(bitPattern: event.correlation.high), Int64(bitPattern: event.correlation.low), event.cause,
        ]
    }

    @Test func `the fixes in memory are those of the file, with the leaf of the last`() throws {
        let scene = LogScene()
        try scene.open().recentFixes.follow()
        let (_, phone) = try scene.people()
        let log = try scene.open()
        let before = log.head
        for place in 0..<before { #expect(log.recentFixes.batch(after: place, limit: 100) == nil) }
        for start in stride(from: Int64(0), to: 60, by: 7) {
            var fixes = try (start..<start + 7).map { try scene.fix($0, latitude: 52.1 + Double($0) / 3) }
            fixes[0].remainder = #"{"conn":"w","é":[0.1]}"#
            fixes[1].altitude = 1 / 3
            fixes[2].receivedAt = nil
            _ = try scene.report(fixes, by: phone)
        }
        var place = before
        while place < log.head {
            let recent = try #require(log.recentFixes.batch(after: place, limit: 50))
            let (events, last) = try log.reader().batch(after: place, limit: recent.elements.count)
            #expect(recent.mark == last?.leaf)
            for (kept, read) in zip(recent.elements, events) {
                #expect(kept.event == read.event && Self.header(kept) == Self.header(read))
            }
            place = try #require(recent.elements.last?.number)
        }
        #expect(place == before + 63)
    }

    @Test func `an erasure leaves no event in memory`() throws {
        let scene = LogScene()
        let log = try scene.open()
        log.recentFixes.follow()
        let (admin, phone) = try scene.people()
        let (_, tablet) = try scene.people("friend", phone: "tablet")
        _ = try scene.report([try scene.fix(1)], by: phone)
        #expect(log.recentFixes.batch(after: log.head - 1, limit: 100)?.elements.count == 1)
        _ = try log.appendAndWait(.erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        for place in 0..<log.head { #expect(log.recentFixes.batch(after: place, limit: 100) == nil) }
        _ = try scene.report([try scene.fix(1)], by: tablet)
        #expect(log.recentFixes.batch(after: log.head - 1, limit: 100)?.elements.count == 1)
    }
}
