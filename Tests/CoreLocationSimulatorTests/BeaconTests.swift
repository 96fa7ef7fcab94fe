import CoreLocation
import Testing

/// An app that monitors and ranges beacons as an iOS developer writes it.
private final class BeaconApp: NSObject, CLLocationManagerDelegate, SimulatedApplicationDelegate, @unchecked Sendable {
    let manager = CLLocationManager()
    private let atLaunch: (CLLocationManager) -> Void
    /// Whether it ranges from the entry into a region to the exit.
    var rangesInside = false
    private(set) var reports: [[CLBeacon]] = []
    private(set) var reportsByRegion: [[CLBeacon]] = []
    private(set) var entries = 0
    private(set) var exits = 0
    private(set) var failures: [any Error] = []
    private(set) var states: [CLRegionState] = []

    init(_ atLaunch: @escaping (CLLocationManager) -> Void) { self.atLaunch = atLaunch }

    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) {
        manager.delegate = self
        atLaunch(manager)
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) { reports.append(beacons) }
    func locationManager(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
    ) { reportsByRegion.append(beacons) }
    func locationManager(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
    ) { failures.append(error) }
    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) { failures.append(error) }
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
        entries += 1
        guard rangesInside, let beacons = region as? CLBeaconRegion else { return }
        manager.startRangingBeacons(satisfying: beacons.beaconIdentityConstraint)
    }
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
        exits += 1
        guard rangesInside, let beacons = region as? CLBeaconRegion else { return }
        manager.stopRangingBeacons(satisfying: beacons.beaconIdentityConstraint)
    }
    func locationManager(
        _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) { states.append(state) }
    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) { failures.append(error) }

    /// The proximities of the only beacon there is.
    var proximities: [CLProximity] { reports.compactMap { $0.first?.proximity } }
}

private let house = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

@Suite struct BeaconTests {
    /// A beacon 2 m east of a place so many meters north of home: at 46.5° a degree of longitude is 76,767 m (PyPI
    /// geographiclib: 0.001° are 76.767 m).
    private func beacon(_ minor: UInt16, metersNorth: Double) -> SimulatedBeacon {
        var place = north(metersNorth)
        place.longitude += 2 / 76_767.0
        return SimulatedBeacon(uuid: house, major: 1, minor: minor, coordinate: place)
    }

    private func scene(
        hardware: SimulatedHardware = .phone, beacons: [SimulatedBeacon],
        _ atLaunch: @escaping (CLLocationManager) -> Void = { _ in }
    ) -> ModernScene<BeaconApp> {
        let scene = ModernScene(hardware: hardware) { _ in BeaconApp(atLaunch) }
        scene.device.beacons = beacons
        return scene
    }

    private func monitor(_ manager: CLLocationManager) {
        if manager.monitoredRegions.isEmpty {
            manager.startMonitoring(for: CLBeaconRegion(uuid: house, identifier: "house"))
        }
    }

