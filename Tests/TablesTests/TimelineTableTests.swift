import Geodesy
import Projections
import SQLite
import Testing

@testable import Tables
@testable import Whereabouts

@Suite struct TimelineTableTests {
    private let person = PersonID(rawValue: 2)
    private let device = DeviceID(rawValue: 3)

    private func fix(_ seconds: Int64, latitude: Double = 52.5, accuracy: Double? = 5) throws -> Fix {
        var fix = Fix(
            timestamp: History.start.adding(seconds: seconds),
            coordinate: try Coordinate(latitude: latitude, longitude: 13.4), horizontalAccuracy: accuracy)
        fix.receivedAt = fix.timestamp.adding(seconds: 2)
        return fix
    }

    private func folded(_ fixes: [Fix]) throws -> Folded<TimelineTable> {
        var log = MemoryLog()
        for fix in fixes { log.add(Report(person: person, device: device, fix: fix)) }
        return try Folded<TimelineTable>(log.events)
    }

    @Test func `every field of a fix comes back, but for its client's name for it`() throws {
        var full = try fix(0, latitude: 1.0 / 3)
        full.altitude = 34.5
        full.ellipsoidalAltitude = 74.25
        full.verticalAccuracy = 3
        full.floor = -2
        full.speed = 1.5
        full.speedAccuracy = 0.5
        full.course = 359.9
        full.courseAccuracy = 10
        full.isSimulatedBySoftware = true
        full.isProducedByAccessory = false
        full.batteryLevel = 0.42
        full.remainder = #"{"conn":"w"}"#
        full.clientID = "a1"
        let plain = try fix(10, accuracy: nil)
        let timeline = try folded([full, plain])
        let read = try TimelineReader.fixes(of: person, from: nil, to: nil, limit: 10, in: timeline.file.connection)
        full.clientID = nil
        #expect(read.map(\.fix) == [full, plain])
        #expect(read.map(\.number) == [1, 2])
        #expect(read.map(\.device) == [device, device])
    }

    @Test func `twins are kept each, and the more accurate one is shown`() throws {
        let rough = try fix(0, accuracy: 50)
        var fine = rough
        fine.horizontalAccuracy = 4
        var other = rough
        other.batteryLevel = 0.5
        var again = rough
        again.clientID = "sent again"
        again.receivedAt = again.timestamp.adding(seconds: 90)
        for order in [[rough, fine, other, again], [fine, other, again, rough], [other, rough, fine, again]] {
            let timeline = try folded(order)
            let file = timeline.file
            #expect(try timeline.rows().filter { $0.hasPrefix("fix") }.count == 3)
            let shown = try TimelineReader.fixes(of: person, from: nil, to: nil, limit: 10, in: file.connection)
            #expect(shown.map(\.fix.horizontalAccuracy) == [4])
        }
    }

    @Test func `fixes are read page by page, from inclusive to exclusive`() throws {
        let file = try folded(try (0..<10).map { try fix($0 * 10) }).file
        var seen: [Timestamp] = []
        var end: TimelineReader.FixKey?
        while true {
            let page = try TimelineReader.fixes(
                of: person, from: History.start.adding(seconds: 20), to: History.start.adding(seconds: 70), after: end,
                limit: 2, in: file.connection)
            guard let last = page.last else { break }
            seen += page.map(\.fix.timestamp)
            end = TimelineReader.FixKey(last)
        }
        #expect(seen == [20, 30, 40, 50, 60].map { History.start.adding(seconds: $0) })
    }

    /// Stays at three places, an hour each, 20 km apart without fixes between: 0–1 h, 2–3 h, 4–5 h and on.
    @Test func `visits count when they overlap the range`() throws {
        let file = try folded(
            try (0..<3).flatMap { stay in
                try (0...60).map { try fix(Int64(stay) * 7200 + $0 * 60, latitude: 52.5 + 0.18 * Double(stay)) }
            }
        ).file
        func arrivals(_ from: Int64?, _ to: Int64?) throws -> [Int64] {
            try TimelineReader.derivedVisits(
                of: person, from: from.map { History.start.adding(seconds: $0) },
                to: to.map { History.start.adding(seconds: $0) }, limit: 10,
                at: History.start, in: file.connection
            ).map { Int64($0.arrival.seconds(since: History.start)) }
        }
        #expect(try arrivals(nil, nil) == [0, 7200, 14_400])
        #expect(try arrivals(1800, 1900) == [0])
        #expect(try arrivals(1800, 7300) == [0, 7200])
        #expect(try arrivals(8000, 9000) == [7200])
        #expect(try arrivals(100_000, 100_001) == [14_400])
        #expect(try arrivals(-100, 0) == [])
        let next = try TimelineReader.derivedVisits(
            of: person, from: nil, to: nil, arrivingAfter: History.start, limit: 1,
            at: History.start, in: file.connection)
        #expect(next.map { $0.arrival.seconds(since: History.start) } == [7200])
    }

    /// A read ten minutes after the only fix shows a visit under way; nothing is written for that.
    @Test func `a visit that follows from elapsed time is computed at the read`() throws {
        var log = MemoryLog()
        let fix = Fix(
            timestamp: History.start, coordinate: try Coordinate(latitude: 48.2, longitude: 16.37),
            horizontalAccuracy: 10)
        log.add(Report(person: person, device: device, fix: fix))
        let file = try Folded<TimelineTable>(log.events).file
        func visits(after seconds: Int64) throws -> [Visit] {
            try TimelineReader.derivedVisits(
                of: person, from: nil, to: nil, limit: 10, at: History.start.adding(seconds: seconds),
                in: file.connection)
        }
        #expect(try visits(after: 599).isEmpty)
        #expect(try visits(after: 600).map(\.isProvisional) == [true])
        #expect(try visits(after: 600).map(\.departure) == [nil])
        let told = try TimelineReader.told(
            of: person, after: 0, limit: 10, corrected: VisitCorrections(), nil, in: file.connection)
        #expect(told.isEmpty)
    }

