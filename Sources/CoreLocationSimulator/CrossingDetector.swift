internal import Whereabouts

/// On which side of one boundary the device is, and when it has truly gone to the other.
///
/// A crossing is: past the boundary by a cushion, and not back over the boundary for the dwell time after that. The
/// first fix only decides the side.
struct CrossingDetector {
    enum Side { case inside, outside }

    private(set) var side: Side?
    private var beyondSince: Timestamp?

    /// - Parameter side: assumed before the first fix.
    init(side: Side? = nil) { self.side = side }

    /// Takes one fix, `signedMeters` outside the boundary (negative inside), and returns the new side on a crossing.
    mutating func take(
        signedMeters: Double, radiusMeters: Double, accuracyMeters: Double, at moment: Timestamp,
        profile: SimulationProfile
    ) -> Side? {
        guard let old = side else {
            side = signedMeters <= 0 ? .inside : .outside
            return nil
        }
        let wanted = max(accuracyMeters, profile.cushionRadiusRatio * radiusMeters)
        let cushion = min(max(wanted, profile.cushionMetersMin), profile.cushionMetersMax)
        let meters = old == .inside ? signedMeters : -signedMeters
        guard meters > 0 else {
            beyondSince = nil
            return nil
        }
        if beyondSince == nil,
            meters >= (old == .inside ? cushion : min(cushion, radiusMeters * profile.cushionEntryRadiusRatioMax))
        {
            beyondSince = moment
        }
        guard let beyondSince, moment.seconds(since: beyondSince) >= profile.crossingDwellSeconds else { return nil }
        let new: Side = old == .inside ? .outside : .inside
        self = CrossingDetector(side: new)
        return new
    }
}

extension CLCircularRegion {
    /// Meters outside the boundary, negative inside; `nil` when a coordinate is no place.
    func signedMeters(to fix: CLLocation) -> Double? {
        center.distanceMeters(to: fix.coordinate).map { $0 - radius }
    }
}
