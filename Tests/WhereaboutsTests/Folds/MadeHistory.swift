import Geodesy
import TestSupport

@testable import Whereabouts

/// A short history drawn by chance, with durations, distances, speeds and accuracies close to those at which rules of
/// visits and crossings usually decide: within a tenth of 165 s, 150 m, 0.45 m/s and so on. The numbers are written
/// here again, and not taken from ``VisitRules``, so that the history is the same under all rules.
struct MadeHistory {
    /// Of the first 950 histories those in which a threshold of ``VisitRules`` that is one twenty-fifth higher or lower
    /// changes the results of a version of the rules, as in no history before; and seven further ones for two rare
    /// thresholds. They were found by trying each threshold on each history. `Tests/Planted/thresholds.txt` lists the
    /// thresholds that they check.
    static let seeds: [UInt64] = [
        0, 1, 4, 5, 6, 8, 11, 12, 13, 15, 16, 17, 19, 20, 21, 23, 24, 26, 28, 29, 30, 32, 33, 36, 37, 40, 41, 43, 44,
        45, 47, 49, 56, 59, 60, 61, 62, 64, 65, 66, 67, 69, 72, 77, 80, 81, 82, 83, 84, 85, 86, 87, 88, 94, 95, 99, 101,
        103, 104, 106, 107, 108, 111, 116, 119, 123, 126, 129, 132, 136, 137, 139, 144, 147, 153, 161, 164, 165, 175,
        176, 179, 181, 183, 184, 185, 187, 188, 189, 194, 196, 197, 202, 205, 207, 210, 211, 219, 222, 226, 234, 236,
        251, 255, 257, 261, 271, 291, 314, 321, 331, 336, 345, 348, 357, 359, 360, 369, 371, 373, 383, 394, 399, 401,
        412, 413, 415, 426, 431, 433, 443, 444, 445, 446, 450, 454, 458, 460, 461, 486, 488, 491, 509, 513, 520, 521,
        531, 532, 538, 543, 559, 561, 571, 586, 606, 609, 614, 615, 644, 650, 705, 727, 730, 755, 782, 787, 814, 815,
        824, 831, 852, 855, 858, 863, 1452, 1511, 3155, 4704, 4879, 5986, 6586,
    ]

    private(set) var fixes: [(device: DeviceID, fix: Fix)] = []
    private(set) var reports: [VisitReport] = []
    private(set) var regions: [Area] = []

    private var dice: SplitMix
    private let home: Coordinate
    private var place: Coordinate
    /// Milliseconds since 1970 UTC.
    private var now: Int64 = 1_746_057_600_000
    private var everySeconds = 30.0
    private var accuracy = 10.0
    private var scatterMeters = 5.0
    private var device = MemoryTimeline.device
    private static let tablet = DeviceID(rawValue: MemoryTimeline.device.rawValue + 1)

    private static let meters = [22.0, 30, 40, 55, 75, 100, 120, 140, 150, 160, 200, 250, 300, 450, 700, 1500, 4000]
    private static let speeds = [0.25, 0.45, 0.5, 1.3, 1.3, 4, 5, 8, 15, 15, 30, 95]
    private static let accuracies = [2.0, 3, 5, 5, 8, 8, 12, 20, 30, 45, 60, 70, 100, 150, 250, 400, 600, 1000, 3000]
    private static let steps = [1.0, 4, 5, 10, 10, 15, 20, 25, 30, 45, 60, 60, 90, 95, 120, 150, 300, 400]
    private static let stays = [60.0, 90, 100, 165, 180, 240, 330, 400, 600, 900, 1500, 2400, 3600, 5000]
    private static let silences: [Double] = [
        100.0, 150, 300, 330, 400, 600, 900, 1500, 2000, 2400, 3600, 7200, 12 * 3600, 24 * 3600, 72 * 3600,
    ]

