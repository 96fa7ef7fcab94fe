import CoreLocation
import Testing

@Suite struct SignificantChangeAndVisitTests {
    private func significant(_ status: CLAuthorizationStatus = .authorizedAlways) -> Scene {
        let scene = Scene { $0.startMonitoringSignificantLocationChanges() }
        scene.open(with: status)
        return scene
    }

    @Test func `V1 given a drive of half an hour, then notifications are at least 300 s and 500 m apart`() throws {
        let scene = significant()
        try scene.follow([.move(to: north(36_000), metersPerSecond: 20)])
        scene.advance(1800)
        let fixes = scene.app.received
        #expect((6...7).contains(fixes.count))
        for (last, next) in zip(fixes, fixes.dropFirst()) {
            #expect(next.timestamp.timeIntervalSince(last.timestamp) >= 300 && next.distance(from: last) >= 500)
        }
    }

    @Test func `V2 given a walk of 400 m, then only the first notification comes`() throws {
        let scene = significant()
        try scene.follow([.move(to: north(400), metersPerSecond: 400.0 / 1200)])
        scene.advance(1500)
        #expect(scene.app.received.count == 1)
    }

    /// Home for so long, a walk of 2 km, the office for 4 h, then away.
    private func workday(homeSeconds: Double, seed: UInt64 = 1) throws -> Scene {
        let scene = Scene(seed: seed) { $0.startMonitoringVisits() }
        scene.open(with: .authorizedAlways)
        try scene.follow(
            from: north(-1000),
            [
                .move(to: home, metersPerSecond: 1.4), .stay(seconds: homeSeconds),
                .move(to: north(2000), metersPerSecond: 1.4), .stay(seconds: 4 * 3600),
                .move(to: north(4000), metersPerSecond: 1.4),
            ], every: 10, sigma: 4)
        scene.advance(homeSeconds + 4 * 3600 + 6000)
        return scene
    }

    @Test func `V3 given home, office and a walk between, then visits come in order, departures with their arrival`()
        throws
    {
        let begin = Date(timeIntervalSince1970: 1_767_225_601)
        let scene = try workday(homeSeconds: 8 * 3600)
        let visits = scene.app.visits
        try #require(visits.count == 4)
        let walk = 1000 / 1.4
        #expect(visits[0].departureDate == .distantFuture && visits[2].departureDate == .distantFuture)
        #expect(visits[1].arrivalDate == visits[0].arrivalDate && visits[3].arrivalDate == visits[2].arrivalDate)
        // 100 m before the place is 71 s; leaving is the last fix within 150 m, 107 s; noise and cadence add to both.
        let truth = [walk, walk + 28_800, 3 * walk + 28_800, 3 * walk + 43_200]
        let found = [visits[1].arrivalDate, visits[1].departureDate, visits[3].arrivalDate, visits[3].departureDate]
        for (moment, date) in zip(truth, found) { #expect(abs(date.timeIntervalSince(begin) - moment) < 130) }
        let office = CLLocation(latitude: north(2000).latitude, longitude: home.longitude)
        let place = visits[3].coordinate
        #expect(CLLocation(latitude: place.latitude, longitude: place.longitude).distance(from: office) < 110)
    }

    @Test func `V3 given monitoring that began during a stay, then only its departure comes, its arrival unknown`()
        throws
    {
        let scene = Scene { $0.startMonitoringVisits() }
        scene.open(with: .authorizedAlways)
        try scene.follow([.stay(seconds: 3600), .move(to: north(2000), metersPerSecond: 1.4)], every: 10)
        scene.advance(7200)
        #expect(scene.app.visits.map(\.arrivalDate) == [.distantPast])
        let departure = try #require(scene.app.visits.first).departureDate
        #expect(abs(departure.timeIntervalSince1970 - 1_767_225_601 - 3600) < 130)
    }

    @Test
    func `V4 given a terminated app, when the device moves 600 m, then it is launched and told if it starts again`()
        throws
    {
        for restarts in [true, false] {
            var isFirst = true
            let scene = Scene { manager in
                if isFirst || restarts { manager.startMonitoringSignificantLocationChanges() }
                isFirst = false
            }
            scene.open(with: .authorizedAlways)
            try scene.follow(
                [
                    .stay(seconds: 400), .move(to: north(600), metersPerSecond: 5), .stay(seconds: 3600),
                    .move(to: north(5000), metersPerSecond: 5),
                ], every: 5)
            scene.advance(5)
            scene.application.terminateBySystem()
            scene.advance(1000)
            #expect(scene.launches == 2 && scene.app.launchOptions == [.location: true])
            #expect(scene.app.received.count == (restarts ? 1 : 0))
            #expect(scene.application.run { scene.manager.location } != nil)
            scene.advance(5000)
            #expect(scene.launches == 2)
            #expect(restarts ? scene.app.received.count > 1 : scene.app.received.isEmpty)
        }
    }

    @Test func `given a stopped service, when the device moves, then nothing comes and nothing is launched`() throws {
        let scene = significant()
        scene.application.run { scene.manager.stopMonitoringSignificantLocationChanges() }
        scene.application.terminateBySystem()
        try scene.follow([.move(to: north(5000), metersPerSecond: 5)], every: 5)
        scene.advance(2000)
        #expect(scene.launches == 1)
    }
}

@Suite struct RegionTests {
    /// An app that watches a circle of 150 m around a place 1 km north.
    private func watching(
        _ profile: SimulationProfile = .iOS18, radius: Double = 150, exits: Bool = true
    ) -> Scene {
        let scene = Scene(profile) { manager in
            guard manager.monitoredRegions.isEmpty else { return }
            let region = CLCircularRegion(center: north(1000), radius: radius, identifier: "office")
            region.notifyOnExit = exits
            manager.startMonitoring(for: region)
        }
        scene.open(with: .authorizedAlways)
        return scene
    }

