internal import Foundation
internal import Whereabouts

/// A region the system watches for an app.
struct MonitoredRegion {
    let region: CLCircularRegion
    var detector = CrossingDetector()
}

extension SimulatedApplication {
    /// One fix of the device.
    func receive(_ fix: CLLocation) {
        accountForRadios()
        guard isAuthorized, let seen = accuracy == .fullAccuracy ? fix : reducedIfDue(fix) else { return }
        lastFix = seen
        let moment = device.clock.moment
        if state.isRunning { for manager in managers { manager.take(seen, at: moment) } }
        takeLive(seen, at: moment)
        for service in pushes.running { service.process.receive(fix) }
        guard monitoringIsAllowed() else { return }
        noticeSignificantChange(seen, at: moment)
        noticeVisit(seen, at: moment)
        // Regions need full accuracy.
        guard accuracy == .fullAccuracy else { return }
        noticeCrossings(seen, at: moment)
        noticeConditions(seen, at: moment)
    }

    /// The device's receiver has lost the place.
    func receiverLost() {
        guard isAuthorized, state.isRunning else { return }
        for manager in managers { manager.receiverLost() }
        liveReceiverLost()
    }

    private func reducedIfDue(_ fix: CLLocation) -> CLLocation? {
        let now = device.clock.moment
        if let lastReduced, now.seconds(since: lastReduced) < profile.reducedIntervalSeconds { return nil }
        lastReduced = now
        return fix.reduced(seed: installSeed, profile: profile)
    }

    /// Whether monitoring may notice anything now: When In Use monitors only in use, and before iOS 13 never; a dead
    /// app can only be launched, which a Mac does not do.
    func monitoringIsAllowed(with hardware: SimulatedHardware = .monitoring) -> Bool {
        guard !device.hardware.isDisjoint(with: hardware) else { return false }
        switch state {
        case .notRunning, .terminatedBySystem:
            return status == .authorizedAlways && profile.launchesApps
        case .forceQuit:
            return status == .authorizedAlways && profile.launchesApps && profile.relaunchAfterForceQuit
        case .foreground, .background, .suspended:
            if status == .authorizedAlways { return true }
            return isInUse && profile.monitorsWhenInUse
        }
    }

    /// Brings an event to the app, launching it when need be. Out of use a provisional Always asks the user first.
    func post(_ event: @escaping () -> Void) {
        if authorization.isProvisional && !isInUse {
            askToKeepAlways(before: event)
        } else {
            wake(for: event)
        }
    }

    // MARK: Significant change

    func startSignificantChanges() {
        serviceStarted()
        guard device.hardware.canMonitor else { return }
        let wasOn = significant.isOn
        let waiting = significant.start()
        device.clock.after(0) { [weak self] in
            guard let self else { return }
            waiting.forEach { $0() }
            // The first event is the cached fix, if there is one.
            guard !wasOn, isAuthorized, monitoringIsAllowed(), let fix = lastFix else { return }
            if significant.rule.take(fix, at: device.clock.moment, profile: profile) { tellSignificantChange(fix) }
        }
    }

    private func noticeSignificantChange(_ fix: CLLocation, at moment: Timestamp) {
        guard significant.isOn, !significant.awaitsRestart,
            significant.rule.take(fix, at: moment, profile: profile)
        else { return }
        post { [weak self] in self?.deliverOrAwait(\.significant) { self?.tellSignificantChange(fix) } }
    }

    private func tellSignificantChange(_ fix: CLLocation) {
        for manager in managers where manager.monitorsSignificantChanges { manager.deliver([fix]) }
    }

    /// After a launch the event waits until the app has started the service again.
    private func deliverOrAwait<Rule>(
        _ service: ReferenceWritableKeyPath<SimulatedApplication, LaunchingService<Rule>>,
        _ event: @escaping () -> Void
    ) {
        if self[keyPath: service].awaitsRestart { self[keyPath: service].keep(event) } else { event() }
    }

    // MARK: Visits

    func startVisits() {
        serviceStarted()
        let waiting = visits.start()
        device.clock.after(0) { waiting.forEach { $0() } }
    }

    private func noticeVisit(_ fix: CLLocation, at moment: Timestamp) {
        guard visits.isOn, !visits.awaitsRestart, let visit = visits.rule.take(fix, at: moment, profile: profile)
        else { return }
        var noise = SeededNoise(seed: installSeed, purpose: 4, place: moment.milliseconds)
        let delay = Int64(noise.uniform() * profile.visitReportDelaySecondsMax * 1000)
        // Reports keep their order, however late each is.
        lastVisitReport = max(lastVisitReport, Timestamp(milliseconds: moment.milliseconds + delay))
        device.clock.at(lastVisitReport, .timer) { [weak self] in
            guard let self, visits.isOn, monitoringIsAllowed() else { return }
            post { [weak self] in self?.deliverOrAwait(\.visits) { self?.tellVisit(visit) } }
        }
    }

    private func tellVisit(_ visit: CLVisit) {
        let dates = [visit.arrivalDate, visit.departureDate].map { date in
            Timestamp(seconds: date.timeIntervalSince1970).flatMap { date == .distantPast ? nil : $0.logText } ?? "-"
        }
        let place = "\(visit.coordinate.latitude) \(visit.coordinate.longitude)"
        for manager in managers where manager.monitorsVisits {
            tell(manager, "didVisit \(dates[0]) \(dates[1]) \(place)") {
                $0.locationManager(manager, didVisit: visit)
            }
        }
    }

    // MARK: Regions

