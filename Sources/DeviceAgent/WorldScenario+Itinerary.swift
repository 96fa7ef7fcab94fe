internal import CoreLocation
internal import Foundation
internal import Geodesy
internal import Whereabouts

extension WorldScenario.Phones {
    /// The agenda begun again until so many hours are over.
    func itinerary(
        from home: Coordinate, _ steps: [WorldScenario.Step], hours: Double, seed: UInt64
    ) -> SimulatedItinerary {
        var legs: [SimulatedItinerary.Leg] = []
        var seconds = 0.0
        var here = home
        while seconds < hours * 3600 {
            for step in steps {
                switch step {
                case .stay(let duration):
                    legs.append(.stay(seconds: duration))
                    seconds += duration
                case .outage(let duration):
                    legs.append(.outage(seconds: duration))
                    seconds += duration
                case .move(let east, let north, let speed):
                    let goal = home.moved(east: east, north: north)
                    legs.append(.move(to: CLLocationCoordinate2D(goal), metersPerSecond: speed))
                    // At least a second, so that steps that go nowhere end.
                    seconds += max(1, Geodesic.distanceMeters(from: here, to: goal) / speed)
                    here = goal
                }
            }
        }
        return SimulatedItinerary(
            start: CLLocationCoordinate2D(home), legs: legs, intervalSeconds: everySeconds,
            sigmaMeters: sigmaMeters, driftMeters: driftMeters,
            accuracyMeters: max(5, (sigmaMeters * sigmaMeters + driftMeters * driftMeters).squareRoot()),
            noiseSeed: seed)
    }
}

extension Coordinate {
    /// The place so many meters away, by the geodesic that begins in that direction.
    func moved(east: Double, north: Double) -> Coordinate {
        Geodesic.direct(
            from: self, initialAzimuth: atan2(east, north) * 180 / .pi,
            distanceMeters: (east * east + north * north).squareRoot())
    }
}

extension CLLocationCoordinate2D {
    init(_ coordinate: Coordinate) {
        self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}
