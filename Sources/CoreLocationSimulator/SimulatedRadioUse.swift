internal import Foundation
internal import Whereabouts

/// The services that keep a device's receivers busy.
public enum SimulatedService: String, Sendable, CaseIterable {
    case standard, liveUpdates, significantChange, visits
    /// Circles, of a location manager or a monitor.
    case regions
    /// Beacons, of a location manager or a monitor.
    case beacons
    case ranging
}

/// For how long receivers have worked, in seconds.
public struct SimulatedRadioUse: Sendable, Equatable {
    public internal(set) var gpsSeconds = 0.0
    public internal(set) var wifiSeconds = 0.0
    public internal(set) var cellularSeconds = 0.0
    public internal(set) var bluetoothSeconds = 0.0

    public var totalSeconds: Double { gpsSeconds + wifiSeconds + cellularSeconds + bluetoothSeconds }

    public static func + (one: SimulatedRadioUse, other: SimulatedRadioUse) -> SimulatedRadioUse {
        var sum = one
        sum.gpsSeconds += other.gpsSeconds
        sum.wifiSeconds += other.wifiSeconds
        sum.cellularSeconds += other.cellularSeconds
        sum.bluetoothSeconds += other.bluetoothSeconds
        return sum
    }

    fileprivate mutating func add(_ seconds: Double, of radio: SimulatedHardware) {
        switch radio {
        case .gps: gpsSeconds += seconds
        case .wifi: wifiSeconds += seconds
        case .cellular: cellularSeconds += seconds
        default: bluetoothSeconds += seconds
        }
    }
}

/// A service's use of one receiver: the receiver, and the part of the time.
private struct Load {
    let service: SimulatedService
    let radio: SimulatedHardware
    let share: Double
}

/// The account of one app.
struct RadioAccount {
    fileprivate var use: [SimulatedService: SimulatedRadioUse] = [:]
    fileprivate var until: Timestamp?
}

extension SimulatedApplication {
    /// For how long each service has kept the receivers busy for this app and its extension since it was installed.
    ///
    /// A model, because Apple gives no figures: updates keep one receiver on, and monitoring looks around now and then,
    /// at the intervals of the profile. Compare the services with it, not with a battery.
    public var radioUse: [SimulatedService: SimulatedRadioUse] { locked { radioAccount.use } }

    /// Adds the time since the last call to the receivers that were on. Call it before a receiver is switched.
    func accountForRadios() {
        let now = device.clock.moment
        guard radioAccount.until != now else { return }
        let seconds = radioAccount.until.map { now.seconds(since: $0) } ?? 0
        // This goes first, because the following calls reach this function again.
        radioAccount.until = now
        guard seconds > 0, device.locationServicesEnabled else { return }
        for load in loads {
            radioAccount.use[load.service, default: SimulatedRadioUse()].add(seconds * load.share, of: load.radio)
        }
    }

    /// Adds the use by an extension's process to its app's use.
    func takeOverRadioUse(of process: SimulatedApplication) {
        process.accountForRadios()
        radioAccount.use.merge(process.radioAccount.use, uniquingKeysWith: +)
    }

    private var loads: [Load] {
        var loads: [Load] = []
        // Two managers of one kind share a receiver; the more exact one decides.
        let radios = managers.compactMap(\.busyRadio)
        if let radio = [SimulatedHardware.gps, .wifi, .cellular].first(where: radios.contains) {
            loads.append(Load(service: .standard, radio: radio, share: 1))
        }
        if followsLocation { loads.append(Load(service: .liveUpdates, radio: device.hardware.best, share: 1)) }
        if state.isRunning && ranges { loads.append(Load(service: .ranging, radio: .bluetooth, share: 1)) }
        func look(_ service: SimulatedService, _ radio: SimulatedHardware, every interval: Double) {
            loads.append(Load(service: service, radio: radio, share: min(1, profile.scanSeconds / interval)))
        }
        if monitoringIsAllowed() {
            // Networks are the finest that costs little; cells are heard anyway, but where to is not known by them.
            let fine: SimulatedHardware = device.hardware.contains(.wifi) ? .wifi : .cellular
            let coarse: SimulatedHardware = device.hardware.contains(.cellular) ? .cellular : .wifi
            if visits.isOn { look(.visits, fine, every: profile.visitScanSeconds) }
            if significant.isOn { look(.significantChange, coarse, every: profile.significantSeconds) }
            if !regions.isEmpty || watchesCircles { look(.regions, fine, every: profile.regionScanSeconds) }
        }
        if monitorsBeacons, monitoringIsAllowed(with: .bluetooth), device.isBluetoothOn {
            look(.beacons, .bluetooth, every: profile.beaconScanSeconds)
        }
        return loads
    }
}

extension CLLocationManager {
    /// The receiver it keeps on now; `nil` when none.
    var busyRadio: SimulatedHardware? {
        guard application.isAuthorized, isBusy else { return nil }
        let wanted: [SimulatedHardware] =
            switch desiredAccuracy {
            case ...kCLLocationAccuracyNearestTenMeters: [.gps, .wifi, .cellular]
            case ...kCLLocationAccuracyHundredMeters: [.wifi, .cellular, .gps]
            default: [.cellular, .wifi, .gps]
            }
        return wanted.first(where: application.device.hardware.contains)
    }
}

extension SimulatedHardware {
    /// The most exact receiver there is.
    fileprivate var best: SimulatedHardware { contains(.gps) ? .gps : contains(.wifi) ? .wifi : .cellular }
}