    private let through: [SimulatedItinerary.Leg] = [
        .stay(seconds: 10), .move(to: north(1000), metersPerSecond: 5), .stay(seconds: 300),
        .move(to: home, metersPerSecond: 5), .stay(seconds: 100),
    ]

    @Test func `R1 given a way in and out, then enter and exit come once each, the exit past cushion and dwell`() throws
    {
        let scene = watching()
        let begin = scene.device.clock.now
        try scene.follow(through)
        scene.advance(1000)
        #expect(scene.count("didEnterRegion office") == 1)
        let exits = scene.device.callbackLog.lines(containing: "didExitRegion office")
        try #require(exits.count == 1)
        let time = try #require(Double(exits[0].prefix { $0 != " " })) - begin.timeIntervalSince1970
        // Leaves at 510 s at 5 m/s: the boundary at 540 s, the cushion of 30 m (a fifth of 150 m) at 546 s, 20 s more.
        #expect(time >= 566 && time < 569)
    }

    /// A fifth of 20 km would be a cushion of 4 km; it is 200 m at the most.
    @Test func `R1 given a region of 20 km, then it is left two hundred meters past its edge`() throws {
        let scene = watching(radius: 20_000)
        let begin = scene.device.clock.now
        try scene.follow(
            from: north(1000), [.stay(seconds: 10), .move(to: north(26_000), metersPerSecond: 25), .stay(seconds: 100)])
        scene.advance(1200)
        let exits = scene.device.callbackLog.lines(containing: "didExitRegion office")
        try #require(exits.count == 1)
        let time = try #require(Double(exits[0].prefix { $0 != " " })) - begin.timeIntervalSince1970
        // The boundary at 810 s at 25 m/s, the cushion 8 s later, 20 s more.
        #expect(time >= 837 && time < 842)
    }

    @Test func `R2 given an hour of jitter about the boundary, then at most one event comes`() {
        let scene = watching()
        var noise = SeededNoise(seed: 5, purpose: 0)
        scene.follow(fixes: (0..<720).map { (Double($0) * 5, 850 + (noise.uniform() - 0.5) * 60, 5) })
        scene.advance(3700)
        #expect(scene.count("didEnterRegion") + scene.count("didExitRegion") <= 1)
    }

    @Test func `R3 given 21 regions, then 20 are monitored and one fails`() {
        let scene = Scene()
        scene.open(with: .authorizedAlways)
        scene.application.run {
            for number in 1...21 {
                scene.manager.startMonitoring(
                    for: CLCircularRegion(center: home, radius: 100, identifier: "region \(number)"))
            }
        }
        scene.advance(1)
        #expect(scene.count("didStartMonitoring") == 20 && scene.count("monitoringDidFail region 21 5") == 1)
        scene.application.run {
            #expect(scene.manager.monitoredRegions.count == 20)
            // The same identifier replaces.
            scene.manager.startMonitoring(for: CLCircularRegion(center: home, radius: 7, identifier: "region 3"))
        }
        scene.advance(1)
        let radii = scene.application.run {
            scene.manager.monitoredRegions.compactMap { ($0 as? CLCircularRegion)?.radius }
        }
        #expect(radii.count == 20 && radii.filter { $0 == 7 }.count == 1)
    }

