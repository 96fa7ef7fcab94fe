import CoreLocation
import Testing

/// An app that follows live updates as an iOS developer writes it.
final class LiveApp: SimulatedApplicationDelegate, @unchecked Sendable {
    private let atLaunch: (LiveApp) -> Void
    private(set) var updates: [CLLocationUpdate] = []
    private var loop: Task<Void, any Error>?
    var sessions: [AnyObject] = []
    /// Keeps the app running where the user does not see it.
    let manager = CLLocationManager()

    init(atLaunch: @escaping (LiveApp) -> Void) { self.atLaunch = atLaunch }

    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) { atLaunch(self) }

    func follow(until isLast: @escaping @Sendable (CLLocationUpdate) -> Bool = { _ in false }) {
        loop = Task {
            for try await update in CLLocationUpdate.liveUpdates() {
                updates.append(update)
                if isLast(update) { break }
            }
        }
    }

    func cancel() { loop?.cancel() }

    var places: [CLLocation] { updates.compactMap(\.location) }
}

@Suite struct LiveUpdateTests {
    private func scene(
        _ profile: SimulationProfile = .iOS18, info: [String: Any] = Scene.purposes,
        user: [UserScript.Answer] = [], atLaunch: @escaping (LiveApp) -> Void = { $0.follow() }
    ) -> ModernScene<LiveApp> {
        ModernScene(profile, info: info, user: user) { _ in LiveApp(atLaunch: atLaunch) }
    }

    @Test func `N1 given a stay of 5 min, then one update says so, and none comes until the device moves`() throws {
        let scene = scene()
        scene.open(with: .authorizedWhenInUse)
        try scene.follow([.stay(seconds: 300), .move(to: north(500), metersPerSecond: 5)])
        scene.advance(300)
        #expect(scene.app.updates.filter(\.stationary).count == 1)
        #expect(scene.app.updates.last?.stationary == true && scene.app.updates.count < 200)
        let before = scene.app.updates.count
        scene.advance(30)
        let after = scene.app.updates[before...]
        #expect(after.count > 20 && after.allSatisfy { !$0.stationary && $0.location != nil })
    }

    @Test func `breaking the loop or cancelling its task stops the updates`() throws {
        for cancels in [true, false] {
            let scene = scene { app in
                app.follow { update in !cancels && update.location != nil }
            }
            scene.open(with: .authorizedWhenInUse)
            try scene.follow([.move(to: north(500), metersPerSecond: 5)])
            scene.advance(10)
            if cancels { scene.app.cancel() }
            scene.advance(1)
            let lines = scene.count("liveUpdate")
            scene.advance(20)
            #expect(scene.count("liveUpdate") == lines && lines >= 1)
        }
    }

    @Test func `N2 given an always session dropped in the background, then nothing comes but insufficientlyInUse`()
        throws
    {
        let scene = scene { app in
            app.sessions = [CLServiceSession(authorization: .always)]
            app.manager.allowsBackgroundLocationUpdates = true
            app.manager.pausesLocationUpdatesAutomatically = false
            app.manager.startUpdatingLocation()
            app.follow()
        }
        scene.open(with: .authorizedAlways)
        try scene.follow([.move(to: north(5000), metersPerSecond: 5)])
        scene.application.enterBackground()
        scene.advance(30)
        #expect(scene.app.places.count > 20 && scene.app.updates.allSatisfy { !$0.insufficientlyInUse })
        let before = scene.app.updates.count
        scene.app.sessions = []
        scene.advance(30)
        let after = scene.app.updates[before...]
        #expect(after.count == 1)
        #expect(after.allSatisfy { $0.location == nil && $0.insufficientlyInUse })
        // Taken again out of use it does not count, before the app is in use.
        scene.application.run { scene.app.sessions = [CLServiceSession(authorization: .always)] }
        scene.advance(30)
        #expect(scene.app.updates.count == before + 1)
        scene.application.open()
        scene.application.enterBackground()
        scene.advance(30)
        #expect(scene.app.updates.count > before + 20)
    }

    @Test func `N2 given a monitor whose session is dropped in the background, then its event waits for use`() throws {
        let scene = ModernScene { _ in MonitoringApp(.init(assumes: .unsatisfied)) }
        scene.open(with: .authorizedAlways)
        try scene.follow([
            .stay(seconds: 10), .move(to: north(1000), metersPerSecond: 5), .stay(seconds: 600),
        ])
        scene.application.run { scene.app.session?.invalidate() }
        scene.application.enterBackground()
        scene.advance(400)
        #expect(scene.app.events.map(\.insufficientlyInUse) == [true])
        scene.application.open()
        scene.advance(60)
        #expect(scene.app.states == [.unsatisfied, .satisfied])
    }

