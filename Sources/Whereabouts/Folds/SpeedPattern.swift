/// The features of a movement from which its mode is derived.
struct SpeedPattern {
    /// The median and the 90th percentile of the speed, in meters per second. They are weighted by distance and not by time,
    /// so that the walk to a train counts less than the ride.
    let usual, fast: Double
    let meters, seconds: Double
    /// Halts between stretches at the usual speed that slow down for longer than a car does, as trains do.
    let stationStops: Int
    /// All near stops except at the ends.
    let halts: Int
    /// The shorter of the distances at the start and at the end, in meters, on wheels and below the usual speed. The drive
    /// to a motorway leads through a town; a train is fast soon after its platform.
    let townMeters: Double
    /// The 90th percentile of the speed of a minute, divided by the 25th.
    let unevenness: Double
    /// `nil` if the movement is too short.
    let turnDegreesPerKilometer: Double?
    /// Whether fixes are close enough in time to show halts.
    let showsHalts: Bool

    private struct Step {
        let meters, seconds: Double
        var speed: Double { meters / seconds }
    }

    /// Below this speed, in meters per second, a person waits.
    private static let waitingSpeed = 0.3
    /// Below this share of the usual speed, the movement halts.
    private static let haltShare = 0.3
    /// The longest halt in seconds; a longer one is a traffic jam or a terminus.
    private static let longestHalt = 300.0
    /// From this share of the usual speed on, a halt is over.
    private static let cruiseShare = 0.75
    /// A train takes at least this many seconds to slow down and to speed up, at 0.3 to 1 m/s²; a car takes fewer.
    private static let leastSlowing = 20.0
    private static let mostSlowing = 180.0
    /// The greatest speed on foot, in meters per second.
    private static let footSpeed = 3.0
    /// Fixes further apart do not show a halt of a minute.
    private static let haltFixSeconds = 45.0

    /// - Parameter steps: The steps of one movement in order of time, each longer than noise.
    init(_ steps: [(meters: Double, seconds: Double)], turnDegreesPerKilometer: Double?) {
        let steps = steps.filter { $0.seconds > 0 }.map { Step(meters: $0.meters, seconds: $0.seconds) }
        self.turnDegreesPerKilometer = turnDegreesPerKilometer
        meters = steps.reduce(0) { $0 + $1.meters }
        seconds = steps.reduce(0) { $0 + $1.seconds }
        let moving = Self.sorted(steps)
        let usual = Self.quantile(0.5, of: moving)
        self.usual = usual
        fast = Self.quantile(0.9, of: moving)
        // Steps are joined to minutes, in which a receiver's errors matter less than in ten seconds.
        let minutes = Self.sorted(Self.joined(steps))
        unevenness = Self.quantile(0.9, of: minutes) / Self.quantile(0.25, of: minutes)
        let spacing = steps.map(\.seconds).sorted()
        showsHalts = !spacing.isEmpty && spacing[spacing.count / 2] <= Self.haltFixSeconds
        (halts, stationStops) = Self.halts(in: steps, usual: usual)
        townMeters = min(Self.townMeters(steps, usual), Self.townMeters(steps.reversed(), usual))
    }

    private static func sorted(_ steps: [Step]) -> [Step] {
        let moving = steps.filter { $0.speed > waitingSpeed }.sorted { $0.speed < $1.speed }
        return moving.isEmpty ? [Step(meters: waitingSpeed, seconds: 1)] : moving
    }

    /// The speed at or below which a share of the distance was covered.
    private static func quantile(_ share: Double, of sorted: [Step]) -> Double {
        let total = sorted.reduce(0) { $0 + $1.meters }
        var sum = 0.0
        for step in sorted {
            sum += step.meters
            if sum >= share * total { return step.speed }
        }
        return sorted[sorted.count - 1].speed
    }

    private static func joined(_ steps: [Step]) -> [Step] {
        var joined: [Step] = []
        for step in steps {
            if let last = joined.last, last.seconds < 60 {
                joined[joined.count - 1] = Step(meters: last.meters + step.meters, seconds: last.seconds + step.seconds)
            } else {
                joined.append(step)
            }
        }
        return joined
    }

    private static func halts(in steps: [Step], usual: Double) -> (all: Int, stations: Int) {
        var (all, stations, counted) = (0, 0, -1)
        var index = 0
        while index < steps.count {
            guard steps[index].speed < haltShare * usual else {
                index += 1
                continue
            }
            let start = index
            var seconds = 0.0
            while index < steps.count, steps[index].speed < haltShare * usual {
                seconds += steps[index].seconds
                index += 1
            }
            // Slow stretches at the ends, such as a harbor, are no halts; a halt seen twice counts once.
            let gone = steps[..<start].lastIndex { $0.speed >= cruiseShare * usual }
            guard let gone, gone > counted, steps[index...].contains(where: { $0.speed >= cruiseShare * usual }) else {
                continue
            }
            counted = gone
            all += 1
            guard seconds <= longestHalt else { continue }
            let before = slowing(steps[..<start].reversed(), usual)
            let after = slowing(Array(steps[index...]), usual)
            if let before, let after, before + after + seconds >= 2 * leastSlowing + minimumDwell { stations += 1 }
        }
        return (all, stations)
    }

    /// The shortest time that a train's doors are open, in seconds.
    private static let minimumDwell = 20.0

    /// Seconds from a halt to the usual speed; `nil` if it is not reached soon.
    private static func slowing(_ steps: [Step], _ usual: Double) -> Double? {
        var seconds = 0.0
        for step in steps {
            if step.speed >= cruiseShare * usual { return seconds }
            seconds += step.seconds
            if seconds > mostSlowing || step.speed < haltShare * usual { return nil }
        }
        return nil
    }

    private static func townMeters(_ steps: [Step], _ usual: Double) -> Double {
        var meters = 0.0
        for step in steps {
            if step.speed >= cruiseShare * usual { break }
            if step.speed > footSpeed || step.meters > footSpeed * step.seconds { meters += step.meters }
        }
        return meters
    }
}
