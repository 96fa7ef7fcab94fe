import CoreLocation
import Testing

/// Expected values: Apple's SDK headers, as listed in the project's specification of Core Location.
@Suite struct VocabularyTests {
    @Test func `raw values are the header's`() {
        #expect(CLAuthorizationStatus.authorizedAlways.rawValue == 3)
        #expect(CLAuthorizationStatus.authorizedWhenInUse.rawValue == 4)
        #expect(CLAuthorizationStatus.authorized == .authorizedAlways)
        #expect(CLAccuracyAuthorization.reducedAccuracy.rawValue == 1)
        #expect(CLActivityType.airborne.rawValue == 5)
        #expect(CLDeviceOrientation.faceDown.rawValue == 6)
        #expect(CLRegionState.outside.rawValue == 2)
        #expect(CLProximity.far.rawValue == 3)
        #expect(CLError.Code.rangingUnavailable.rawValue == 16 && CLError.Code.rangingFailure.rawValue == 17)
        #expect(CLError.Code.historicalLocationError.rawValue == 19)
        #expect(CLLocationPushServiceError.Code.unsupportedPlatform.rawValue == 4)
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
    }
}