    init(seed: UInt64) throws {
        dice = SplitMix(seed)
        // Places away from poles and the antimeridian, which other tests cover.
        home = try Coordinate(
            latitude: Double.random(in: -60...60, using: &dice), longitude: Double.random(in: -170...170, using: &dice))
        place = home
        changePhone()
        let acts = Self.courses[Int(seed % UInt64(Self.courses.count))]
        if acts.contains("r") { try addRegions() }
        for _ in 0..<Int.random(in: 4...9, using: &dice) where fixes.count < 160 {
            act(acts.randomElement(using: &dice) ?? "s")
        }
        // Long enough to close an open visit.
        if dice.chance(0.5) { stay(400) }
        fixes.sort { ($0.fix.timestamp, $0.device) < ($1.fix.timestamp, $1.device) }
    }

    /// The courses: s a stay, w a way, j a jump and back, f a false spot, q silence, l a slow loop, b to and fro over
    /// an edge, v visits that the phone reports, p places seen seldom, t a tablet, c another way of locating, r
    /// regions, g days of silence, o a fix outside before silence, m a market, i stops of which little is seen, n two
    /// places side by side, d many devices, k many places, x a fix off by so much that it would cross, y two such
    /// fixes, z a stroll, u a long round.
    private static let courses = [
        "swc", "swjjc", "swffc", "sqwc", "slwc", "rbsw", "rswc", "sqvw", "pppq", "sttw", "swqjfc", "rwbb", "ggs",
        "oocsw",
        "mmc", "iiic", "nnc", "d", "k", "jjjc", "fffc", "rxx", "yys", "zzz", "u",
    ]

    private mutating func act(_ kind: Character) {
        switch kind {
        case "s":
            stay(near(Self.stays))
            if dice.chance(0.7) { go(near(Self.meters), near(Self.speeds)) }
        case "w": go(near(Self.meters), near(Self.speeds))
        case "c": changePhone()
        case "j": jump()
        case "f": falseSpot()
        case "q":
            wait(near(Self.silences))
            if dice.chance(0.3) { place = away(near(Self.meters)) }
        case "l": loop()
        case "b": cross()
        case "v": report()
        case "p": sparse()
        case "t": tablet()
        case "g": silentDays()
        case "o": outsideAndSilent()
        case "m": market()
        case "i": glimpse()
        case "n": sideBySide()
        case "d": manyDevices()
        case "k": manyPlaces()
        case "x": spikeIntoRegion()
        case "y": twoSpikes()
        case "z": stroll()
        case "u": longRound()
        default: stay(near(Self.stays))
        }
    }

    // MARK: Chance

    private mutating func near(_ values: [Double]) -> Double {
        (values.randomElement(using: &dice) ?? 0) * Double.random(in: 0.9...1.1, using: &dice)
    }

    private mutating func away(_ meters: Double, from start: Coordinate? = nil) -> Coordinate {
        Geodesic.direct(
            from: start ?? place, initialAzimuth: Double.random(in: -180...180, using: &dice), distanceMeters: meters)
    }

    private mutating func changePhone() {
        everySeconds = near(Self.steps)
        accuracy = near(Self.accuracies)
        scatterMeters = accuracy * Double.random(in: 0...1.2, using: &dice)
    }

    /// So many seconds after the newest fix.
    private mutating func resume(after seconds: Double) {
        if let last = fixes.last { now = last.fix.timestamp.milliseconds + max(1, Int64(seconds * 1000)) }
    }

    private mutating func wait(_ seconds: Double) { now += Int64((seconds * 1000).rounded()) }

    private mutating func fix(_ somewhere: Coordinate, accuracy own: Double? = nil) {
        let off = away(Double.random(in: 0...1, using: &dice) * scatterMeters, from: somewhere)
        let radius = own ?? accuracy * Double.random(in: 0.8...1.2, using: &dice)
        // Now and then a phone does not say.
        let told = dice.chance(0.03) ? nil : radius
        fixes.append((device, Fix(timestamp: Timestamp(milliseconds: now), coordinate: off, horizontalAccuracy: told)))
    }

    // MARK: Courses

    private mutating func stay(_ seconds: Double, accuracy: Double? = nil) {
        let end = now + Int64(seconds * 1000)
        // At most 60 fixes, so that a history stays short.
        let step = max(everySeconds, seconds / 60)
        while now < end {
            fix(place, accuracy: accuracy)
            wait(step)
        }
    }

    private mutating func go(_ meters: Double, _ speed: Double) { go(to: away(meters), speed) }

