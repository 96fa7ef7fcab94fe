import Geodesy
import Glibc
import JSON
import Whereabouts

/// Visits and crossings derived in memory on one thread: nothing is read or written but the events.
///
/// The track is that of a commuter, and a function of its number and its interval: a night and a day at two places, two
/// drives of half an hour over 10 km, errors of meters. `scripts/bench.d/stay_points.c` makes the same.
struct VisitBench {
    private let fixes, intervalSeconds, regions, late: Int

    init(_ options: Options) throws {
        fixes = try options.number("fixes", default: 1_000_000)
        intervalSeconds = try max(1, options.number("interval", default: 10))
        regions = try options.number("regions", default: 0)
        late = try options.number("late", default: 0)
    }

    func run() throws {
        let rows = BenchRows()
        var fold = TimelineFold()
        var number: Int64 = 0
        func event(_ event: Event, in stream: StreamID, at moment: Timestamp) -> RecordedEvent {
            number += 1
            return RecordedEvent(
                number: number, stream: stream, version: number, recordedAt: moment, actor: .house,
                correlation: RequestID(high: 0, low: 0), cause: 0, event: event)
        }
        func reported(_ fix: Fix) -> RecordedEvent {
            event(
                .fixReported(device: BenchRows.device, answering: nil, .open(fix)), in: .track(BenchRows.person),
                at: fix.timestamp)
        }
        func take(_ batch: [RecordedEvent]) throws -> Int64 {
            let began = nanoseconds()
            let changes = try fold.fold(batch[...], reading: rows)
            let told = nanoseconds() - began
            for event in batch {
                guard case .fixReported(_, _, .open(let fix)) = event.event else { continue }
                rows.insert(fix)
            }
            changes.forEach(rows.apply)
            let resumed = nanoseconds()
            let rest = try fold.settle(reading: rows)
            let settled = nanoseconds() - resumed
            rest.forEach(rows.apply)
            return told + settled
        }

        _ = try take(
            try (0..<regions).map { index in
                // The first ten lie on the way, the others anywhere within 12 km of it.
                let north = (Track.noise(index, 8) - 0.5) * (index < 10 ? 100 : 24_000)
                let middle = try Track.place(east: Track.noise(index, 7) * 10_000, north: north)
                let region = Region(
                    identifier: "r\(index)",
                    circle: try Circle(center: middle, radiusMeters: 50 + Track.noise(index, 9) * 300))
                return event(
                    .regionAdded(RegionID(rawValue: Int64(index + 1)), .open(region)), in: .audit(BenchRows.person),
                    at: Track.start)
            })
        var spent: Int64 = 0
        var done = 0
        while done < fixes {
            let count = min(10_000, fixes - done)
            let batch = try (done..<(done + count)).map { reported(try Track.fix($0, everySeconds: intervalSeconds)) }
            spent += try take(batch)
            done += count
        }
        var delays: [Double] = []
        for index in 0..<late {
            // Between two fixes of the track, a meter off.
            let at = Int(Track.noise(index, 11) * Double(fixes - 2))
            var fix = try Track.fix(at, everySeconds: intervalSeconds)
            fix = Fix(
                timestamp: Timestamp(
                    milliseconds: fix.timestamp.milliseconds + Int64(intervalSeconds) * 500 + Int64(index)),
                coordinate: fix.coordinate, horizontalAccuracy: 10)
            delays.append(Double(try take([reported(fix)])) / 1e6)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "visits")
        writer.field("fixes", fixes)
        writer.field("intervalSeconds", intervalSeconds)
        writer.field("regions", regions)
        writer.field("visits", rows.visits.count)
        writer.field("crossings", rows.crossings.count)
        writer.field("fixesPerSecond", Int(Double(fixes) / (Double(spent) / 1e9)))
        if !delays.isEmpty {
            delays.sort()
            writer.field("lateMedianMilliseconds", rounded(delays[delays.count / 2], 3))
            writer.field("lateP95Milliseconds", rounded(delays[delays.count * 95 / 100], 3))
        }
        writer.endObject()
        printLine(writer.bytes)
    }
}

private enum Track {
    static let start = Timestamp(milliseconds: 1_767_225_600_000)

    /// 0 ..< 1, from a number and a salt.
    static func noise(_ number: Int, _ salt: UInt64) -> Double {
        var z = UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15 ^ salt &* 0xD1B5_4A32_D192_ED03
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((z ^ z >> 31) >> 11) * 0x1p-53
    }

    /// Meters about 52° N 13° E.
    static func place(east: Double, north: Double) throws -> Coordinate {
        try Coordinate(latitude: 52 + north / 111_267, longitude: 13 + east / 68_678)
    }

