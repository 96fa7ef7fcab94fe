import Geodesy
import Projections
import TestSupport
import Testing

@testable import Tables
@testable import Whereabouts

/// The visit to which the id of a withdrawn visit leads.
@Suite struct SuccessorTests {
    private static let person = PersonID(rawValue: 2)
    private static let device = DeviceID(rawValue: 3)

    /// Home until 8:00, work until 16:00, home: a fix a minute, made by hand.
    private static func day() throws -> [Fix] {
        let home = try Coordinate(latitude: 48.2, longitude: 16.35)
        let work = Geodesic.direct(from: home, initialAzimuth: 40, distanceMeters: 5000)
        return (0..<1200).map { minute in
            let share = min(1, max(0, Double(minute - 480) / 20)) - min(1, max(0, Double(minute - 960) / 20))
            let way = Geodesic.inverse(from: home, to: work)
            let place = Geodesic.direct(
                from: home, initialAzimuth: way.initialAzimuth, distanceMeters: share * way.distanceMeters)
            return Fix(
                timestamp: History.start.adding(seconds: Int64(minute) * 60),
                coordinate: Geodesic.direct(
                    from: place, initialAzimuth: Double(minute * 77 % 360) - 180, distanceMeters: Double(minute % 7)),
                horizontalAccuracy: 10)
        }
    }

    private static func log(_ fixes: [Fix]) -> MemoryLog {
        var log = MemoryLog()
        for fix in fixes { log.add(Report(person: person, device: device, fix: fix)) }
        return log
    }

    private static func successor(
        of id: UInt64, in timeline: Folded<TimelineTable>, _ corrections: [Correction] = []
    ) throws -> UInt64? {
        let transform = GeocentricTransform()
        return try TimelineReader.successor(
            of: person, id: id, at: Timestamp(milliseconds: 0), corrected: VisitCorrections(corrections), transform,
            in: timeline.file.connection)?.id
    }

    /// The phone was offline from leaving home until ten: its fixes of that time arrive in the evening.
    @Test func `an id that late fixes withdrew leads to the same visit live, refolded, shuffled and by older rules`()
        throws
    {
        let fixes = try Self.day()
        let before = Array(fixes[..<481]) + Array(fixes[600...])
        let late = Array(fixes[481..<600])
        let events = Self.log(before + late).events
        let live = try Folded<TimelineTable>()
        try live.fold(Array(events[..<(events.count - late.count)]))
        let early = try live.projection.visits(of: Self.person, arrivingFrom: nil, before: nil)
        try live.fold(Array(events[(events.count - late.count)...]), batch: 1)
        let known = try live.projection.visits(of: Self.person, arrivingFrom: nil, before: nil)
        try #require(early.count == 3 && known.count == 3)
        #expect(early[1].id != known[1].id && early[0].id == known[0].id)

        #expect(try Self.successor(of: early[1].id, in: live) == known[1].id)
        let refolded = try Folded<TimelineTable>(events)
        #expect(try Self.successor(of: early[1].id, in: refolded) == known[1].id)
        var dice = SplitMix(4)
        let shuffled = try Folded<TimelineTable>(Self.log(fixes.shuffled(using: &dice)).events, batch: 100)
        #expect(try Self.successor(of: early[1].id, in: shuffled) == known[1].id)
        for version in TimelineTable.versions {
            let other = try Folded<TimelineTable>(events, version: version)
            let visits = try other.projection.visits(of: Self.person, arrivingFrom: nil, before: nil)
            #expect(try Self.successor(of: early[1].id, in: other) == visits[1].id)
        }
        #expect(try Self.successor(of: 0x0123_4567_89AB_CDEF, in: live) == nil)
    }

    /// The person said that work was two visits: the second part's id is made of the first's, which late fixes
    /// withdrew.
    @Test func `the id of a part follows when the visit it was cut from is told by another id`() throws {
        let fixes = try Self.day()
        let before = Array(fixes[..<481]) + Array(fixes[600...])
        let late = Array(fixes[481..<600])
        let noon = History.start.adding(seconds: 12 * 3600)
        let live = try Folded<TimelineTable>(Self.log(before).events)
        func visits() throws -> [Visit] {
            try TimelineReader.visits(
                of: Self.person, from: nil, to: nil, limit: 10, at: Timestamp(milliseconds: 0),
                corrected: VisitCorrections([.split(at: noon)]),
                GeocentricTransform(), in: live.file.connection)
        }
        let early = try visits()
        try live.fold(Array(Self.log(before + late).events.suffix(late.count)))
        let known = try visits()
        try #require(early.count == 4 && known.count == 4)
        #expect(early[2].arrival == noon && known[2].arrival == noon && early[2].id != known[2].id)
        #expect(try Self.successor(of: early[1].id, in: live, [.split(at: noon)]) == known[1].id)
        #expect(try Self.successor(of: early[2].id, in: live, [.split(at: noon)]) == known[2].id)
    }
}
