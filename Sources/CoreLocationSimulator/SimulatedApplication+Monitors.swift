internal import Foundation
internal import Whereabouts

/// The system's state of one monitor, and the loop that reads its events in the running process.
struct SystemMonitor {
    var conditions: [String: MonitoredCondition] = [:]
    fileprivate(set) weak var instance: CLMonitor?
    fileprivate var instanceLaunch = 0
    fileprivate var follower: AsyncStream<CLMonitor.Event>.Continuation?
    fileprivate var follow = 0
    fileprivate var told: ServiceDiagnostics = []
}

/// A condition the system watches for a monitor.
struct MonitoredCondition {
    let condition: any CLCondition
    /// The newest event the app has handled.
    fileprivate(set) var lastEvent: CLMonitor.Event
    /// The event that waits for a reader. The condition is not watched until the app has taken it.
    fileprivate var pending: CLMonitor.Event?
    fileprivate var detector: CrossingDetector
    fileprivate var presence: BeaconPresence
    /// Why it is never watched; empty when it is.
    fileprivate let obstacle: ServiceDiagnostics
}

extension SimulatedApplication {
    // MARK: Acts of apps

    func open(_ monitor: CLMonitor) {
        let old = monitors[monitor.name]
        precondition(
            old?.instance == nil || old?.instanceLaunch != launch,
            "CLMonitor: an instance with this name is in use; each name has one at a time.")
        monitors[monitor.name, default: SystemMonitor()].instance = monitor
        monitors[monitor.name]?.instanceLaunch = launch
    }

    func add(
        _ condition: any CLCondition, to monitor: String, identifier: String, assuming state: CLMonitoringState
    ) {
        monitors[monitor]?.conditions[identifier] = nil
        let watched = monitors.values.reduce(0) { $0 + $1.conditions.values.count { $0.obstacle.isEmpty } }
        var obstacle: ServiceDiagnostics = []
        if !isSupported(condition) {
            obstacle = .conditionUnsupported
        } else if watched >= profile.monitorConditionsMax {
            obstacle = .conditionLimitExceeded
        }
        let side: CrossingDetector.Side? =
            switch state {
            case .satisfied: .inside
            case .unsatisfied: .outside
            case .unknown, .unmonitored: nil
            }
        let assumed = CLMonitor.Event(identifier: identifier, state: state, date: device.clock.now)
        monitors[monitor]?.conditions[identifier] = MonitoredCondition(
            condition: condition, lastEvent: assumed, detector: CrossingDetector(side: side),
            presence: BeaconPresence(side: side), obstacle: obstacle)
        if !obstacle.isEmpty {
            raise(.unmonitored, obstacle, monitor: monitor, identifier: identifier)
        } else if condition is CLMonitor.BeaconIdentityCondition {
            senseBeacons()
        } else if let fix = lastFix, mayWatchConditions {
            // The system knows where the device is, so the state need not wait for the next fix.
            take(fix, at: device.clock.moment, monitor: monitor, identifier: identifier)
        }
    }

    private func isSupported(_ condition: any CLCondition) -> Bool {
        switch condition {
        case let circle as CLMonitor.CircularGeographicCondition:
            device.hardware.canMonitor && circle.center.place != nil && circle.radius >= 0
        case is CLMonitor.BeaconIdentityCondition: device.hardware.contains(.bluetooth)
        default: false
        }
    }

    func follow(_ monitor: String, with follower: AsyncStream<CLMonitor.Event>.Continuation) {
        guard let old = monitors[monitor], state.isRunning || state == .suspended else { return follower.finish() }
        old.follower?.finish()
        let follow = old.follow + 1
        monitors[monitor]?.follow = follow
        monitors[monitor]?.follower = follower
        monitors[monitor]?.told = []
        follower.onTermination = { [weak self] _ in
            self?.locked {
                guard let self, self.monitors[monitor]?.follow == follow else { return }
                self.monitors[monitor]?.follower = nil
                self.endImplicitSession(of: .monitor(monitor))
            }
        }
        beginImplicitSession(of: .monitor(monitor))
        servicesChanged()
    }

    /// The app requests the next event, so it has handled this one.
    func noteHandled(_ event: CLMonitor.Event, of monitor: String) {
        monitors[monitor]?.conditions[event.identifier]?.lastEvent = event
    }

    // MARK: Acts of the system

    func noticeConditions(_ fix: CLLocation, at moment: Timestamp) {
        guard mayWatchConditions else { return }
        for (monitor, identifier) in allConditions {
            take(fix, at: moment, monitor: monitor, identifier: identifier)
        }
    }

    /// In an order that does not change from run to run.
    private var allConditions: [(monitor: String, identifier: String)] {
        monitors.keys.sorted().flatMap { monitor in
            (monitors[monitor]?.conditions.keys.sorted() ?? []).map { (monitor, $0) }
        }
    }

    /// Out of use, the conditions are watched only for an app that holds a session, or held one until its process
    /// ended.
    private var mayWatchConditions: Bool {
        isAuthorized && accuracy == .fullAccuracy && (isInUse || hasSessionForBackground)
    }

