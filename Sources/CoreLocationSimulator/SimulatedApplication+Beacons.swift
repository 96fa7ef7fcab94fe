internal import Foundation
internal import Whereabouts

/// A beacon region the system watches for an app.
struct MonitoredBeaconRegion {
    let region: CLBeaconRegion
    var presence = BeaconPresence()
}

/// The beacons that one manager ranges, as last heard.
struct Ranging {
    /// Given when the beacons are ranged by their region, as before iOS 13.
    let region: CLBeaconRegion?
    fileprivate var lastHeard: [BeaconIdentity: Timestamp] = [:]

    init(region: CLBeaconRegion?) { self.region = region }
}

extension SimulatedApplication {
    // MARK: Monitoring

    var monitorsBeacons: Bool { !beaconRegions.isEmpty || watchesBeacons }

    /// Checks again after the present work, and when a beacon will have been silent for long enough.
    func senseBeacons(after seconds: Double = 0) {
        device.clock.after(seconds) { [weak self] in self?.device.senseBeacons() }
    }

    func noticeBeacons(_ heard: [BeaconIdentity]) {
        guard monitoringIsAllowed(with: .bluetooth), accuracy == .fullAccuracy else { return }
        for identifier in beaconRegions.keys.sorted() {
            guard var monitored = beaconRegions[identifier] else { continue }
            let region = monitored.region
            let isHeard = heard.contains { $0.satisfies(region.beaconIdentityConstraint) }
            let before = monitored.presence.side
            let side = take(isHeard, into: &monitored.presence)
            beaconRegions[identifier] = monitored
            // To begin inside is no entry.
            guard before != nil, let side else { continue }
            let what = side == .inside ? "didEnterRegion" : "didExitRegion"
            guard side == .inside ? region.notifyOnEntry : region.notifyOnExit else { continue }
            post { [weak self] in
                self?.tellAll("\(what) \(identifier)") {
                    if side == .inside {
                        $0.locationManager($1, didEnterRegion: region)
                    } else {
                        $0.locationManager($1, didExitRegion: region)
                    }
                }
            }
        }
        noticeBeaconConditions(heard)
    }

    /// Takes the present reception. If a beacon has become silent, it is checked again after the time that an exit
    /// requires.
    func take(_ isHeard: Bool, into presence: inout BeaconPresence) -> CrossingDetector.Side? {
        if !isHeard && presence.side == .inside { senseBeacons(after: profile.beaconExitSeconds) }
        return presence.take(
            isHeard: isHeard, at: device.clock.moment, exitSeconds: profile.beaconExitSeconds)
    }

    func noticeScreen() {
        guard monitoringIsAllowed(with: .bluetooth) else { return }
        for identifier in beaconRegions.keys.sorted() {
            guard let monitored = beaconRegions[identifier], monitored.region.notifyEntryStateOnDisplay,
                monitored.presence.side == .inside
            else { continue }
            post { [weak self] in
                self?.tellAll("didDetermineState \(identifier) \(CLRegionState.inside.rawValue)") {
                    $0.locationManager($1, didDetermineState: .inside, for: monitored.region)
                }
            }
        }
    }

    // MARK: Ranging

    var ranges: Bool { managers.contains { !$0.ranging.isEmpty } }

    /// Whether ranging is possible at all: full accuracy, and Bluetooth to do it with.
    var mayRange: Bool {
        isAuthorized && accuracy == .fullAccuracy && device.hardware.contains(.bluetooth) && device.isBluetoothOn
    }

    func range() {
        guard state.isRunning else { return }
        for manager in managers { manager.range() }
    }
}

extension CLLocationManager {
    func range() {
        guard !ranging.isEmpty else { return }
        let constraints = ranging.keys.sorted { $0.order < $1.order }
        guard application.mayRange else {
            for constraint in constraints {
                failRanging(constraint, as: ranging.removeValue(forKey: constraint)?.region)
            }
            return
        }
        guard application.isInUse || application.status == .authorizedAlways else { return }
        let heard = application.device.heardBeacons
        for constraint in constraints { range(constraint, among: heard) }
    }

    private func range(
        _ constraint: CLBeaconIdentityConstraint, among heard: [(identity: BeaconIdentity, signal: BeaconSignal)]
    ) {
        guard var session = ranging[constraint] else { return }
        let moment = application.device.clock.moment
        let present = heard.filter { $0.identity.satisfies(constraint) }
            .sorted {
                $0.signal.meters != $1.signal.meters
                    ? $0.signal.meters < $1.signal.meters : BeaconIdentity.comesFirst($0.identity, $1.identity)
            }
        for (identity, _) in present { session.lastHeard[identity] = moment }
        session.lastHeard = session.lastHeard.filter {
            moment.seconds(since: $0.value) < application.profile.beaconDropSeconds
        }
        ranging[constraint] = session
        let silent = session.lastHeard.filter { $0.value != moment }.keys.sorted(by: BeaconIdentity.comesFirst)
        let beacons =
            present.map { CLBeacon($0.identity, $0.signal, at: moment.date) }
            + silent.map { CLBeacon($0, nil, at: session.lastHeard[$0]?.date ?? moment.date) }
        let text = beacons.map { "\($0.major)/\($0.minor) \($0.proximity.rawValue) \($0.rssi)" }
            .joined(separator: ", ")
        application.tell(self, "didRange [\(text)]") {
            if let region = session.region {
                $0.locationManager(self, didRangeBeacons: beacons, in: region)
            } else {
                $0.locationManager(self, didRange: beacons, satisfying: constraint)
            }
        }
    }

    func failRanging(_ constraint: CLBeaconIdentityConstraint, as region: CLBeaconRegion?) {
        let error = CLError(.rangingUnavailable)
        application.tell(self, "didFailRanging \(error.code.rawValue)") {
            if let region {
                $0.locationManager(self, rangingBeaconsDidFailFor: region, withError: error)
            } else {
                $0.locationManager(self, didFailRangingFor: constraint, error: error)
            }
        }
    }
}

extension CLBeaconIdentityConstraint {
    /// Sorts constraints the same way on every run.
    fileprivate var order: String {
        "\(uuid.uuidString) \(major.map(String.init) ?? "-") \(minor.map(String.init) ?? "-")"
    }
}