    func startMonitoring(_ region: CLRegion, manager: CLLocationManager) {
        serviceStarted()
        var delaySeconds = 0.0
        if case .setup(let seconds) = device.monitoringDelay, region is CLCircularRegion {
            delaySeconds = seconds
            device.clock.after(0) { [weak self] in
                self?.tellFailure(of: region, CLError(.regionMonitoringSetupDelayed), to: manager)
            }
        }
        device.clock.after(delaySeconds) { [weak self] in
            guard let self else { return }
            switch register(region) {
            case .success(let registered):
                tell(manager, "didStartMonitoring \(registered.identifier)") {
                    $0.locationManager(manager, didStartMonitoringFor: registered)
                }
                if let error = lateness(of: registered) { tellFailure(of: registered, error, to: manager) }
            case .failure(let error): tellFailure(of: region, error, to: manager)
            }
        }
    }

    private func tellFailure(of region: CLRegion, _ error: CLError, to manager: CLLocationManager) {
        tell(manager, "monitoringDidFail \(region.identifier) \(error.code.rawValue)") {
            $0.locationManager(manager, monitoringDidFailFor: region, withError: error)
        }
    }

    private func lateness(of region: CLRegion) -> CLError? {
        guard case .response(_, let betterRadiusMeters) = device.monitoringDelay,
            let circle = region as? CLCircularRegion
        else { return nil }
        let better = betterRadiusMeters.map {
            CLCircularRegion(center: circle.center, radius: $0, identifier: circle.identifier)
        }
        return CLError(
            .regionMonitoringResponseDelayed, userInfo: better.map { [kCLErrorUserInfoAlternateRegionKey: $0] } ?? [:])
    }

    private func register(_ region: CLRegion) -> Result<CLRegion, CLError> {
        guard isAuthorized, accuracy == .fullAccuracy else { return .failure(CLError(.regionMonitoringDenied)) }
        // The limit is one for both kinds.
        let isFull = regions.count + beaconRegions.count >= profile.regionsMax
        if let beacons = region as? CLBeaconRegion, device.hardware.contains(.bluetooth),
            beaconRegions[region.identifier] != nil || !isFull
        {
            beaconRegions[region.identifier] = MonitoredBeaconRegion(region: beacons)
            senseBeacons()
            return .success(beacons)
        }
        guard device.hardware.canMonitor, var circle = region as? CLCircularRegion, circle.center.place != nil,
            regions[circle.identifier] != nil || !isFull
        else { return .failure(CLError(.regionMonitoringFailure)) }
        if circle.radius > profile.regionRadiusMetersMax {
            guard profile.clampsRegionRadius else { return .failure(CLError(.regionMonitoringFailure)) }
            let clamped = CLCircularRegion(
                center: circle.center, radius: profile.regionRadiusMetersMax, identifier: circle.identifier)
            (clamped.notifyOnEntry, clamped.notifyOnExit) = (circle.notifyOnEntry, circle.notifyOnExit)
            circle = clamped
        }
        var monitored = MonitoredRegion(region: circle)
        // The system knows where the device is, so the side need not wait for the next fix.
        if let fix = lastFix { _ = take(fix, at: device.clock.moment, into: &monitored) }
        regions[circle.identifier] = monitored
        return .success(circle)
    }

    private func take(
        _ fix: CLLocation, at moment: Timestamp, into monitored: inout MonitoredRegion
    ) -> CrossingDetector.Side? {
        guard let meters = monitored.region.signedMeters(to: fix) else { return nil }
        return monitored.detector.take(
            signedMeters: meters, radiusMeters: monitored.region.radius, accuracyMeters: fix.horizontalAccuracy,
            at: moment, profile: profile)
    }

    private func noticeCrossings(_ fix: CLLocation, at moment: Timestamp) {
        // Smaller circles first, as the system prefers them; the identifier makes the order certain.
        let order = regions.values.map(\.region).sorted { ($0.radius, $0.identifier) < ($1.radius, $1.identifier) }
        for region in order {
            guard var monitored = regions[region.identifier] else { continue }
            let side = take(fix, at: moment, into: &monitored)
            regions[region.identifier] = monitored
            switch side {
            case .inside where region.notifyOnEntry:
                postCrossing { [weak self] in
                    self?.tellAll("didEnterRegion \(region.identifier)") {
                        $0.locationManager($1, didEnterRegion: region)
                    }
                }
            case .outside where region.notifyOnExit:
                postCrossing { [weak self] in
                    self?.tellAll("didExitRegion \(region.identifier)") {
                        $0.locationManager($1, didExitRegion: region)
                    }
                }
            default: break
            }
        }
    }

    private func postCrossing(_ event: @escaping () -> Void) {
        guard case .response(let seconds, _) = device.monitoringDelay else { return post(event) }
        device.clock.after(seconds) { [weak self] in
            if let self, monitoringIsAllowed() { post(event) }
        }
    }

    func stopMonitoring(_ region: CLRegion) {
        if region is CLBeaconRegion {
            beaconRegions[region.identifier] = nil
        } else {
            regions[region.identifier] = nil
        }
    }

    private func side(of region: CLRegion) -> CrossingDetector.Side? {
        region is CLBeaconRegion
            ? beaconRegions[region.identifier]?.presence.side : regions[region.identifier]?.detector.side
    }

    func requestState(_ region: CLRegion, manager: CLLocationManager) {
        device.clock.after(0) { [weak self] in
            guard let self else { return }
            let state: CLRegionState =
                switch side(of: region) {
                case .inside: .inside
                case .outside: .outside
                case nil: .unknown
                }
            tell(manager, "didDetermineState \(region.identifier) \(state.rawValue)") {
                $0.locationManager(manager, didDetermineState: state, for: region)
            }
        }
    }
}
