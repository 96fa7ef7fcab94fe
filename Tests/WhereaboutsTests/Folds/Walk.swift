import Geodesy
import TestSupport

@testable import Whereabouts

/// A track written by hand: stay here, go there, a fix every so many seconds with a few meters of scatter.
struct Walk {
    private(set) var fixes: [Fix] = []
    private(set) var now: Timestamp
    private(set) var place: Coordinate
    var everySeconds: Int64 = 60
    var accuracy = 10.0
    /// Meters a fix may lie off the true place.
    var scatterMeters = 5.0
    private var dice: SplitMix

    init(from place: Coordinate, at start: Timestamp, seed: UInt64 = 1) {
        (self.place, now) = (place, start)
        dice = SplitMix(seed)
    }

    mutating func stay(seconds: Int64) {
        let end = now.adding(seconds: seconds)
        while now < end {
            report(place)
            now = now.adding(seconds: everySeconds)
        }
        now = end
    }

    /// Silence, at the same place.
    mutating func pause(seconds: Int64) { now = now.adding(seconds: seconds) }

    /// Along the geodesic at even speed.
    mutating func go(to target: Coordinate, seconds: Int64) {
        let start = now
        let way = Geodesic.inverse(from: place, to: target)
        while now < start.adding(seconds: seconds) {
            let share = now.seconds(since: start) / Double(seconds)
            report(
                Geodesic.direct(
                    from: place, initialAzimuth: way.initialAzimuth, distanceMeters: way.distanceMeters * share))
            now = now.adding(seconds: everySeconds)
        }
        now = start.adding(seconds: seconds)
        place = target
    }

    /// One fix elsewhere, out of the blue.
    mutating func report(_ somewhere: Coordinate) {
        let off = Geodesic.direct(
            from: somewhere, initialAzimuth: Double.random(in: -180...180, using: &dice),
            distanceMeters: Double.random(in: 0...1, using: &dice) * scatterMeters)
        fixes.append(Fix(timestamp: now, coordinate: off, horizontalAccuracy: accuracy))
    }
}
