/// The likelihood of each mode of travel for a pattern of speeds, by Bayes' rule.
enum ModeLikelihood {
    /// The median speed of a way and its 90th percentile in meters per second, the spread of both as the logarithm of a
    /// factor, and how common such ways are.
    private struct Habit {
        let mode: Trip.Mode
        let usual, fast, spread, share: Double
        var isOnMotorway = false
    }

    /// People walk at 1.2 to 1.5 m/s (Bohannon and Andrews 2011, DOI 10.1016/j.physio.2010.12.004) and run at 2.5 to 4; cycle
    /// at 15 to 25 km/h (Schleinitz et al. 2017, DOI 10.1016/j.ssci.2015.07.027); drive through towns at 30 to 50 km/h between
    /// stops and on motorways at 100 to 130 (the phases of the WLTC, UN GTR 15); regional trains make 70 to 140 between
    /// stations, express trains up to 300; ferries 14 to 22 knots; airliners 700 to 900 km/h.
    private static let habits = [
        Habit(mode: .walk, usual: 1.35, fast: 1.6, spread: 0.25, share: 0.35),
        Habit(mode: .run, usual: 2.9, fast: 3.4, spread: 0.22, share: 0.04),
        Habit(mode: .cycle, usual: 5, fast: 7, spread: 0.3, share: 0.14),
        Habit(mode: .drive, usual: 12, fast: 17, spread: 0.4, share: 0.37),
        Habit(mode: .drive, usual: 31, fast: 35, spread: 0.18, share: 0.06, isOnMotorway: true),
        Habit(mode: .train, usual: 26, fast: 35, spread: 0.35, share: 0.08),
        Habit(mode: .train, usual: 55, fast: 66, spread: 0.3, share: 0.02),
        Habit(mode: .flight, usual: 210, fast: 240, spread: 0.35, share: 0.02),
        Habit(mode: .ferry, usual: 9, fast: 10, spread: 0.25, share: 0.005),
    ]

    /// A likelihood to the power of 0.75. The features of a way depend on each other, so their product is too certain.
    private static func tempered(_ likelihood: Double) -> Double { (likelihood * likelihood.squareRoot()).squareRoot() }

    /// The probability of each of `Trip.Mode.allCases`; the sum is 1.
    static func all(of pattern: SpeedPattern) -> [Double] {
        // For a ratio near 1, half the difference of the ratio and its inverse approximates its logarithm.
        func off(_ ratio: Double, _ spread: Double) -> Double { (ratio - 1 / ratio) / (2 * spread) }
        var likelihoods = [Double](repeating: 0, count: Trip.Mode.allCases.count)
        for habit in habits {
            let a = off(pattern.usual / habit.usual, habit.spread)
            let b = off(pattern.fast / habit.fast, 1.3 * habit.spread)
            // Heavy tails, as in Student's t-distribution.
            let fit = 1 + a * a + b * b
            let fits = habit.share / (habit.spread * habit.spread * fit * fit * fit)
            let index = Trip.Mode.allCases.firstIndex(of: habit.mode) ?? 0
            likelihoods[index] += fits * factor(of: habit, pattern)
        }
        return normalized(likelihoods.map(tempered))
    }

    static func normalized(_ likelihoods: [Double]) -> [Double] {
        let sum = likelihoods.reduce(0, +)
        return sum > 0 ? likelihoods.map { $0 / sum } : likelihoods.map { _ in 1 / Double(likelihoods.count) }
    }

    // MARK: Evidence other than speeds

    /// The greatest distance between the halts of a regional train.
    private static let stationMeters = 15_000.0
    /// The usual drive to or from a motorway.
    private static let townMeters = 1200.0
    private static let halting = 4.0
    /// The greatest ``SpeedPattern/unevenness`` of a ship, which keeps its speed.
    private static let shipUnevenness = 1.25
    private static let shipTurns = 25.0
    /// The longer a course is even, the less likely it is a street's.
    private static let shipSeconds = 600.0
    private static let mostShip = 200.0

    private static func factor(of habit: Habit, _ pattern: SpeedPattern) -> Double {
        var factor = 1.0
        switch habit.mode {
        case .train:
            if pattern.showsHalts {
                if pattern.stationStops > 0 {
                    for _ in 0..<min(3, pattern.stationStops) { factor *= halting }
                } else if pattern.meters > stationMeters, habit.usual < 40 {
                    factor *= 0.35
                }
            }
            factor *= pattern.townMeters > townMeters ? 0.4 : 2
            // A train in a town does not halt at every street.
            if pattern.halts > 3, pattern.meters / Double(pattern.halts + 1) < 700 { factor *= 0.1 }
        case .drive where habit.isOnMotorway:
            if pattern.townMeters > townMeters { factor *= 3 }
            if pattern.stationStops >= 2 { factor *= 0.2 }
        case .ferry:
            guard let turns = pattern.turnDegreesPerKilometer else { return factor }
            if pattern.halts > 2 || pattern.unevenness > 2 * shipUnevenness { return 0.1 }
            if pattern.unevenness <= shipUnevenness, turns <= shipTurns {
                let times = pattern.seconds / shipSeconds
                factor *= min(mostShip, 1 + times + times * times * times)
            }
        default: break
        }
        return factor
    }
}
