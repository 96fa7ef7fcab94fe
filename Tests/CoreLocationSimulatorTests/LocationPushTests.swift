import CoreLocation
import Testing

/// The location push service extension: the device's side of statements P2 to P6 and P8. P1, P7, P9 and P10 need a
/// service; the stories of the service test them.
@Suite struct LocationPushTests {
    @Test func `a push launches a fresh extension each time, which gets the payload and a fix`() throws {
        let scene = try PushScene()
        scene.push(["query": "one"])
        scene.advance(3)
        scene.push(["query": "two"])
        scene.advance(3)
        #expect(scene.extensions.map(\.query) == ["one", "two"])
        #expect(scene.extensions.allSatisfy { $0.fixes.count == 1 && !$0.wasWarned })
        #expect(
            scene.steps == [
                "pushReceived", "/1 launched", "/1 payload", "/1 completed", "pushReceived", "/2 launched",
                "/2 payload", "/2 completed",
            ])
        // An extension is not the app: nothing was launched that has launch options.
        #expect(scene.device.callbackLog.lines(containing: "launched in").count == 1)
    }

    /// The limits are the profile's own: 30 s to the warning and 5 s from there.
    @Test func `P2 an extension that never completes is warned at 30 s and killed at 35 s, and does nothing after`()
        throws
    {
        let scene = try PushScene { $0.completes = false }
        scene.push([:])
        let manager = try #require(scene.extensions.first).manager
        scene.advance(29.9)
        #expect(scene.extensions.first?.wasWarned == false)
        scene.advance(0.2)
        #expect(scene.extensions.first?.wasWarned == true)
        scene.advance(4.8)
        #expect(scene.count(" killed") == 0)
        scene.advance(0.2)
        #expect(scene.count(" killed") == 1)
        let callbacks = scene.extensions.first?.fixes.count
        manager?.requestLocation()
        scene.advance(60)
        #expect(scene.extensions.first?.fixes.count == callbacks)
    }

    @Test func `P3 completion called twice counts once, and is noted`() throws {
        let scene = try PushScene { $0.completions = 2 }
        scene.push([:])
        scene.advance(3)
        #expect(scene.count(" completed") == 1 && scene.count(" completion called again") == 1)
    }

    @Test(arguments: [
        (CLAuthorizationStatus.authorizedWhenInUse, "authorization 4"), (.denied, "authorization 2"),
        (.notDetermined, "authorization 0"), (.restricted, "authorization 1"),
    ])
    func `P4 without Always the extension is not launched and the push is dropped`(
        status: CLAuthorizationStatus, reason: String
    ) throws {
        let scene = try PushScene()
        scene.application.changeInSettings(status)
        scene.push([:])
        scene.advance(60)
        #expect(scene.extensions.isEmpty)
        #expect(scene.count("push dropped: \(reason)") == 1)
    }

    @Test func `P4 a provisional Always asks the user first and drops the push`() throws {
        let scene = try PushScene(
            status: nil, user: [.init(.always, .whileUsing), .init(.keepAlways, .always, after: 2)]
        ) { _ in
        } atLaunch: {
            $0.requestAlwaysAuthorization()
        }
        scene.advance(5)
        scene.application.suspend()
        scene.push([:])
        scene.advance(5)
        #expect(scene.extensions.isEmpty && scene.count("prompt keepAlways") == 1)
        scene.push([:])
        scene.advance(5)
        #expect(scene.extensions.count == 1)
    }

    /// One push in 7.2 s, one earned back in 240 s: each push costs 0.97 of 360, so 371 are served; then 15 × 240 s.
    @Test func `P5 500 pushes in an hour launch 371 extensions, then none for about an hour`() throws {
        let scene = try PushScene()
        let start = scene.device.clock.now
        for number in 0..<500 {
            scene.device.clock.run(until: start.addingTimeInterval(Double(number) * 7.2))
            scene.push([:])
        }
        #expect(abs(scene.extensions.count - 371) <= 1)
        let lines = scene.device.callbackLog.lines
        let dry = try #require(lines.firstIndex { $0.contains("push dropped: budget") })
        let dryAt = try #require(Double(lines[dry].prefix { $0 != " " })) - start.timeIntervalSince1970
        #expect(abs(dryAt - 2671) <= 15)
        // A push a minute: the first one served again is the one after 15 have been earned back.
        var served = scene.extensions.count
        let before = served
        var minutes = 60.0
        while served == before, minutes < 240 {
            minutes += 1
            scene.device.clock.run(until: start.addingTimeInterval(minutes * 60))
            scene.push([:])
            served = scene.extensions.count
        }
        #expect(abs(minutes * 60 - (dryAt + 3600)) <= 120)
    }

    @Test func `P5 after a day of silence the budget is full again`() throws {
        let scene = try PushScene()
        for _ in 0..<400 { scene.push([:]) }
        #expect(scene.count("/360 launched") == 1 && scene.count("/361 launched") == 0)
        scene.advance(86_400)
        for _ in 0..<400 { scene.push([:]) }
        #expect(scene.count("/720 launched") == 1 && scene.count("/721 launched") == 0)
    }

    @Test(arguments: [
        (SimulationProfile.iOS18, false, true, true, 1), (.iOS18, true, false, true, 2), (.iOS18, true, true, false, 3),
        (.iOS14, true, true, true, 4), (.macOS15, true, true, true, 4),
    ])
    func `P6 what is missing is told by its number`(
        profile: SimulationProfile, hasExtension: Bool, hasEnvironment: Bool, hasEntitlement: Bool, number: Int
    ) throws {
        let entitlements: [String: Any?] = [
            "aps-environment": hasEnvironment ? "development" : nil,
            "com.apple.developer.location.push": hasEntitlement ? true : nil,
        ]
        let device = SimulatedDevice(profile: profile)
        let application = device.install(
            SimulatedBundle(identifier: "org.example.app", entitlements: entitlements.compactMapValues { $0 }),
            locationPushExtension: hasExtension ? { PushedExtension(PushedExtension.Manner()) } : nil)
        application.open()
        let told = Told()
        application.run {
            let manager = CLLocationManager()
            manager.startMonitoringLocationPushes { _, error in told.error = error.map { $0 as NSError } }
        }
        device.clock.advance(by: 1)
        #expect(told.error?.code == number && told.error?.domain == CLLocationPushServiceErrorDomain)
    }

    @Test func `a token has no particular length, stays the same, and changes when the system says so`() throws {
        let scene = try PushScene()
        func token() throws -> Data {
            let told = Told()
            scene.application.run { scene.manager.startMonitoringLocationPushes { token, _ in told.token = token } }
            scene.advance(0)
            return try #require(told.token)
        }
        let first = try token()
        #expect((32...100).contains(first.count) && scene.token == first)
        #expect(try token() == first)
        scene.application.rotateLocationPushToken()
        #expect(try token() != first)
        scene.application.run { scene.manager.stopMonitoringLocationPushes() }
        scene.push([:])
        #expect(scene.extensions.isEmpty && scene.count("push dropped: not monitored") == 1)
    }

    @Test func `P8 without a fix in time the extension hears an error, and the last fix keeps its time`() throws {
        let scene = try PushScene()
        scene.advance(3600)
        scene.push([:])
        scene.advance(11)
        let service = try #require(scene.extensions.first)
        #expect(service.errors.map(code) == [0] && service.fixes.isEmpty)
        #expect(service.cached?.timestamp == scene.lastFixDate)
        // The search is on the app's account.
        #expect(scene.application.radioUse[.standard]?.gpsSeconds == 10)
    }

    @Test func `an extension may be written with async, and runs on simulated time`() throws {
        let device = SimulatedDevice()
        let application = device.install(
            SimulatedBundle(identifier: "org.example.app", entitlements: PushScene.entitlements),
            locationPushExtension: { AsyncExtension() })
        application.changeInSettings(.authorizedAlways)
        application.open()
        application.run { CLLocationManager().startMonitoringLocationPushes() }
        device.follow(
            try SimulatedItinerary(start: home, legs: [.stay(seconds: 60)]).track(departure: device.clock.now))
        device.clock.advance(by: 10)
        application.receiveLocationPush(["query": "one"])
        device.clock.advance(by: 5)
        #expect(device.callbackLog.lines(containing: "/1 completed").count == 1)
        #expect(device.callbackLog.lines(containing: ".location-push/1.1 didUpdateLocations").count == 1)
    }

    @Test(arguments: [true, false])
    func `where a session for Always is needed, the extension is launched only for an app that holds one`(holds: Bool) {
        var profile = SimulationProfile.iOS18
        profile.pushesNeedAlwaysSession = true
        let device = SimulatedDevice(profile: profile)
        let application = device.install(
            SimulatedBundle(identifier: "org.example.app", entitlements: PushScene.entitlements),
            locationPushExtension: { AsyncExtension() })
        application.changeInSettings(.authorizedAlways)
        application.open()
        let session = application.run { () -> CLServiceSession? in
            CLLocationManager().startMonitoringLocationPushes()
            return holds ? CLServiceSession(authorization: .always) : nil
        }
        application.enterBackground()
        device.clock.advance(by: 60)
        application.receiveLocationPush([:])
        application.terminateBySystem()
        application.receiveLocationPush([:])
        #expect(device.callbackLog.lines(containing: " launched").count == (holds ? 3 : 1))
        withExtendedLifetime(session) {}
    }

    @Test func `an extension that implements neither form is noted and killed`() throws {
        final class Empty: NSObject, CLLocationPushServiceExtension {}
        let device = SimulatedDevice()
        let application = device.install(
            SimulatedBundle(identifier: "org.example.app", entitlements: PushScene.entitlements),
            locationPushExtension: { Empty() })
        application.changeInSettings(.authorizedAlways)
        application.open()
        application.run { CLLocationManager().startMonitoringLocationPushes() }
        application.receiveLocationPush([:])
        device.clock.advance(by: 40)
        #expect(device.callbackLog.lines(containing: "implements neither form").count == 1)
        #expect(device.callbackLog.lines(containing: " killed").count == 1)
    }

    @Test func `time stands still while the world outside works, and a dead process hears no answer`() throws {
        let scene = try PushScene()
        let told = Told()
        scene.application.run {
            scene.application.outside(
                { done in Thread.detachNewThread { done(7) } },
                then: { told.answer = $0 })
        }
        scene.advance(0)
        #expect(told.answer == 7)
        scene.application.run {
            scene.application.outside({ done in Thread.detachNewThread { done(8) } }, then: { told.answer = $0 })
        }
        scene.application.terminateBySystem()
        scene.advance(0)
        #expect(told.answer == 7)
    }
}

