import Geodesy
import Glibc
import TestSupport
import Testing

@testable import AuditTables
@testable import Projections
@testable import Tables
@testable import Whereabouts

/// The rows that every version of a projection makes of one made-up log, kept as files. To change the result of a fold,
/// for example which of two fixes at the same moment counts, add a new version instead. The timeline's folds have
/// separate files (`DerivationGoldenTests`).
///
/// `WHEREABOUTS_WRITE_GOLDEN=1` writes the file of a version that has none; an existing one is never overwritten.
@Suite struct ProjectionGoldenTests {
    /// Eight hours of two persons with two devices each, which come late by a few. Beside every eighth fix comes
    /// another of its moment that differs in one thing. One device's fixes are an import by the operator, from years
    /// ahead. At the end, one person is erased.
    private static func reports() throws -> MemoryLog {
        var dice = SplitMix(77)
        var reports = try History.reports(seed: 77, hours: 8)
        for index in reports.indices {
            reports.swapAt(index, min(reports.count - 1, index + Int.random(in: 0...6, using: &dice)))
        }
        var log = MemoryLog()
        for report in reports {
            var pair = [report]
            if dice.chance(0.125) { pair.append(try rival(of: report, &dice)) }
            for one in pair.shuffled(using: &dice) { log.add(one) }
        }
        let imported = Fix(
            timestamp: History.start.adding(seconds: 90_000_000), coordinate: try Coordinate(latitude: 1, longitude: 1))
        log.add(
            .fixReported(device: DeviceID(rawValue: 9), answering: nil, .open(imported)),
            to: .track(History.persons[1]), at: History.start.adding(seconds: 30_000), by: .operator)
        log.add(
            .personErased(History.persons[0]), to: .audit(History.persons[0]),
            at: History.start.adding(seconds: 30_001))
        return log
    }

    private static func rival(of report: Report, _ dice: inout SplitMix) throws -> Report {
        var fix = report.fix
        let (latitude, longitude) = (fix.coordinate.latitude, fix.coordinate.longitude)
        func moved(_ north: Double, _ east: Double) throws -> Fix {
            var moved = Fix(
                timestamp: fix.timestamp,
                coordinate: try Coordinate(latitude: latitude + north, longitude: longitude + east),
                horizontalAccuracy: fix.horizontalAccuracy)
            moved.receivedAt = fix.receivedAt
            return moved
        }
        switch Int.random(in: 0..<6, using: &dice) {
        case 0: fix = try moved(dice.chance(0.5) ? 1e-4 : -1e-4, 0)
        case 1: fix = try moved(0, dice.chance(0.5) ? 1e-4 : -1e-4)
        case 2: fix.horizontalAccuracy = 7
        case 3: fix.horizontalAccuracy = nil
        case 4: fix.clientID = "rival"
        default: fix.altitude = 120
        }
        return Report(person: report.person, device: report.device, fix: fix)
    }

    /// All rows in the end, and on the way each that changed since the last look.
    private static func lines<P: Projection>(
        _: P.Type, version: Int64, _ events: [RecordedEvent], batch: Int
    ) throws -> [String] {
        let folded = try Folded<P>(version: version)
        var lines: [String] = []
        var before: Set<String> = []
        for start in stride(from: 0, to: events.count, by: batch) {
            let end = min(start + batch, events.count)
            try folded.fold(Array(events[start..<end]))
            let rows = try folded.rows()
            lines.append("= \(end) events, \(rows.count) rows")
            lines += rows.filter { !before.contains($0) }
            before = Set(rows)
        }
        return lines
    }

    private static func check<P: Projection>(_: P.Type, _ events: [RecordedEvent], batch: Int) throws {
        for version in P.versions {
            let lines = try lines(P.self, version: version, events, batch: batch)
            let file = "\(Repository.root)/Tests/Golden/rows-of-\(P.name)-\(version).txt"
            guard access(file, F_OK) == 0 else {
                if getenv("WHEREABOUTS_WRITE_GOLDEN") != nil {
                    try write(Array((lines.joined(separator: "\n") + "\n").utf8), to: file)
                }
                Issue.record("\(P.name) \(version) has no golden rows: run this test with WHEREABOUTS_WRITE_GOLDEN=1.")
                continue
            }
            let golden = String(decoding: try contents(ofFile: file), as: UTF8.self).split(separator: "\n")
            let differing = zip(golden, lines).first { $0.0 != $0.1 }
            #expect(
                differing == nil && golden.count == lines.count,
                """
                \(P.name) \(version) makes other rows than it did: "\(differing?.1 ?? "")" and not \
                "\(differing?.0 ?? "")". A changed fold is a new version of the projection.
                """)
        }
    }

    @Test func `a version of the current locations keeps the fixes it always did`() throws {
        let events = try Self.reports().events
        try #require(events.count > 500)
        try Self.check(CurrentTable.self, events, batch: 7)
    }

    @Test func `a version of the streams' index and of the audit has the rows it always had`() throws {
        try Self.check(StreamIndexTable.self, Array(try Self.reports().events.prefix(60)), batch: 60)
        try Self.check(AuditTable.self, try AuditTableTests.log().events, batch: 5)
    }
}
