// Compiled, never run: the API that Apple's documentation of Core Location lists for iOS 7 to 18, used as in an app.
// Omissions are intended: see the documentation of `CLGeocoder` and `CLPlacemark` for the Contacts framework's type;
// `requestHistoricalLocations` is for watches; of all types only `CLLocation` goes into archives; and
// `peripheralData(withMeasuredPower:)` makes a phone a beacon, which needs Core Bluetooth.

import CoreLocation

private func managers(_ manager: CLLocationManager, _ delegate: any CLLocationManagerDelegate) async throws {
    let classQuestions: [Bool] = [
        CLLocationManager.locationServicesEnabled(), CLLocationManager.headingAvailable(),
        CLLocationManager.significantLocationChangeMonitoringAvailable(),
        CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self), CLLocationManager.isRangingAvailable(),
        CLLocationManager.deferredLocationUpdatesAvailable(),
    ]
    let _: (CLAuthorizationStatus, CLAuthorizationStatus, CLAccuracyAuthorization, Bool, [Bool]) = (
        CLLocationManager.authorizationStatus(), manager.authorizationStatus, manager.accuracyAuthorization,
        manager.isAuthorizedForWidgetUpdates, classQuestions
    )
    manager.delegate = delegate
    manager.requestWhenInUseAuthorization()
    manager.requestAlwaysAuthorization()
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "key") { (_: (any Error)?) in }
    try await manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "key")
    manager.distanceFilter = kCLDistanceFilterNone
    manager.desiredAccuracy = kCLLocationAccuracyBestForNavigation
    manager.activityType = .automotiveNavigation
    manager.pausesLocationUpdatesAutomatically = false
    manager.allowsBackgroundLocationUpdates = true
    manager.showsBackgroundLocationIndicator = true
    let _: CLLocation? = manager.location
    manager.startUpdatingLocation()
    manager.stopUpdatingLocation()
    manager.requestLocation()
    manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: CLTimeIntervalMax)
    manager.disallowDeferredLocationUpdates()
    manager.startMonitoringSignificantLocationChanges()
    manager.stopMonitoringSignificantLocationChanges()
    manager.startMonitoringVisits()
    manager.stopMonitoringVisits()
    manager.headingFilter = kCLHeadingFilterNone
    manager.headingOrientation = .landscapeLeft
    let _: CLHeading? = manager.heading
    manager.startUpdatingHeading()
    manager.stopUpdatingHeading()
    manager.dismissHeadingCalibrationDisplay()
    let circle = CLCircularRegion(
        center: CLLocationCoordinate2DMake(0, 0), radius: manager.maximumRegionMonitoringDistance, identifier: "circle")
    let _: Set<CLRegion> = manager.monitoredRegions
    manager.startMonitoring(for: circle)
    manager.stopMonitoring(for: circle)
    manager.requestState(for: circle)
    let beacons = CLBeaconIdentityConstraint(uuid: UUID(), major: 1, minor: 2)
    let _: Set<CLBeaconIdentityConstraint> = manager.rangedBeaconConstraints
    manager.startRangingBeacons(satisfying: beacons)
    manager.stopRangingBeacons(satisfying: beacons)
    let _: Set<CLRegion> = manager.rangedRegions
    manager.startRangingBeacons(in: CLBeaconRegion(proximityUUID: UUID(), major: 1, minor: 2, identifier: "door"))
    manager.stopRangingBeacons(in: CLBeaconRegion(beaconIdentityConstraint: beacons, identifier: "door"))
    manager.startMonitoringLocationPushes { (_: Data?, _: (any Error)?) in }
    let _: Data = try await manager.startMonitoringLocationPushes()
    manager.stopMonitoringLocationPushes()
}

/// Every method of the delegate, with Apple's names; the compiler takes each for the protocol's or says that it is not.
private final class Delegate: NSObject, CLLocationManagerDelegate {
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {}
    func locationManager(_ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus) {}
    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {}
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {}
    func locationManager(_ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?) {}
    func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {}
    func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {}
    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {}
    func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { true }
    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {}
    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {}
    func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {}
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
    func locationManager(_ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion) {}
    func locationManager(
        _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
    ) {}
    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {}
    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error
    ) {}
    func locationManager(
        _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
    ) {}
    func locationManager(
        _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion, withError error: any Error
    ) {}
}

private func values(_ fix: CLLocation, _ visit: CLVisit, _ heading: CLHeading, _ beacon: CLBeacon) {
    let _: [Double] = [
        fix.coordinate.latitude, fix.coordinate.longitude, fix.altitude, fix.ellipsoidalAltitude,
        fix.horizontalAccuracy,
        fix.verticalAccuracy, fix.course, fix.courseAccuracy, fix.speed, fix.speedAccuracy, fix.distance(from: fix),
        visit.coordinate.latitude, visit.horizontalAccuracy, heading.magneticHeading, heading.trueHeading,
        heading.headingAccuracy, heading.x, heading.y, heading.z, beacon.accuracy,
    ]
    let _: [Date] = [fix.timestamp, visit.arrivalDate, visit.departureDate, heading.timestamp, beacon.timestamp]
    let _: (Int?, Bool?, Bool?) = (
        fix.floor?.level, fix.sourceInformation?.isSimulatedBySoftware, fix.sourceInformation?.isProducedByAccessory
    )
    let _: (UUID, NSNumber, NSNumber, CLProximity, Int) = (
        beacon.uuid, beacon.major, beacon.minor, beacon.proximity, beacon.rssi
    )
    let _: [CLLocation] = [
        CLLocation(latitude: 0, longitude: 0),
        CLLocation(
            coordinate: kCLLocationCoordinate2DInvalid, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0,
            timestamp: Date()),
        CLLocation(
            coordinate: fix.coordinate, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
            timestamp: Date()),
        CLLocation(
            coordinate: fix.coordinate, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0,
            courseAccuracy: 0, speed: 0, speedAccuracy: 0, timestamp: Date()),
        CLLocation(
            coordinate: fix.coordinate, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0,
            courseAccuracy: 0, speed: 0, speedAccuracy: 0, timestamp: Date(),
            sourceInfo: CLLocationSourceInformation(softwareSimulationState: true, andExternalAccessoryState: true)),
    ]
    let _: [CLLocationAccuracy] = [
        kCLLocationAccuracyBest, kCLLocationAccuracyNearestTenMeters, kCLLocationAccuracyHundredMeters,
        kCLLocationAccuracyKilometer, kCLLocationAccuracyThreeKilometers, kCLLocationAccuracyReduced,
    ]
}