private final class Told {
    var token: Data?
    var error: NSError?
    var answer = 0
}

/// A location push service extension after Apple's template.
private final class PushedExtension: NSObject, CLLocationPushServiceExtension, CLLocationManagerDelegate {
    struct Manner {
        var completes = true
        var completions = 1
    }

    private let manner: Manner
    private var completion: (() -> Void)?
    private(set) var manager: CLLocationManager?
    private(set) var query: String?
    private(set) var fixes: [CLLocation] = []
    private(set) var errors: [any Error] = []
    private(set) var cached: CLLocation?
    private(set) var wasWarned = false

    init(_ manner: Manner) { self.manner = manner }

    func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {
        self.completion = completion
        query = payload["query"] as? String
        let manager = CLLocationManager()
        manager.delegate = self
        manager.requestLocation()
        self.manager = manager
    }

    func serviceExtensionWillTerminate() { wasWarned = true }

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        fixes += locations
        end()
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        errors.append(error)
        cached = manager.location
        end()
    }

    private func end() {
        guard manner.completes else { return }
        for _ in 0..<manner.completions { completion?() }
    }
}

/// The same, with `async`.
private final class AsyncExtension: NSObject, CLLocationPushServiceExtension, CLLocationManagerDelegate {
    private var answer: CheckedContinuation<CLLocation?, Never>?

