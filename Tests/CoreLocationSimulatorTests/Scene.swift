import CoreLocation
import Testing

/// An app as an iOS developer writes it: nothing of the simulation but the delegate that launches it.
final class SampleApp: NSObject, CLLocationManagerDelegate, SimulatedApplicationDelegate {
    let manager = CLLocationManager()
    private let atLaunch: (CLLocationManager) -> Void
    private(set) var launchOptions: [SimulatedLaunchOption: Bool] = [:]
    private(set) var received: [CLLocation] = []
    private(set) var visits: [CLVisit] = []
    private(set) var errors: [any Error] = []
    private(set) var statuses: [CLAuthorizationStatus] = []

    init(atLaunch: @escaping (CLLocationManager) -> Void) { self.atLaunch = atLaunch }

    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) {
        launchOptions = options
        manager.delegate = self
        atLaunch(manager)
    }

    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        statuses.append(manager.authorizationStatus)
    }
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        received += locations
    }
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { errors.append(error) }
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) { visits.append(visit) }
    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) { errors.append(error) }
}

/// A device at 2026-01-01 with one app installed and not launched, made anew at each launch.
class ModernScene<App: SimulatedApplicationDelegate>: @unchecked Sendable {
    let device: SimulatedDevice
    let application: SimulatedApplication
    private let apps: Apps

    private final class Apps: @unchecked Sendable { var all: [App] = [] }

    init(
        _ profile: SimulationProfile = .iOS18, info: [String: Any] = Scene.purposes,
        user: [UserScript.Answer] = [], hardware: SimulatedHardware = .phone, seed: UInt64 = 1,
        app: @escaping (_ launch: Int) -> App
    ) {
        let apps = Apps()
        self.apps = apps
        device = SimulatedDevice(profile: profile, hardware: hardware, seed: seed)
        application = device.install(
            SimulatedBundle(identifier: "org.example.app", infoDictionary: info), user: UserScript(user)
        ) {
            apps.all.append(app(apps.all.count + 1))
            return apps.all.last
        }
    }

    /// The running app, or the last one that ran.
    var app: App { apps.all[apps.all.count - 1] }
    var launches: Int { apps.all.count }

    func advance(_ seconds: Double) { device.clock.advance(by: seconds) }

    func count(_ text: String) -> Int { device.callbackLog.lines(containing: text).count }

    /// Launches the app with an authorization the user has given before.
    func open(with status: CLAuthorizationStatus, accuracy: CLAccuracyAuthorization? = nil) {
        application.changeInSettings(status, accuracy: accuracy)
        application.open()
        advance(1)
    }

    /// Sends the device along legs, beginning now.
    func follow(
        from start: CLLocationCoordinate2D = home, _ legs: [SimulatedItinerary.Leg], every interval: Double = 1,
        accuracy: Double = 5, sigma: Double = 0
    ) throws {
        let itinerary = SimulatedItinerary(
            start: start, legs: legs, intervalSeconds: interval, sigmaMeters: sigma, accuracyMeters: accuracy,
            noiseSeed: 7)
        device.follow(try itinerary.track(departure: device.clock.now))
    }
}

/// One with the sample app on it.
final class Scene: ModernScene<SampleApp>, @unchecked Sendable {
    static var purposes: [String: Any] {
        [
            "NSLocationWhenInUseUsageDescription": "to show you around",
            "NSLocationAlwaysAndWhenInUseUsageDescription": "to show you around later, too",
            "NSLocationTemporaryUsageDescriptionDictionary": ["turns": "to tell the turns"],
            "UIBackgroundModes": ["location"],
        ]
    }

    init(
        _ profile: SimulationProfile = .iOS18, info: [String: Any] = Scene.purposes,
        user: [UserScript.Answer] = [], hardware: SimulatedHardware = .phone, seed: UInt64 = 1,
        atLaunch: @escaping (CLLocationManager) -> Void = { _ in }
    ) {
        super.init(profile, info: info, user: user, hardware: hardware, seed: seed) { _ in
            SampleApp(atLaunch: atLaunch)
        }
    }

    var manager: CLLocationManager { app.manager }
    var status: CLAuthorizationStatus { application.run { manager.authorizationStatus } }

    /// Gives single fixes: seconds from now, meters north of home, accuracy.
    func follow(fixes: [(seconds: Double, metersNorth: Double, accuracy: Double)]) {
        device.follow(
            SimulatedTrack(
                fixes.map { fix in
                    CLLocation(
                        coordinate: north(fix.metersNorth), altitude: 0, horizontalAccuracy: fix.accuracy,
                        verticalAccuracy: -1, timestamp: device.clock.now.addingTimeInterval(fix.seconds))
                }))
    }
}

/// A synthetic place: 46.5° N, where a degree of latitude is 111,160 m (PyPI geographiclib: the meridian arc from 46.5°
/// to 46.501° is 111.16 m).
let home = CLLocationCoordinate2D(latitude: 46.5, longitude: 9.25)

/// The place so many meters north of home, to a thousandth of the distance.
func north(_ meters: Double) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: home.latitude + meters / 111_160, longitude: home.longitude)
}

func code(_ error: any Error) -> Int { (error as NSError).code }
