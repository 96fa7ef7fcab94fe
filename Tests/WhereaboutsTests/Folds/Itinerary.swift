import Geodesy
import Glibc
import TestSupport
import Whereabouts

/// Some days of one person as they truly were: made from a seed, the same on every run.
///
/// Places and ways are drawn on a plane around home, meters east and north, and laid on the ellipsoid by bearing and
/// distance from home, so that poles and the antimeridian are places like others.
struct Itinerary {
    struct Stay {
        let arrival: Double
        /// `nil`: still there when the days end.
        let departure: Double?
        let coordinate: Coordinate
    }

    struct Point {
        var east, north: Double
        func meters(to other: Point) -> Double { hypot(east - other.east, north - other.north) }
        func toward(_ other: Point, _ share: Double) -> Point {
            Point(east: east + share * (other.east - east), north: north + share * (other.north - north))
        }
    }

    /// Parts of a day other than home and work.
    struct Habits {
        /// Walks round a park that are no visit, trains with stops, traffic jams; chances a day or a way.
        var parkLoops = 0.7
        var trains = 0.2
        var jams = 0.15
        /// The greatest distance of the person's places from home, in kilometers.
        var reach = 8.0
    }

    /// Seconds since 1970.
    let start: Double
    private(set) var end: Double
    let home: Coordinate
    /// Stays of three minutes and more.
    private(set) var stays: [Stay] = []
    /// Where the person was when; straight between.
    private var knots: [(time: Double, point: Point)] = []
    private var indoors: [ClosedRange<Double>] = []
    private var dice: SplitMix

    static let shortestStay = 180.0

    init(home: Coordinate, start: Double, days: Int, seed: UInt64, _ habits: Habits = Habits()) {
        (self.home, self.start, end) = (home, start, start)
        dice = SplitMix(seed)
        let house = Point(east: 0, north: 0)
        knots = [(start, house)]
        let work = somewhere(around: house, 2000...max(2500, habits.reach * 1000))
        let errands = (0..<6).map { number in
            somewhere(around: house, number < 2 ? 150...500 : 400...habits.reach * 700)
        }
        for day in 0..<days {
            let midnight = start + Double(day) * 86_400
            stay(until: midnight + uniform(6.5, 8.5) * 3600, extent: 8)
            if chance(0.75) {
                go(to: work, habits)
                stay(until: midnight + uniform(11.5, 12.5) * 3600, extent: 15)
                if chance(0.6) {
                    let lunch = somewhere(around: work, 180...420)
                    go(to: lunch, habits)
                    stay(for: uniform(900, 2700), extent: 8)
                    go(to: work, habits)
                }
                stay(until: midnight + uniform(15.5, 17.5) * 3600, extent: 15)
            }
            for _ in 0..<Int(uniform(0, 3.4)) {
                go(to: errands[Int(uniform(0, 5.99))], habits)
                // From a shop to an evening; some are of a few minutes.
                stay(for: 190 * exp(uniform(0, 3.8)), extent: chance(0.2) ? 55 : 12, strolls: chance(0.5))
            }
            go(to: house, habits)
            if chance(habits.parkLoops) {
                stay(for: uniform(1200, 3600), extent: 8)
                loop(round: somewhere(around: house, 300...700))
                go(to: house, habits, onFoot: true)
            }
            stay(until: max(end + 1800, midnight + 22 * 3600), extent: 8)
        }
        stay(until: start + Double(days) * 86_400 + 3600, extent: 8)
        if let last = stays.popLast() {
            stays.append(Stay(arrival: last.arrival, departure: nil, coordinate: last.coordinate))
        }
        stays = stays.filter { ($0.departure ?? end) - $0.arrival >= Self.shortestStay }
    }

    // MARK: Asking

    func point(at time: Double) -> Point {
        var (low, high) = (0, knots.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if knots[middle].time <= time { low = middle } else { high = middle }
        }
        let (a, b) = (knots[low], knots[high])
        guard b.time > a.time else { return a.point }
        return a.point.toward(b.point, min(1, max(0, (time - a.time) / (b.time - a.time))))
    }

