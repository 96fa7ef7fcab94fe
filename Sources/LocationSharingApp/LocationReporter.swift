public import CoreLocation
public import Foundation

/// The app's side: asks for authorization, registers for location pushes, and reports what Core Location tells.
///
/// Make one at each launch, in the background too, and call ``start()``: Core Location hands an event that launched the
/// app to a manager made then.
///
/// Fixes go to `/v1/fixes`; authorization, visits, crossings, beacons and headings to `/v1/reports`. All of it passes the
/// ``Outbox``, so that what happens without a network is delivered late instead of never.
open class LocationReporter: NSObject, CLLocationManagerDelegate {
    /// What the app wants to be told of. Of the first four each costs more than the one before.
    public struct Interests: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let visits = Interests(rawValue: 1)
        public static let significantChanges = Interests(rawValue: 2)
        /// The circles the app monitors; see ``LocationReporter/monitor(_:)``.
        public static let regions = Interests(rawValue: 4)
        /// The standard service, also in the background.
        public static let updates = Interests(rawValue: 8)
        /// Where the phone points, while the app is on the screen.
        public static let headings = Interests(rawValue: 16)
        /// Which beacons are near and how near, within the beacon regions the app monitors, for as long as the app runs
        /// there; see ``LocationReporter/monitor(_:)``.
        public static let beacons = Interests(rawValue: 32)
        public static let frugal: Interests = [.visits, .significantChanges, .regions]
    }

    public let manager = CLLocationManager()
    private let account: ServiceAccount
    private let outbox: Outbox
    private let surroundings: Surroundings
    private let interests: Interests
    /// Regions that wait for the authorization without which monitoring them fails.
    private var regions: [CLRegion] = []
    /// How near each beacon was when it was ranged last.
    private var proximities: [CLBeaconIdentityConstraint: [String: CLProximity]] = [:]

    public init(account: ServiceAccount, outbox: Outbox, surroundings: Surroundings, interests: Interests = .frugal) {
        (self.account, self.outbox, self.surroundings) = (account, outbox, surroundings)
        self.interests = interests
        super.init()
    }

    /// Begins everything; what was begun in an earlier launch is taken up.
    open func start() {
        manager.delegate = self
        if manager.authorizationStatus == .notDetermined { manager.requestAlwaysAuthorization() }
        if interests.contains(.visits) { manager.startMonitoringVisits() }
        if interests.contains(.significantChanges) { manager.startMonitoringSignificantLocationChanges() }
        if interests.contains(.updates) {
            manager.allowsBackgroundLocationUpdates = true
            // If the system paused the updates, no code would restart them: the app is suspended then.
            manager.pausesLocationUpdatesAutomatically = false
            manager.startUpdatingLocation()
        }
        if interests.contains(.headings) { manager.startUpdatingHeading() }
        registerForLocationPushes()
        outbox.deliver()
    }

    /// Asks to be told of the crossings of a circle or of the surroundings of beacons, once that is allowed.
    open func monitor(_ region: CLRegion) {
        regions.append(region)
        monitorRegions()
    }

    private func monitorRegions() {
        guard manager.authorizationStatus == .authorizedAlways else { return }
        for region in regions where interests.contains(region is CLBeaconRegion ? .beacons : .regions) {
            if manager.monitoredRegions.contains(region) {
                rangeIfInside(region)
            } else {
                manager.startMonitoring(for: region)
            }
        }
    }

    /// To be inside already is no entry, and what was ranged in an earlier process is not any more.
    private func rangeIfInside(_ region: CLRegion) {
        if region is CLBeaconRegion { manager.requestState(for: region) }
    }

    /// Beacons are ranged only where there are some: it costs more than to wait for them.
    private func range(_ region: CLRegion, isInside: Bool) {
        guard let beacons = (region as? CLBeaconRegion)?.beaconIdentityConstraint else { return }
        if isInside {
            manager.startRangingBeacons(satisfying: beacons)
        } else {
            manager.stopRangingBeacons(satisfying: beacons)
            proximities[beacons] = nil
        }
    }

    /// Uploads the device token if it is another one than the service has acknowledged: it may change from launch to
    /// launch.
    open func registerForLocationPushes() {
        manager.startMonitoringLocationPushes { [account, outbox, surroundings] token, _ in
            // Without a token nothing can be done but to ask again at the next launch.
            guard let token, let message = try? WireForm.token(token, account) else { return }
            let file = surroundings.container.appendingPathComponent("location-push-token")
            if (try? Data(contentsOf: file)) == token { return }
            try? outbox.add(message) { try? token.write(to: file, options: .atomic) }
        }
    }

    // MARK: What Core Location tells

    open func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        guard manager.authorizationStatus != .notDetermined else { return }
        let now = surroundings.now()
        send { try WireForm.report(.authorization(of: manager, at: now)) }
        monitorRegions()
    }

    open func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        send { try WireForm.fixes(locations) }
    }

    open func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
        let now = surroundings.now()
        send { try WireForm.report(.visit(visit, at: now)) }
    }

    open func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        let now = surroundings.now()
        send { try WireForm.report(.crossing(region, isEntry: true, at: now)) }
        range(region, isInside: true)
    }

    open func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        let now = surroundings.now()
        send { try WireForm.report(.crossing(region, isEntry: false, at: now)) }
        range(region, isInside: false)
    }

    open func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        rangeIfInside(region)
    }

    open func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
        if state == .inside { range(region, isInside: true) }
    }

    /// Core Location reports every beacon each second; the app reports a beacon only when its proximity has changed.
    open func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        let before = proximities[beaconConstraint] ?? [:]
        var now: [String: CLProximity] = [:]
        for beacon in beacons {
            let name = "\(beacon.uuid) \(beacon.major) \(beacon.minor)"
            now[name] = beacon.proximity
            if before[name] != beacon.proximity { send { try WireForm.report(.beacon(beacon)) } }
        }
        proximities[beaconConstraint] = now
    }

    open func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
        send { try WireForm.report(.heading(newHeading)) }
    }

    /// Does nothing: either the location services recover by themselves, or the authorization has changed and is
    /// reported.
    open func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}

    private func send(_ message: () throws -> Outbox.Message) {
        // What cannot be written to the disk is lost: there is no other place for it.
        try? outbox.add(try message())
    }
}
