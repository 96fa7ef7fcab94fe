internal import CoreLocation
internal import Foundation
internal import Gazetteer
internal import JSON
internal import LocationPush
internal import LocationSharingApp

/// One phone on simulated Core Location, with the app of `LocationSharingApp` on it and the app's location push
/// extension.
///
/// Belongs to the thread that moves its clock, one at a time. Between moves nothing happens.
final class SimulatedPhone {
    /// The phone's account at the service.
    struct Identity: Sendable {
        /// The handle.
        let device: String
        let reportingKey: String
        let bundleID: String
        let environment: LocationPush.PushEnvironment
    }

    /// How the phone and its user are.
    struct Manner {
        var profile = SimulationProfile.iOS18
        var hardware = SimulatedHardware.phone
        var seed: UInt64 = 0
        /// The answers to the app's prompts; `nil` for an app that was given Always before.
        var user: UserScript?
        var interests: LocationReporter.Interests = []
        var regions: [CLRegion] = []
        /// The ones in this phone's world.
        var beacons: [SimulatedBeacon] = []
        /// The path of the owner's keys, for a phone that seals its fixes.
        var keys: String?
        /// For the cities in its sealed answers; `nil` for square degrees.
        var gazetteer: Gazetteer?
        /// `nil` for a network that loses nothing.
        var weather: Weather?
    }

    let identity: Identity
    let device: SimulatedDevice
    private let application: SimulatedApplication
    private let diary: Diary
    private let steps: Steps
    private let app: AppBox
    private let container: URL

    /// The running app's own objects.
    private final class AppBox {
        var reporter: LocationReporter?
    }

    /// - Parameters:
    ///   - folder: the existing folder that app and extension share.
    ///   - network: the way to the service.
    init(
        _ identity: Identity, _ manner: Manner, start: Date, service: URL, folder: String,
        network: any RequestSending, diary: Diary
    ) {
        (self.identity, self.diary) = (identity, diary)
        let clock = SimulatedClock(start: start)
        let container = URL(fileURLWithPath: folder, isDirectory: true)
        self.container = container
        let device = SimulatedDevice(
            clock: clock, profile: manner.profile, hardware: manner.hardware, seed: manner.seed)
        self.device = device
        device.beacons = manner.beacons
        let account = ServiceAccount(
            service: service, device: identity.device, reportingKey: identity.reportingKey,
            bundleID: identity.bundleID, environment: identity.environment.rawValue)
        let surroundings = Surroundings(
            container: container, network: AppNetwork(base: network, weather: manner.weather), now: { clock.now },
            after: { seconds, body in SimulatedApplication.current?.after(seconds, body) })
        let steps = Steps(identity, device, diary)
        self.steps = steps
        // The system's earlier callbacks are written before the message, even if both are in one turn of the clock.
        let tell: @Sendable (Outbox.Event) -> Void = {
            steps.note()
            diary.note($0, device: identity.device, at: clock.now)
        }
        let sealer = manner.keys.map { PhoneSealer(keys: $0, folder: folder, gazetteer: manner.gazetteer) }
        let box = AppBox()
        app = box
        application = device.install(
            Self.bundle(identity), user: manner.user ?? UserScript(),
            delegate: {
                App {
                    let reporter = LocationReporter(
                        account: account,
                        outbox: Outbox(account: account, surroundings: surroundings, process: "app", tell: tell),
                        surroundings: surroundings, interests: manner.interests, sealing: sealer)
                    box.reporter = reporter
                    reporter.start()
                    for region in manner.regions { reporter.monitor(region) }
                }
            },
            locationPushExtension: {
                LocationPushService(
                    outbox: Outbox(account: account, surroundings: surroundings, process: "extension", tell: tell),
                    surroundings: surroundings, sealing: sealer.map { ($0, account) })
            })
        if manner.user == nil { application.changeInSettings(.authorizedAlways) }
    }

    /// The simulated system's callbacks to the app and the extension, the same for the same track, script and seed.
    var callbackLog: CallbackLog { device.callbackLog }