    /// When the person came into an area and left it, to a millisecond; `signedMeters` is negative inside.
    func crossings(_ signedMeters: (Coordinate) -> Double) -> [(isEntry: Bool, time: Double)] {
        func isInside(_ time: Double) -> Bool { signedMeters(coordinate(of: point(at: time))) < 0 }
        var found: [(isEntry: Bool, time: Double)] = []
        var wasInside = isInside(start)
        var before = start
        // No area in these tests is passed in less than a few seconds.
        for time in stride(from: start, to: end, by: 4) {
            let inside = isInside(time)
            if inside != wasInside {
                var (low, high) = (before, time)
                while high - low > 0.001 {
                    let middle = (low + high) / 2
                    if isInside(middle) == wasInside { low = middle } else { high = middle }
                }
                found.append((inside, high))
            }
            (wasInside, before) = (inside, time)
        }
        return found
    }

    /// When the stay or way of a moment began.
    func phase(at time: Double) -> (isIndoors: Bool, since: Double) {
        var since = start
        for stay in indoors {
            if time < stay.lowerBound { return (false, since) }
            if time <= stay.upperBound { return (true, stay.lowerBound) }
            since = stay.upperBound
        }
        return (false, since)
    }

    func coordinate(of point: Point) -> Coordinate {
        Geodesic.direct(
            from: home, initialAzimuth: atan2(point.east, point.north) * 180 / .pi,
            distanceMeters: hypot(point.east, point.north))
    }

    // MARK: Living

    private mutating func uniform(_ low: Double, _ high: Double) -> Double { .random(in: low...high, using: &dice) }
    private mutating func chance(_ share: Double) -> Bool { uniform(0, 1) < share }

    private mutating func somewhere(around point: Point, _ meters: ClosedRange<Double>) -> Point {
        let (angle, distance) = (uniform(0, 2 * .pi), uniform(meters.lowerBound, meters.upperBound))
        return Point(east: point.east + distance * sin(angle), north: point.north + distance * cos(angle))
    }

    private var here: Point { knots[knots.count - 1].point }

    private mutating func walk(to point: Point, speed: Double) {
        let meters = here.meters(to: point)
        guard meters > 0 else { return }
        end += meters / speed
        knots.append((end, point))
    }

    private mutating func wait(_ seconds: Double) {
        end += seconds
        knots.append((end, here))
    }

    private mutating func stay(for seconds: Double, extent: Double, strolls: Bool = false) {
        stay(until: end + seconds, extent: extent, strolls: strolls)
    }

    /// At a place, with steps about it; `strolls` is walking through it with pauses.
    private mutating func stay(until: Double, extent: Double, strolls: Bool = false) {
        let (place, arrival) = (here, end)
        guard until > arrival + 120 else { return }
        while end < until - 60 {
            wait(min(until - 30 - end, strolls ? uniform(20, 120) : uniform(120, 3000)))
            if end < until - 60 { walk(to: somewhere(around: place, 0...extent), speed: strolls ? 0.7 : 1) }
        }
        walk(to: place, speed: 1)
        if end < until { wait(until - end) }
        indoors.append(arrival...end)
        // Home after home is one stay.
        if let last = stays.last, last.departure == arrival {
            stays.removeLast()
            stays.append(Stay(arrival: last.arrival, departure: end, coordinate: last.coordinate))
        } else {
            stays.append(Stay(arrival: arrival, departure: end, coordinate: coordinate(of: place)))
        }
    }

    private mutating func loop(round park: Point) {
        let radius = uniform(70, 160)
        let speed = uniform(0.8, 1.4)
        walk(to: Point(east: park.east + radius, north: park.north), speed: 1.3)
        for corner in 1...Int(uniform(16, 40)) {
            let angle = Double(corner) * .pi / 5
            walk(
                to: Point(east: park.east + radius * cos(angle), north: park.north + radius * sin(angle)), speed: speed)
        }
    }

