import Geodesy
import Glibc
import TestSupport
import Whereabouts

/// A movement, second by second, with published speeds of its mode of travel, and the fixes of a phone on it.
///
/// - walk: 1.2 to 1.45 m/s (Bohannon and Andrews 2011, DOI 10.1016/j.physio.2010.12.004), waiting at one street in three.
/// - run: 2.4 to 3.8 m/s, a recreational runner's 4:20 to 7 minutes a kilometer, with hardly a stop.
/// - cycle: 15 km/h on the average, 12 to 25 (Schleinitz et al. 2017, DOI 10.1016/j.ssci.2015.07.027), a halt each 800 m.
/// - city: EPA's Urban Dynamometer Driving Schedule has 17 halts in 12 km, 31.5 km/h on the average with them, 50 to 60 km/h
///   between (40 CFR 86 Appendix I); its accelerations stay below 1.5 m/s².
/// - motorway: through a town as above, then as the extra-high phase of the WLTC and the Artemis motorway cycle, 100 to 135
///   km/h with the scatter of traffic (UN GTR 15; André 2004, DOI 10.1016/j.scitotenv.2004.04.070).
/// - train: a regional train with a halt each 4 to 12 km, dwelling 30 to 75 s, gathering speed at 0.4 to 0.7 m/s² to 90 to 140
///   km/h (TCRP Report 165, chapter 8); one in four is an express, 160 to 280 km/h with halts 40 to 90 km apart.
/// - ferry: out of the harbour at 4 to 6 knots, then 14 to 21 knots within some percent.
/// - flight: climbing from 75 m/s to cruise at 210 to 245 m/s, and down again (EUROCONTROL's Aircraft Performance Database,
///   A320 and B738).
struct Ride {
    enum Kind: String, CaseIterable, Sendable {
        case walk, run, cycle, city, motorway, train, ferry, flight
        var mode: Trip.Mode {
            switch self {
            case .walk: .walk
            case .run: .run
            case .cycle: .cycle
            case .city, .motorway: .drive
            case .train: .train
            case .ferry: .ferry
            case .flight: .flight
            }
        }
    }

    /// Meters a second, one for each second.
    private var speeds: [Double] = []
    private var dice: SplitMix
    private let kind: Kind

    init(_ kind: Kind, seed: UInt64) {
        self.kind = kind
        dice = SplitMix(seed)
        switch kind {
        case .walk: cruise(meters: uniform(500, 3500), uniform(1.2, 1.45), scatter: 0.08, haltEach: 300, 5...40, 1)
        case .run: cruise(meters: uniform(3000, 12_000), uniform(2.4, 3.8), scatter: 0.07, haltEach: 3000, 5...30, 1)
        case .cycle: cruise(meters: uniform(1500, 10_000), uniform(3.8, 6.2), scatter: 0.18, haltEach: 800, 8...40, 0.6)
        case .city: town(meters: uniform(3000, 14_000))
        case .motorway:
            town(meters: uniform(1500, 5000))
            cruise(meters: uniform(15_000, 120_000), uniform(28, 37), scatter: 0.08, haltEach: .infinity, 0...0, 1)
            town(meters: uniform(1500, 6000))
        case .train:
            let isExpress = chance(0.25)
            let speed = isExpress ? uniform(44, 78) : uniform(25, 39)
            for _ in 0..<(isExpress ? 2 : Int(uniform(3, 9))) {
                let leg = isExpress ? uniform(40_000, 90_000) : uniform(4000, 12_000)
                cruise(meters: leg, speed, scatter: 0.02, haltEach: .infinity, 0...0, uniform(0.4, 0.7))
                wait(isExpress ? uniform(90, 240) : uniform(30, 75))
            }
        case .ferry:
            cruise(meters: uniform(400, 1200), uniform(2, 3.2), scatter: 0.03, haltEach: .infinity, 0...0, 0.1)
            cruise(meters: uniform(8000, 60_000), uniform(7.2, 10.8), scatter: 0.02, haltEach: .infinity, 0...0, 0.1)
            cruise(meters: uniform(400, 1200), uniform(2, 3.2), scatter: 0.03, haltEach: .infinity, 0...0, 0.1)
        case .flight:
            let cruise = uniform(210, 245)
            let climb = Int(uniform(1000, 1500))
            for second in 0..<climb { speeds.append(75 + (cruise - 75) * Double(second) / Double(climb)) }
            for _ in 0..<Int(uniform(1200, 9000)) { speeds.append(cruise * (1 + 0.01 * uniform(-1, 1))) }
            for second in 0..<climb { speeds.append(cruise - (cruise - 70) * Double(second) / Double(climb)) }
        }
    }

