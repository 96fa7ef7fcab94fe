import CoreLocation
import Testing

@Suite struct EngineTests {
    /// Home, office and back with everything on, twice.
    @Test func `the same track, profile, script and seed give the same bytes, another seed gives others`() throws {
        func day(seed: UInt64) throws -> String {
            let sessions = Box<[AnyObject]>([])
            let house = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
            let scene = Scene(
                user: [.init(.always, .whileUsing), .init(.keepAlways, .always, after: 30)], seed: seed
            ) { manager in
                manager.desiredAccuracy = kCLLocationAccuracyHundredMeters
                manager.requestAlwaysAuthorization()
                manager.startUpdatingLocation()
                manager.startMonitoringSignificantLocationChanges()
                manager.startMonitoringVisits()
                manager.startMonitoring(for: CLCircularRegion(center: north(1500), radius: 150, identifier: "office"))
                manager.startMonitoring(for: CLBeaconRegion(uuid: house, identifier: "house"))
                manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house))
                manager.startUpdatingHeading()
                sessions.value = [CLServiceSession(authorization: .always), CLBackgroundActivitySession()]
                let geocoder = CLGeocoder()
                Task {
                    for try await update in CLLocationUpdate.liveUpdates() where update.stationary {
                        guard let location = update.location else { continue }
                        _ = try await geocoder.reverseGeocodeLocation(location)
                    }
                }
                for name in ["one", "two"] {
                    Task {
                        let monitor = await CLMonitor(name)
                        let place = CLMonitor.CircularGeographicCondition(center: north(1500), radius: 200)
                        await monitor.add(place, identifier: "office")
                        await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: house), identifier: "house")
                        for try await _ in await monitor.events {}
                    }
                }
            }
            scene.device.geocoding = try GeocoderTests.geocoding.get()
            scene.device.beacons = [SimulatedBeacon(uuid: house, major: 1, minor: 1, coordinate: north(1400))]
            scene.application.open()
            try scene.follow(
                [
                    .stay(seconds: 400), .move(to: north(1500), metersPerSecond: 1.5), .stay(seconds: 1200),
                    .outage(seconds: 200), .move(to: home, metersPerSecond: 12), .stay(seconds: 300),
                ], every: 5, sigma: 4)
            scene.advance(1)
            scene.application.run {
                scene.manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: house))
            }
            scene.device.turn(by: 90, degreesPerSecond: 1)
            scene.advance(299)
            scene.application.terminateBySystem()
            scene.advance(3500)
            return scene.device.callbackLog.text
        }
        let first = try day(seed: 1)
        for what in [
            "didUpdateLocations", "didEnterRegion office", "didEnterRegion house", "didVisit", "didRange [1/1",
            "didUpdateHeading", "liveUpdate", "monitor one office 1", "monitor two house 1", "geocoded",
        ] where !first.contains(what) { Issue.record("Nothing of \(what)") }
        #expect(try day(seed: 1) == first)
        #expect(try day(seed: 2) != first)
    }

    @Test func `the clock stands still unless told to move, and does what is due on the way`() {
        let scene = Scene()
        let start = scene.device.clock.now
        scene.advance(0.0004)
        #expect(scene.device.clock.now == start)
        scene.advance(90)
        #expect(scene.device.clock.now == start.addingTimeInterval(90))
    }

    @Test func `a GPX track is followed with speed and course derived`() throws {
        let gpx = """
            <gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
            <trkpt lat="0" lon="0"><time>2026-01-01T00:00:00Z</time></trkpt>
            <trkpt lat="0" lon="0.001"><time>2026-01-01T00:00:10Z</time></trkpt>
            <trkpt lat="0" lon="0.002"><ele>7</ele></trkpt>
            </trkseg></trk></gpx>
            """
        let track = try SimulatedTrack(gpx: Data(gpx.utf8))
        // 0.001° of longitude on the equator is 111.3195 m, in 10 s.
        #expect(track.fixes.count == 2)
        #expect(abs(track.fixes[0].speed - 11.13195) < 0.0001 && abs(track.fixes[0].course - 90) < 1e-9)
        #expect(track.fixes[1].speed == -1 && track.fixes[1].course == -1 && track.fixes[1].floor == nil)
        #expect(track.fixes.allSatisfy { $0.sourceInformation?.isSimulatedBySoftware == true })
        #expect(throws: SimulatedTrackError.self) { try SimulatedTrack(gpx: Data("<gpx/>".utf8)) }
    }

    /// The sentence is the one NMEA guides print: 545.4 m above the sea, which is 46.9 m above the ellipsoid.
    @Test func `C2 the two altitudes differ by the geoid separation the source gives`() throws {
        let nmea = """
            $GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
            $GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47

            """
        let line =
            #"{"timestamp":1767225600,"latitude":46.5,"longitude":9.25,"altitude":410,"ellipsoidalAltitude":457.5}"#
        for (track, separation) in [
            (try SimulatedTrack(nmea: Data(nmea.utf8)), 46.9), (try SimulatedTrack(jsonLines: Data(line.utf8)), 47.5),
        ] {
            let fix = try #require(track.fixes.first)
            #expect(abs(fix.ellipsoidalAltitude - fix.altitude - separation) < 1e-9)
        }
    }

    /// Expected: a check value NGA publishes for EGM96; the grid is good to decimeters there.
    @Test func `C2 where the source gives no ellipsoidal altitude, the separation is EGM96's`() throws {
        let gpx = """
            <gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
            <trkpt lat="46.8743190" lon="102.4487290"><ele>2000</ele><time>2026-01-01T00:00:00Z</time></trkpt>
            </trkseg></trk></gpx>
            """
        let fix = try #require(try SimulatedTrack(gpx: Data(gpx.utf8)).fixes.first)
        #expect(fix.altitude == 2000 && abs(fix.ellipsoidalAltitude - fix.altitude + 43.575) < 0.5)
    }

    @Test func `JSON lines are followed with every field`() throws {
        let line = """
            {"timestamp":1767225600.5,"latitude":46.5,"longitude":9.25,"horizontalAccuracy":12.5,"speed":3.5,"floor":2}
            """
        let fix = try #require(try SimulatedTrack(jsonLines: Data((line + "\n").utf8)).fixes.first)
        #expect(fix.timestamp == Date(timeIntervalSince1970: 1_767_225_600.5))
        #expect(fix.horizontalAccuracy == 12.5 && fix.speed == 3.5 && fix.floor?.level == 2 && fix.course == -1)
    }

    @Test func `an itinerary arrives, is silent in outages and makes the same noise from the same seed`() throws {
        func track(seed: UInt64) throws -> SimulatedTrack {
            try SimulatedItinerary(
                start: home,
                legs: [.move(to: north(100), metersPerSecond: 10), .outage(seconds: 20), .stay(seconds: 5)],
                sigmaMeters: 3, noiseSeed: seed
            ).track(departure: Date(timeIntervalSince1970: 0))
        }
        let fixes = try track(seed: 1).fixes
        #expect(fixes.count == 10 + 5 + 1 || fixes.count == 11 + 5 + 1)
        #expect(fixes.allSatisfy { !(11..<29).contains($0.timestamp.timeIntervalSince1970) })
        let arrival = try #require(fixes.last)
        #expect(arrival.distance(from: CLLocation(latitude: north(100).latitude, longitude: 9.25)) < 15)
        #expect(try track(seed: 1).fixes == fixes)
        #expect(try track(seed: 2).fixes != fixes)
    }

    /// 50 m east and north are 71 m together; after 10 s of 600 s the errors differ by √(2(1−e^(−1/60)))·71 m = 13 m.
    @Test func `a drift wanders as far as it may, and slowly`() throws {
        let fixes = try SimulatedItinerary(
            start: home, legs: [.stay(seconds: 86_400)], intervalSeconds: 10, driftMeters: 50, noiseSeed: 3
        ).track(departure: Date(timeIntervalSince1970: 0)).fixes
        func mean(_ distances: [Double]) -> Double {
            (distances.map { $0 * $0 }.reduce(0, +) / Double(distances.count)).squareRoot()
        }
        let center = CLLocation(latitude: home.latitude, longitude: home.longitude)
        #expect((50...95).contains(mean(fixes.map { $0.distance(from: center) })))
        #expect((11...15).contains(mean(zip(fixes, fixes.dropFirst()).map { $0.distance(from: $1) })))
    }

    @Test func `between the fixes of its track a device is found where it must be`() throws {
        let scene = Scene()
        scene.open(with: .authorizedAlways)
        let start = scene.device.clock.now
        scene.device.follow(
            try SimulatedItinerary(
                start: home, legs: [.move(to: north(6000), metersPerSecond: 10)], intervalSeconds: 120
            ).track(departure: start), findsInGapsOf: 180)
        scene.advance(178)
        scene.manager.requestLocation()
        scene.advance(3)
        let fix = try #require(scene.app.received.last)
        // Found after 2 s: 180 s after the start, halfway between the fixes at 120 and 240 s.
        #expect(fix.timestamp == start.addingTimeInterval(180))
        let there = CLLocation(latitude: north(1800).latitude, longitude: home.longitude)
        #expect(fix.distance(from: there) < 3)
    }

    @Test func `a bundle is read from the app's own property lists`() throws {
        let plist = try PropertyListSerialization.data(
            fromPropertyList: ["CFBundleIdentifier": "org.example.app", "UIBackgroundModes": ["location"]],
            format: .xml, options: 0)
        let bundle = try SimulatedBundle(infoPlist: plist, entitlements: plist)
        #expect(bundle.identifier == "org.example.app" && bundle.entitlements.count == 2)
        #expect(throws: SimulatedBundleError.notADictionary(file: "Info.plist")) {
            try SimulatedBundle(infoPlist: Data("no".utf8))
        }
    }
}
