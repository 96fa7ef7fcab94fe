import CoreLocation
import Testing

@Suite struct StandardServiceTests {
    /// An app that updates from its launch on, allowed while in use.
    private func updating(_ configure: @escaping (CLLocationManager) -> Void = { _ in }) -> Scene {
        let scene = Scene {
            configure($0)
            $0.startUpdatingLocation()
        }
        scene.open(with: .authorizedWhenInUse)
        return scene
    }

    @Test func `S1 given a filter of 100 m, when the device drives 1 km, then fixes are 100 m apart`() throws {
        let scene = updating { $0.distanceFilter = 100 }
        try scene.follow([.move(to: north(1000), metersPerSecond: 10)])
        scene.advance(100)
        let fixes = scene.app.received
        #expect((10...12).contains(fixes.count))
        for (last, next) in zip(fixes, fixes.dropFirst()) {
            #expect(next.distance(from: last) >= 100 && next.distance(from: last) < 110.1)
        }
    }

    @Test func `S2 given the same drive, when one fix improves much, then exactly one more is delivered`() {
        func received(improving: Bool) -> Int {
            let scene = updating { $0.distanceFilter = 100 }
            // From the fix at 65 m on, all have 65 m; the one at 350 m has 5 m.
            scene.follow(
                fixes: (0...99).map { (Double($0), Double($0) * 10, improving && $0 == 35 ? 5.0 : 65.0) })
            scene.advance(100)
            let between = scene.app.received.filter { $0.horizontalAccuracy == 5 }
            #expect(between.count == (improving ? 1 : 0))
            // The filter then measures from the better fix: 450 m, 550 m … up to 950 m.
            return scene.app.received.count
        }
        #expect(received(improving: false) == 10)
        #expect(received(improving: true) == 11)
    }

    @Test func `S3 given a silent receiver, when a location is requested, then locationUnknown comes after 10 s`() {
        let scene = Scene()
        scene.open(with: .authorizedWhenInUse)
        scene.application.run { scene.manager.requestLocation() }
        scene.advance(9.999)
        #expect(scene.app.errors.isEmpty)
        scene.advance(0.001)
        #expect(scene.app.errors.map(code) == [0] && scene.app.received.isEmpty)
    }

    @Test func `S3 given only a poor fix, when a location is requested, then it comes at the limit`() {
        let scene = Scene()
        scene.open(with: .authorizedWhenInUse)
        scene.application.run {
            scene.manager.requestLocation()
            scene.manager.requestLocation()
        }
        scene.follow(fixes: [(2, 0, 500)])
        scene.advance(9.999)
        #expect(scene.app.received.isEmpty)
        scene.advance(60)
        #expect(scene.app.received.map(\.horizontalAccuracy) == [500] && scene.app.errors.isEmpty)
    }

    @Test func `S3 given a good fix, when a location is requested, then it comes at once and nothing after it`() throws
    {
        let scene = Scene()
        scene.open(with: .authorizedWhenInUse)
        scene.application.run { scene.manager.requestLocation() }
        try scene.follow([.stay(seconds: 60)])
        scene.advance(60)
        #expect(scene.app.received.count == 1)
    }

    @Test func `S3 given a request, when updates start or stop, then it is cancelled`() {
        for starts in [true, false] {
            let scene = Scene()
            scene.open(with: .authorizedWhenInUse)
            scene.application.run {
                scene.manager.requestLocation()
                if starts { scene.manager.startUpdatingLocation() } else { scene.manager.stopUpdatingLocation() }
            }
            scene.advance(20)
            #expect(scene.app.errors.isEmpty && scene.app.received.isEmpty)
            scene.follow(fixes: [(1, 0, 500), (2, 0, 500)])
            scene.advance(10)
            #expect(scene.app.received.count == (starts ? 2 : 0))
        }
    }

