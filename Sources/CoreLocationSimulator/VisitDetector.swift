internal import Whereabouts

/// Finds stays among fixes.
///
/// A stay is a dwell within a radius; it ends when the device has been well away for a while. A stay that had begun
/// before the first fix has no arrival, and is reported on departure only.
struct VisitDetector {
    private struct Candidate {
        let anchor: CLLocation
        let begin: Timestamp
        /// Whether it began with the first fix of all, so that the true beginning is unknown.
        let beganUnseen: Bool
    }

    private struct Stay {
        let center: CLLocation
        let arrival: Timestamp?
        var lastInside: Timestamp
    }

    private var hasSeenAny = false
    private var candidate: Candidate?
    private var stay: Stay?
    private var awaySince: Timestamp?

    /// Takes one fix; returns the visit that it completes. Fixes less accurate than the radius are ignored.
    mutating func take(_ fix: CLLocation, at moment: Timestamp, profile: SimulationProfile) -> CLVisit? {
        guard fix.horizontalAccuracy <= profile.visitRadiusMeters else { return nil }
        guard let current = stay else { return lookForArrival(fix, at: moment, profile: profile) }
        guard let meters = current.center.coordinate.distanceMeters(to: fix.coordinate) else { return nil }
        if meters <= profile.visitDepartureMeters {
            stay?.lastInside = moment
            (awaySince, candidate) = (nil, nil)
            return nil
        }
        let since = awaySince ?? moment
        awaySince = since
        // The next stay may begin while the end of this one is not yet sure.
        advanceCandidate(fix, at: moment, profile: profile)
        guard moment.seconds(since: since) >= profile.visitDepartureSeconds else { return nil }
        (stay, awaySince) = (nil, nil)
        return CLVisit(
            arrival: current.arrival?.date, departure: current.lastInside.date, coordinate: current.center.coordinate,
            horizontalAccuracy: current.center.horizontalAccuracy)
    }

    private mutating func lookForArrival(
        _ fix: CLLocation, at moment: Timestamp, profile: SimulationProfile
    ) -> CLVisit? {
        advanceCandidate(fix, at: moment, profile: profile)
        guard let found = candidate, moment.seconds(since: found.begin) >= profile.visitDwellSeconds else { return nil }
        let arrival = found.beganUnseen ? nil : found.begin
        // The newest fix, because the anchor is where the device came into the radius, not where it stays.
        stay = Stay(center: fix, arrival: arrival, lastInside: moment)
        candidate = nil
        guard let arrival else { return nil }
        return CLVisit(
            arrival: arrival.date, departure: nil, coordinate: fix.coordinate,
            horizontalAccuracy: fix.horizontalAccuracy)
    }

    private mutating func advanceCandidate(_ fix: CLLocation, at moment: Timestamp, profile: SimulationProfile) {
        if let meters = candidate?.anchor.coordinate.distanceMeters(to: fix.coordinate),
            meters <= profile.visitRadiusMeters
        {
            return
        }
        candidate = Candidate(anchor: fix, begin: moment, beganUnseen: !hasSeenAny)
        hasSeenAny = true
    }
}
