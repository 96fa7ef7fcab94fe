internal import Foundation
internal import Whereabouts

/// The device's magnetometer, and which way the device is held.
struct Compass {
    /// Degrees clockwise from true north at `began`, and how it goes on from there.
    fileprivate var from = 0.0
    fileprivate var degreesPerSecond = 0.0
    fileprivate var began = Timestamp(milliseconds: 0)
    fileprivate var seconds = 0.0
    fileprivate var ticket: SimulatedClock.Ticket?
    fileprivate(set) var isDisturbed = false
    fileprivate var calibration: SimulatedClock.Ticket?
    fileprivate lazy var model = WorldMagneticModel()
    fileprivate var hasToldOfYears = false

    fileprivate func trueHeading(at moment: Timestamp) -> Double {
        (from + degreesPerSecond * min(max(moment.seconds(since: began), 0), seconds)).inCircle
    }

    fileprivate func turns(at moment: Timestamp) -> Bool { moment.seconds(since: began) < seconds }
}

extension SimulatedDevice {
    /// Turns the device from where it points now, clockwise for positive degrees, at a steady rate; at once for an
    /// infinite one. It points north to begin with, lying flat.
    ///
    /// - Precondition: `degreesPerSecond` is positive.
    public func turn(by degrees: Double, degreesPerSecond: Double = .infinity) {
        precondition(degrees.isFinite && degreesPerSecond > 0, "A device turns by so many degrees at a positive rate.")
        clock.lock.withLock {
            compass.from = compass.trueHeading(at: clock.moment)
            compass.began = clock.moment
            compass.seconds = abs(degrees) / degreesPerSecond
            if compass.seconds > 0 {
                compass.degreesPerSecond = degreesPerSecond * (degrees < 0 ? -1 : 1)
            } else {
                (compass.from, compass.degreesPerSecond) = ((compass.from + degrees).inCircle, 0)
            }
            senseHeading()
        }
    }

    /// Whether iron or a magnet nearby spoils the heading. Apps are asked whether the calibration display may be shown;
    /// when it has been, the compass is good again.
    public var isMagneticallyDisturbed: Bool {
        get { clock.lock.withLock { compass.isDisturbed } }
        set {
            clock.lock.withLock {
                guard compass.isDisturbed != newValue else { return }
                compass.isDisturbed = newValue
                if !newValue { dismissCalibration() }
                senseHeading()
            }
        }
    }

    /// Reports to the apps that follow the heading, and continues while the device turns.
    func senseHeading() {
        clock.cancel(compass.ticket)
        guard hardware.contains(.magnetometer), applications.contains(where: \.followsHeading) else { return }
        for application in applications { application.noticeHeading() }
        guard compass.turns(at: clock.moment) else { return }
        // Also at the very end of the turn, between two steps.
        let left = compass.seconds - clock.moment.seconds(since: compass.began)
        compass.ticket = clock.after(min(profile.headingIntervalSeconds, left)) { [weak self] in self?.senseHeading() }
    }

    /// Shows the calibration display for a while, after which the compass is good.
    func showCalibration() {
        guard compass.calibration == nil else { return }
        write("device", "calibration display shown")
        compass.calibration = clock.after(profile.headingCalibrationSeconds) { [weak self] in
            self?.compass.calibration = nil
            self?.isMagneticallyDisturbed = false
        }
    }

    func dismissCalibration() {
        clock.cancel(compass.calibration)
        compass.calibration = nil
    }

    /// The magnetometer's heading, for an app with this last location.
    ///
    /// - Parameters:
    ///   - turned: the angle from the device's top to the app's front, in degrees.
    ///   - location: the last one the app may know.
    func heading(turnedBy turned: Double, location: CLLocation?) -> CLHeading {
        let now = clock.now
        let truly = compass.trueHeading(at: clock.moment)
        let field = place.flatMap { compass.model.field(at: $0.coordinate, on: now) }
        let magnetic = (truly - (field?.declination ?? 0)).inCircle
        let known = location.flatMap {
            // Mostly the app knows the very place.
            if let place, $0.coordinate == place.coordinate { return field }
            return compass.model.field(at: $0.coordinate, on: now)
        }
        if known != nil, !WorldMagneticModel.years.contains(now.decimalYear), !compass.hasToldOfYears {
            compass.hasToldOfYears = true
            write("device", "the magnetic model is for 2025 to 2030; true headings are of its nearest day")
        }
        let angle = magnetic * .pi / 180
        let (horizontal, down) = ((field?.horizontal ?? 0) / 1000, (field?.down ?? 0) / 1000)
        return CLHeading(
            magneticHeading: (magnetic + turned).inCircle,
            trueHeading: known.map { (magnetic + $0.declination + turned).inCircle } ?? -1,
            headingAccuracy: compass.isDisturbed ? -1 : profile.headingAccuracyDegrees, x: -horizontal * sin(angle),
            y: horizontal * cos(angle), z: -down, timestamp: now)
    }
}

extension SimulatedApplication {
    /// Heading is for an app on the screen.
    var followsHeading: Bool { state == .foreground && managers.contains { $0.headingService.isUpdating } }

    func noticeHeading() {
        guard state == .foreground else { return }
        for manager in managers { manager.noticeHeading() }
    }
}

/// The heading service of one manager.
struct HeadingService {
    var isUpdating = false
    var last: CLHeading?
    var hasAskedForCalibration = false

    /// Whether the app gets this heading: the device turned far enough, or the heading gained or lost its true
    /// direction or its accuracy.
    mutating func passes(_ heading: CLHeading, filter: Double) -> Bool {
        if let last {
            let turned = abs((heading.magneticHeading - last.magneticHeading + 540).inCircle - 180)
            let isNews =
                (heading.trueHeading < 0) != (last.trueHeading < 0)
                || (heading.headingAccuracy < 0) != (last.headingAccuracy < 0)
            guard isNews || turned >= max(filter, .leastNonzeroMagnitude) else { return false }
        }
        last = heading
        return true
    }
}

extension CLLocationManager {
    func noticeHeading() {
        guard headingService.isUpdating else { return }
        let location = application.isAuthorized ? application.lastFix : nil
        let heading = application.device.heading(turnedBy: headingOrientation.degreesFromTop, location: location)
        askForCalibration(heading)
        guard headingService.passes(heading, filter: headingFilter) else { return }
        let text = "\(heading.magneticHeading) \(heading.trueHeading) \(heading.headingAccuracy)"
        application.tell(self, "didUpdateHeading \(text)") { $0.locationManager(self, didUpdateHeading: heading) }
    }

    private func askForCalibration(_ heading: CLHeading) {
        guard heading.headingAccuracy < 0 else {
            headingService.hasAskedForCalibration = false
            return
        }
        guard !headingService.hasAskedForCalibration else { return }
        headingService.hasAskedForCalibration = true
        application.tell(self, "shouldDisplayHeadingCalibration") {
            if $0.locationManagerShouldDisplayHeadingCalibration(self) { application.device.showCalibration() }
        }
    }
}

extension CLLocationCoordinate2D {
    fileprivate static func == (one: Self, other: Self) -> Bool {
        one.latitude == other.latitude && one.longitude == other.longitude
    }
}

extension CLDeviceOrientation {
    /// Degrees clockwise from the device's top to the edge that is up when it is held so. Flat and unknown change
    /// nothing.
    var degreesFromTop: Double {
        switch self {
        case .landscapeLeft: 90
        case .portraitUpsideDown: 180
        case .landscapeRight: 270
        case .unknown, .portrait, .faceUp, .faceDown: 0
        }
    }
}
