public import Foundation
internal import Whereabouts

/// An app's way to the location services of the device it runs on.
///
/// It belongs to the app whose code made it (``SimulatedApplication/current``), is used on the thread that runs the
/// simulation, and is deaf once its app's process has ended.
open class CLLocationManager: NSObject {
    /// The object that receives the callbacks; held weakly. A new delegate gets its first authorization callback once,
    /// as soon as the code that created the manager returns.
    open weak var delegate: (any CLLocationManagerDelegate)? {
        didSet { application.device.clock.after(0) { [weak self] in self?.tellAuthorizationOnce() } }
    }

    /// Meters to move from the last delivered fix before the next one is delivered; all by default.
    open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone
    /// An aim, not a promise; the best by default.
    open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest
    open var activityType: CLActivityType = .other
    /// Whether updates pause where they are not likely to change; true by default.
    open var pausesLocationUpdatesAutomatically = true
    /// Whether an app with Always shows that it follows the location in the background; false by default.
    open var showsBackgroundLocationIndicator = false {
        didSet { application.locked { application.sessionsChanged() } }
    }
    /// Whether updates go on in the background; false by default. Setting it without `location` among the bundle's
    /// `UIBackgroundModes` is a fatal error, as it is on a phone.
    open var allowsBackgroundLocationUpdates = false {
        didSet {
            precondition(
                !allowsBackgroundLocationUpdates || application.bundle.hasLocationBackgroundMode
                    || application.profile.platform == .macOS,
                "allowsBackgroundLocationUpdates needs \"location\" in the UIBackgroundModes of Info.plist.")
            application.locked { application.sessionsChanged() }
        }
    }

    /// Degrees to turn from the last delivered heading before the next one is delivered; 1 by default.
    open var headingFilter: CLLocationDegrees = 1
    /// Which edge of the device is its front; the top by default. Flat and unknown orientations are ignored.
    open var headingOrientation: CLDeviceOrientation = .portrait {
        didSet {
            if ![.portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight].contains(headingOrientation) {
                headingOrientation = oldValue
            }
        }
    }

    let application: SimulatedApplication
    let launch: Int
    private(set) var number = 0
    var told: ToldAuthorization?
    private(set) var monitorsSignificantChanges = false
    private(set) var monitorsVisits = false
    private var standard = StandardService()
    private var request: LocationRequest?
    var headingService = HeadingService()
    var ranging: [CLBeaconIdentityConstraint: Ranging] = [:]

    /// - Precondition: made by an app's code, which the simulation runs.
    public override init() {
        guard let application = SimulatedApplication.current else {
            preconditionFailure("A location manager is made by an app's code: use SimulatedApplication.run.")
        }
        self.application = application
        launch = application.launch
        super.init()
        number = application.locked { application.add(self) }
    }

    // MARK: Authorization

    open var authorizationStatus: CLAuthorizationStatus { application.locked { application.status } }
    open var accuracyAuthorization: CLAccuracyAuthorization { application.locked { application.accuracy } }

    /// Whether a widget gets locations, too: the app may have them, and `NSWidgetWantsLocation` says that it wants
    /// them.
    open var isAuthorizedForWidgetUpdates: Bool {
        application.locked { application.isAuthorized && application.bundle.hasWidgetThatWantsLocation }
    }

    /// The status of the running app; notDetermined outside of one.
    open class func authorizationStatus() -> CLAuthorizationStatus {
        guard let application = SimulatedApplication.current else { return .notDetermined }
        return application.locked { application.status }
    }

    open class func locationServicesEnabled() -> Bool { device?.locationServicesEnabled ?? false }

    /// Asks for When In Use. Does nothing unless the user was never asked, the app is in use and its Info.plist says
    /// why it wants to know.
    open func requestWhenInUseAuthorization() { application.locked { application.requestWhenInUse() } }

    /// Asks for Always: when the user was never asked, or once when the app has When In Use.
    open func requestAlwaysAuthorization() { application.locked { application.requestAlways() } }

