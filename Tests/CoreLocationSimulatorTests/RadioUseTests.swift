import CoreLocation
import Testing

@Suite struct RadioUseTests {
    /// A day at home, at work and between, with one service on.
    private func day(hardware: SimulatedHardware = .phone, _ start: @escaping (CLLocationManager) -> Void) throws
        -> [SimulatedService: SimulatedRadioUse]
    {
        let scene = Scene(hardware: hardware, atLaunch: start)
        scene.open(with: .authorizedAlways)
        try scene.follow(
            [
                .stay(seconds: 8 * 3600), .move(to: north(3000), metersPerSecond: 1.5), .stay(seconds: 8 * 3600),
                .move(to: home, metersPerSecond: 1.5), .stay(seconds: 6 * 3600),
            ], every: 10)
        scene.advance(86_400)
        return scene.application.radioUse
    }

    @Test func `visits are more frugal than significant changes, these than regions, these than updates`() throws {
        let visits = try day { $0.startMonitoringVisits() }
        let changes = try day { $0.startMonitoringSignificantLocationChanges() }
        let regions = try day {
            $0.startMonitoring(for: CLCircularRegion(center: home, radius: 150, identifier: "home"))
        }
        let updates = try day {
            $0.pausesLocationUpdatesAutomatically = false
            $0.startUpdatingLocation()
        }
        let totals = [
            visits[.visits], changes[.significantChange], regions[.regions], updates[.standard],
        ].map { $0?.totalSeconds ?? -1 }
        #expect(totals == totals.sorted() && totals[0] > 0 && Set(totals).count == 4)
        // Each only on its own account, and only updates with GPS: the whole day of it, because the app is in front.
        #expect([visits, changes, regions, updates].allSatisfy { $0.count == 1 })
        #expect([visits, changes, regions].allSatisfy { $0.values.allSatisfy { $0.gpsSeconds == 0 } })
        #expect(abs((updates[.standard]?.gpsSeconds ?? 0) - 86_400) < 2)
    }

    @Test func `a pause, a coarse aim, suspension and a stop rest the receiver`() throws {
        let paused = try day { $0.startUpdatingLocation() }
        // After ten minutes at home it pauses, and the app does not restart it.
        #expect(abs((paused[.standard]?.gpsSeconds ?? 0) - 600) < 20)
        let coarse = try day {
            $0.desiredAccuracy = kCLLocationAccuracyKilometer
            $0.pausesLocationUpdatesAutomatically = false
            $0.startUpdatingLocation()
        }
        #expect(coarse[.standard]?.gpsSeconds == 0 && (coarse[.standard]?.cellularSeconds ?? 0) > 86_000)
        let scene = Scene {
            $0.pausesLocationUpdatesAutomatically = false
            $0.startUpdatingLocation()
        }
        scene.open(with: .authorizedWhenInUse)
        scene.advance(99)
        scene.application.suspend()
        scene.advance(1000)
        scene.application.open()
        scene.advance(50)
        scene.application.run { scene.manager.stopUpdatingLocation() }
        scene.advance(1000)
        #expect(scene.application.radioUse[.standard]?.gpsSeconds == 150)
    }

    @Test func `a request costs until its answer, ranging until its end, a dead app's regions go on`() throws {
        let scene = Scene()
        scene.open(with: .authorizedAlways)
        scene.application.run { scene.manager.requestLocation() }
        scene.advance(100)
        #expect(scene.application.radioUse[.standard]?.gpsSeconds == 10)
        let constraint = CLBeaconIdentityConstraint(uuid: UUID())
        scene.application.run { scene.manager.startRangingBeacons(satisfying: constraint) }
        scene.advance(30)
        scene.application.run { scene.manager.stopRangingBeacons(satisfying: constraint) }
        scene.advance(30)
        #expect(scene.application.radioUse[.ranging]?.bluetoothSeconds == 30)
        scene.application.run {
            scene.manager.startMonitoring(for: CLCircularRegion(center: home, radius: 100, identifier: "home"))
        }
        scene.advance(600)
        scene.application.terminateBySystem()
        scene.advance(600)
        let regions = try #require(scene.application.radioUse[.regions])
        #expect(abs(regions.wifiSeconds - 40) < 0.001)
    }
}
