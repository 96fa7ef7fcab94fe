public import CoreLocation
public import Foundation

/// The app's side: requests authorization, registers for location pushes, and reports Core Location's events.
///
/// Make one at each launch, including a launch in the background, and call ``start()``: Core Location delivers the
/// event that launched the app to a manager made during that launch.
///
/// Fixes go to `/v1/fixes`; authorization, visits, crossings, beacons and headings go to `/v1/reports`. All messages go
/// through the ``Outbox``, so that an event that happens without a network is delivered late and not lost.
///
/// It has no lock: use it on the thread that made it, where Core Location calls its delegate methods.
open class LocationReporter: NSObject, CLLocationManagerDelegate {
    /// The events that the app subscribes to. The first four are in order of energy use, least first.
    public struct Interests: OptionSet, Sendable {
        /// One bit for each interest.
        public let rawValue: Int
        /// The interests whose bits are set; other bits have no effect.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Arrivals at places and departures from them, as Core Location detects them.
        public static let visits = Interests(rawValue: 1)
        /// Fixes after moves of about 500 m or more. They also launch the app.
        public static let significantChanges = Interests(rawValue: 2)
        /// The circles the app monitors; see ``LocationReporter/monitor(_:)``.
        public static let regions = Interests(rawValue: 4)
        /// The standard service, also in the background.
        public static let updates = Interests(rawValue: 8)
        /// The compass heading, while the app is on the screen.
        public static let headings = Interests(rawValue: 16)
        /// The beacons in range and their proximity, within the beacon regions that the app monitors and while the app
        /// runs there; see ``LocationReporter/monitor(_:)``.
        public static let beacons = Interests(rawValue: 32)
        /// The interests that do not keep the GPS on. The default.
        public static let frugal: Interests = [.visits, .significantChanges, .regions]
    }

    /// A caller may set its accuracy and distance filter; its delegate is the reporter.
    public let manager = CLLocationManager()
    private let account: ServiceAccount
    private let outbox: Outbox
    private let surroundings: Surroundings
    private let interests: Interests
    /// Every region passed to ``monitor(_:)``; monitoring starts when the authorization permits it.
    private var regions: [CLRegion] = []
    /// The proximity of each beacon in the last ranging result, by `uuid major minor`. A beacon that is absent from a
    /// result is removed, so its return is reported.
    private var proximities: [CLBeaconIdentityConstraint: [String: CLProximity]] = [:]

    /// `nil` for a phone that sends its fixes open.
    private let sealing: Sealing?

    /// Starts nothing; call ``start()``.
    ///
    /// - Parameter sealing: Seals the fixes. Nothing else that says where the phone is leaves it then: no visits, crossings, beacons
    ///   and headings.
    public init(
        account: ServiceAccount, outbox: Outbox, surroundings: Surroundings, interests: Interests = .frugal,
        sealing: (any LocationSealing)? = nil
    ) {
        (self.account, self.outbox, self.surroundings) = (account, outbox, surroundings)
        self.interests = interests
        self.sealing = sealing.map { Sealing($0, account: account, network: surroundings.network) }
        super.init()
    }

    /// Starts every service among the interests and resumes the ones that an earlier launch started.
    ///
    /// Requests `Always` authorization if the person has not been asked yet, registers for location pushes, and sends
    /// the messages that wait in the outbox.
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

    /// Monitors a circle or a beacon region, now or as soon as the authorization is `Always`. Does nothing if its kind
    /// is not among the interests.
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

    /// Core Location reports no entry if the phone is already inside, and ranging ends with the process, so both need
    /// the region's state.
    private func rangeIfInside(_ region: CLRegion) {
        if region is CLBeaconRegion { manager.requestState(for: region) }
    }

    /// Ranges beacons only inside their region: ranging uses more energy than monitoring.
    private func range(_ region: CLRegion, isInside: Bool) {
        guard let beacons = (region as? CLBeaconRegion)?.beaconIdentityConstraint else { return }
        if isInside {
            manager.startRangingBeacons(satisfying: beacons)
        } else {
            manager.stopRangingBeacons(satisfying: beacons)
            proximities[beacons] = nil
        }
    }

    /// Uploads the device token if it differs from the one that the service acknowledged last: it may change with each
    /// launch. The acknowledged token is in the file `location-push-token` of the shared folder.
    open func registerForLocationPushes() {
        manager.startMonitoringLocationPushes { [account, outbox, surroundings] token, _ in
            // Without a token there is nothing to upload; the next launch requests it again.
            guard let token, let message = try? WireForm.token(token, account) else { return }
            let file = surroundings.container.appendingPathComponent("location-push-token")
            if (try? Data(contentsOf: file)) == token { return }
            try? outbox.add(message) { try? token.write(to: file, options: .atomic) }
        }
    }

    // MARK: Core Location's events

    /// Reports the authorization and starts the monitoring that waited for it. An undetermined one is not reported.
    open func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        guard manager.authorizationStatus != .notDetermined else { return }
        let now = surroundings.now()
        send { try WireForm.report(.authorization(of: manager, at: now)) }
        monitorRegions()
    }

    /// Reports all of the fixes in one message.
    open func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        guard let sealing else { return send { try WireForm.fixes(locations) } }
        guard let fixes = try? WireForm.fixes(locations).body else { return }
        // Who may read is asked each time, so that a grant that has ended counts at once.
        sealing.askQuestions { [outbox] questions in
            guard let questions else { return }
            for body in sealing.sealing.history(fixes, readers: questions) { try? outbox.add(WireForm.envelopes(body)) }
        }
    }

    /// Reports a visit: an arrival, whose departure is `distantFuture`, or a departure.
    open func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
        let now = surroundings.now()
        sendOpen { try WireForm.report(.visit(visit, at: now)) }
    }

    /// Reports the entry, and begins to range the beacons of a beacon region.
    open func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        let now = surroundings.now()
        sendOpen { try WireForm.report(.crossing(region, isEntry: true, at: now)) }
        range(region, isInside: true)
    }

    /// Reports the exit, and ends the ranging of a beacon region.
    open func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        let now = surroundings.now()
        sendOpen { try WireForm.report(.crossing(region, isEntry: false, at: now)) }
        range(region, isInside: false)
    }

    /// Asks for the state of a beacon region, because Core Location reports no entry if the phone is inside already.
    open func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
        rangeIfInside(region)
    }

    /// Begins to range the beacons of a region that the phone is inside of. Reports nothing: there was no crossing.
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
            if before[name] != beacon.proximity { sendOpen { try WireForm.report(.beacon(beacon)) } }
        }
        proximities[beaconConstraint] = now
    }

    /// Reports each heading that Core Location delivers; its `headingFilter` limits them.
    open func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
        sendOpen { try WireForm.report(.heading(newHeading)) }
    }

    /// Does nothing: either the location services recover by themselves, or the authorization has changed and is
    /// reported.
    open func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}

    /// Sends a message that says where the phone is, unless it seals.
    private func sendOpen(_ message: () throws -> Outbox.Message) {
        if sealing == nil { send(message) }
    }

    private func send(_ message: () throws -> Outbox.Message) {
        // A message that cannot be written to the disk is lost: there is no other storage.
        try? outbox.add(try message())
    }
}
