public import Foundation
internal import Geodesy

/// A way made up: stays and straight (geodesic) legs at even speed, with noise and outages, all from one seed.
///
/// - Note: a leg over the antimeridian or a pole is the shortest way, as the geodesic is.
public struct SimulatedItinerary: Sendable {
    /// One part of the way.
    public enum Leg: Sendable {
        case stay(seconds: Double)
        case move(to: CLLocationCoordinate2D, metersPerSecond: Double)
        /// No fix for this long; the device stays.
        case outage(seconds: Double)
    }

    public var start: CLLocationCoordinate2D
    public var legs: [Leg]
    /// Seconds between fixes.
    public var intervalSeconds: Double
    /// One sigma of the noise east and north; 0 for none.
    public var sigmaMeters: Double
    /// One sigma of a slow error east and north, which forgets itself within about ten minutes; 0 for none.
    public var driftMeters: Double
    /// The accuracy each fix claims.
    public var accuracyMeters: Double
    public var noiseSeed: UInt64

    public init(
        start: CLLocationCoordinate2D, legs: [Leg], intervalSeconds: Double = 1, sigmaMeters: Double = 0,
        driftMeters: Double = 0, accuracyMeters: Double = 5, noiseSeed: UInt64 = 0
    ) {
        (self.start, self.legs, self.intervalSeconds) = (start, legs, intervalSeconds)
        (self.sigmaMeters, self.driftMeters) = (sigmaMeters, driftMeters)
        (self.accuracyMeters, self.noiseSeed) = (accuracyMeters, noiseSeed)
    }

    /// The fixes, the first one at `departure`. Costs a few geodesics each.
    ///
    /// - Throws: ``SimulatedTrackError`` when a coordinate is no place, or an interval or a speed is not positive.
    public func track(departure: Date) throws -> SimulatedTrack {
        guard intervalSeconds >= 0.001, var here = start.place else {
            throw SimulatedTrackError(description: "An itinerary begins at a place and has an interval above 0.")
        }
        var fixes: [CLLocation] = []
        var drift = SlowDrift(sigmaMeters: driftMeters, intervalSeconds: intervalSeconds)
        // The leg's beginning and the next fix, in seconds after the departure.
        var legBegin = 0.0
        var count = 0.0
        func emit(until end: Double, _ place: (Double) -> (Coordinate, course: Double, speed: Double)?) {
            while count * intervalSeconds < end {
                let seconds = count * intervalSeconds
                let error = drift.next(seed: noiseSeed, at: departure + seconds)
                if let (coordinate, course, speed) = place(seconds) {
                    fixes.append(
                        fix(at: coordinate.moved(by: error), course: course, speed: speed, departure + seconds))
                }
                count += 1
            }
            legBegin = end
        }
        for leg in legs {
            switch leg {
            case .stay(let seconds):
                emit(until: legBegin + seconds) { _ in (here, -1, 0) }
            case .outage(let seconds):
                emit(until: legBegin + seconds) { _ in nil }
            case .move(let destination, let speed):
                guard let there = destination.place, speed > 0 else {
                    throw SimulatedTrackError(description: "A leg goes to a place at a speed above 0.")
                }
                let way = Geodesic.inverse(from: here, to: there)
                let (from, begin) = (here, legBegin)
                emit(until: begin + way.distanceMeters / speed) { seconds in
                    let coordinate = Geodesic.direct(
                        from: from, initialAzimuth: way.initialAzimuth, distanceMeters: (seconds - begin) * speed)
                    return (coordinate, way.initialAzimuth.inCircle, speed)
                }
                here = there
            }
        }
        // The end itself, so that a way that ends with a leg arrives.
        emit(until: legBegin + intervalSeconds) { _ in (here, -1, 0) }
        return SimulatedTrack(fixes)
    }

    private func fix(at coordinate: Coordinate, course: Double, speed: Double, _ date: Date) -> CLLocation {
        var place = coordinate
        if sigmaMeters > 0 {
            var noise = SeededNoise(seed: noiseSeed, purpose: 1, place: date.milliseconds)
            let error = noise.displacement(sigma: sigmaMeters)
            place = Geodesic.direct(from: coordinate, initialAzimuth: error.azimuth, distanceMeters: error.meters)
        }
        return CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: place.latitude, longitude: place.longitude), altitude: 0,
            horizontalAccuracy: accuracyMeters, verticalAccuracy: -1, course: course, courseAccuracy: -1,
            speed: speed, speedAccuracy: -1, timestamp: date,
            sourceInfo: CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false))
    }
}

/// An error that changes slowly: a Gauss-Markov process of first order, east and north.
private struct SlowDrift {
    /// After this long a third of it is left.
    static let memorySeconds = 600.0

    let sigmaMeters: Double
    let kept: Double
    var east = 0.0
    var north = 0.0
    var hasBegun = false

    init(sigmaMeters: Double, intervalSeconds: Double) {
        self.sigmaMeters = sigmaMeters
        kept = exp(-intervalSeconds / Self.memorySeconds)
    }

    mutating func next(seed: UInt64, at date: Date) -> (east: Double, north: Double) {
        guard sigmaMeters > 0 else { return (0, 0) }
        var noise = SeededNoise(seed: seed, purpose: 6, place: date.milliseconds)
        // The first one is as large as any other.
        let fresh = hasBegun ? (1 - kept * kept).squareRoot() : 1
        let push = noise.displacement(sigma: sigmaMeters * fresh)
        east = (hasBegun ? kept * east : 0) + push.meters * sin(push.azimuth * .pi / 180)
        north = (hasBegun ? kept * north : 0) + push.meters * cos(push.azimuth * .pi / 180)
        hasBegun = true
        return (east, north)
    }
}

extension Coordinate {
    fileprivate func moved(by error: (east: Double, north: Double)) -> Coordinate {
        guard error.east != 0 || error.north != 0 else { return self }
        return Geodesic.direct(
            from: self, initialAzimuth: atan2(error.east, error.north) * 180 / .pi,
            distanceMeters: (error.east * error.east + error.north * error.north).squareRoot())
    }
}
