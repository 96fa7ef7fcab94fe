internal import Foundation
internal import Geodesy
internal import Whereabouts

extension SimulatedDevice {
    /// Delivers a fix that is not on the track, for example from a real receiver. Its timestamp may differ from the
    /// clock's time.
    public func receiveLive(_ fix: CLLocation) { clock.lock.withLock { receive(fix) } }
}

/// Where a device on a track is between the track's fixes.
struct TrackLookUp {
    private let fixes: [CLLocation]
    private let gapSeconds: Double

    init(track: SimulatedTrack, gapSeconds: Double) { (fixes, self.gapSeconds) = (track.fixes, gapSeconds) }

    /// A fix of this moment: on the geodesic between the fixes around it, or at the last one. `nil` before the first
    /// fix and in a gap that is too long.
    func fix(at moment: Timestamp) -> CLLocation? {
        let milliseconds = moment.milliseconds
        var (low, high) = (0, fixes.count)
        while low < high {
            let middle = (low + high) / 2
            if fixes[middle].timestamp.milliseconds <= milliseconds { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let before = fixes[low - 1]
        guard low < fixes.count else { return before.standing(at: moment, before.coordinate.place) }
        let after = fixes[low]
        let gap = after.timestamp.timeIntervalSince(before.timestamp)
        guard gap <= gapSeconds, let from = before.coordinate.place, let to = after.coordinate.place else { return nil }
        let way = Geodesic.inverse(from: from, to: to)
        let part = Double(milliseconds - before.timestamp.milliseconds) / 1000 / gap
        let place = Geodesic.direct(
            from: from, initialAzimuth: way.initialAzimuth, distanceMeters: way.distanceMeters * part)
        return before.standing(at: moment, place)
    }
}

extension CLLocation {
    /// The same fix at another time and place.
    fileprivate func standing(at moment: Timestamp, _ place: Coordinate?) -> CLLocation? {
        guard let place else { return nil }
        return CLLocation(
            all: CLLocationCoordinate2D(latitude: place.latitude, longitude: place.longitude), altitude: altitude,
            ellipsoidalAltitude: ellipsoidalAltitude, floor: floor, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
            speedAccuracy: speedAccuracy, timestamp: moment.date, sourceInformation: sourceInformation)
    }
}
