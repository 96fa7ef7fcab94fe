/// Which system is played, and every number of its behaviour that Apple does not promise. The defaults are our best
/// knowledge; a test that depends on one sets it.
///
/// Lengths are meters, times seconds.
public struct SimulationProfile: Sendable, Equatable {
    public enum Platform: String, Sendable { case iOS, macOS }

    public let platform: Platform
    /// The system's major version.
    public let version: Int

    init(_ platform: Platform, _ version: Int) { (self.platform, self.version) = (platform, version) }

    public static let iOS7 = SimulationProfile(.iOS, 7)
    public static let iOS8 = SimulationProfile(.iOS, 8)
    public static let iOS13 = SimulationProfile(.iOS, 13)
    public static let iOS14 = SimulationProfile(.iOS, 14)
    public static let iOS18 = SimulationProfile(.iOS, 18)
    public static let macOS15 = SimulationProfile(.macOS, 15)

    // MARK: Properties of the system

    /// iOS 7 asks by itself when a service starts; the methods to ask with came with iOS 8.
    var asksByItself: Bool { platform == .iOS && version < 8 }
    /// Until iOS 10 `NSLocationAlwaysUsageDescription` alone sufficed to ask for Always.
    var oldAlwaysKeySuffices: Bool { platform == .iOS && version < 11 }
    /// Asking for Always first gives a provisional one since iOS 13.
    var hasProvisionalAlways: Bool { platform == .iOS && version >= 13 }
    /// "Allow Once" came with iOS 13.
    var hasAllowOnce: Bool { platform == .iOS && version >= 13 }
    /// Before iOS 13 significant changes, visits and regions needed Always also while the app was in use.
    var monitorsWhenInUse: Bool { platform == .macOS || version >= 13 }
    /// Reduced accuracy and `locationManagerDidChangeAuthorization` came with iOS 14.
    var hasAccuracyAuthorization: Bool { platform == .macOS || version >= 14 }
    /// `CLServiceSession` came with iOS 18 and macOS 15.
    var hasServiceSessions: Bool { version >= (platform == .macOS ? 15 : 18) }
    /// Location push service extensions came with iOS 15.
    var hasLocationPushes: Bool { platform == .iOS && version >= 15 }
    /// macOS monitors only while the app runs.
    var launchesApps: Bool { platform == .iOS }

    // MARK: The receiver

    /// Between fixes with an aim of ten meters and better; their accuracy is the track's own.
    @Sourced(.decision) public var bestIntervalSeconds = 1.0
    @Sourced(.decision) public var hundredMetersIntervalSeconds = 5.0
    @Sourced(.decision) public var hundredMetersSigmaMeters = 65.0
    @Sourced(.decision) public var kilometerIntervalSeconds = 60.0
    @Sourced(.decision) public var kilometerSigmaMeters = 1000.0
    @Sourced(.decision) public var threeKilometersSigmaMeters = 3000.0
    /// The accuracy from Wi-Fi for a device without GPS, and from cells for one without Wi-Fi.
    @Sourced(.decision) public var wifiSigmaMeters = 65.0
    @Sourced(.decision) public var cellularSigmaMeters = 1000.0
    /// How long the receiver takes to find a place it is asked for.
    @Sourced(.decision) public var findSeconds = 2.0

    // MARK: Standard service

    /// A fix inside the distance filter is delivered when its accuracy is at most this part of the last one's.
    @Sourced(.decision) public var betterAccuracyRatio = 0.5
    /// Whether starting delivers the last known fix first, with its old timestamp.
    @Sourced(.memory) public var deliversCachedFixFirst = true
    @Sourced(.field) public var requestLocationSeconds = 10.0
    /// The accuracy that answers `requestLocation` at once if the best is requested.
    @Sourced(.decision) public var requestLocationBestMeters = 10.0
    @Sourced(.decision) public var pauseRadiusMeters = 50.0
    @Sourced(.decision) public var pauseSecondsOther = 600.0
    @Sourced(.decision) public var pauseSecondsAutomotive = 900.0
    @Sourced(.decision) public var pauseSecondsFitness = 300.0
    @Sourced(.decision) public var pauseSecondsOtherNavigation = 900.0

    // MARK: Authorization

    /// How long an event waits for the answer to the second prompt of a provisional Always.
    @Sourced(.decision) public var provisionalEventSeconds = 300.0
    /// The cell whose jittered center replaces the place under reduced accuracy, in degrees.
    @Sourced(.decision) public var reducedCellDegrees = 0.1
    /// The middle part of the cell that the jitter stays in, so that neighbouring cells are never taken for one.
    @Sourced(.decision) public var reducedJitterRatio = 0.5
    @Sourced(.documentation) public var reducedAccuracyMeters = 5000.0
    @Sourced(.decision) public var reducedIntervalSeconds = 900.0

    // MARK: Significant change and visits