    func didReceiveLocationPushPayload(_ payload: [String: Any]) async {
        let manager = CLLocationManager()
        manager.delegate = self
        manager.requestLocation()
        _ = await withCheckedContinuation { answer = $0 }
        withExtendedLifetime(manager) {}
    }

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        answer?.resume(returning: locations.last)
        answer = nil
    }
}

/// An app that monitors location pushes, on a device that has just seen one fix.
private final class PushScene {
    static var entitlements: [String: Any] {
        ["aps-environment": "development", "com.apple.developer.location.push": true]
    }

    let device: SimulatedDevice
    let application: SimulatedApplication
    let lastFixDate: Date
    private let made: Made

    private final class Made {
        var extensions: [PushedExtension] = []
        var app: SampleApp?
        var token: Data?
    }

    init(
        status: CLAuthorizationStatus? = .authorizedAlways, user: [UserScript.Answer] = [],
        manner change: (inout PushedExtension.Manner) -> Void = { _ in },
        atLaunch: @escaping (CLLocationManager) -> Void = { _ in }
    ) throws {
        var manner = PushedExtension.Manner()
        change(&manner)
        let made = Made()
        self.made = made
        device = SimulatedDevice(seed: 1)
        application = device.install(
            SimulatedBundle(
                identifier: "org.example.app", infoDictionary: Scene.purposes, entitlements: Self.entitlements),
            user: UserScript(user),
            delegate: {
                let app = SampleApp { manager in
                    manager.startMonitoringLocationPushes { token, _ in made.token = token }
                    atLaunch(manager)
                }
                made.app = app
                return app
            },
            locationPushExtension: { [manner] in
                let service = PushedExtension(manner)
                made.extensions.append(service)
                return service
            })
        if let status { application.changeInSettings(status) }
        application.open()
        lastFixDate = device.clock.now.addingTimeInterval(5)
        device.follow(
            try SimulatedItinerary(start: home, legs: [.stay(seconds: 6)], intervalSeconds: 1)
                .track(departure: device.clock.now.addingTimeInterval(-1)))
        device.clock.advance(by: 1)
    }

    var extensions: [PushedExtension] { made.extensions }
    var token: Data? { made.token }
    var manager: CLLocationManager { made.app?.manager ?? CLLocationManager() }

    func push(_ payload: [String: Any]) { application.receiveLocationPush(payload) }
    func advance(_ seconds: Double) { device.clock.advance(by: seconds) }
    func count(_ text: String) -> Int { device.callbackLog.lines(containing: text).count }

    /// The life cycle, without times and names.
    var steps: [String] {
        device.callbackLog.lines.compactMap { line in
            let words = line.split(separator: " ", maxSplits: 2)
            if words[2] == "pushReceived" { return "pushReceived" }
            guard let process = words[1].range(of: ".location-push"), !words[1].contains(".location-push/1.1"),
                !words[1].contains(".location-push/2.1")
            else { return nil }
            return "\(words[1][process.upperBound...]) \(words[2])"
        }
    }
}