    @Test(arguments: ["NSLocationRequireExplicitServiceSession", "CLRequireExplicitServiceSession"])
    func `N3 given the explicit key and no session, then serviceSessionRequired comes and no location`(key: String)
        throws
    {
        let info = Scene.purposes.merging([key: true]) { $1 }
        let scene = scene(info: info)
        scene.open(with: .authorizedWhenInUse)
        try scene.follow([.move(to: north(500), metersPerSecond: 5)])
        scene.advance(20)
        #expect(scene.app.updates.count == 1 && scene.app.updates[0].serviceSessionRequired)
        #expect(scene.app.places.isEmpty)
        scene.application.run { scene.app.sessions = [CLServiceSession(authorization: .whenInUse)] }
        scene.advance(20)
        #expect(scene.app.places.count > 10)
    }

    @Test func `a loop asks for leave by itself, and a session for what it needs`() throws {
        for explicitly in [false, true] {
            let scene = scene(
                info: explicitly
                    ? Scene.purposes.merging(["NSLocationRequireExplicitServiceSession": true]) { $1 }
                    : Scene.purposes,
                user: [.init(.whenInUse, .whileUsing, after: 5)]
            ) { app in
                if explicitly { app.sessions = [CLServiceSession(authorization: .whenInUse)] }
                app.follow()
            }
            scene.application.open()
            try scene.follow([.move(to: north(500), metersPerSecond: 5)])
            scene.advance(20)
            #expect(scene.app.updates.first?.authorizationRequestInProgress == true)
            #expect(scene.app.places.count > 10 && scene.count("prompt whenInUse") == 1)
        }
    }

    @Test func `the diagnostics of a session tell the question and the answer, and end with the session`() throws {
        let scene = scene(user: [.init(.always, .dontAllow, after: 5)]) { _ in }
        scene.application.open()
        let heard = Box<[CLServiceSession.Diagnostic]>([])
        let ended = Box(false)
        scene.application.run {
            let session = CLServiceSession(authorization: .always)
            scene.app.sessions = [session]
            _ = Task {
                for try await diagnostic in session.diagnostics { heard.value.append(diagnostic) }
                ended.value = true
            }
        }
        scene.advance(1)
        #expect(heard.value.map(\.authorizationRequestInProgress) == [true])
        scene.advance(10)
        #expect(heard.value.last?.authorizationDenied == true && heard.value.last?.alwaysAuthorizationDenied == true)
        (scene.app.sessions[0] as? CLServiceSession)?.invalidate()
        scene.advance(1)
        #expect(ended.value)
    }

    @Test func `a session asks for full accuracy under its key`() throws {
        let scene = scene(user: [.init(.temporaryFullAccuracy, .whileUsing)]) { app in
            app.sessions = [CLServiceSession(authorization: .whenInUse, fullAccuracyPurposeKey: "turns")]
            app.follow()
        }
        scene.open(with: .authorizedWhenInUse, accuracy: .reducedAccuracy)
        try scene.follow([.move(to: north(500), metersPerSecond: 5)])
        scene.advance(20)
        #expect(scene.count("prompt temporaryFullAccuracy") == 1)
        #expect(scene.app.places.last?.horizontalAccuracy == 5)
    }

    @Test
    func `a background activity session keeps a When In Use app going, if begun in use and taken again at launch`()
        throws
    {
        for begunInUse in [true, false] {
            let scene = scene { app in
                app.follow()
                if begunInUse { app.sessions = [CLBackgroundActivitySession()] }
            }
            scene.open(with: .authorizedWhenInUse)
            try scene.follow([.move(to: north(5000), metersPerSecond: 5)])
            scene.application.enterBackground()
            scene.advance(1)
            if !begunInUse { scene.application.run { scene.app.sessions = [CLBackgroundActivitySession()] } }
            scene.advance(30)
            #expect((scene.app.places.count > 25) == begunInUse)
            #expect(scene.application.state == (begunInUse ? .background : .suspended))
        }
    }

    @Test func `given a device without a signal, then an update says that the location is unavailable`() throws {
        let scene = scene()
        scene.open(with: .authorizedWhenInUse)
        try scene.follow([.move(to: north(50), metersPerSecond: 5)])
        scene.advance(20)
        scene.device.loseReceiver()
        scene.advance(1)
        #expect(scene.app.updates.last?.locationUnavailable == true)
    }
}