private func geocoding(_ geocoder: CLGeocoder, _ place: CLLocation, _ region: CLRegion) async throws {
    let locale = Locale(identifier: "de_AT")
    geocoder.reverseGeocodeLocation(place) { (_: [CLPlacemark]?, _: (any Error)?) in }
    geocoder.reverseGeocodeLocation(place, preferredLocale: locale) { _, _ in }
    geocoder.geocodeAddressString("Graz") { _, _ in }
    geocoder.geocodeAddressString("Graz", in: region) { _, _ in }
    geocoder.geocodeAddressString("Graz", in: region, preferredLocale: locale) { _, _ in }
    if geocoder.isGeocoding { geocoder.cancelGeocode() }
    var found = try await geocoder.reverseGeocodeLocation(place)
    found += try await geocoder.reverseGeocodeLocation(place, preferredLocale: locale)
    found += try await geocoder.geocodeAddressString("Graz")
    found += try await geocoder.geocodeAddressString("Graz", in: region)
    found += try await geocoder.geocodeAddressString("Graz", in: region, preferredLocale: locale)
    for mark in found {
        let _: [String?] = [
            mark.name, mark.thoroughfare, mark.subThoroughfare, mark.locality, mark.subLocality,
            mark.administrativeArea,
            mark.subAdministrativeArea, mark.postalCode, mark.isoCountryCode, mark.country, mark.inlandWater,
            mark.ocean,
        ]
        let _: (CLLocation?, CLRegion?, TimeZone?, [String]?) = (
            mark.location, mark.region, mark.timeZone, mark.areasOfInterest
        )
    }
}

private func sequences() async throws {
    let session = CLServiceSession(authorization: .always, fullAccuracyPurposeKey: "key")
    for try await diagnostic in session.diagnostics {
        let _: [Bool] = [
            diagnostic.authorizationDenied, diagnostic.authorizationDeniedGlobally, diagnostic.authorizationRestricted,
            diagnostic.authorizationRequestInProgress, diagnostic.insufficientlyInUse,
            diagnostic.serviceSessionRequired,
            diagnostic.alwaysAuthorizationDenied, diagnostic.fullAccuracyDenied,
        ]
    }
    session.invalidate()
    CLServiceSession(authorization: .none).invalidate()
    let background = CLBackgroundActivitySession()
    for try await diagnostic in background.diagnostics { _ = diagnostic.insufficientlyInUse }
    background.invalidate()
    for try await update in CLLocationUpdate.liveUpdates(.fitness) {
        let _: (CLLocation?, [Bool]) = (
            update.location,
            [
                update.isStationary, update.stationary, update.authorizationDenied, update.authorizationDeniedGlobally,
                update.authorizationRestricted, update.authorizationRequestInProgress, update.insufficientlyInUse,
                update.locationUnavailable, update.accuracyLimited, update.serviceSessionRequired,
            ]
        )
    }
    let monitor = await CLMonitor("name")
    await monitor.add(
        CLMonitor.CircularGeographicCondition(center: CLLocationCoordinate2D(), radius: 100), identifier: "circle")
    await monitor.add(
        CLMonitor.BeaconIdentityCondition(uuid: UUID(), major: 1, minor: 2), identifier: "door", assuming: .unsatisfied)
    let _: (CLMonitor.Event?, (any CLCondition)?, [String]) = await (
        monitor.record(for: "circle")?.lastEvent, monitor.record(for: "circle")?.condition, monitor.identifiers
    )
    for try await event in await monitor.events {
        let _: (String, CLMonitor.Event.State, Date, (any CLCondition)?, [Bool]) = (
            event.identifier, event.state, event.date, event.refinement,
            [
                event.authorizationDenied, event.authorizationDeniedGlobally, event.authorizationRestricted,
                event.authorizationRequestInProgress, event.insufficientlyInUse, event.accuracyLimited,
                event.conditionUnsupported, event.conditionLimitExceeded, event.persistenceUnavailable,
                event.serviceSessionRequired,
            ]
        )
    }
    await monitor.remove("circle")
}

private func errors(_ error: any Error) {
    switch error {
    case CLError.denied: break
    case let error as CLError:
        let _: (CLError.Code, Int, [String: Any], CLRegion?) = (
            error.code, error.errorCode, error.userInfo, error.alternateRegion
        )
    case CLLocationPushServiceError.missingPushExtension: break
    default: print((error as NSError).domain == kCLErrorDomain, CLLocationPushServiceErrorDomain)
    }
}