    @Test func `given a radius above the maximum, then it fails, or is cut where the profile says so`() {
        for clamps in [false, true] {
            var profile = SimulationProfile.iOS18
            profile.clampsRegionRadius = clamps
            let scene = watching(profile, radius: 150_000)
            #expect(scene.count("monitoringDidFail office 5") == (clamps ? 0 : 1))
            scene.application.run {
                let radii = scene.manager.monitoredRegions.compactMap { ($0 as? CLCircularRegion)?.radius }
                #expect(radii == (clamps ? [scene.manager.maximumRegionMonitoringDistance] : []))
            }
        }
    }

    /// Errors 6 and 7 of the header, and the region that the second one brings with it.
    @Test func `given a system slow with regions, then it says so, begins late or tells crossings late`() throws {
        let scene = Scene()
        scene.device.regionMonitoringDelay = .setup(seconds: 60)
        scene.open(with: .authorizedAlways)
        func monitor(_ identifier: String) {
            scene.application.run {
                scene.manager.startMonitoring(
                    for: CLCircularRegion(center: north(1000), radius: 150, identifier: identifier))
            }
        }
        monitor("office")
        scene.advance(59)
        #expect(scene.count("monitoringDidFail office 6") == 1 && scene.count("didStartMonitoring") == 0)
        scene.advance(1)
        #expect(scene.count("didStartMonitoring office") == 1)
        scene.device.regionMonitoringDelay = .response(seconds: 120, betterRadiusMeters: 400)
        monitor("late")
        scene.advance(1)
        let error = try #require(scene.app.errors.last as? CLError)
        #expect(error.code == .regionMonitoringResponseDelayed && (error as NSError).code == 7)
        #expect((error.alternateRegion as? CLCircularRegion)?.radius == 400)
        try scene.follow(through)
        scene.advance(1000)
        let entry = try #require(scene.device.callbackLog.lines(containing: "didEnterRegion late").first)
        // Begins to move after 10 s at 5 m/s: 850 m, the cushion of 30 m and 20 s of dwell, and two minutes late.
        let seconds = try #require(Double(entry.prefix { $0 != " " })) - 1_767_225_600 - 62
        #expect(abs(seconds - (10 + 176 + 20 + 120)) < 3)
    }

    @Test func `R4 given a start inside, when the state is requested, then inside is told and no entry`() throws {
        let scene = watching()
        try scene.follow(from: north(1000), [.stay(seconds: 120)])
        scene.advance(60)
        scene.application.run {
            scene.manager.requestState(for: CLCircularRegion(center: home, radius: 1, identifier: "office"))
            scene.manager.requestState(for: CLCircularRegion(center: home, radius: 1, identifier: "unknown"))
        }
        scene.advance(60)
        #expect(scene.count("didDetermineState office 1") == 1 && scene.count("didDetermineState unknown 0") == 1)
        #expect(scene.count("didEnterRegion") == 0)
    }

    @Test func `R5 given a pass in 10 s, then no event comes`() throws {
        let scene = watching()
        // 300 m of circle at 30 m/s.
        try scene.follow([.move(to: north(3000), metersPerSecond: 30), .stay(seconds: 60)])
        scene.advance(300)
        #expect(scene.count("didEnterRegion") + scene.count("didExitRegion") == 0)
    }

    @Test func `R6 given notifyOnExit false, then only the entry comes`() throws {
        let scene = watching(exits: false)
        try scene.follow(through)
        scene.advance(1000)
        #expect(scene.count("didEnterRegion") == 1 && scene.count("didExitRegion") == 0)
    }

    @Test func `R9 given a Mac, then regions are noticed only while the app runs and the Mac is awake`() throws {
        for (asleep, quits, expected) in [(false, false, 1), (true, false, 0), (false, true, 0)] {
            let scene = watching(.macOS15)
            if quits { scene.application.forceQuit() }
            scene.device.isAsleep = asleep
            try scene.follow([.stay(seconds: 10), .move(to: north(1000), metersPerSecond: 5), .stay(seconds: 300)])
            scene.advance(1000)
            #expect(scene.count("didEnterRegion") == expected && scene.launches == 1)
        }
    }

    @Test func `regions outlive the process and, where the profile says so, the reboot`() {
        for survives in [true, false] {
            var profile = SimulationProfile.iOS18
            profile.regionsSurviveReboot = survives
            let scene = Scene(profile)
            scene.open(with: .authorizedAlways)
            scene.application.run {
                scene.manager.startMonitoring(for: CLCircularRegion(center: home, radius: 100, identifier: "home"))
            }
            scene.advance(1)
            scene.application.terminateBySystem()
            scene.application.open()
            #expect(scene.application.run { scene.manager.monitoredRegions.count } == 1)
            scene.device.reboot()
            scene.application.open()
            #expect(scene.application.run { scene.manager.monitoredRegions.count } == (survives ? 1 : 0))
        }
    }
}