    private mutating func go(to target: Point, _ habits: Habits, onFoot: Bool = false) {
        let from = here
        let meters = from.meters(to: target)
        guard meters > 5 else { return }
        let rides = !onFoot && meters > 3000 && chance(habits.trains)
        let jam = !onFoot && !rides && meters > 2500 && chance(habits.jams)
        let speed: Double
        if onFoot || meters < 900 {
            speed = uniform(1.15, 1.55)
        } else {
            speed = rides ? uniform(18, 28) : chance(0.25) ? uniform(4, 6.5) : uniform(8, 15)
        }
        // Streets bend about every 300 m, tracks hardly.
        let bends = max(1, Int(meters / (rides ? 2200 : 300)))
        for bend in 1...bends {
            var point = from.toward(target, Double(bend) / Double(bends))
            if bend < bends {
                let off = rides ? 60 : min(120, meters / Double(bends) / 2)
                point.east += uniform(-off, off)
                point.north += uniform(-off, off)
            }
            let crawls = jam && bend > bends / 2 && bend <= bends / 2 + 2
            walk(to: point, speed: crawls ? uniform(0.6, 1.8) : speed * uniform(0.75, 1.2))
            guard bend < bends else { continue }
            if rides { wait(uniform(35, 130)) } else if speed > 3, chance(0.3) { wait(uniform(8, 80)) }
        }
    }
}

/// The reports of an itinerary by one kind of client.
struct Phone: Sendable {
    let name: String
    struct Moment {
        /// Since the last fix.
        let seconds, meters: Double
        let isIndoors: Bool
        /// Since the person came in or went out, and fixes since then.
        let phaseSeconds: Double
        let phaseFixes: Int
    }
    /// When it looks for a fix.
    let reports: @Sendable (Moment, inout SplitMix) -> Bool
    var stepSeconds = 5.0
    var indoorAccuracy = 8.0...65.0
    var outdoorAccuracy = 4.0...15.0
    /// Of fixes; kilometers off, for one fix.
    var spikes = 0.0
    /// Minutes at a false spot, a day.
    var falseSpots = 0.0
    /// Hours switched off, a day.
    var offHours = 0.0
    /// Share of fixes that arrive hours later.
    var lateShare = 0.0

    /// In the order of arrival.
    func fixes(of days: Itinerary, seed: UInt64) -> [Fix] {
        var dice = SplitMix(seed)
        func uniform(_ low: Double, _ high: Double) -> Double { .random(in: low...high, using: &dice) }
        func normal() -> Double { (-2 * log(uniform(1e-12, 1))).squareRoot() * cos(2 * .pi * uniform(0, 1)) }
        func spans(_ perDay: Double, _ length: ClosedRange<Double>) -> [ClosedRange<Double>] {
            (0..<Int((days.end - days.start) / 86_400 * perDay + uniform(0, 1))).map { _ in
                let from = uniform(days.start, days.end)
                return from...(from + uniform(length.lowerBound, length.upperBound))
            }
        }
        let off = spans(offHours > 0 ? 1 : 0, (offHours * 1800)...(offHours * 5400 + 1))
        let offline = spans(lateShare > 0 ? 1 : 0, 3600...50_000)
        let elsewhere = spans(falseSpots, 60...420).map { ($0, uniform(0, 2 * .pi), uniform(200, 900)) }
        var found: [Fix] = []
        var last: (time: Double, point: Itinerary.Point)?
        var error = Itinerary.Point(east: 0, north: 0)
        var base = 1.0
        var phase = (since: -Double.infinity, fixes: 0)
        var time = days.start + uniform(0, stepSeconds)
        while time < days.end {
            defer { time += stepSeconds }
            if off.contains(where: { $0.contains(time) }) { continue }
            let place = days.point(at: time)
            let seconds = last.map { time - $0.time } ?? .infinity
            let (isIndoors, since) = days.phase(at: time)
            if since != phase.since {
                phase = (since, 0)
                base = uniform(0, 1)
            }
            let moment = Moment(
                seconds: seconds, meters: last.map { $0.point.meters(to: place) } ?? .infinity, isIndoors: isIndoors,
                phaseSeconds: time - since, phaseFixes: phase.fixes)
            guard reports(moment, &dice) else { continue }
            phase.fixes += 1
            last = (time, place)
            let range = isIndoors ? indoorAccuracy : outdoorAccuracy
            var accuracy = range.lowerBound * pow(range.upperBound / range.lowerBound, min(1, base * uniform(0.7, 1.3)))
            // Errors of neighbouring fixes are alike: a random walk towards 0 of 90 s.
            let kept = exp(-min(seconds, 1e6) / 90)
            let new = accuracy / 1.515 * (1 - kept * kept).squareRoot()
            error = Itinerary.Point(
                east: error.east * kept + new * normal(), north: error.north * kept + new * normal())
            var seen = Itinerary.Point(east: place.east + error.east, north: place.north + error.north)
            if isIndoors, let (_, angle, meters) = elsewhere.first(where: { $0.0.contains(time) }) {
                seen.east += meters * sin(angle)
                seen.north += meters * cos(angle)
                accuracy = uniform(30, 130)
            }
            if uniform(0, 1) < spikes {
                let (angle, meters) = (uniform(0, 2 * .pi), exp(uniform(log(800), log(40_000))))
                seen.east += meters * sin(angle)
                seen.north += meters * cos(angle)
                accuracy = uniform(0, 1) < 0.5 ? uniform(10, 65) : uniform(200, 1500)
            }
            var fix = Fix(
                timestamp: Timestamp(milliseconds: Int64((time * 1000).rounded())),
                coordinate: days.coordinate(of: seen),
                horizontalAccuracy: accuracy.rounded())
            let delay =
                offline.first { $0.contains(time) }.map { $0.upperBound - time + uniform(0, 60) } ?? uniform(0.5, 4)
            fix.receivedAt = fix.timestamp.adding(seconds: Int64(delay.rounded(.up)))
            found.append(fix)
        }
        return found.sorted {
            ($0.receivedAt ?? $0.timestamp, $0.timestamp) < ($1.receivedAt ?? $1.timestamp, $1.timestamp)
        }
    }

