import CoreLocation
import TestSupport
import Testing

@Suite struct RelaunchMatrixTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let service: String
        let status: CLAuthorizationStatus
        let expected: [String: String]

        var testDescription: String { "\(service) \(status.rawValue)" }
    }

    /// The rows of `Tests/Conformance/relaunch-matrix.txt`.
    static let rows: [Row] = {
        let states = ["background", "suspended", "terminatedBySystem", "forceQuit", "rebooted"]
        let lines = (try? Repository.rows(of: "relaunch-matrix.txt")) ?? []
        return lines.map { line in
            let words = line.split(separator: " ").map(String.init)
            precondition(words.count == 7, "A row of the matrix has seven words.")
            return Row(
                service: words[0], status: words[1] == "always" ? .authorizedAlways : .authorizedWhenInUse,
                expected: Dictionary(uniqueKeysWithValues: zip(states, words[2...])))
        }
    }()

    @Test func `the matrix has every service with both authorizations`() { #expect(Self.rows.count == 22) }

    @Test(arguments: rows)
    func `L1 given a service, when the device moves, then each state of the app has its row's outcome`(row: Row) throws
    {
        for (state, expected) in row.expected {
            #expect(try outcome(row.service, row.status, state) == expected, "\(row.service) \(state)")
        }
    }

    private func outcome(
        _ service: String, _ status: CLAuthorizationStatus, _ state: String
    ) throws -> String {
        let held = Box<[AnyObject]>([])
        let house = UUID()
        let scene = Scene { manager in
            switch service {
            case "standard": manager.startUpdatingLocation()
            case "standardBackground":
                manager.allowsBackgroundLocationUpdates = true
                manager.pausesLocationUpdatesAutomatically = false
                manager.startUpdatingLocation()
            case "significantChange": manager.startMonitoringSignificantLocationChanges()
            case "visits": manager.startMonitoringVisits()
            case "regions":
                manager.startMonitoring(for: CLCircularRegion(center: north(3000), radius: 150, identifier: "office"))
            case "liveUpdates", "liveUpdatesActivity":
                if service == "liveUpdatesActivity" { held.value = [CLBackgroundActivitySession()] }
                Task { for try await _ in CLLocationUpdate.liveUpdates() {} }
            case "monitor":
                held.value = [CLServiceSession(authorization: .always)]
                Task {
                    let monitor = await CLMonitor("matrix")
                    let office = CLMonitor.CircularGeographicCondition(center: north(3000), radius: 150)
                    if await monitor.identifiers.isEmpty { await monitor.add(office, identifier: "office") }
                    for try await _ in await monitor.events {}
                }
            case "beaconRegions":
                if manager.monitoredRegions.isEmpty {
                    manager.startMonitoring(for: CLBeaconRegion(uuid: house, identifier: "house"))
                }
            case "ranging": manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house))
            case "heading": manager.startUpdatingHeading()
            default: preconditionFailure("The matrix has a service this test does not know.")
            }
        }
        scene.device.beacons = [SimulatedBeacon(uuid: house, major: 1, minor: 1, coordinate: north(3000))]
        scene.open(with: status)
        try scene.follow([
            .stay(seconds: 60), .move(to: north(3000), metersPerSecond: 10), .stay(seconds: 1800),
        ])
        scene.advance(30)
        switch state {
        case "background": scene.application.enterBackground()
        case "suspended": scene.application.suspend()
        case "terminatedBySystem": scene.application.terminateBySystem()
        case "forceQuit": scene.application.forceQuit()
        default: scene.device.reboot()
        }
        // Later than the moment at which an app without a reason to run is suspended.
        scene.advance(20)
        scene.device.turn(by: 90, degreesPerSecond: 1)
        let before = Self.callbacks(scene)
        scene.advance(3000)
        let isTold = Self.callbacks(scene) > before
        guard scene.launches == 2 else { return isTold ? "told" : "-" }
        #expect(scene.app.launchOptions == [.location: true])
        return isTold ? "launched" : "launched in vain"
    }

    private static func callbacks(_ scene: Scene) -> Int {
        [
            "didUpdateLocations", "didVisit", "didEnterRegion", "liveUpdate ", "monitor matrix office", "didRange",
            "didUpdateHeading",
        ].reduce(0) {
            $0 + scene.count($1)
        }
    }

    @Test func `L2 given a launch by a location event, then the options carry the location key, else not`() throws {
        let scene = Scene { $0.startMonitoringSignificantLocationChanges() }
        scene.open(with: .authorizedAlways)
        #expect(scene.app.launchOptions.isEmpty)
        scene.application.terminateBySystem()
        try scene.follow([.move(to: north(3000), metersPerSecond: 10)])
        scene.advance(400)
        #expect(scene.app.launchOptions == [.location: true])
        #expect(SimulatedLaunchOption.location.rawValue == "UIApplicationLaunchOptionsLocationKey")
        scene.application.forceQuit()
        scene.application.open()
        #expect(scene.app.launchOptions.isEmpty && scene.launches == 3)
    }

    @Test func `given a profile where force quit is final, when the device moves, then nothing is launched`() throws {
        var profile = SimulationProfile.iOS18
        profile.relaunchAfterForceQuit = false
        let scene = Scene(profile) { $0.startMonitoringSignificantLocationChanges() }
        scene.open(with: .authorizedAlways)
        scene.application.forceQuit()
        try scene.follow([.move(to: north(3000), metersPerSecond: 10)])
        scene.advance(400)
        #expect(scene.launches == 1)
    }
}
