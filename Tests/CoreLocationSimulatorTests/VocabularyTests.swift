import CoreLocation
import Testing

/// Expected values: Apple's SDK headers, as listed in the project's specification of Core Location.
@Suite struct VocabularyTests {
    @Test func `raw values are the header's`() {
        func values<Value: RawRepresentable>(_ list: Value...) -> [Value.RawValue] { list.map(\.rawValue) }
        #expect(
            values(
                CLAuthorizationStatus.notDetermined, .restricted, .denied, .authorizedAlways, .authorizedWhenInUse)
                == [0, 1, 2, 3, 4])
        #expect(CLAuthorizationStatus.authorized == .authorizedAlways)
        #expect(values(CLAccuracyAuthorization.fullAccuracy, .reducedAccuracy) == [0, 1])
        #expect(
            values(CLActivityType.other, .automotiveNavigation, .fitness, .otherNavigation, .airborne)
                == [1, 2, 3, 4, 5])
        #expect(
            values(
                CLDeviceOrientation.unknown, .portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight, .faceUp,
                .faceDown) == [0, 1, 2, 3, 4, 5, 6])
        #expect(values(CLRegionState.unknown, .inside, .outside) == [0, 1, 2])
        #expect(values(CLProximity.unknown, .immediate, .near, .far) == [0, 1, 2, 3])
        #expect(values(CLMonitor.Event.State.unknown, .satisfied, .unsatisfied, .unmonitored) == [0, 1, 2, 3])
        #expect(
            values(
                CLLocationUpdate.LiveConfiguration.default, .automotiveNavigation, .otherNavigation, .fitness, .airborne
            )
                == [0, 1, 2, 3, 4])
        #expect(values(CLServiceSession.AuthorizationRequirement.none, .whenInUse, .always) == [0, 1, 2])
        #expect(
            values(
                CLLocationPushServiceError.unknown, .missingPushExtension, .missingPushServerEnvironment,
                .missingEntitlement, .unsupportedPlatform) == [0, 1, 2, 3, 4])
        #expect(
            values(
                CLError.locationUnknown, .denied, .network, .headingFailure, .regionMonitoringDenied,
                .regionMonitoringFailure, .regionMonitoringSetupDelayed, .regionMonitoringResponseDelayed,
                .geocodeFoundNoResult, .geocodeFoundPartialResult, .geocodeCanceled, .deferredFailed,
                .deferredNotUpdatingLocation, .deferredAccuracyTooLow, .deferredDistanceFiltered, .deferredCanceled,
                .rangingUnavailable, .rangingFailure, .promptDeclined, .historicalLocationError) == Array(0...19))
    }

    @Test func `defaults are the header's`() {
        let scene = Scene()
        scene.open(with: .authorizedAlways)
        let manager = scene.manager
        #expect(manager.distanceFilter == kCLDistanceFilterNone && manager.desiredAccuracy == kCLLocationAccuracyBest)
        #expect(manager.activityType == .other && manager.pausesLocationUpdatesAutomatically)
        #expect(!manager.allowsBackgroundLocationUpdates && !manager.showsBackgroundLocationIndicator)
        #expect(manager.headingFilter == 1 && manager.headingOrientation == .portrait)
        #expect(manager.location == nil && manager.heading == nil && manager.monitoredRegions.isEmpty)
        let region = CLBeaconRegion(uuid: UUID(), identifier: "door")
        #expect(region.notifyOnEntry && region.notifyOnExit && !region.notifyEntryStateOnDisplay)
    }

    /// The first systems are those of Apple's documentation.
    @Test(arguments: [
        (SimulationProfile.iOS7, "requestAlwaysAuthorization", false), (.iOS8, "requestAlwaysAuthorization", true),
        (.iOS8, "requestLocation", false), (.iOS13, "requestLocation", true),
        (.iOS13, "startRangingBeaconsSatisfyingConstraint:", true),
        (.iOS13, "requestTemporaryFullAccuracyAuthorizationWithPurposeKey:completion:", false),
        (.iOS14, "startMonitoringLocationPushesWithCompletion:", false),
        (.iOS18, "startMonitoringLocationPushesWithCompletion:", true), (.iOS18, "startLevitating", false),
    ])
    func `a manager responds to what its system has`(profile: SimulationProfile, name: String, responds: Bool) {
        let scene = Scene(profile)
        scene.open(with: .authorizedAlways)
        #expect(scene.manager.responds(to: Selector((name))) == responds)
    }

    @Test func `a widget gets locations where its app may have them and says that it wants them`() {
        for wants in [true, false] {
            let scene = Scene(info: Scene.purposes.merging(["NSWidgetWantsLocation": wants]) { $1 })
            scene.open(with: .authorizedWhenInUse)
            #expect(scene.application.run { scene.manager.isAuthorizedForWidgetUpdates } == wants)
            scene.application.changeInSettings(.denied)
            #expect(scene.application.run { !scene.manager.isAuthorizedForWidgetUpdates })
        }
    }

    @Test func `constants are the header's`() {
        #expect(kCLLocationAccuracyBestForNavigation == -2 && kCLLocationAccuracyBest == -1)
        #expect(kCLLocationAccuracyReduced == 6_380_000)
        #expect(kCLDistanceFilterNone == -1 && kCLHeadingFilterNone == -1)
        #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2D(latitude: .nan, longitude: 0)))
        #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(-90, 180)))
    }

    @Test func `an error is caught by its code and bridges to NSError`() {
        func fails() throws { throw CLError(.denied) }
        do {
            try fails()
        } catch CLError.denied {
            let bridged = CLError(.denied) as NSError
            #expect(bridged.domain == "kCLErrorDomain" && bridged.code == 1)
        } catch {
            Issue.record("The pattern did not match.")
        }
    }

    /// 1° of longitude on the equator of WGS 84 is 111,319.491 m.
    @Test func `a distance is a geodesic`() {
        let here = CLLocation(latitude: 0, longitude: 0)
        let meters = here.distance(from: CLLocation(latitude: 0, longitude: 1))
        #expect(abs(meters - 111_319.491) < 0.001)
    }

    @Test func `C1 a location comes out of an archive as it went in`() throws {
        let accessory = CLLocationSourceInformation(softwareSimulationState: false, andExternalAccessoryState: true)
        let locations = [
            CLLocation(latitude: 46.1 + 0.2, longitude: -9.123456789012345),
            CLLocation(
                coordinate: home, altitude: -0.1, horizontalAccuracy: 12.3, verticalAccuracy: -1, course: 359.9,
                courseAccuracy: -1, speed: 0.1 + 0.2, speedAccuracy: 3, timestamp: Date(timeIntervalSince1970: 0.125),
                sourceInfo: accessory),
        ]
        for location in locations {
            let archive = try NSKeyedArchiver.archivedData(withRootObject: location, requiringSecureCoding: true)
            let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: archive)
            #expect(read == location && location.copy() as? CLLocation == location)
        }
    }

    @Test func `locations are equal when all fields are`() {
        func location(speed: Double) -> CLLocation {
            CLLocation(
                coordinate: home, altitude: 1, horizontalAccuracy: 2, verticalAccuracy: 3, course: 4, speed: speed,
                timestamp: Date(timeIntervalSince1970: 5))
        }
        #expect(location(speed: 6) == location(speed: 6))
        #expect(location(speed: 6) != location(speed: 7))
    }

    @Test func `every value of the profile tells how it is known`() {
        let fidelity = SimulationProfile.iOS18.fidelity
        // All but the platform and its version.
        #expect(fidelity.count == Mirror(reflecting: SimulationProfile.iOS18).children.count - 2)
        let dwell = fidelity.first { $0.name == "crossingDwellSeconds" }
        #expect(dwell?.value == "20.0" && dwell?.source == .field)
        let limit = fidelity.first { $0.name == "regionsMax" }
        #expect(limit?.value == "20" && limit?.source == .documentation)
        #expect(Set(fidelity.map(\.name)).count == fidelity.count && !fidelity.contains { $0.value.isEmpty })
    }
}
