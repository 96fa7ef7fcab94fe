import CoreLocation
import Testing

/// An app that follows a monitor as an iOS developer writes it: nothing here knows of the simulation but the delegate
/// that launches it.
final class MonitoringApp: SimulatedApplicationDelegate, @unchecked Sendable {
    struct Options: Sendable {
        /// Whether the app opens its monitor and follows it at launch.
        var opens = true
        var assumes: CLMonitor.Event.State = .unknown
        /// Whether it holds a session for Always.
        var holdsSession = true
    }

    private(set) var events: [CLMonitor.Event] = []
    private(set) var recordedBefore: [CLMonitor.Event.State?] = []
    private(set) var ended = false
    let options: Options
    var session: CLServiceSession?

    init(_ options: Options) { self.options = options }

    func applicationDidFinishLaunching(options launch: [SimulatedLaunchOption: Bool]) {
        if options.holdsSession { session = CLServiceSession(authorization: .always) }
        if options.opens { follow() }
    }

    func follow() {
        Task {
            let monitor = await CLMonitor("places")
            if await monitor.identifiers.isEmpty {
                await monitor.add(
                    CLMonitor.CircularGeographicCondition(center: north(1000), radius: 150), identifier: "office",
                    assuming: options.assumes)
            }
            for try await event in await monitor.events {
                events.append(event)
                recordedBefore.append(await monitor.record(for: event.identifier)?.lastEvent.state)
            }
            ended = true
        }
    }

    var states: [CLMonitor.Event.State] { events.map(\.state) }
}

@Suite struct MonitorTests {
    private let through: [SimulatedItinerary.Leg] = [
        .stay(seconds: 10), .move(to: north(1000), metersPerSecond: 5), .stay(seconds: 300),
        .move(to: home, metersPerSecond: 5), .stay(seconds: 100),
    ]

    private func scene(
        _ options: MonitoringApp.Options = .init(), later: MonitoringApp.Options? = nil
    ) -> ModernScene<MonitoringApp> {
        ModernScene { MonitoringApp($0 == 1 ? options : later ?? options) }
    }

    @Test(arguments: [CLMonitor.Event.State.unknown, .unsatisfied])
    func `R7 given an open monitor, when the device goes in and out, then each change is an event, the first state too`(
        assumed: CLMonitor.Event.State
    ) throws {
        let scene = scene(.init(assumes: assumed))
        scene.open(with: .authorizedAlways)
        try scene.follow(through)
        scene.advance(1000)
        let first: [CLMonitor.Event.State] = assumed == .unknown ? [.unsatisfied] : []
        #expect(scene.app.states == first + [.satisfied, .unsatisfied])
        // While an event is handled, the record holds the one before it.
        #expect(scene.app.recordedBefore == [assumed] + first + [.satisfied])
    }

    @Test func `R7 given a dead app, when it does not open its monitor again, then exactly one event waits for it`()
        throws
    {
        let scene = scene(later: .init(opens: false))
        scene.open(with: .authorizedAlways)
        try scene.follow(through)
        scene.advance(5)
        #expect(scene.app.states == [.unsatisfied])
        let dead = scene.app
        scene.application.terminateBySystem()
        scene.advance(1000)
        #expect(dead.ended && scene.launches == 2 && scene.count("launched in background location") == 1)
        #expect(scene.app.events.isEmpty)
        // The device has left the circle since then. The app got no event for it, because the entry still waits.
        scene.application.open()
        scene.application.run { scene.app.follow() }
        scene.advance(1)
        #expect(scene.app.states == [.satisfied])
        // Once the event is taken, the condition is watched again.
        try scene.follow([.stay(seconds: 60)])
        scene.advance(60)
        #expect(scene.app.states == [.satisfied, .unsatisfied])
    }

    @Test
    func `R7 given a dead app, when it opens its monitor at launch, then the event comes to it in the background`()
        throws
    {
        let scene = scene()
        scene.open(with: .authorizedAlways)
        try scene.follow(through)
        scene.advance(5)
        scene.application.terminateBySystem()
        scene.advance(300)
        #expect(scene.launches == 2 && scene.app.states == [.satisfied])
    }

    @Test func `R8 given a live monitor, when another of its name is made, then it is refused`() async {
        await #expect(processExitsWith: .failure) {
            let scene = ModernScene { _ in MonitoringApp(.init()) }
            scene.open(with: .authorizedAlways)
            scene.application.run { scene.app.follow() }
            scene.advance(1)
        }
    }

    @Test func `R8 given the first one is gone, when another of its name is made, then it has the conditions`() throws {
        let scene = scene(.init(opens: false))
        scene.open(with: .authorizedAlways)
        let identifiers = Box<[String]>([])
        for round in 1...2 {
            scene.application.run {
                _ = Task {
                    let monitor = await CLMonitor("places")
                    if round == 1 {
                        await monitor.add(
                            CLMonitor.CircularGeographicCondition(center: home, radius: 100), identifier: "home")
                    }
                    identifiers.value = await monitor.identifiers
                    if round == 2 { await monitor.remove("home") }
                }
            }
            scene.advance(1)
            #expect(identifiers.value == ["home"])
        }
    }

    @Test func `given 21 conditions, then 20 are watched and the last one tells that the limit is exceeded`() throws {
        let scene = scene(.init(opens: false))
        scene.open(with: .authorizedAlways)
        let events = Box<[CLMonitor.Event]>([])
        scene.application.run {
            _ = Task {
                let monitor = await CLMonitor("many")
                for number in 1...21 {
                    await monitor.add(
                        CLMonitor.CircularGeographicCondition(center: home, radius: 100),
                        identifier: "condition \(number)")
                }
                for try await event in await monitor.events { events.value.append(event) }
            }
        }
        try scene.follow([.stay(seconds: 60)])
        scene.advance(60)
        #expect(events.value.filter { $0.state == .satisfied }.count == 20)
        let refused = events.value.filter { $0.state != .satisfied }
        #expect(refused.map(\.identifier) == ["condition 21"])
        #expect(refused.allSatisfy { $0.state == .unmonitored && $0.conditionLimitExceeded })
    }

    @Test func `given reduced accuracy or a denial, then a monitor tells that nothing is watched, and why`() throws {
        let scene = scene()
        scene.open(with: .authorizedAlways, accuracy: .reducedAccuracy)
        try scene.follow(through)
        scene.advance(400)
        #expect(scene.app.states == [.unmonitored] && scene.app.events.allSatisfy(\.accuracyLimited))
        scene.application.changeInSettings(.denied)
        scene.advance(1)
        #expect(scene.app.states.count == 2 && scene.app.events.last?.authorizationDenied == true)
        scene.application.changeInSettings(.authorizedAlways, accuracy: .fullAccuracy)
        scene.advance(20)
        #expect(scene.app.states == [.unmonitored, .unmonitored, .satisfied])
    }
}

/// A value that an app's task passes to the test, which reads it between two moves of the clock.
final class Box<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