    private func take(_ fix: CLLocation, at moment: Timestamp, monitor: String, identifier: String) {
        guard var watched = monitors[monitor]?.conditions[identifier], watched.obstacle.isEmpty,
            watched.pending == nil, let circle = watched.condition as? CLMonitor.CircularGeographicCondition,
            let meters = circle.center.distanceMeters(to: fix.coordinate)
        else { return }
        let before = watched.detector.side
        let crossed = watched.detector.take(
            signedMeters: meters - circle.radius, radiusMeters: circle.radius,
            accuracyMeters: fix.horizontalAccuracy, at: moment, profile: profile)
        monitors[monitor]?.conditions[identifier] = watched
        // The first side found is news, too: the app could not know it.
        guard let side = crossed ?? (before == nil ? watched.detector.side : nil) else { return }
        raise(side == .inside ? .satisfied : .unsatisfied, [], monitor: monitor, identifier: identifier)
    }

    var watchesCircles: Bool {
        mayWatchConditions
            && monitors.values.contains { monitor in
                monitor.conditions.values.contains {
                    $0.condition is CLMonitor.CircularGeographicCondition && $0.obstacle.isEmpty && $0.pending == nil
                }
            }
    }

    var watchesBeacons: Bool {
        monitors.values.contains { monitor in
            monitor.conditions.values.contains { $0.condition is CLMonitor.BeaconIdentityCondition }
        }
    }

    func noticeBeaconConditions(_ heard: [BeaconIdentity]) {
        guard mayWatchConditions else { return }
        for (monitor, identifier) in allConditions {
            guard var watched = monitors[monitor]?.conditions[identifier], watched.obstacle.isEmpty,
                watched.pending == nil, let condition = watched.condition as? CLMonitor.BeaconIdentityCondition
            else { continue }
            let constraint = CLBeaconIdentityConstraint(condition.uuid, condition.major, condition.minor)
            let found = heard.filter { $0.satisfies(constraint) }.min(by: BeaconIdentity.comesFirst)
            let side = take(found != nil, into: &watched.presence)
            monitors[monitor]?.conditions[identifier] = watched
            guard let side else { continue }
            raise(
                side == .inside ? .satisfied : .unsatisfied, [], monitor: monitor, identifier: identifier,
                refinement: found.map {
                    CLMonitor.BeaconIdentityCondition(uuid: $0.uuid, major: $0.major, minor: $0.minor)
                })
        }
    }

    /// Keeps an event for the app, and launches or wakes it for it when that may be.
    func raise(
        _ state: CLMonitoringState, _ diagnostics: ServiceDiagnostics, monitor: String, identifier: String,
        refinement: (any CLCondition)? = nil
    ) {
        let event = CLMonitor.Event(
            identifier: identifier, state: state, date: device.clock.now, refinement: refinement,
            diagnostics: diagnostics)
        post { [weak self] in
            guard let self, monitors[monitor]?.conditions[identifier] != nil else { return }
            monitors[monitor]?.conditions[identifier]?.pending = event
            deliverPending(of: monitor)
        }
    }

    /// Hands the events that wait to the loop that follows the monitor, if there is one.
    private func deliverPending(of monitor: String) {
        guard let found = monitors[monitor], let follower = found.follower, state.isRunning,
            isInUse || hasSessionForBackground
        else { return }
        let waiting = found.conditions.values.compactMap(\.pending)
        for event in waiting.sorted(by: { ($0.date, $0.identifier) < ($1.date, $1.identifier) }) {
            monitors[monitor]?.conditions[event.identifier]?.pending = nil
            yield(event, to: follower, of: monitor)
        }
    }

    private func yield(
        _ event: CLMonitor.Event, to follower: AsyncStream<CLMonitor.Event>.Continuation, of monitor: String
    ) {
        let flags = event.diagnostics.isEmpty ? "" : " flags \(event.diagnostics.rawValue)"
        device.write(
            "\(bundle.identifier)/\(launch)", "monitor \(monitor) \(event.identifier) \(event.state.rawValue)\(flags)")
        follower.yield(event)
    }

    /// Called when the conditions of delivery have changed: reports why no events come, or delivers the waiting ones.
    func monitorsChanged() {
        let now = diagnostics
        for monitor in monitors.keys.sorted() {
            guard let found = monitors[monitor], let follower = found.follower else { continue }
            if found.told != now {
                monitors[monitor]?.told = now
                tell(now, follower: follower, of: monitor)
            }
            deliverPending(of: monitor)
        }
    }

    /// One event for each condition. The state of an unwatched condition is determined anew when it can be watched
    /// again.
    private func tell(
        _ diagnostics: ServiceDiagnostics, follower: AsyncStream<CLMonitor.Event>.Continuation, of monitor: String
    ) {
        guard !diagnostics.isEmpty else { return }
        let isBlind = !diagnostics.isDisjoint(with: .unmonitored)
        for (identifier, condition) in (monitors[monitor]?.conditions ?? [:]).sorted(by: { $0.key < $1.key })
        where condition.obstacle.isEmpty {
            if isBlind {
                monitors[monitor]?.conditions[identifier]?.detector = CrossingDetector()
                monitors[monitor]?.conditions[identifier]?.presence = BeaconPresence()
            }
            let state = isBlind ? .unmonitored : condition.lastEvent.state
            yield(
                CLMonitor.Event(
                    identifier: identifier, state: state, date: device.clock.now, diagnostics: diagnostics),
                to: follower, of: monitor)
        }
    }

    /// The process has ended, and its loops with it.
    func endMonitors() {
        for monitor in monitors.keys.sorted() {
            let follower = monitors[monitor]?.follower
            monitors[monitor]?.follower = nil
            follower?.finish()
        }
    }
}
