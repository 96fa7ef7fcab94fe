/// The Objective-C name of a method of a location manager, for `responds(to: Selector(("name")))`, which compiles here
/// and on Apple's systems.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral {
    let name: String

    public init(_ name: String) { self.name = name }
    public init(stringLiteral name: String) { self.name = name }

    /// The first iOS with the method, by Apple's documentation; `nil` for a name that no location manager has.
    var sinceVersion: Int? { Self.firstVersions.first { $0.value.contains(name) }?.key }

    private static let firstVersions: [Int: Set<String>] = [
        // Selectors older than the oldest profile count as present from its beginning.
        7: [
            "startUpdatingLocation", "stopUpdatingLocation", "startMonitoringSignificantLocationChanges",
            "stopMonitoringSignificantLocationChanges", "startMonitoringForRegion:", "stopMonitoringForRegion:",
            "requestStateForRegion:", "startUpdatingHeading", "stopUpdatingHeading",
            "dismissHeadingCalibrationDisplay", "startRangingBeaconsInRegion:", "stopRangingBeaconsInRegion:",
            "allowDeferredLocationUpdatesUntilTraveled:timeout:", "disallowDeferredLocationUpdates",
            "pausesLocationUpdatesAutomatically", "setPausesLocationUpdatesAutomatically:", "activityType",
            "setActivityType:",
        ],
        8: [
            "requestWhenInUseAuthorization", "requestAlwaysAuthorization", "startMonitoringVisits",
            "stopMonitoringVisits",
        ],
        9: ["requestLocation", "allowsBackgroundLocationUpdates", "setAllowsBackgroundLocationUpdates:"],
        11: ["showsBackgroundLocationIndicator", "setShowsBackgroundLocationIndicator:"],
        13: [
            "startRangingBeaconsSatisfyingConstraint:", "stopRangingBeaconsSatisfyingConstraint:",
            "rangedBeaconConstraints",
        ],
        14: [
            "authorizationStatus", "accuracyAuthorization", "isAuthorizedForWidgetUpdates",
            "requestTemporaryFullAccuracyAuthorizationWithPurposeKey:completion:",
            "requestTemporaryFullAccuracyAuthorizationWithPurposeKey:",
        ],
        15: ["startMonitoringLocationPushesWithCompletion:", "stopMonitoringLocationPushes"],
    ]
}