    /// For how long each service has kept the phone's receivers busy.
    var radioUse: [SimulatedService: SimulatedRadioUse] { application.radioUse }

    /// The user opens the app and leaves it.
    func open() {
        application.open()
        steps.note()
    }

    func leave() {
        application.enterBackground()
        steps.note()
    }

    /// The app ends and comes again, as apps do over a day.
    func terminate() {
        application.terminateBySystem()
        steps.note()
    }

    func run(until date: Date) {
        device.clock.run(until: date)
        steps.note()
    }

    /// A push has reached the phone. One for another app does nothing here.
    func receive(topic: String, payload: [UInt8], _ fields: (inout JSONWriter) -> Void) {
        diary.note("pushReceived", device: identity.device, at: device.clock.now, fields)
        guard topic == identity.bundleID + ".location-query" else {
            diary.note("ignored", device: identity.device, at: device.clock.now) {
                $0.field("reason", "The topic is another app's.")
            }
            return
        }
        let dictionary = (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any]
        application.receiveLocationPush(dictionary ?? [:])
        steps.note()
    }

    /// The system changes the device token; the app notices at its next launch.
    func changeToken() {
        application.rotateLocationPushToken()
        steps.note()
    }

    /// The system has taken the device token back; the app asks for another one, and uploads it.
    func rotateToken() {
        application.rotateLocationPushToken()
        registerAgain()
    }

    /// Whether the system has given the app a device token.
    var hasToken: Bool { application.hasLocationPushToken }

    /// The app asks for its device token again, as at each launch.
    func registerAgain() {
        guard application.state != .notRunning, let reporter = app.reporter else { return }
        application.run { reporter.registerForLocationPushes() }
        steps.note()
    }

    /// The Info.plist and entitlements of such an app.
    private static func bundle(_ identity: Identity) -> SimulatedBundle {
        SimulatedBundle(
            identifier: identity.bundleID,
            infoDictionary: [
                "NSLocationWhenInUseUsageDescription": "To show where you are to whom you let see it.",
                "NSLocationAlwaysAndWhenInUseUsageDescription":
                    "To answer whom you let ask, also while this app is closed.",
                "UIBackgroundModes": ["location"],
            ],
            entitlements: [
                "aps-environment": identity.environment.rawValue, "com.apple.developer.location.push": true,
            ])
    }
}

/// Brings the steps of pushes from the callback log into the diary.
///
/// `@unchecked Sendable`: it belongs to the thread that moves the phone's clock, as the phone does.
private final class Steps: @unchecked Sendable {
    private let identity: SimulatedPhone.Identity
    // Unowned: the device keeps the closure that reports its messages, and the closure keeps this object.
    private unowned let device: SimulatedDevice
    private let diary: Diary
    /// Lines that the diary has seen.
    private var told = 0

    init(_ identity: SimulatedPhone.Identity, _ device: SimulatedDevice, _ diary: Diary) {
        (self.identity, self.device, self.diary) = (identity, device, diary)
    }

    func note() {
        let lines = device.callbackLog.lines
        for line in lines[told...] {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3 else { continue }
            let what = words[2]
            if words[1].hasPrefix("\(identity.bundleID).location-push/") {
                for (step, event) in Self.events where what == step {
                    diary.note(event, device: identity.device, at: device.clock.now)
                }
            } else if what == "location pushes started" {
                diary.note("registered", device: identity.device, at: device.clock.now)
            } else if what.hasPrefix("push dropped: ") {
                diary.note("pushDropped", device: identity.device, at: device.clock.now) {
                    $0.field("reason", String(what.dropFirst(14)))
                }
            }
        }
        told = lines.count
    }

    private static let events: [(Substring, StaticString)] = [
        ("launched", "launched"), ("completed", "completed"), ("willTerminate", "willTerminate"), ("killed", "killed"),
    ]
}

/// The app's delegate, which starts the reporter at each launch.
private final class App: SimulatedApplicationDelegate {
    private let atLaunch: () -> Void

    init(_ atLaunch: @escaping () -> Void) { self.atLaunch = atLaunch }

    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) { atLaunch() }
}
