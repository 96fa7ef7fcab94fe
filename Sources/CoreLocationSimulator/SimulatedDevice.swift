internal import Foundation
internal import Geodesy
internal import Whereabouts

/// A phone, tablet or Mac: its hardware, its system, where it goes, and the apps on it.
///
/// It is driven from outside, by its clock: nothing happens but in `clock.advance(by:)` and `clock.run(until:)` and in
/// the calls of this type and of ``SimulatedApplication``. Use it from one thread; tasks of the app may come from any.
///
/// `@unchecked Sendable`: every mutable field is touched only under the clock's lock.
public final class SimulatedDevice: @unchecked Sendable {
    public let clock: SimulatedClock
    public let profile: SimulationProfile
    public let hardware: SimulatedHardware
    public let seed: UInt64

    /// Where device tokens come from; `nil` for ones made from the seed.
    public var locationPushRegistrar: LocationPushRegistrar?

    /// How slow the system is with regions; `nil` for one that is not.
    public var regionMonitoringDelay: SimulatedMonitoringDelay? {
        get { clock.lock.withLock { monitoringDelay } }
        set { clock.lock.withLock { monitoringDelay = newValue } }
    }
    private(set) var monitoringDelay: SimulatedMonitoringDelay?

    /// The geocoder's source; `nil` if the device has no network.
    public var geocoding: SimulatedGeocoding? {
        get { clock.lock.withLock { places } }
        set { clock.lock.withLock { places = newValue } }
    }
    private var places: SimulatedGeocoding?
    lazy var transform = GeocentricTransform()

    private var log = CallbackLog()
    private(set) var applications: [SimulatedApplication] = []
    private var servicesAreOn = true
    private var sleeps = false
    private var track: ArraySlice<CLLocation> = []
    private var lookUp: TrackLookUp?
    private var nextFix: SimulatedClock.Ticket?
    /// Where the device was at the last fix, whatever its apps may know.
    private(set) var place: CLLocation?
    var compass = Compass()
    var bluetooth = BluetoothReceiver()

    public init(
        clock: SimulatedClock = SimulatedClock(), profile: SimulationProfile = .iOS18,
        hardware: SimulatedHardware = .phone, seed: UInt64 = 0
    ) {
        (self.clock, self.profile, self.hardware, self.seed) = (clock, profile, hardware, seed)
    }

    /// The events so far.
    public var callbackLog: CallbackLog { clock.lock.withLock { log } }

    /// Puts an app on the device; it does not run yet.
    ///
    /// - Parameters:
    ///   - user: how the user answers this app's prompts.
    ///   - delegate: makes the app's delegate, anew at each launch, as a process begins anew.
    ///   - locationPushExtension: makes the app's location push service extension, anew for each push; `nil` when the
    ///     app has none.
    @discardableResult
    public func install(
        _ bundle: SimulatedBundle, user: UserScript = UserScript(),
        delegate: @escaping () -> (any SimulatedApplicationDelegate)? = { nil },
        locationPushExtension: (() -> any CLLocationPushServiceExtension)? = nil
    ) -> SimulatedApplication {
        clock.lock.withLock {
            let application = SimulatedApplication(
                bundle: bundle, device: self, user: user, makeDelegate: delegate,
                makeExtension: locationPushExtension,
                installSeed: seed &+ UInt64(applications.count) &* 0x9E37_79B9_7F4A_7C15)
            applications.append(application)
            return application
        }
    }

    /// Sends the device along a track, in place of the one it was on. Fixes before now are left out; after the last
    /// one the receiver is silent.
    ///
    /// - Parameter gapSeconds: between two fixes no further apart than this, and after the last one, the receiver also
    ///   finds the place when an app asks for it once; 0 for a receiver that sees nothing but the track's fixes.
    public func follow(_ track: SimulatedTrack, findsInGapsOf gapSeconds: Double = 0) {
        clock.lock.withLock {
            clock.cancel(nextFix)
            lookUp = gapSeconds > 0 ? TrackLookUp(track: track, gapSeconds: gapSeconds) : nil
            let now = clock.moment.milliseconds
            self.track = track.fixes.drop { $0.timestamp.milliseconds < now }
            awaitNextFix()
        }
    }

    /// The switch "Location Services" for all apps.
    public var locationServicesEnabled: Bool {
        get { clock.lock.withLock { servicesAreOn } }
        set {
            clock.lock.withLock {
                guard servicesAreOn != newValue else { return }
                servicesAreOn = newValue
                write("device", newValue ? "services on" : "services off")
                for application in applications { application.tellAuthorization() }
            }
        }
    }

    /// Whether a Mac sleeps: no fix reaches an app. A phone's receiver wakes it, so there it changes nothing.
    public var isAsleep: Bool {
        get { clock.lock.withLock { sleeps } }
        set { clock.lock.withLock { sleeps = newValue } }
    }

    /// Switches the device off and on again: no app runs after it.
    public func reboot() {
        clock.lock.withLock {
            write("device", "rebooted")
            for application in applications { application.reboot() }
        }
    }

    /// The device has lost its receiver: apps that receive updates get the error that the location is unknown. The next
    /// fix resumes the updates.
    public func loseReceiver() {
        clock.lock.withLock {
            write("device", "receiver lost")
            for application in applications { application.receiverLost() }
        }
    }

    func write(_ who: String, _ what: String) { clock.lock.withLock { log.append(clock.moment, who, what) } }

    private func awaitNextFix() {
        guard let fix = track.first else { return }
        nextFix = clock.at(Timestamp(milliseconds: fix.timestamp.milliseconds), .fix) { [weak self] in
            guard let self else { return }
            track.removeFirst()
            awaitNextFix()
            receive(fix)
        }
    }

    /// An app wants to know the place now.
    func find() {
        guard lookUp != nil else { return }
        clock.after(profile.findSeconds) { [weak self] in
            guard let self, let fix = lookUp?.fix(at: clock.moment) else { return }
            receive(fix)
        }
    }

    func receive(_ fix: CLLocation) {
        if fix.hasPlace { place = fix }
        locate(fix)
        senseHeading()
        senseBeacons()
    }

    private func locate(_ fix: CLLocation) {
        guard servicesAreOn, !(profile.platform == .macOS && sleeps) else { return }
        guard fix.hasPlace else { return write("device", "the receiver calls its fix invalid") }
        guard let sigma = hardware.sigmaMeters(in: profile) else { return }
        let seen = fix.blurred(toSigma: sigma, seed: seed).with(floor: hardware.contains(.barometer) ? fix.floor : nil)
        for application in applications { application.receive(seen) }
    }
}
