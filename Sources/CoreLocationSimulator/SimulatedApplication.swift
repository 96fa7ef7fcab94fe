internal import Foundation
internal import Whereabouts

/// An app on a ``SimulatedDevice``: the system's state of it, and its process while it has one.
///
/// The device must outlive its apps.
///
/// `@unchecked Sendable`: every mutable field is touched only under the clock's lock.
public final class SimulatedApplication: @unchecked Sendable {
    /// The app whose code is running; new location managers belong to it. Set around everything the simulation calls.
    @TaskLocal public static var current: SimulatedApplication?

    public let bundle: SimulatedBundle
    public unowned let device: SimulatedDevice
    let makeDelegate: () -> (any SimulatedApplicationDelegate)?
    let installSeed: UInt64
    /// The app that this is an extension of: the user's answers and the last fix are that app's.
    private let host: SimulatedApplication?

    // The process, anew at each launch.
    private(set) var launch = 0
    private var lifeState = SimulatedApplicationState.notRunning
    private var delegate: (any SimulatedApplicationDelegate)?
    private var managerReferences: [ManagerReference] = []
    private var nextManager = 1
    private var suspension: SimulatedClock.Ticket?
    /// The work for the process when it runs again.
    var afterSuspension: [() -> Void] = []

    // The system's state.
    var user: UserScript
    var authorization: AuthorizationRecord {
        get { host?.authorization ?? ownAuthorization }
        set { if let host { host.authorization = newValue } else { ownAuthorization = newValue } }
    }
    private var ownAuthorization: AuthorizationRecord
    var openPrompt: Prompt?
    /// Events that wait for the answer to the second prompt of a provisional Always.
    var eventsAwaitingAnswer: [(moment: Timestamp, deliver: () -> Void)] = []
    var lastFix: CLLocation? {
        get { host?.lastFix ?? ownLastFix }
        set { ownLastFix = newValue }
    }
    private var ownLastFix: CLLocation?
    var lastReduced: Timestamp?
    var significant = LaunchingService<SignificantChange>(rule: SignificantChange())
    var visits = LaunchingService<VisitDetector>(rule: VisitDetector())
    var lastVisitReport = Timestamp(milliseconds: .min)
    var regions: [String: MonitoredRegion] = [:]
    var beaconRegions: [String: MonitoredBeaconRegion] = [:]
    var monitors: [String: SystemMonitor] = [:]
    var sessions = AppSessions()
    var radioAccount = RadioAccount()
    /// The geocoder's requests of the last minute.
    var geocoded: [Timestamp] = []
    var live = LiveFollowers()
    var pushes: LocationPushes

    init(
        bundle: SimulatedBundle, device: SimulatedDevice, user: UserScript,
        makeDelegate: @escaping () -> (any SimulatedApplicationDelegate)?,
        makeExtension: (() -> any CLLocationPushServiceExtension)?, installSeed: UInt64
    ) {
        (self.bundle, self.device, self.user) = (bundle, device, user)
        (self.makeDelegate, self.installSeed) = (makeDelegate, installSeed)
        host = nil
        pushes = LocationPushes(makeExtension: makeExtension)
        ownAuthorization = AuthorizationRecord(
            accuracy: device.profile.hasAccuracyAuthorization && bundle.beginsReduced
                ? .reducedAccuracy : .fullAccuracy)
    }

    /// A process of an app's extension, running from the start. It has no delegate and is never suspended.
    init(extensionOf host: SimulatedApplication, number: Int) {
        bundle = SimulatedBundle(identifier: host.bundle.identifier + ".location-push")
        (device, user, installSeed) = (host.device, UserScript(), host.installSeed)
        (makeDelegate, self.host, launch, lifeState) = ({ nil }, host, number, .background)
        pushes = LocationPushes(makeExtension: nil)
        ownAuthorization = host.authorization
    }

    func endExtension() { (lifeState, managerReferences) = (.notRunning, []) }

