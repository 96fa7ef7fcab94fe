import CoreLocation
import Testing

@Suite struct AuthorizationTests {
    @Test func `A1 given no purpose string, when WhenInUse is requested, then nothing is asked and one line says why`()
    {
        let scene = Scene(info: [:]) { $0.requestWhenInUseAuthorization() }
        scene.application.open()
        scene.advance(60)
        #expect(scene.status == .notDetermined)
        #expect(scene.count("prompt") == 0)
        #expect(scene.count("NSLocationWhenInUseUsageDescription") == 1)
    }

    /// As Xcode writes them.
    @Test func `A1 given an app's own property lists, then what is missing in them is named`() throws {
        func scene(purpose: String) throws -> Scene {
            let list = """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0"><dict>
                <key>CFBundleIdentifier</key><string>org.example.app</string>
                <key>\(purpose)</key><string>to show you around</string>
                <key>UIBackgroundModes</key><array><string>location</string></array>
                </dict></plist>
                """
            let bundle = try SimulatedBundle(infoPlist: Data(list.utf8))
            let scene = Scene(info: bundle.infoDictionary, user: [.init(.whenInUse, .whileUsing)]) { manager in
                manager.requestAlwaysAuthorization()
                manager.requestWhenInUseAuthorization()
                manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "turns")
                manager.allowsBackgroundLocationUpdates = true
            }
            scene.application.open()
            scene.advance(5)
            return scene
        }
        let complete = try scene(purpose: "NSLocationWhenInUseUsageDescription")
        #expect(complete.count("has no NSLocationAlwaysAndWhenInUseUsageDescription; nothing is asked") == 1)
        #expect(complete.count("has no turns in NSLocationTemporaryUsageDescriptionDictionary") == 1)
        #expect(complete.status == .authorizedWhenInUse)
        let empty = try scene(purpose: "NSCameraUsageDescription")
        #expect(empty.count("has no NSLocationWhenInUseUsageDescription; nothing is asked") == 1)
        #expect(empty.status == .notDetermined)
    }

    @Test func `A2 given iOS 8 or later, when updates start without a request, then nothing comes`() throws {
        for profile in [SimulationProfile.iOS8, .iOS13, .iOS18] {
            let scene = Scene(profile) { $0.startUpdatingLocation() }
            scene.application.open()
            try scene.follow([.stay(seconds: 600)])
            scene.advance(600)
            #expect(scene.app.received.isEmpty && scene.app.errors.isEmpty && scene.status == .notDetermined)
        }
    }

    @Test func `A2 given iOS 7, when updates start, then the user is asked, and fixes come after a yes`() throws {
        let scene = Scene(.iOS7, user: [.init(.authorization, .whileUsing)]) { $0.startUpdatingLocation() }
        scene.application.open()
        try scene.follow([.stay(seconds: 60)])
        scene.advance(60)
        #expect(scene.count("prompt authorization") == 1)
        #expect(scene.status == .authorized)
        #expect(!scene.app.received.isEmpty)
    }

    /// A provisional Always, a dead app and a walk into a region.
    private func provisional(then choice: Choice) throws -> Scene {
        let scene = Scene(user: [.init(.always, .whileUsing), .init(.keepAlways, choice)]) { manager in
            manager.requestAlwaysAuthorization()
            if manager.monitoredRegions.isEmpty {
                manager.startMonitoring(for: CLCircularRegion(center: north(1000), radius: 150, identifier: "office"))
            }
        }
        scene.application.open()
        scene.advance(5)
        #expect(scene.status == .authorizedAlways)
        scene.application.run {
            scene.manager.startMonitoring(for: CLCircularRegion(center: north(1000), radius: 150, identifier: "office"))
        }
        try scene.follow([.stay(seconds: 10), .move(to: north(1000), metersPerSecond: 5), .stay(seconds: 300)])
        scene.advance(5)
        scene.application.terminateBySystem()
        #expect(scene.count("prompt keepAlways") == 0)
        scene.advance(600)
        #expect(scene.count("prompt keepAlways") == 1)
        return scene
    }

    @Test func `A3 given a provisional Always, when the user changes to Always at the first crossing, then it comes`()
        throws
    {
        let scene = try provisional(then: .always)
        #expect(scene.count("didEnterRegion office") == 1)
        #expect(scene.launches == 2 && scene.app.launchOptions[.location] == true)
        // The new process gets one callback with the present authorization.
        #expect(scene.app.statuses == [.authorizedAlways])
    }

    @Test func `A3 given a provisional Always, when the user keeps While Using, then the crossing is dropped`() throws {
        let scene = try provisional(then: .whileUsing)
        #expect(scene.count("didEnterRegion") == 0)
        #expect(scene.launches == 1)
        scene.application.open()
        scene.advance(5)
        #expect(scene.app.statuses == [.authorizedWhenInUse])
    }

    @Test func `A4 given Allow Once, when the app leaves use, then the status falls back and the delegate is told`() {
        let scene = Scene(user: [.init(.whenInUse, .allowOnce), .init(.changeToAlways, .always)]) {
            $0.requestWhenInUseAuthorization()
        }
        scene.application.open()
        scene.advance(5)
        #expect(scene.status == .authorizedWhenInUse)
        scene.application.run { scene.manager.requestAlwaysAuthorization() }
        scene.advance(5)
        #expect(scene.count("prompt changeToAlways") == 0)
        scene.application.enterBackground()
        scene.advance(1)
        #expect(scene.app.statuses == [.notDetermined, .authorizedWhenInUse, .notDetermined])
    }

    @Test func `A5 given Keep Only While Using once, when Always is requested again, then nothing is asked`() {
        let scene = Scene(user: [.init(.changeToAlways, .whileUsing), .init(.changeToAlways, .always)])
        scene.open(with: .authorizedWhenInUse)
        for _ in 1...2 {
            scene.application.run { scene.manager.requestAlwaysAuthorization() }
            scene.advance(5)
        }
        #expect(scene.count("prompt changeToAlways") == 1)
        #expect(scene.app.statuses == [.authorizedWhenInUse])
    }

    @Test func `A6 given reduced accuracy, when a region is added, then monitoring is denied and no event comes`()
        throws
    {
        let scene = Scene()
        scene.open(with: .authorizedAlways, accuracy: .reducedAccuracy)
        scene.application.run {
            scene.manager.startMonitoring(for: CLCircularRegion(center: north(500), radius: 150, identifier: "office"))
        }
        try scene.follow([.move(to: north(500), metersPerSecond: 5), .stay(seconds: 300)])
        scene.advance(600)
        #expect(scene.count("monitoringDidFail office 4") == 1)
        #expect(scene.count("didEnterRegion") == 0)
    }

    @Test func `A6 given reduced accuracy, when updates run, then a coarse fix comes four times an hour`() throws {
        let scene = Scene { $0.startUpdatingLocation() }
        scene.application.changeInSettings(.authorizedWhenInUse, accuracy: .reducedAccuracy)
        scene.application.open()
        scene.application.run { scene.manager.pausesLocationUpdatesAutomatically = false }
        try scene.follow([.stay(seconds: 3600)], every: 10)
        scene.advance(3599)
        #expect(scene.app.received.count == 4)
        #expect(scene.app.received.allSatisfy { $0.horizontalAccuracy == 5000 && $0.coordinate.latitude != 46.5 })
    }

    @Test func `A7 given denied, when a location is requested, then denied is the only answer`() throws {
        let scene = Scene()
        scene.open(with: .denied)
        try scene.follow([.stay(seconds: 60)])
        scene.application.run { scene.manager.requestLocation() }
        scene.advance(60)
        #expect(scene.app.errors.map(code) == [1] && scene.app.received.isEmpty)
    }

    @Test func `A7 given updates, when the user denies, then one error comes and updating stops`() throws {
        let scene = Scene { $0.startUpdatingLocation() }
        try scene.follow([.stay(seconds: 100)])
        scene.open(with: .authorizedWhenInUse)
        scene.advance(10)
        scene.application.changeInSettings(.denied)
        let count = scene.app.received.count
        scene.application.changeInSettings(.authorizedWhenInUse)
        scene.advance(30)
        #expect(scene.app.errors.map(code) == [1] && scene.app.received.count == count && count > 0)
    }

    @Test func `A8 given Always, when services go off for the device and on again, then every manager is told`() {
        let scene = Scene()
        scene.open(with: .authorizedAlways)
        let second = scene.application.run { CLLocationManager() }
        second.delegate = scene.app
        scene.advance(1)
        scene.device.locationServicesEnabled = false
        #expect(scene.status == .denied)
        #expect(scene.application.run { !CLLocationManager.locationServicesEnabled() })
        scene.device.locationServicesEnabled = true
        #expect(
            scene.app.statuses == [
                .authorizedAlways, .authorizedAlways, .denied, .denied, .authorizedAlways, .authorizedAlways,
            ])
    }

    @Test func `A9 given iOS 8, when only the old Always key is there, then Always can be asked for`() {
        let info = ["NSLocationAlwaysUsageDescription": "to show you around"]
        for (profile, prompts) in [(SimulationProfile.iOS8, 1), (.iOS13, 0)] {
            let scene = Scene(profile, info: info, user: [.init(.always, .always)]) { $0.requestAlwaysAuthorization() }
            scene.application.open()
            scene.advance(5)
            #expect(scene.count("prompt always") == prompts)
            #expect(scene.status == (prompts == 1 ? .authorizedAlways : .notDetermined))
        }
    }

    @Test func `A10 given one app, when it asks whether the manager responds, then it runs on iOS 7 and 8`() throws {
        for profile in [SimulationProfile.iOS7, .iOS8] {
            let user = [UserScript.Answer(.authorization, .whileUsing), .init(.whenInUse, .whileUsing)]
            let scene = Scene(profile, user: user) { manager in
                if manager.responds(to: Selector(("requestWhenInUseAuthorization"))) {
                    manager.requestWhenInUseAuthorization()
                }
                manager.startUpdatingLocation()
            }
            scene.application.open()
            try scene.follow([.stay(seconds: 20)])
            scene.advance(20)
            #expect(!scene.app.received.isEmpty)
        }
    }

    @Test func `A11 given When In Use, when the device moves, then iOS 8 monitors nothing and iOS 13 only in use`()
        throws
    {
        for (profile, expected) in [(SimulationProfile.iOS8, 0), (.iOS13, 1), (.iOS18, 1)] {
            let scene = Scene(profile) { manager in
                manager.startMonitoringSignificantLocationChanges()
                manager.startMonitoringVisits()
                manager.startMonitoring(for: CLCircularRegion(center: north(3000), radius: 150, identifier: "office"))
            }
            scene.open(with: .authorizedWhenInUse)
            let way: [SimulatedItinerary.Leg] = [
                .stay(seconds: 60), .move(to: north(3000), metersPerSecond: 5), .stay(seconds: 1200),
            ]
            try scene.follow(way, every: 5)
            scene.advance(2500)
            #expect((scene.count("didEnterRegion") > 0) == (expected > 0))
            #expect((scene.count("didUpdateLocations") > 0) == (expected > 0))
            #expect((scene.count("didVisit") > 0) == (expected > 0))

            scene.application.enterBackground()
            scene.advance(30)
            let before = scene.device.callbackLog.lines.count
            try scene.follow(from: north(3000), [.move(to: home, metersPerSecond: 5), .stay(seconds: 1200)], every: 5)
            scene.advance(2500)
            #expect(scene.device.callbackLog.lines.count == before)
        }
    }

    @Test func `A12 given an answer, when the app is launched again, then it holds and denied is never asked again`() {
        let scene = Scene(user: [.init(.whenInUse, .dontAllow), .init(.whenInUse, .whileUsing)]) {
            $0.requestWhenInUseAuthorization()
        }
        for _ in 1...3 {
            scene.application.open()
            scene.advance(5)
            #expect(scene.status == .denied)
            scene.application.forceQuit()
        }
        #expect(scene.count("prompt") == 1)
    }

    @Test func `temporary full accuracy needs its purpose, is asked for once and ends with use`() {
        let scene = Scene(user: [.init(.temporaryFullAccuracy, .whileUsing)])
        scene.open(with: .authorizedWhenInUse, accuracy: .reducedAccuracy)
        var answers: [Int?] = []
        for key in ["unknown", "turns"] {
            scene.application.run {
                scene.manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: key) {
                    answers.append($0.map(code))
                }
            }
            scene.advance(5)
        }
        #expect(answers == [18, nil])
        #expect(scene.application.run { scene.manager.accuracyAuthorization } == .fullAccuracy)
        scene.application.enterBackground()
        #expect(scene.application.run { scene.manager.accuracyAuthorization } == .reducedAccuracy)
    }

    @Test func `restricted is told, and cannot be asked away`() {
        let scene = Scene(user: [.init(.whenInUse, .whileUsing)]) { $0.requestWhenInUseAuthorization() }
        scene.open(with: .restricted)
        scene.advance(5)
        #expect(scene.app.statuses == [.restricted] && scene.count("prompt") == 0)
    }
}
