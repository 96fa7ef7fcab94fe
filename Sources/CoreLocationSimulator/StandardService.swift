internal import Whereabouts

/// The standard location service of one manager: the receiver's cadence, the distance filter, the automatic pause.
struct StandardService {
    enum Outcome { case nothing, deliver(CLLocation), pause }

    private(set) var isUpdating = false
    private(set) var isPaused = false
    /// Whether it was started while the app was in use; with When In Use only such updates go on in the background.
    private(set) var beganInUse = false
    private var lastPassed: Timestamp?
    private var lastDelivered: CLLocation?
    private var still: (anchor: CLLocation, since: Timestamp)?

    mutating func start(inUse: Bool) {
        // Starting again while updating keeps the filter; after a pause it is the app's way to go on.
        if isUpdating && !isPaused { return }
        self = StandardService()
        (isUpdating, beganInUse) = (true, inUse)
    }

    mutating func stop() { self = StandardService() }

    /// Takes a fix; returns the part of it that reaches the app.
    mutating func take(
        _ fix: CLLocation, at moment: Timestamp, distanceFilter: Double, desiredAccuracy: Double,
        pauseSeconds: Double?, seed: UInt64, profile: SimulationProfile
    ) -> Outcome {
        guard isUpdating, !isPaused else { return .nothing }
        let aim = ReceiverAim(desiredAccuracy: desiredAccuracy, profile: profile)
        if let lastPassed, moment.seconds(since: lastPassed) < aim.intervalSeconds { return .nothing }
        lastPassed = moment
        let seen = fix.blurred(toSigma: aim.sigmaMeters, seed: seed)
        if let pauseSeconds, standsStill(seen, at: moment, for: pauseSeconds, profile: profile) {
            isPaused = true
            return .pause
        }
        if let lastDelivered, distanceFilter > 0 {
            let isBetter = seen.horizontalAccuracy <= lastDelivered.horizontalAccuracy * profile.betterAccuracyRatio
            let meters = lastDelivered.coordinate.distanceMeters(to: seen.coordinate) ?? 0
            guard meters >= distanceFilter || isBetter else { return .nothing }
        }
        lastDelivered = seen
        return .deliver(seen)
    }

    private mutating func standsStill(
        _ fix: CLLocation, at moment: Timestamp, for seconds: Double, profile: SimulationProfile
    ) -> Bool {
        guard let still, let meters = still.anchor.coordinate.distanceMeters(to: fix.coordinate),
            meters <= profile.pauseRadiusMeters
        else {
            self.still = (fix, moment)
            return false
        }
        return moment.seconds(since: still.since) >= seconds
    }
}

/// The receiver's work for a desired accuracy.
struct ReceiverAim {
    let intervalSeconds: Double
    let sigmaMeters: Double

    init(desiredAccuracy: Double, profile: SimulationProfile) {
        switch desiredAccuracy {
        case ...kCLLocationAccuracyNearestTenMeters: (intervalSeconds, sigmaMeters) = (profile.bestIntervalSeconds, 0)
        case ...kCLLocationAccuracyHundredMeters:
            (intervalSeconds, sigmaMeters) = (profile.hundredMetersIntervalSeconds, profile.hundredMetersSigmaMeters)
        case ...kCLLocationAccuracyKilometer:
            (intervalSeconds, sigmaMeters) = (profile.kilometerIntervalSeconds, profile.kilometerSigmaMeters)
        default:
            (intervalSeconds, sigmaMeters) = (profile.kilometerIntervalSeconds, profile.threeKilometersSigmaMeters)
        }
    }
}