    var profile: SimulationProfile { device.profile }

    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        try device.clock.lock.withLock {
            accountForRadios()
            return try body()
        }
    }

    // MARK: Code of the app

    /// Runs code as the app's: its location managers belong to this app.
    ///
    /// - Precondition: the app has a process.
    public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try locked {
            precondition(!lifeState.isDead, "An app's code runs while it has a process: launch it first.")
            return try Self.$current.withValue(self, operation: body)
        }
    }

    // MARK: Life

    public var state: SimulatedApplicationState { locked { lifeState } }

    /// The user opens the app: it is launched, or comes to the foreground.
    public func open() {
        locked {
            if lifeState.isDead {
                start(in: .foreground, options: [:])
            } else {
                change(to: .foreground)
            }
        }
    }

    /// The user leaves the app; the system suspends it a little later, unless it has a reason to run on.
    public func enterBackground() {
        locked { if lifeState == .foreground { change(to: .background) } }
    }

    /// The system suspends the app at once, whatever reason it has to run on.
    public func suspend() {
        locked { if lifeState.isRunning { change(to: .suspended) } }
    }

    /// The system ends the app, as when memory is short.
    public func terminateBySystem() { locked { end(as: .terminatedBySystem) } }

    /// The user ends the app in the app switcher.
    public func forceQuit() { locked { end(as: .forceQuit) } }

    func reboot() {
        end(as: .notRunning)
        if !profile.regionsSurviveReboot { (regions, beaconRegions, monitors) = ([:], [:], [:]) }
    }

    /// Whether the app is in use: on the screen, or in the background with a session that the user can see.
    var isInUse: Bool {
        switch lifeState {
        case .foreground: true
        case .background: hasBackgroundActivity || managers.contains { $0.showsIndicator }
        default: false
        }
    }

    /// Gives the app a process or time in the background, then does `event` there.
    func wake(for event: () -> Void) {
        if lifeState.isDead {
            start(in: .background, options: [.location: true])
        } else if lifeState == .suspended {
            change(to: .background)
        }
        event()
    }

    /// The app has ended or begun something that decides how long it runs, or whether it is in use.
    func sessionsChanged() {
        loseWhatNeedsUse()
        if lifeState == .background, host == nil { awaitSuspension() }
        servicesChanged()
    }

    private func start(in state: SimulatedApplicationState, options: [SimulatedLaunchOption: Bool]) {
        launch += 1
        nextManager = 1
        lifeState = state
        let reason = options[.location] == true ? " location" : ""
        device.write(bundle.identifier, "launched in \(state.rawValue)\(reason)")
        significant.beginProcess()
        visits.beginProcess()
        beginSessions()
        Self.$current.withValue(self) {
            delegate = makeDelegate()
            delegate?.applicationDidFinishLaunching(options: options)
        }
        if state == .background { awaitSuspension() }
        servicesChanged()
    }

    private func change(to state: SimulatedApplicationState) {
        guard state != lifeState else { return }
        accountForRadios()
        let wasSuspended = lifeState == .suspended
        lifeState = state
        device.write(bundle.identifier, state.rawValue)
        loseWhatNeedsUse()
        if wasSuspended {
            tellAuthorization()
            let waiting = afterSuspension
            afterSuspension = []
            for body in waiting { whenRunning(launch, body) }
        }
        if state == .foreground { device.senseHeading() }
        if state == .background { awaitSuspension() } else { device.clock.cancel(suspension) }
        servicesChanged()
    }

    private func end(as state: SimulatedApplicationState) {
        guard !lifeState.isDead || state == .notRunning else { return }
        accountForRadios()
        device.clock.cancel(suspension)
        if !lifeState.isDead { endSessions() }
        lifeState = state
        device.write(bundle.identifier, state.rawValue)
        endMonitors()
        endLive()
        (delegate, managerReferences, afterSuspension) = (nil, [], [])
        loseWhatNeedsUse()
    }

    private func awaitSuspension() {
        device.clock.cancel(suspension)
        suspension = device.clock.after(profile.backgroundSeconds) { [weak self] in
            guard let self, lifeState == .background, !hasBackgroundActivity,
                !managers.contains(where: { $0.keepsAppRunning })
            else { return }
            // A Mac's apps run on.
            if profile.platform == .iOS { change(to: .suspended) }
        }
    }

    // MARK: Managers

    /// Those of the running process, in the order they were made.
    var managers: [CLLocationManager] { managerReferences.compactMap(\.manager) }

    func add(_ manager: CLLocationManager) -> Int {
        managerReferences.removeAll { $0.manager == nil }
        managerReferences.append(ManagerReference(manager: manager))
        defer { nextManager += 1 }
        return nextManager
    }

    /// Tells a delegate, if its manager's process still lives and runs.
    func tell(_ manager: CLLocationManager, _ what: String, _ body: (any CLLocationManagerDelegate) -> Void) {
        guard manager.launch == launch, lifeState.isRunning, let delegate = manager.delegate else { return }
        device.write("\(bundle.identifier)/\(launch).\(manager.number)", what)
        Self.$current.withValue(self) { body(delegate) }
    }

    /// Tells all delegates of the app.
    func tellAll(_ what: String, _ body: (any CLLocationManagerDelegate, CLLocationManager) -> Void) {
        for manager in managers { tell(manager, what) { body($0, manager) } }
    }
}

private struct ManagerReference {
    weak var manager: CLLocationManager?
}

/// A service that the system keeps on for an app that has no process, and that the app must start again when it has.
struct LaunchingService<Rule> {
    private(set) var isOn = false
    /// Since the launch, the app has not started the service again, so it gets no callbacks.
    private(set) var awaitsRestart = false
    private(set) var pending: [() -> Void] = []
    private let initial: Rule
    var rule: Rule

    init(rule: Rule) { (initial, self.rule) = (rule, rule) }

    /// Returns the waiting callbacks, to be delivered now.
    mutating func start() -> [() -> Void] {
        defer { (isOn, awaitsRestart, pending) = (true, false, []) }
        return pending
    }

    mutating func stop() { self = LaunchingService(rule: initial) }

    mutating func beginProcess() { (awaitsRestart, pending) = (isOn, []) }

    mutating func keep(_ event: @escaping () -> Void) { pending.append(event) }
}