    /// The stored visit is open, and the read derives its end from three days of silence.
    @Test func `a visit that elapsed time has ended is in one of two ranges that meet at its end`() throws {
        let file = try folded(try (0...60).map { try fix($0 * 60) }).file
        let now = History.start.adding(seconds: 30 * 86_400)
        let end = History.start.adding(seconds: 3600)
        func visits(from: Timestamp?, to: Timestamp?, at now: Timestamp) throws -> [Timestamp?] {
            let found = try TimelineReader.derivedVisits(
                of: person, from: from, to: to, limit: 10, at: now, in: file.connection)
            let corrected = try TimelineReader.visits(
                of: person, from: from, to: to, limit: 10, at: now, corrected: VisitCorrections(), nil,
                in: file.connection)
            #expect(found == corrected)
            return found.map(\.departure)
        }
        #expect(try visits(from: nil, to: end, at: now) == [end])
        #expect(try visits(from: end.adding(seconds: -1), to: nil, at: now) == [end])
        #expect(try visits(from: end, to: nil, at: now) == [])
        #expect(try visits(from: end, to: nil, at: end.adding(seconds: 3600)) == [nil])
    }

    @Test func `crossings are read with the name of their region, page by page`() throws {
        let reports = try History.reports(seed: 1)
        let file = try Folded<TimelineTable>(try History.log(reports).events).file
        let all = try TimelineReader.crossings(of: person, from: nil, to: nil, limit: 1000, in: file.connection)
        #expect(all.count > 1)
        #expect(all.allSatisfy { $0.region.hasPrefix("around") })
        var paged: [Crossing] = []
        while true {
            let page = try TimelineReader.crossings(
                of: person, from: nil, to: nil, after: paged.last, limit: 1, in: file.connection)
            guard let crossing = page.first else { break }
            paged.append(crossing.crossing)
        }
        #expect(paged == all.map(\.crossing))
        for region in Set(paged.map(\.region)) {
            let kinds = paged.filter { $0.region == region }.map(\.kind)
            #expect(zip(kinds, kinds.dropFirst()).allSatisfy { $0 != $1 })
        }
    }

    @Test func `a batch that ends with an erasure tells nothing of the person`() throws {
        var log = try History.log(try History.reports(seed: 1))
        func told() throws -> [Int64] {
            let file = try Folded<TimelineTable>(log.events, batch: log.events.count).file
            return try file.connection.cached(
                """
                SELECT (SELECT count(*) FROM told_visit WHERE person = 2),
                    (SELECT count(*) FROM told_crossing WHERE person = 2)
                """
            ) { (statement) throws(SQLiteError) in
                try statement.step() ? [statement.int(at: 0), statement.int(at: 1)] : []
            }
        }
        #expect(try told().allSatisfy { $0 > 0 } && told().count == 2)
        log.add(
            .personErased(PersonID(rawValue: 2)), to: .audit(PersonID(rawValue: 2)),
            at: History.start.adding(seconds: 1_000_000))
        #expect(try told() == [0, 0])
    }

    /// A region that is new in a batch makes its crossings known when the batch is settled, after the erasure. This one is
    /// known from the batch before, so that its crossings are noted fix by fix.
    @Test func `crossings that were noted before the erasure of the same batch are not told`() throws {
        let batch = 100
        var log = MemoryLog()
        let circle = try Circle(center: try Coordinate(latitude: 52.68, longitude: 13.4), radiusMeters: 500)
        log.add(
            .regionAdded(RegionID(rawValue: 1), .open(Region(identifier: "second", circle: circle))),
            to: .audit(person), at: History.start)
        func stay(at latitude: Double, minutes: Range<Int64>) throws {
            for minute in minutes {
                log.add(Report(person: person, device: device, fix: try fix(minute * 60, latitude: latitude)))
            }
        }
        try stay(at: 52.5, minutes: 0..<99)
        #expect(log.events.count == batch)
        try stay(at: 52.68, minutes: 130..<160)
        try stay(at: 52.86, minutes: 190..<220)
        func told() throws -> Int64 {
            try Folded<TimelineTable>(log.events, batch: batch).file.connection.cached(
                "SELECT count(*) FROM told_crossing"
            ) { (statement) throws(SQLiteError) in try statement.step() ? statement.int(at: 0) : -1 }
        }
        #expect(try told() > 0)
        log.add(.personErased(person), to: .audit(person), at: History.start.adding(seconds: 100_000))
        #expect(log.events.count <= 2 * batch)
        #expect(try told() == 0)
    }

    @Test func `a typical fix takes at most 70 bytes`() throws {
        var fixes: [Fix] = []
        for index in 0..<20_000 {
            var fix = try fix(Int64(index) * 10, latitude: 52.5 + Double(index % 1000) / 1e7)
            fix.altitude = 34.5
            fix.verticalAccuracy = 3.5
            fix.speed = 13.25
            fix.course = 211.5
            fix.batteryLevel = 0.75
            fixes.append(fix)
        }
        let file = try folded(fixes).file
        let size = try file.connection.prepare("SELECT sum(pgsize) FROM dbstat WHERE name = 'fix'")
        #expect(try size.step())
        #expect(size.int(at: 0) <= 70 * 20_000)
    }
}