    private mutating func go(to target: Coordinate, _ speed: Double) {
        let way = Geodesic.inverse(from: place, to: target)
        let start = place
        let step = max(everySeconds * speed, way.distanceMeters / 30)
        var gone = 0.0
        while gone < way.distanceMeters, step > 0 {
            fix(Geodesic.direct(from: start, initialAzimuth: way.initialAzimuth, distanceMeters: gone))
            wait(step / speed)
            gone += step
        }
        place = target
    }

    /// One or two fixes far off, and back or nearly so.
    private mutating func jump() {
        fix(place)
        guard dice.chance(0.5) else { return preciseJump() }
        let seconds = dice.chance(0.5) ? near(Self.steps) : near(Self.silences.filter { $0 < 4000 })
        var off = near([150, 170, 200, 250, 300, 400, 600, 1500, 3000])
        if dice.chance(0.3) { off = seconds * near([5, 15, 95]) }
        wait(seconds)
        let there = away(off + accuracy * (dice.chance(0.5) ? 2 : 0))
        fix(there)
        if dice.chance(0.4) {
            let next = seconds * Double.random(in: 0.5...1.5, using: &dice)
            wait(next)
            fix(away(max(off, next * near([15, 95])), from: there))
        }
        wait(dice.chance(0.5) ? seconds : near(Self.silences.filter { $0 < 4000 }))
        if dice.chance(0.5) { place = away(near([50, 100, 150, 250])) }
        stay(near([60, 240, 400]))
    }