    @Test func `S4 given no background flag, when the app is suspended, then nothing comes, nor is it made up for`()
        throws
    {
        let scene = updating { $0.pausesLocationUpdatesAutomatically = false }
        try scene.follow([.stay(seconds: 300)])
        scene.advance(20)
        scene.application.enterBackground()
        scene.advance(100)
        #expect(scene.application.state == .suspended)
        // Ten more seconds in the background, until the suspension.
        #expect(scene.app.received.count == 21 + 10)
        scene.application.open()
        #expect(scene.app.received.count == 31)
        scene.advance(10)
        #expect(scene.app.received.count == 41)
    }

    @Test func `given the background flag, when the app leaves the screen, then fixes go on, if begun in use`() throws {
        let scene = updating {
            $0.allowsBackgroundLocationUpdates = true
            $0.pausesLocationUpdatesAutomatically = false
        }
        try scene.follow([.stay(seconds: 300)])
        scene.application.enterBackground()
        scene.advance(100)
        #expect(scene.application.state == .background && scene.app.received.count == 101)
        scene.application.run {
            scene.manager.stopUpdatingLocation()
            scene.manager.startUpdatingLocation()
        }
        scene.advance(100)
        // Begun in the background with When In Use: only the cached one is older than that, and it is not delivered.
        #expect(scene.application.state == .suspended && scene.app.received.count == 101)
    }

    @Test func `S5 given a stay, when ten minutes pass, then updates pause once, unless told not to`() throws {
        for pauses in [true, false] {
            let scene = updating { $0.pausesLocationUpdatesAutomatically = pauses }
            try scene.follow([.stay(seconds: 1800)], every: 10)
            scene.advance(1800)
            #expect(scene.count("didPauseLocationUpdates") == (pauses ? 1 : 0))
            #expect(scene.app.received.count == (pauses ? 60 : 181))
            if pauses {
                scene.application.run { scene.manager.startUpdatingLocation() }
                try scene.follow([.stay(seconds: 60)], every: 10)
                scene.advance(30)
                #expect(scene.app.received.count > 60 && scene.count("didResumeLocationUpdates") == 1)
            }
            #expect(scene.count("didResumeLocationUpdates") == (pauses ? 1 : 0))
        }
    }

    @Test func `S6 given a fix its source calls invalid, when it comes, then nothing uses it`() {
        let scene = Scene {
            $0.distanceFilter = 100
            $0.startUpdatingLocation()
            $0.startMonitoringSignificantLocationChanges()
            $0.startMonitoringVisits()
            $0.startMonitoring(for: CLCircularRegion(center: north(5000), radius: 150, identifier: "far"))
        }
        scene.open(with: .authorizedAlways)
        scene.follow(fixes: (0...400).map { (Double($0), $0 == 0 ? 0 : 5000, $0 == 0 ? 5 : -1) })
        scene.advance(2000)
        #expect(scene.count("didUpdateLocations") == 2)
        #expect(scene.count("didEnterRegion") == 0 && scene.count("didVisit") == 0)
        #expect(scene.application.run { scene.manager.location?.coordinate.latitude } == home.latitude)
    }