    static func every(_ period: Double, named name: String) -> Phone {
        Phone(name: name, reports: { moment, _ in moment.seconds >= period - 0.01 }, stepSeconds: min(period, 30))
    }

    /// Each `meters` of travel, at least `gap` seconds apart; silent at rest but for a heartbeat.
    static func adaptive(meters: Double, gap: Double, heartbeat: Double, named name: String) -> Phone {
        Phone(
            name: name,
            reports: { moment, _ in
                (moment.meters >= meters && moment.seconds >= gap) || moment.seconds >= heartbeat
            })
    }

    static func asked(meanSeconds: Double, named name: String) -> Phone {
        Phone(
            name: name,
            reports: { _, dice in Double.random(in: 0...1, using: &dice) < 5 / meanSeconds },
            indoorAccuracy: 15...130)
    }

    /// After 500 m and not within five minutes of the last, by cells and Wi-Fi; nothing at rest (Apple,
    /// "startMonitoringSignificantLocationChanges()").
    static let significantChange = Phone(
        name: "significant change",
        reports: { moment, _ in moment.meters >= 500 && moment.seconds >= 300 },
        indoorAccuracy: 65...400, outdoorAccuracy: 65...400)

    /// One fix a little after each arrival, two around each departure, and each 400 m or two minutes on the way, as an
    /// app has them that lives on Core Location's visits.
    static let visitMonitor = Phone(
        name: "visits",
        reports: { moment, dice in
            if moment.isIndoors {
                return moment.phaseFixes == 0 && moment.phaseSeconds >= Double.random(in: 10...300, using: &dice)
            }
            return (moment.phaseFixes < 2 && moment.phaseSeconds >= 10 + 20 * Double(moment.phaseFixes))
                || moment.meters >= 400 || moment.seconds >= 120
        })

    /// Every client that the rules are judged by.
    static let all: [Phone] = {
        var drifting = every(30, named: "30 s, drifting")
        drifting.falseSpots = 4
        drifting.indoorAccuracy = 15...130
        var spiky = every(30, named: "30 s, spikes")
        spiky.spikes = 0.02
        var gappy = adaptive(meters: 30, gap: 15, heartbeat: 900, named: "adaptive, switched off")
        gappy.offHours = 3
        var late = adaptive(meters: 30, gap: 15, heartbeat: 900, named: "adaptive, offline")
        late.lateShare = 0.3
        late.spikes = 0.005
        var asked = Phone.asked(meanSeconds: 420, named: "asked")
        asked.spikes = 0.006
        return [
            every(1, named: "1 s"), every(10, named: "10 s"), every(30, named: "30 s"), drifting, spiky,
            every(300, named: "5 min"), adaptive(meters: 30, gap: 15, heartbeat: 900, named: "adaptive"),
            adaptive(meters: 100, gap: 60, heartbeat: 1800, named: "battery saver"), gappy, late, asked,
            visitMonitor, significantChange,
        ]
    }()
}