    // MARK: Speeds

    private mutating func uniform(_ low: Double, _ high: Double) -> Double { .random(in: low...high, using: &dice) }
    private mutating func chance(_ share: Double) -> Bool { uniform(0, 1) < share }
    private mutating func wait(_ seconds: Double) { speeds += Array(repeating: 0, count: Int(seconds)) }

    /// From rest to a speed that wanders about `speed`, and to rest again, with halts between.
    private mutating func cruise(
        meters: Double, _ speed: Double, scatter: Double, haltEach: Double, _ halt: ClosedRange<Double>,
        _ acceleration: Double
    ) {
        var (left, now, wander, untilHalt) = (meters, 0.0, 0.0, Double.infinity)
        func drawn(_ dice: inout SplitMix) -> Double {
            haltEach.isFinite ? haltEach * Double.random(in: 0.4...1.6, using: &dice) : .infinity
        }
        untilHalt = drawn(&dice)
        while left > 0 {
            wander = 0.97 * wander + 0.24 * scatter * uniform(-1, 1) * 1.7
            let braking = (2 * acceleration * max(0.2, min(left, untilHalt))).squareRoot()
            now = max(0.3, min(now + acceleration, speed * (1 + wander), braking))
            speeds.append(now)
            left -= now
            untilHalt -= now
            if untilHalt <= 0.5, left > 20 {
                wait(uniform(halt.lowerBound, halt.upperBound))
                now = 0
                untilHalt = drawn(&dice)
            }
        }
    }

    private mutating func town(meters: Double) {
        cruise(meters: meters, uniform(12, 16), scatter: 0.12, haltEach: 700, 6...45, 1.4)
    }

    // MARK: Place

    /// The reports of a phone that locates itself every `everySeconds`, and at most once per `meters` of way.
    func fixes(from start: Coordinate, at time: Timestamp, everySeconds: Int, meters least: Double) -> [StoredFix] {
        var dice = self.dice
        func uniform(_ low: Double, _ high: Double) -> Double { .random(in: low...high, using: &dice) }
        // Streets turn at corners, tracks and motorways in wide bends, ships and aircraft at way points.
        let (each, most): (Double, Double) =
            switch kind {
            case .walk, .run: (120, 70)
            case .cycle, .city: (300, 70)
            case .motorway, .train: (1500, 14)
            case .ferry: (6000, 25)
            case .flight: (120_000, 20)
            }
        var (place, azimuth, untilTurn) = (start, uniform(-180, 180), each)
        let general = azimuth
        var (found, last, error): ([StoredFix], Coordinate?, (Double, Double)) = ([], nil, (0, 0))
        for (second, speed) in speeds.enumerated() {
            if speed > 0 {
                place = Geodesic.direct(from: place, initialAzimuth: azimuth, distanceMeters: speed)
                untilTurn -= speed
            }
            if untilTurn <= 0 {
                azimuth = general + uniform(-most, most)
                untilTurn = each * uniform(0.4, 1.6)
            }
            let accuracy = 8.0
            error = (0.95 * error.0 + 0.3 * 4 * uniform(-1, 1), 0.95 * error.1 + 0.3 * 4 * uniform(-1, 1))
            guard second % everySeconds == 0 else { continue }
            if let last, Geodesic.distanceMeters(from: last, to: place) < least { continue }
            last = place
            let seen = Geodesic.direct(
                from: place, initialAzimuth: atan2(error.0, error.1) * 180 / .pi,
                distanceMeters: hypot(error.0, error.1))
            let moment = time.adding(seconds: Int64(second))
            found.append(
                StoredFix(
                    device: MemoryTimeline.device, timestamp: moment, coordinate: seen, horizontalAccuracy: accuracy,
                    receivedAt: moment))
        }
        return found
    }

    var seconds: Int64 { Int64(speeds.count) }
}
