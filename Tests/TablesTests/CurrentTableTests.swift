import Geodesy
import Projections
import Testing

@testable import Tables
@testable import Whereabouts

@Suite struct CurrentTableTests {
    private let person = PersonID(rawValue: 2)

    private func report(
        _ seconds: Int64, device: Int64 = 3, accuracy: Double? = 5, receivedAfter: Int64 = 1, latitude: Double = 10
    ) throws -> Report {
        var fix = Fix(
            timestamp: History.start.adding(seconds: seconds),
            coordinate: try Coordinate(latitude: latitude, longitude: 0), horizontalAccuracy: accuracy)
        fix.receivedAt = fix.timestamp.adding(seconds: receivedAfter)
        return Report(person: person, device: DeviceID(rawValue: device), fix: fix)
    }

    private func newest(_ reports: [Report]) throws -> ReportedFix? {
        var log = MemoryLog()
        for report in reports { log.add(report) }
        let file = try Folded<CurrentTable>(log.events).file
        return CurrentReader.newest(
            of: try CurrentReader.fixes(of: person, in: file.connection).map(\.reported))
    }

    @Test func `the newest by device time is current, whenever it came`() throws {
        let current = try newest([try report(0), try report(60), try report(30), try report(45, device: 4)])
        #expect(current?.number == 2)
        #expect(current?.fix.timestamp == History.start.adding(seconds: 60))
    }

    @Test func `invalid fixes, the null island and wrong clocks are never current`() throws {
        let current = try newest([
            try report(0), try report(10, accuracy: -1), try report(20, latitude: 0),
            try report(30, receivedAfter: -61),
        ])
        #expect(current?.number == 1)
        #expect(try newest([try report(0, accuracy: -1)]) == nil)
        #expect(try newest([try report(0), try report(30, receivedAfter: -60)])?.number == 2)
    }

    @Test func `of one moment the more accurate is current, whichever came first`() throws {
        let (rough, fine) = (try report(0, accuracy: 50), try report(0, accuracy: 5))
        #expect(try newest([rough, fine])?.fix.horizontalAccuracy == 5)
        #expect(try newest([fine, rough])?.fix.horizontalAccuracy == 5)
        #expect(try newest([try report(0, device: 9, accuracy: nil), rough])?.device == DeviceID(rawValue: 3))
    }

    @Test func `each device has its own`() throws {
        var log = MemoryLog()
        for report in [try report(0), try report(60, device: 4), try report(5)] { log.add(report) }
        let file = try Folded<CurrentTable>(log.events).file
        let fixes = try CurrentReader.fixes(of: person, in: file.connection).map(\.reported)
        #expect(fixes.map(\.number) == [3, 2])
        #expect(try CurrentReader.fixes(of: PersonID(rawValue: 99), in: file.connection).isEmpty)
    }

    /// An import without a time of receipt has no clock to compare with.
    @Test func `what the operator imports is not from the future`() throws {
        var log = MemoryLog()
        let fix = try Fix(
            timestamp: History.start.adding(seconds: 5000), coordinate: Coordinate(latitude: 1, longitude: 1))
        log.add(
            .fixReported(device: DeviceID(rawValue: 3), answering: nil, .open(fix)), to: .track(person),
            at: History.start,
            by: .operator)
        let file = try Folded<CurrentTable>(log.events).file
        let current = CurrentReader.newest(
            of: try CurrentReader.fixes(of: person, in: file.connection).map(\.reported))
        #expect(current?.number == 1)
        #expect(current?.fix.receivedAt == nil)
    }
}