    @Test func `B1 given a walk past a beacon 2 m away, then it is far, near and far again, once a second`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 30)])
        scene.open(with: .authorizedWhenInUse)
        scene.application.run {
            scene.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house))
        }
        try scene.follow([.move(to: north(60), metersPerSecond: 1)])
        let before = scene.app.reports.count
        scene.advance(60)
        #expect(scene.app.reports.count - before == 60)
        let near = scene.app.proximities.enumerated().filter { $0.element == .near }.map(\.offset)
        #expect(!near.isEmpty && near == Array(near[0]...near[near.count - 1]))
        #expect(scene.app.proximities.filter { $0 == .far }.count > 40)
        #expect(!scene.app.proximities.contains(.immediate) && !scene.app.proximities.contains(.unknown))
        // 2 m are 59 + 20 log10 2 = 65 dB.
        let nearest = scene.app.reports.compactMap(\.first).max { $0.rssi < $1.rssi }
        #expect(nearest?.rssi == -65 && abs((nearest?.accuracy ?? 0) - 2) < 0.1)
    }

    @Test func `B1 given a beacon that falls silent, then it is unknown for a while and then gone`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 0)])
        scene.open(with: .authorizedWhenInUse)
        scene.application.run {
            scene.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house, major: 1))
        }
        try scene.follow([.stay(seconds: 60)])
        scene.advance(5)
        let before = scene.app.reports.count
        scene.device.beacons = []
        scene.advance(20)
        let after = Array(scene.app.reports[before...])
        #expect(after.filter { $0.count == 1 }.count == 9 && after.last == [])
        #expect(after[0].first?.proximity == .unknown && after[0].first?.accuracy == -1 && after[0].first?.rssi == 0)
    }

    @Test func `B2 given a wildcard region of two beacons, then one entry, and one exit when the last is left`() throws
    {
        let scene = scene(beacons: [beacon(1, metersNorth: 100), beacon(2, metersNorth: 160)], monitor)
        scene.open(with: .authorizedAlways)
        let begin = scene.device.clock.now
        try scene.follow([.move(to: north(400), metersPerSecond: 2), .stay(seconds: 60)])
        scene.advance(260)
        #expect(scene.app.entries == 1 && scene.app.exits == 1)
        let line = try #require(scene.device.callbackLog.lines(containing: "didExitRegion house").first)
        let time = try #require(Double(line.prefix { $0 != " " })) - begin.timeIntervalSince1970
        // The second one is 50 m behind at 105 s; 30 s later it has been silent for long enough.
        #expect(time >= 134 && time <= 137)
    }

    @Test func `B2 given the numbers of one beacon, then another one is not heard`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 100)]) {
            $0.startMonitoring(for: CLBeaconRegion(uuid: house, major: 1, minor: 2, identifier: "door"))
            $0.startMonitoring(for: CLBeaconRegion(uuid: house, major: 1, identifier: "house"))
        }
        scene.open(with: .authorizedAlways)
        try scene.follow([.move(to: north(200), metersPerSecond: 2)])
        scene.advance(120)
        #expect(scene.count("didEnterRegion house") == 1 && scene.count("didEnterRegion door") == 0)
    }

    @Test(arguments: ["reduced", "off", "none"])
    func `B3 given reduced accuracy or no Bluetooth, when ranging starts, then it is unavailable and nothing comes`(
        why: String
    ) throws {
        let scene = scene(hardware: why == "none" ? [.gps, .wifi] : .phone, beacons: [beacon(1, metersNorth: 0)])
        scene.open(with: .authorizedWhenInUse, accuracy: why == "reduced" ? .reducedAccuracy : nil)
        scene.device.isBluetoothOn = why != "off"
        scene.application.run {
            scene.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house))
        }
        try scene.follow([.stay(seconds: 20)])
        scene.advance(20)
        #expect(scene.app.failures.map(code) == [16] && scene.app.reports.isEmpty)
    }

    @Test func `B3 given ranging, when Bluetooth goes off, then it fails and ends`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 0)])
        scene.open(with: .authorizedWhenInUse)
        scene.application.run {
            scene.app.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house))
        }
        try scene.follow([.stay(seconds: 20)])
        scene.advance(5)
        scene.device.isBluetoothOn = false
        let reports = scene.app.reports.count
        scene.advance(10)
        #expect(scene.app.failures.map(code) == [16] && scene.app.reports.count == reports)
        #expect(scene.application.run { scene.app.manager.rangedBeaconConstraints.isEmpty })
    }

    @Test func `A6 given reduced accuracy, when a beacon region is added, then monitoring is denied`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 0)], monitor)
        scene.open(with: .authorizedAlways, accuracy: .reducedAccuracy)
        try scene.follow([.move(to: north(100), metersPerSecond: 1)])
        scene.advance(100)
        #expect(scene.app.failures.map(code) == [4] && scene.app.entries + scene.app.exits == 0)
    }

    @Test func `B4 given an app that ranges inside, then entry starts the reports and exit stops them`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 100)], monitor)
        scene.open(with: .authorizedAlways)
        scene.app.rangesInside = true
        try scene.follow([.stay(seconds: 10), .move(to: north(300), metersPerSecond: 2), .stay(seconds: 200)])
        scene.advance(30)
        #expect(scene.app.reports.isEmpty)
        scene.advance(150)
        #expect(scene.app.entries == 1 && scene.app.exits == 1)
        // Heard from 50 m before to 50 m behind at 2 m/s, and 30 s of silence until the exit.
        #expect((78...82).contains(scene.app.reports.count))
    }

    @Test func `ranged by their region, as before iOS 13, beacons come and fail with it`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 0)])
        scene.open(with: .authorizedWhenInUse)
        let region = CLBeaconRegion(proximityUUID: house, identifier: "house")
        scene.application.run { scene.app.manager.startRangingBeacons(in: region) }
        try scene.follow([.stay(seconds: 20)])
        scene.advance(5)
        #expect(scene.app.reportsByRegion.last?.map(\.proximityUUID) == [house] && scene.app.reports.isEmpty)
        scene.application.run {
            #expect(scene.app.manager.rangedRegions == [region] && scene.app.manager.rangedBeaconConstraints.isEmpty)
        }
        scene.device.isBluetoothOn = false
        scene.advance(5)
        #expect(scene.app.failures.map(code) == [16])
        #expect(scene.application.run { scene.app.manager.rangedRegions.isEmpty })
    }

    @Test func `a region begun inside tells no entry, but its state when asked or when the screen is lit`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 0)]) { manager in
            let region = CLBeaconRegion(uuid: house, identifier: "house")
            region.notifyEntryStateOnDisplay = true
            manager.startMonitoring(for: region)
        }
        scene.application.changeInSettings(.authorizedAlways)
        try scene.follow([.stay(seconds: 100)])
        scene.advance(5)
        scene.application.open()
        scene.advance(5)
        scene.application.run { scene.app.manager.requestState(for: CLBeaconRegion(uuid: house, identifier: "house")) }
        scene.advance(5)
        scene.device.lightScreen()
        scene.advance(5)
        #expect(scene.app.entries == 0 && scene.app.states == [.inside, .inside])
    }

    @Test func `a dead app is launched by a beacon, and circles and beacons share the limit`() throws {
        let scene = scene(beacons: [beacon(1, metersNorth: 100)], monitor)
        scene.open(with: .authorizedAlways)
        scene.application.run {
            for number in 1...20 {
                scene.app.manager.startMonitoring(
                    for: CLCircularRegion(center: north(9000), radius: 100, identifier: "circle \(number)"))
            }
        }
        scene.advance(1)
        #expect(scene.app.failures.map(code) == [5])
        scene.application.terminateBySystem()
        try scene.follow([.move(to: north(100), metersPerSecond: 2), .stay(seconds: 10)])
        scene.advance(60)
        #expect(scene.launches == 2 && scene.app.entries == 1)
        #expect(scene.count("launched in background location") == 1)
    }

    @Test func `a monitor watches beacons, and says which one it heard`() throws {
        let scene = ModernScene { _ in MonitoringApp(.init(opens: false)) }
        scene.device.beacons = [beacon(7, metersNorth: 100)]
        scene.open(with: .authorizedAlways)
        let events = Box<[CLMonitor.Event]>([])
        scene.application.run {
            _ = Task {
                let monitor = await CLMonitor("beacons")
                await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: house), identifier: "house")
                for try await event in await monitor.events { events.value.append(event) }
            }
        }
        try scene.follow([.move(to: north(400), metersPerSecond: 2)])
        scene.advance(250)
        #expect(events.value.map(\.state) == [.unsatisfied, .satisfied, .unsatisfied])
        let heard = events.value.compactMap { $0.refinement as? CLMonitor.BeaconIdentityCondition }
        #expect(heard == [CLMonitor.BeaconIdentityCondition(uuid: house, major: 1, minor: 7)])
    }
}