    @Test func `S7 given other hardware, when availability is asked, then it follows`() throws {
        for (hardware, monitors, accuracy) in [
            (SimulatedHardware.phone, true, 5.0), (.wifiTablet, true, 65), (.gps, false, 5), ([], false, nil),
        ] {
            let scene = Scene(hardware: hardware) { $0.startUpdatingLocation() }
            scene.open(with: .authorizedWhenInUse)
            try scene.follow([.stay(seconds: 10)])
            scene.advance(10)
            scene.application.run {
                #expect(CLLocationManager.significantLocationChangeMonitoringAvailable() == monitors)
                #expect(CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self) == monitors)
                #expect(!CLLocationManager.deferredLocationUpdatesAvailable())
                #expect(CLLocationManager.isRangingAvailable() == hardware.contains(.bluetooth))
                #expect(
                    CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self) == hardware.contains(.bluetooth))
                #expect(CLLocationManager.headingAvailable() == hardware.contains(.magnetometer))
            }
            #expect(scene.app.received.last?.horizontalAccuracy == accuracy)
        }
    }

    @Test func `S7 without a barometer a fix tells no floor`() throws {
        let line = #"{"timestamp":1767225605,"latitude":46.5,"longitude":9.25,"horizontalAccuracy":5,"floor":2}"#
        for (hardware, floor) in [(SimulatedHardware.phone, 2), (.phone.subtracting(.barometer), nil)] {
            let scene = Scene(hardware: hardware) { $0.startUpdatingLocation() }
            scene.open(with: .authorizedWhenInUse)
            scene.device.follow(try SimulatedTrack(jsonLines: Data(line.utf8)))
            scene.advance(10)
            #expect(scene.app.received.map { $0.floor?.level } == [floor])
        }
    }

    @Test func `given coarser aims, when updates run, then fixes are rarer and less exact`() throws {
        for (aim, count, accuracy) in [
            (kCLLocationAccuracyNearestTenMeters, 601, 5.0), (kCLLocationAccuracyHundredMeters, 121, 65),
            (kCLLocationAccuracyKilometer, 11, 1000), (kCLLocationAccuracyThreeKilometers, 11, 3000),
        ] {
            let scene = updating {
                $0.desiredAccuracy = aim
                $0.pausesLocationUpdatesAutomatically = false
            }
            try scene.follow([.stay(seconds: 600)])
            scene.advance(600)
            #expect(scene.app.received.count == count)
            #expect(scene.app.received.allSatisfy { $0.horizontalAccuracy == accuracy })
        }
    }

    @Test func `the noise of the receiver has the size it claims`() throws {
        let scene = updating {
            $0.desiredAccuracy = kCLLocationAccuracyHundredMeters
            $0.pausesLocationUpdatesAutomatically = false
        }
        try scene.follow([.stay(seconds: 20_000)], every: 5)
        scene.advance(20_000)
        let place = CLLocation(latitude: home.latitude, longitude: home.longitude)
        let squares = scene.app.received.map { pow($0.distance(from: place), 2) }
        let mean = squares.reduce(0, +) / Double(squares.count)
        // East and north each with √(65² − 5²) m: the mean square distance is twice that, to 5 % over 4,000 fixes.
        #expect(abs(mean / (2 * (65.0 * 65 - 25)) - 1) < 0.05)
    }

    @Test func `given updates, when the receiver is lost, then locationUnknown comes, and fixes again after it`() throws
    {
        let scene = updating()
        try scene.follow([.move(to: north(50), metersPerSecond: 5)])
        scene.advance(20)
        let before = scene.app.received.count
        scene.device.loseReceiver()
        try scene.follow([.move(to: north(50), metersPerSecond: 5)])
        scene.advance(20)
        #expect(scene.app.errors.map(code) == [0] && scene.app.received.count > before)
    }

    @Test func `deferred updates are inert and say so`() {
        let scene = updating()
        scene.application.run { scene.manager.allowDeferredLocationUpdates(untilTraveled: 100, timeout: 60) }
        scene.advance(1)
        #expect(scene.count("didFinishDeferredUpdates 11") == 1)
    }

    @Test func `a restart delivers the last known fix first, with its own timestamp`() {
        let scene = updating()
        scene.follow(fixes: [(1, 0, 5)])
        scene.advance(100)
        scene.application.run {
            scene.manager.stopUpdatingLocation()
            scene.manager.startUpdatingLocation()
        }
        scene.advance(1)
        #expect(scene.app.received.count == 2 && scene.app.received[0] == scene.app.received[1])
    }

    @Test func `the background flag without the background mode ends the process`() async {
        await #expect(processExitsWith: .failure) {
            let scene = Scene(info: [:]) { $0.allowsBackgroundLocationUpdates = true }
            scene.application.open()
        }
    }
}
