internal import Whereabouts

/// The significant-change rule: far enough from the last notification, and not too soon after it.
struct SignificantChange {
    private var last: (fix: CLLocation, moment: Timestamp)?

    /// Whether this fix is notified; the first one always is.
    mutating func take(_ fix: CLLocation, at moment: Timestamp, profile: SimulationProfile) -> Bool {
        if let last {
            guard moment.seconds(since: last.moment) >= profile.significantSeconds,
                let meters = last.fix.coordinate.distanceMeters(to: fix.coordinate),
                meters >= profile.significantMeters
            else { return false }
        }
        last = (fix, moment)
        return true
    }
}