    static func fix(_ number: Int, everySeconds interval: Int) throws -> Fix {
        let seconds = number * interval
        let hour = Double(seconds % 86_400) / 3600
        let way = min(1, max(0, (hour - 7.5) * 2)) - min(1, max(0, (hour - 17) * 2))
        let isUnderWay = way > 0 && way < 1
        let scatter = isUnderWay ? 8.0 : 25.0
        return Fix(
            timestamp: start.adding(seconds: Int64(seconds)),
            coordinate: try place(
                east: way * 10_000 + (noise(number, 1) - 0.5) * scatter, north: (noise(number, 2) - 0.5) * scatter),
            horizontalAccuracy: isUnderWay ? 5 : 15)
    }
}

/// The timeline's rows in memory, each found in the logarithm of their number.
private final class BenchRows: TimelineRows {
    static let person = PersonID(rawValue: 2)
    static let device = DeviceID(rawValue: 3)
    /// Memory does not fail.
    struct Failure: Error {}

    private var fixes: [StoredFix] = []
    private var receipt: Timestamp?
    private var watched: [WatchedRegion] = []
    private var restarts: [Restart] = []
    private(set) var visits: [Visit] = []
    private(set) var crossings: [Crossing] = []

    /// The first index whose row is not before.
    private static func index<Row>(in rows: [Row], where isBefore: (Row) -> Bool) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(rows[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func insert(_ fix: Fix) {
        let stored = StoredFix(
            device: Self.device, timestamp: fix.timestamp, coordinate: fix.coordinate,
            horizontalAccuracy: fix.horizontalAccuracy,
            receivedAt: fix.timestamp)
        fixes.insert(stored, at: Self.index(in: fixes) { $0.timestamp <= fix.timestamp })
    }

    func apply(_ change: TimelineChange) {
        switch change {
        case .visit(_, let old, let new):
            if let old { visits.remove(at: Self.index(in: visits) { $0.arrival < old.arrival }) }
            if let new { visits.insert(new, at: Self.index(in: visits) { $0.arrival < new.arrival }) }
        case .crossing(_, let old, let new):
            if let old, let index = crossings.lastIndex(of: old) { crossings.remove(at: index) }
            if let new { crossings.insert(new, at: Self.index(in: crossings) { $0.time <= new.time }) }
        case .region(_, let region): watched.append(region)
        case .restart(_, let restart):
            let index = Self.index(in: restarts) { $0.closed < restart.closed }
            if index < restarts.count, restarts[index].closed == restart.closed { restarts.remove(at: index) }
            restarts.insert(restart, at: index)
        case .restartsVoid(_, let after, let through):
            let from = after.map { after in Self.index(in: restarts) { $0.closed <= after } } ?? 0
            let to = through.map { through in Self.index(in: restarts) { $0.closed <= through } } ?? restarts.count
            if from < to { restarts.removeSubrange(from..<to) }
        case .lead: break
        case .newestReceipt(_, let moment): receipt = moment
        }
    }

    func eachFix(of person: PersonID, from: Timestamp?, _ body: (StoredFix) throws(Failure) -> Bool) throws(Failure) {
        var index = from.map { from in Self.index(in: fixes) { $0.timestamp < from } } ?? 0
        while index < fixes.count {
            guard try body(fixes[index]) else { return }
            index += 1
        }
    }

    func newestReceipt(of person: PersonID) -> Timestamp? { receipt }
    func latestReceipt(of person: PersonID) -> Timestamp? { fixes.map { $0.receivedAt ?? $0.timestamp }.max() }
    func regions(of person: PersonID) -> [WatchedRegion] { watched }
    func leads(of person: PersonID, from: Timestamp?) -> [Lead] { [] }

    func restart(of person: PersonID, closedBefore moment: Timestamp?) -> Restart? {
        let index = moment.map { moment in Self.index(in: restarts) { $0.closed < moment } } ?? restarts.count
        return index > 0 ? restarts[index - 1] : nil
    }

    func restart(of person: PersonID, closedAt moment: Timestamp) -> Restart? {
        let index = Self.index(in: restarts) { $0.closed < moment }
        return index < restarts.count && restarts[index].closed == moment ? restarts[index] : nil
    }

    func visits(of person: PersonID, arrivingFrom from: Timestamp?, before: Timestamp?) -> [Visit] {
        let first = from.map { from in Self.index(in: visits) { $0.arrival < from } } ?? 0
        let end = before.map { before in Self.index(in: visits) { $0.arrival < before } } ?? visits.count
        return Array(visits[first..<max(first, end)])
    }

    func crossings(
        of person: PersonID, from: Timestamp?, confirmedAfter after: Timestamp?, through: Timestamp?
    ) -> [Crossing] {
        let first = from.map { from in Self.index(in: crossings) { $0.time < from } } ?? 0
        let end = through.map { through in Self.index(in: crossings) { $0.time <= through } } ?? crossings.count
        return crossings[first..<max(first, end)].filter { crossing in
            (after.map { crossing.confirmed > $0 } ?? true) && (through.map { crossing.confirmed <= $0 } ?? true)
        }
    }
}
