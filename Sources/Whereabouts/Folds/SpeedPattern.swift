/// How somebody moved on a way: what its mode is made out from.
struct SpeedPattern {
    /// The speed that half of the way was made at or below, and the one nine tenths of it were, in meters a second. By length
    /// and not by time, so that the walk to a train does not count as much as the ride.
    let usual, fast: Double
    let meters, seconds: Double
    /// Halts between stretches at the usual speed, as trains make them: slowing for longer than a car does.
    let stationStops: Int
    /// All times at which the way came nearly to rest, but for its ends.
    let halts: Int
    /// Meters at the start and at the end, the shorter of the two, before the speed came near the usual one, on wheels:
    /// whoever drives to a motorway does so through a town, a train is fast when it has left its platform.
    let townMeters: Double
    /// The speed of a minute that nine tenths were made at or below, over that of a quarter.
    let unevenness: Double
    /// `nil` when the way is too short to tell.
    let turnDegreesPerKilometer: Double?
    /// Whether fixes are close enough in time to show halts.
    let showsHalts: Bool

    private struct Step {
        let meters, seconds: Double
        var speed: Double { meters / seconds }
    }

    /// Slower than this was waiting.
    private static let waitingSpeed = 0.3
    /// Slower than this share of the usual speed is a halt …
    private static let haltShare = 0.3
    /// … of this many seconds at most; a longer one is a stop in a jam or at a terminus.
    private static let longestHalt = 300.0
    /// At this share of the usual speed and more the way goes on.
    private static let cruiseShare = 0.75
    /// A train slows and gathers speed at 0.3 to 1 m/s², for at least so many seconds each; a car in a few.
    private static let leastSlowing = 20.0
    private static let mostSlowing = 180.0
    /// On foot at most.
    private static let footSpeed = 3.0
    /// Fixes further apart do not show a halt of a minute.
    private static let haltFixSeconds = 45.0

    /// - Parameter steps: of one way, in the order of time, each long enough to be movement and not noise.
    init(_ steps: [(meters: Double, seconds: Double)], turnDegreesPerKilometer: Double?) {
        let steps = steps.filter { $0.seconds > 0 }.map { Step(meters: $0.meters, seconds: $0.seconds) }
        self.turnDegreesPerKilometer = turnDegreesPerKilometer
        meters = steps.reduce(0) { $0 + $1.meters }
        seconds = steps.reduce(0) { $0 + $1.seconds }
        let moving = Self.sorted(steps)
        let usual = Self.quantile(0.5, of: moving)
        self.usual = usual
        fast = Self.quantile(0.9, of: moving)
        // A minute is longer than what a receiver's errors make of ten seconds.
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

    /// The speed that a share of the length was made at or below.
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
            // What is slow at the ends, as a harbour, is no halt on the way, nor are two where one is seen twice.
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

    /// Doors are open for as long as this at least.
    private static let minimumDwell = 20.0

    /// Seconds between a halt and the usual speed; `nil` when it is not reached soon.
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
