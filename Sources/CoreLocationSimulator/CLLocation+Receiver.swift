internal import Foundation
internal import Geodesy

extension CLLocation {
    /// Whether the source itself calls the coordinate good.
    var hasPlace: Bool { horizontalAccuracy >= 0 && CLLocationCoordinate2DIsValid(coordinate) }

    /// The fix as a less exact receiver sees it; the same one when it is less exact already.
    ///
    /// The error is drawn from the seed and the fix's time, so that it does not depend on other apps' requests.
    func blurred(toSigma sigma: Double, seed: UInt64) -> CLLocation {
        guard horizontalAccuracy < sigma, let place = coordinate.place else { return self }
        var noise = SeededNoise(seed: seed, purpose: 2, place: timestamp.milliseconds)
        let added = (sigma * sigma - horizontalAccuracy * horizontalAccuracy).squareRoot()
        let error = noise.displacement(sigma: added)
        let seen = Geodesic.direct(from: place, initialAzimuth: error.azimuth, distanceMeters: error.meters)
        return with(latitude: seen.latitude, longitude: seen.longitude, accuracy: sigma, floor: floor)
    }

    /// The fix as an app with reduced accuracy is given it: the jittered center of its cell, nothing else.
    func reduced(seed: UInt64, profile: SimulationProfile) -> CLLocation {
        let cell = profile.reducedCellDegrees
        let (row, column) = ((coordinate.latitude / cell).rounded(.down), (coordinate.longitude / cell).rounded(.down))
        var noise = SeededNoise(seed: seed, purpose: 3, place: Int64(row) << 32 ^ Int64(column))
        func jitter() -> Double { 0.5 + (noise.uniform() - 0.5) * profile.reducedJitterRatio }
        let latitude = (row + jitter()) * cell
        let longitude = (column + jitter()) * cell
        return CLLocation(
            coordinate: CLLocationCoordinate2D(
                latitude: min(max(latitude, -90), 90), longitude: min(max(longitude, -180), 180)),
            altitude: 0, horizontalAccuracy: profile.reducedAccuracyMeters, verticalAccuracy: -1, course: -1,
            courseAccuracy: -1, speed: -1, speedAccuracy: -1, timestamp: timestamp,
            sourceInfo: sourceInformation
                ?? CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: false))
    }

    /// The same fix on another floor, or on none that is known.
    func with(floor: CLFloor?) -> CLLocation {
        if floor == self.floor { return self }
        return with(
            latitude: coordinate.latitude, longitude: coordinate.longitude, accuracy: horizontalAccuracy, floor: floor)
    }

    private func with(latitude: Double, longitude: Double, accuracy: Double, floor: CLFloor?) -> CLLocation {
        CLLocation(
            all: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: altitude,
            ellipsoidalAltitude: ellipsoidalAltitude, floor: floor, horizontalAccuracy: accuracy,
            verticalAccuracy: verticalAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
            speedAccuracy: speedAccuracy, timestamp: timestamp, sourceInformation: sourceInformation)
    }
}