    /// Asks for full accuracy while the app is in use. An error means that the user was not asked; read
    /// ``accuracyAuthorization`` for the user's answer.
    open func requestTemporaryFullAccuracyAuthorization(
        withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
    ) {
        application.locked { application.requestTemporaryFullAccuracy(key: purposeKey, completion: completion) }
    }

    /// The same, for `async` code.
    open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String) async throws {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            // Unsafe, because with the app's process its continuations are gone, too.
            requestTemporaryFullAccuracyAuthorization(withPurposeKey: purposeKey) { error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Whether the played system has the method, by its Objective-C name: the requests came with iOS 8.
    open func responds(to selector: Selector) -> Bool {
        guard let since = selector.sinceVersion else { return false }
        return application.profile.platform == .macOS || application.profile.version >= since
    }

    // MARK: Availability

    private class var device: SimulatedDevice? { SimulatedApplication.current?.device }

    open class func significantLocationChangeMonitoringAvailable() -> Bool { device?.hardware.canMonitor ?? false }

    /// Circles where the device hears cells or access points, beacons where it has Bluetooth.
    open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
        guard let hardware = device?.hardware else { return false }
        return (regionClass is CLCircularRegion.Type && hardware.canMonitor)
            || (regionClass is CLBeaconRegion.Type && hardware.contains(.bluetooth))
    }

    open class func isRangingAvailable() -> Bool { device?.hardware.contains(.bluetooth) ?? false }

    /// Never: inert since iOS 13.
    open class func deferredLocationUpdatesAvailable() -> Bool { false }

    // MARK: Standard service

    /// The newest fix the app may know; `nil` before the first.
    open var location: CLLocation? {
        application.locked { application.isAuthorized ? application.lastFix : nil }
    }

    open func startUpdatingLocation() {
        application.locked {
            request = nil
            guard !failsAsDenied() else { return }
            let (wasUpdating, wasPaused) = (standard.isUpdating, standard.isPaused)
            application.serviceStarted()
            standard.start(inUse: application.isInUse)
            if wasPaused { tellResumption() }
            guard !wasUpdating, application.profile.deliversCachedFixFirst, let cached = location else { return }
            application.device.clock.after(0) { [weak self] in
                // The cached fix is older than the service: a filter measures from the first new fix.
                guard let self, standard.isUpdating, mayDeliver else { return }
                deliver([cached])
            }
        }
    }

    private func tellResumption() {
        application.device.clock.after(0) { [weak self] in
            guard let self, standard.isUpdating else { return }
            application.tell(self, "didResumeLocationUpdates") { $0.locationManagerDidResumeLocationUpdates(self) }
        }
    }

    open func stopUpdatingLocation() {
        application.locked {
            request = nil
            standard.stop()
            application.sessionsChanged()
        }
    }

    /// Asks for one fix: the first good enough, or at the time limit the best there was, or an error. Does nothing
    /// while updating or while one is asked for.
    open func requestLocation() {
        application.locked {
            guard !standard.isUpdating, request == nil, !failsAsDenied() else { return }
            application.serviceStarted()
            guard application.isAuthorized else { return }
            let asked = LocationRequest()
            request = asked
            application.device.find()
            application.device.clock.after(application.profile.requestLocationSeconds) { [weak self] in
                guard let self, request === asked else { return }
                application.accountForRadios()
                request = nil
                if let best = asked.best { deliver([best]) } else { fail(.locationUnknown) }
            }
        }
    }

    /// Inert since iOS 13: ends at once with `deferredFailed`.
    open func allowDeferredLocationUpdates(untilTraveled distance: CLLocationDistance, timeout: TimeInterval) {
        application.device.clock.after(0) { [weak self] in
            guard let self else { return }
            let error = CLError(.deferredFailed)
            application.tell(self, "didFinishDeferredUpdates \(error.code.rawValue)") {
                $0.locationManager(self, didFinishDeferredUpdatesWithError: error)
            }
        }
    }

    /// Does nothing, because nothing is ever deferred.
    open func disallowDeferredLocationUpdates() {}

    // MARK: Heading

    open class func headingAvailable() -> Bool { device?.hardware.contains(.magnetometer) ?? false }

    /// The newest heading; `nil` before the first.
    open var heading: CLHeading? { application.locked { headingService.last } }

    /// Follows the heading while the app is on the screen; the magnetic one needs no authorization.
    open func startUpdatingHeading() {
        application.locked {
            guard application.device.hardware.contains(.magnetometer) else {
                application.device.clock.after(0) { [weak self] in self?.fail(.headingFailure) }
                return
            }
            headingService = HeadingService(isUpdating: true)
            application.device.clock.after(0) { [weak self] in self?.application.device.senseHeading() }
        }
    }

    open func stopUpdatingHeading() { application.locked { headingService = HeadingService() } }

    open func dismissHeadingCalibrationDisplay() { application.locked { application.device.dismissCalibration() } }

    // MARK: Significant change and visits

    open func startMonitoringSignificantLocationChanges() {
        application.locked {
            monitorsSignificantChanges = true
            application.startSignificantChanges()
        }
    }

    open func stopMonitoringSignificantLocationChanges() {
        application.locked {
            monitorsSignificantChanges = false
            if !application.managers.contains(where: \.monitorsSignificantChanges) { application.significant.stop() }
        }
    }

    open func startMonitoringVisits() {
        application.locked {
            monitorsVisits = true
            application.startVisits()
        }
    }

    open func stopMonitoringVisits() {
        application.locked {
            monitorsVisits = false
            if !application.managers.contains(where: \.monitorsVisits) { application.visits.stop() }
        }
    }

    // MARK: Regions

    /// Meters; larger circles fail, or are cut where the profile says so.
    open var maximumRegionMonitoringDistance: CLLocationDistance { application.profile.regionRadiusMetersMax }

    /// Those of the app, whichever manager added them, in this launch or an earlier one.
    open var monitoredRegions: Set<CLRegion> {
        application.locked {
            Set(application.regions.values.map { $0.region as CLRegion })
                .union(application.beaconRegions.values.map { $0.region as CLRegion })
        }
    }

    /// Registers a region a moment later; one with the same identifier is replaced.
    open func startMonitoring(for region: CLRegion) {
        application.locked { application.startMonitoring(region, manager: self) }
    }

    open func stopMonitoring(for region: CLRegion) {
        application.locked { application.stopMonitoring(region) }
    }

    /// Answers a moment later with the side the system knows.
    open func requestState(for region: CLRegion) {
        application.locked { application.requestState(region, manager: self) }
    }

    // MARK: Ranging

    open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
        application.locked { Set(ranging.filter { $0.value.region == nil }.keys) }
    }

    /// Reports the beacons near by every second while the app runs.
    open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
        startRanging(constraint, as: nil)
    }

    open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
        application.locked { ranging[constraint] = nil }
    }

    /// The way before iOS 13: the delegate's methods with a region are called.
    open var rangedRegions: Set<CLRegion> { application.locked { Set(ranging.values.compactMap(\.region)) } }
    open func startRangingBeacons(in region: CLBeaconRegion) {
        startRanging(region.beaconIdentityConstraint, as: region)
    }
    open func stopRangingBeacons(in region: CLBeaconRegion) {
        stopRangingBeacons(satisfying: region.beaconIdentityConstraint)
    }

    private func startRanging(_ constraint: CLBeaconIdentityConstraint, as region: CLBeaconRegion?) {
        application.locked {
            application.serviceStarted()
            guard application.mayRange else {
                application.device.clock.after(0) { [weak self] in self?.failRanging(constraint, as: region) }
                return
            }
            if ranging[constraint] == nil { ranging[constraint] = Ranging(region: region) }
            application.device.range()
        }
    }

    // MARK: Acts of the system

    func take(_ fix: CLLocation, at moment: Timestamp) {
        guard mayDeliver else { return }
        if let request { return answer(request, with: fix) }
        let outcome = standard.take(
            fix, at: moment, distanceFilter: distanceFilter, desiredAccuracy: desiredAccuracy,
            pauseSeconds: pauseSeconds, seed: application.installSeed, profile: application.profile)
        switch outcome {
        case .nothing: break
        case .deliver(let seen): deliver([seen])
        case .pause:
            application.tell(self, "didPauseLocationUpdates") { $0.locationManagerDidPauseLocationUpdates(self) }
            application.sessionsChanged()
        }
    }

    /// Not final: the service keeps trying.
    func receiverLost() { if standard.isUpdating && !standard.isPaused && mayDeliver { fail(.locationUnknown) } }

    func deliver(_ fixes: [CLLocation]) {
        let text = fixes.map(\.logText).joined(separator: ", ")
        application.tell(self, "didUpdateLocations \(text)") { $0.locationManager(self, didUpdateLocations: fixes) }
    }

    /// Whether a receiver works for it.
    var isBusy: Bool { ((standard.isUpdating && !standard.isPaused) || request != nil) && mayDeliver }

    /// Denied is final: the app must start again.
    func authorizationLost() {
        let wasBusy = standard.isUpdating || request != nil
        standard.stop()
        request = nil
        if wasBusy { fail(.denied) }
    }

    /// Whether the app's session in the background can be seen by the user, which counts as use.
    var showsIndicator: Bool {
        runsInBackground && (application.status == .authorizedWhenInUse || showsBackgroundLocationIndicator)
    }

    var keepsAppRunning: Bool { runsInBackground && !standard.isPaused }

    private var runsInBackground: Bool {
        guard standard.isUpdating, allowsBackgroundLocationUpdates else { return false }
        switch application.status {
        case .authorizedAlways: return true
        case .authorizedWhenInUse: return standard.beganInUse
        default: return false
        }
    }

    /// In the foreground, and in the background with Always or with a session begun in use; without the background
    /// flag until the app is suspended.
    private var mayDeliver: Bool {
        switch application.state {
        case .foreground: true
        case .background: application.status == .authorizedAlways || standard.beganInUse || request != nil
        default: false
        }
    }

    private var pauseSeconds: Double? {
        guard pausesLocationUpdatesAutomatically else { return nil }
        let profile = application.profile
        return switch activityType {
        case .other: profile.pauseSecondsOther
        case .automotiveNavigation: profile.pauseSecondsAutomotive
        case .fitness: profile.pauseSecondsFitness
        case .otherNavigation: profile.pauseSecondsOtherNavigation
        case .airborne: nil
        }
    }

    private func answer(_ asked: LocationRequest, with fix: CLLocation) {
        let aim = ReceiverAim(desiredAccuracy: desiredAccuracy, profile: application.profile)
        let seen = fix.blurred(toSigma: aim.sigmaMeters, seed: application.installSeed)
        let good = max(desiredAccuracy, aim.sigmaMeters, application.profile.requestLocationBestMeters)
        if seen.horizontalAccuracy <= good {
            request = nil
            deliver([seen])
        } else if seen.horizontalAccuracy <= asked.best?.horizontalAccuracy ?? .infinity {
            asked.best = seen
        }
    }

    private func failsAsDenied() -> Bool {
        guard application.status == .denied || application.status == .restricted else { return false }
        standard.stop()
        application.device.clock.after(0) { [weak self] in self?.fail(.denied) }
        return true
    }

    private func fail(_ code: CLError.Code) {
        let error = CLError(code)
        application.tell(self, "didFailWithError \(code.rawValue)") {
            $0.locationManager(self, didFailWithError: error)
        }
    }

    private func tellAuthorizationOnce() {
        if application.state.isRunning { application.tellAuthorization(self) }
    }
}

/// One call of `requestLocation`, distinguished from others by identity.
private final class LocationRequest {
    var best: CLLocation?
}