    /// One fix off by as much, for as long or as fast as makes it a spike, or not.
    private mutating func preciseJump() {
        let (accuracyBefore, scatterBefore) = (accuracy, scatterMeters)
        (accuracy, scatterMeters) = (near([4, 10]), 1)
        fix(place)
        let half = near([450, 1000, 1800])
        var off = near([150]) + 2 * accuracy
        var direct = near([30, 100, 250])
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: off = half * near([5])
        case 1:
            off = Double.random(in: 250...640, using: &dice)
            direct = (2 * off - 300) / 4 * Double.random(in: 0.9...1.1, using: &dice)
        default: break
        }
        let start = place
        resume(after: half)
        fix(away(off, from: start))
        resume(after: half * Double.random(in: 0.95...1.05, using: &dice))
        place = away(direct, from: start)
        fix(place)
        wait(everySeconds)
        stay(near([60, 240]))
        (accuracy, scatterMeters) = (accuracyBefore, scatterBefore)
    }

    private mutating func falseSpot() {
        let before = (place, accuracy, scatterMeters, everySeconds)
        stay(near([60, 240, 400]))
        place = away(near([150, 200, 300, 600, 1500]))
        accuracy = near([8, 30, 60, 60, 60, 100])
        scatterMeters = accuracy * Double.random(in: 0...0.6, using: &dice)
        everySeconds = near([20, 45, 60, 95])
        let leg = near([5, 20, 45, 95, 95])
        if dice.chance(0.5) {
            let speed = near([4, 8, 8, 95])
            place = away(max(150, leg * speed), from: before.0)
            resume(after: leg)
            stay(near([90, 165, 240, 330, 400, 400]))
            resume(after: leg)
        } else {
            wait(leg)
            stay(near([90, 165, 240, 330, 400, 400]))
        }
        (place, accuracy, scatterMeters, everySeconds) = before
        if dice.chance(0.6) { place = away(near([30, 100, 140, 140, 300])) }
        stay(near([60, 240, 400]))
    }

    /// A round on foot that ends where it began.
    private mutating func loop() {
        let start = place
        let speed = near([0.25, 0.45, 0.45, 0.6, 1])
        for _ in 0..<Int.random(in: 2...5, using: &dice) { go(to: away(near([30, 50, 70, 100]), from: start), speed) }
        if dice.chance(0.6) { go(to: start, speed) }
    }

    private mutating func addRegions() throws {
        for _ in 0..<3 {
            let center = away(near(Self.meters.filter { $0 < 1000 }), from: home)
            let radius = near([50, 100, 150, 300])
            if dice.chance(0.4) {
                let turn = Double.random(in: 0...90, using: &dice)
                let corners = (0..<4).map {
                    Geodesic.direct(
                        from: center, initialAzimuth: turn + Double($0) * 90 - 180, distanceMeters: radius)
                }
                regions.append(.polygon(try Polygon(vertices: corners)))
            } else {
                regions.append(.circle(try Circle(center: center, radiusMeters: radius)))
            }
        }
    }

    /// To and fro about an edge, or through a region between two fixes.
    private mutating func cross() {
        guard case .circle(let circle)? = regions.first(where: { if case .circle = $0 { true } else { false } })
        else { return go(near(Self.meters), near(Self.speeds)) }
        if dice.chance(0.4) {
            // Through, more or less by the middle.
            let azimuth = Double.random(in: -180...180, using: &dice)
            let reach = circle.radiusMeters * Double.random(in: 1.1...8, using: &dice)
            accuracy = near([8, 30, 60])
            scatterMeters = 1
            let depth = accuracy * near([0.5])
            let off =
                dice.chance(0.5)
                ? max(0, circle.radiusMeters - depth) : Double.random(in: 0...1.1, using: &dice) * circle.radiusMeters
            let middle = Geodesic.direct(from: circle.center, initialAzimuth: azimuth + 90, distanceMeters: off)
            place = Geodesic.direct(from: middle, initialAzimuth: azimuth, distanceMeters: reach)
            for _ in 0..<4 {
                fix(place)
                wait(20)
            }
            resume(after: near([30, 60, 90, 90]))
            place = Geodesic.direct(from: middle, initialAzimuth: azimuth + 180, distanceMeters: reach)
            for _ in 0..<4 {
                fix(place)
                wait(20)
            }
            return
        }
        accuracy = near([8, 20, 30, 60])
        scatterMeters = accuracy * Double.random(in: 0...0.8, using: &dice)
        everySeconds = near([5, 10, 20, 20, 30])
        for _ in 0..<Int.random(in: 2...5, using: &dice) {
            let meters = circle.radiusMeters + accuracy * Double.random(in: -3...3, using: &dice)
            go(to: away(max(0, meters), from: circle.center), near([0.45, 1.3, 5]))
            stay(near([30, 60, 90]))
        }
    }

    /// A visit that the phone reports, and its fixes before and after.
    private mutating func report() {
        let before = near([30, 60, 90, 300, 600, 600, 3600])
        if dice.chance(0.7) { fix(place) }
        wait(before)
        let arrival = now
        if dice.chance(0.5) { place = away(near(Self.meters)) }
        let stayed = near([165, 600, 3600, 7200, 86400, 259_200])
        if dice.chance(0.3) {
            wait(stayed / 2)
            fix(place)
            wait(stayed / 2)
        } else {
            wait(stayed)
        }
        let kind = Int.random(in: 0..<3, using: &dice)
        reports.append(
            VisitReport(
                timestamp: Timestamp(milliseconds: now + 60_000), coordinate: place, horizontalAccuracy: accuracy,
                arrival: kind == 1 ? nil : Timestamp(milliseconds: arrival),
                departure: kind == 2 ? nil : Timestamp(milliseconds: now)))
        wait(near([60, 300, 600, 600, 1500]))
        if dice.chance(0.6) { place = away(near(Self.meters)) }
        fix(place)
    }

    /// Some days at two or three places, of which a vague fix speaks now and then.
    private mutating func sparse() {
        var places = [place]
        for _ in 0..<2 { places.append(away(near([40, 60, 100, 200, 300, 450, 700, 1500]), from: home)) }
        everySeconds = near([240, 240, 600, 3600])
        for _ in 0..<Int.random(in: 3...6, using: &dice) {
            place = places.randomElement(using: &dice) ?? home
            accuracy = near([20, 30, 60, 100, 250, 600, 1000])
            scatterMeters = accuracy * Double.random(in: 0...0.8, using: &dice)
            let seconds = near([240, 600, 600, 900, 3600, 3600, 7200, 20000])
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                fix(place)
                wait(seconds / 3)
            }
            wait(near([300, 600, 1500, 2400, 3600, 7200]))
            if dice.chance(0.05) { wait(59.9 * 86400 * Double.random(in: 0.95...1.05, using: &dice)) }
        }
    }

    /// A second device that stays while the first goes, or is carried while the first stays.
    private mutating func tablet() {
        let start = now
        let middle = place
        stay(near([240, 900, 3600]))
        let end = now
        (now, device) = (start + Int64.random(in: -1...1, using: &dice) * 1000, Self.tablet)
        if dice.chance(0.15) { wait(near([12.0 * 3600])) }
        for _ in 0..<Int.random(in: 2...6, using: &dice) {
            // Next door by the accuracies, or not.
            place = away(near([100, 100, 150, 300]) + accuracy * 2 * Double.random(in: 0.9...1.1, using: &dice))
            fix(place)
            if dice.chance(0.4) {
                wait(near([10, 30]))
                fix(place)
            }
            wait(near([20, 60, 120]))
        }
        (device, now) = (MemoryTimeline.device, max(end, dice.chance(0.5) ? now : end))
        place = middle
        if dice.chance(0.5) { stay(near([60, 240])) } else { go(near(Self.meters), near(Self.speeds)) }
    }

    /// Days of which hours are seen, at one place or two.
    private mutating func silentDays() {
        everySeconds = near([1800, 7200, 7200])
        let hours = near([4, 10, 30])
        stay(hours * 3600)
        resume(after: near([24, 30, 60, 72, 72, 80]) * 3600)
        if dice.chance(0.3) { place = away(near([40, 300, 2000])) }
        fix(place)
        wait(everySeconds)
        if dice.chance(0.5) {
            resume(after: near([24, 36, 60, 72]) * 3600)
            fix(place)
            wait(near([7200, 7200]))
            fix(place)
            wait(60)
        }
    }

    /// At a place, a fix or two off, nothing for minutes, and back or on.
    private mutating func outsideAndSilent() {
        let start = place
        accuracy = near([5, 8, 12, 20])
        scatterMeters = accuracy * 0.3
        everySeconds = near([20, 60])
        stay(near([240, 600, 1200]))
        place = away(dice.chance(0.5) ? 55 + near([3]) * accuracy : near([60, 75, 90]), from: start)
        resume(after: near([20, 60, 90, 90]))
        fix(place)
        resume(after: near([150, 300, 300, 600, 600]))
        place = dice.chance(0.5) ? start : away(near([300, 1500]), from: start)
        stay(near([120, 300]))
    }

    /// Half an hour and more on foot within a few meters.
    private mutating func market() {
        let start = place
        everySeconds = near([25, 25, 30])
        accuracy = near([3, 5, 8])
        scatterMeters = accuracy * 0.3
        let end = now + Int64(near([1500, 2400]) * 1000)
        if dice.chance(0.5) {
            // On their feet for two of three steps.
            let share = near([0.65])
            for _ in 0..<90 {
                fix(place)
                wait(25.5)
                if dice.chance(share) { place = away(Double.random(in: 30...45, using: &dice), from: start) }
            }
            return go(near([300]), near([1.3, 5]))
        }
        while now < end, fixes.count < 150 {
            let next = away(Double.random(in: 0...45, using: &dice), from: start)
            let way = Geodesic.distanceMeters(from: place, to: next)
            let speed = near([0.45, 0.45, 0.6, 0.9])
            fix(place)
            // On the way for a step or two, then at rest for some.
            resume(after: min(60, max(1, way / speed)))
            place = next
            if dice.chance(0.4) { stay(near([50, 50, 100])) }
        }
        go(near([300]), near([1.3, 5]))
    }

    /// On the way with few fixes, one or two of which are at a stop.
    private mutating func glimpse() {
        accuracy = near([3, 5, 10, 20, 30, 60, 100])
        scatterMeters = accuracy * 0.3
        let speed = near([1.3, 5, 15])
        for _ in 0..<2 {
            fix(place)
            wait(near([60, 100]))
            place = away(speed * 80)
        }
        fix(place)
        let gap = near([30, 60, 100])
        place = away(speed * gap)
        wait(gap + near([20, 60]))
        fix(place)
        if dice.chance(0.7) {
            resume(after: near([30, 60, 90, 90]))
            fix(place)
        }
        wait(near([120, 240, 240, 300, 400]))
        place = away(speed * gap)
        fix(place)
        wait(near([60]))
        place = away(speed * 80)
        fix(place)
        wait(60)
    }

    /// From one place to the next, 140 m or so away, and some minutes between.
    private mutating func sideBySide() {
        let start = place
        (accuracy, scatterMeters, everySeconds) = (near([5, 8]), 2, near([20, 30]))
        stay(near([240, 400]))
        place = away(near([110, 160, 160, 200]), from: start)
        let isOut = dice.chance(0.7)
        if isOut {
            resume(after: near([60]))
            stay(near([60, 100, 400, 500]))
        }
        place = away(near([30, 100, 140, 140]), from: start)
        resume(after: near([60, 200, 600]))
        stay(near([240, 400]))
        go(near([400]), 1.4)
    }

    /// Seven to nine devices on a table, of which the last is carried away.
    private mutating func manyDevices() {
        (accuracy, scatterMeters) = (5, 1)
        let start = place
        let count = Int64.random(in: 7...9, using: &dice)
        for index in 0..<count {
            device = DeviceID(rawValue: MemoryTimeline.device.rawValue + index)
            fix(start)
            wait(1)
        }
        for _ in 0..<5 {
            wait(60)
            place = away(near([300]))
            fix(place)
        }
        device = MemoryTimeline.device
        place = start
        wait(30)
        fix(start)
    }

    /// An hour at each of some two dozen places, of which a fix or two speak, and again at the first.
    private mutating func manyPlaces() {
        guard fixes.isEmpty else { return stay(60) }
        let count = Int.random(in: 22...26, using: &dice)
        accuracy = 40
        scatterMeters = 30
        for index in 0...count {
            place = Geodesic.direct(
                from: home, initialAzimuth: 15 * Double(index), distanceMeters: index % count == 0 ? 0 : 4000)
            fix(place)
            wait(1800)
            fix(place)
            wait(3000)
        }
    }

    /// For a minute at a place beside a region, and one fix in its middle.
    private mutating func spikeIntoRegion() {
        guard case .circle(let circle)? = regions.first(where: { if case .circle = $0 { true } else { false } })
        else { return stay(60) }
        (accuracy, scatterMeters) = (5, 0)
        go(near([1500]), near([15]))
        let meters = 150 * Double.random(in: 0.94...1.06, using: &dice) + 10
        let start = away(max(circle.radiusMeters + 40, meters), from: circle.center)
        let spike = Geodesic.direct(
            from: start,
            initialAzimuth: Geodesic.inverse(from: start, to: circle.center).initialAzimuth, distanceMeters: meters)
        for place in [start, spike, start] {
            fix(place, accuracy: 5)
            wait(near([30]))
        }
        place = start
        go(near([3000]), near([15]))
    }

    /// Two fixes elsewhere, one after the other, and back.
    private mutating func twoSpikes() {
        let start = place
        (accuracy, scatterMeters, everySeconds) = (near([5, 10]), 2, near([60]))
        stay(near([300]))
        let legs = near([150, 300, 300])
        for _ in 0..<2 {
            resume(after: legs)
            fix(away(legs * near([15, 17, 20]), from: start))
        }
        resume(after: legs)
        place = away(near([20, 250]), from: start)
        stay(near([400]))
    }

    /// Some dozen meters on foot, slowly, between fast ways.
    private mutating func stroll() {
        (accuracy, scatterMeters, everySeconds) = (near([5, 8]), 1, near([10]))
        go(near([700]), near([5, 8]))
        go(near([50, 60, 75]), near([0.25, 0.3, 0.35, 0.4]))
        go(near([700]), near([5, 8]))
    }

    /// From a place round it for half an hour, and back.
    private mutating func longRound() {
        let start = place
        (accuracy, scatterMeters, everySeconds) = (5, 1, 20)
        stay(near([300]))
        for step in 0..<Int.random(in: 116...136, using: &dice) {
            place = Geodesic.direct(from: start, initialAzimuth: Double(step) * 9, distanceMeters: 110)
            fix(place)
            wait(12)
        }
        place = start
        stay(near([300]))
        go(near([1500]), 5)
    }
}