    @Sourced(.documentation) public var significantMeters = 500.0
    @Sourced(.documentation) public var significantSeconds = 300.0
    @Sourced(.decision) public var visitDwellSeconds = 300.0
    @Sourced(.decision) public var visitRadiusMeters = 100.0
    @Sourced(.decision) public var visitDepartureMeters = 150.0
    @Sourced(.decision) public var visitDepartureSeconds = 120.0
    @Sourced(.decision) public var visitReportDelaySecondsMax = 600.0

    // MARK: Regions

    @Sourced(.documentation) public var regionsMax = 20
    @Sourced(.memory) public var regionRadiusMetersMax = 100_000.0
    /// Whether a larger radius is cut to the maximum, instead of failing.
    @Sourced(.field) public var clampsRegionRadius = false
    @Sourced(.decision) public var regionsSurviveReboot = true
    /// The cushion past the boundary: the larger of the accuracy and this part of the radius, within the two limits.
    @Sourced(.decision) public var cushionRadiusRatio = 0.2
    @Sourced(.decision) public var cushionMetersMin = 20.0
    @Sourced(.field) public var cushionMetersMax = 200.0
    /// Into a circle the cushion is at most this part of the radius, else a small one had no inside.
    @Sourced(.decision) public var cushionEntryRadiusRatioMax = 0.5
    @Sourced(.field) public var crossingDwellSeconds = 20.0

    // MARK: Monitors, live updates and sessions

    @Sourced(.documentation) public var monitorConditionsMax = 20
    /// Live updates pause after this long within this distance.
    @Sourced(.decision) public var liveStationarySeconds = 120.0
    @Sourced(.decision) public var liveStationaryMeters = 25.0
    /// How soon after a launch in the background a session held before is to be taken again.
    @Sourced(.decision) public var sessionRestoreSeconds = 5.0

    // MARK: Beacons

    @Sourced(.field) public var rangingIntervalSeconds = 1.0
    @Sourced(.decision) public var beaconRangeMeters = 50.0
    @Sourced(.decision) public var beaconPathLossExponent = 2.0
    /// As near as two antennas get.
    @Sourced(.decision) public var beaconMetersMin = 0.1
    @Sourced(.decision) public var beaconImmediateMeters = 0.5
    @Sourced(.decision) public var beaconNearMeters = 3.0
    /// How long a silent beacon stays in the reports of ranging.
    @Sourced(.decision) public var beaconDropSeconds = 10.0
    /// How long all beacons of a region are silent before it has been left.
    @Sourced(.field) public var beaconExitSeconds = 30.0

    // MARK: Geocoding

    @Sourced(.decision) public var geocodeSeconds = 0.3
    @Sourced(.field) public var geocodesPerMinute = 50

    // MARK: Receivers

    /// How long one look around keeps a receiver busy.
    @Sourced(.decision) public var scanSeconds = 2.0
    /// Between two looks around; for significant changes it is their own interval.
    @Sourced(.decision) public var visitScanSeconds = 900.0
    @Sourced(.decision) public var regionScanSeconds = 60.0
    @Sourced(.decision) public var beaconScanSeconds = 20.0

    // MARK: Heading

    /// Between two looks at the magnetometer while the device turns.
    @Sourced(.decision) public var headingIntervalSeconds = 0.1
    @Sourced(.decision) public var headingAccuracyDegrees = 10.0
    /// How long the user takes with the calibration display.
    @Sourced(.decision) public var headingCalibrationSeconds = 5.0

    // MARK: Background

    /// How long an app runs in the background before it is suspended.
    @Sourced(.memory) public var backgroundSeconds = 10.0
    @Sourced(.field) public var relaunchAfterForceQuit = true

    // MARK: Location pushes

    /// The length of a device token, which is of no particular one.
    @Sourced(.decision) public var tokenBytesMin = 32
    @Sourced(.decision) public var tokenBytesMax = 100
    /// From the launch of the extension to the warning, and from there to its end.
    @Sourced(.decision) public var pushExtensionSeconds = 30.0
    @Sourced(.decision) public var pushExtensionKillSeconds = 5.0
    /// The pushes that a device accepts for an app without a pause, and the seconds until one more.
    @Sourced(.documentation) public var pushesMax = 360
    @Sourced(.documentation) public var pushRefillSeconds = 240.0
    /// How many must be there again before a device that had none returns to the topic.
    @Sourced(.decision) public var pushesToReturn = 15
    /// Whether the app must hold a `CLServiceSession` for Always, or have held one when its process ended: one of
    /// Apple's pages says so, another says only that Always is needed.
    @Sourced(.documentation) public var pushesNeedAlwaysSession = false
    /// Whether the extension is launched although the user has ended the app.
    @Sourced(.memory) public var pushesAfterForceQuit = true

    /// Every value above with how we know it, in this order.
    public var fidelity: [Fidelity] {
        Mirror(reflecting: self).children.compactMap { child in
            guard let label = child.label, let value = child.value as? any AnySourced else { return nil }
            return Fidelity(name: String(label.drop { $0 == "_" }), value: value.text, source: value.source)
        }
    }
}
