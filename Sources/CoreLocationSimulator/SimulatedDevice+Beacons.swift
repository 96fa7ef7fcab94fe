internal import Foundation
internal import Whereabouts

/// The device's Bluetooth receiver and the beacons around it.
struct BluetoothReceiver {
    fileprivate var beacons: [SimulatedBeacon] = []
    fileprivate var isOn = true
    fileprivate var tick: SimulatedClock.Ticket?
}

extension SimulatedDevice {
    /// The beacons of the world.
    public var beacons: [SimulatedBeacon] {
        get { clock.lock.withLock { bluetooth.beacons } }
        set {
            clock.lock.withLock {
                bluetooth.beacons = newValue
                senseBeacons()
            }
        }
    }

    /// The switch "Bluetooth".
    public var isBluetoothOn: Bool {
        get { clock.lock.withLock { bluetooth.isOn } }
        set {
            clock.lock.withLock {
                guard bluetooth.isOn != newValue else { return }
                bluetooth.isOn = newValue
                write("device", newValue ? "bluetooth on" : "bluetooth off")
                senseBeacons()
            }
        }
    }

    /// The user lights the screen, without opening an app.
    public func lightScreen() {
        clock.lock.withLock {
            write("device", "screen lit")
            for application in applications { application.noticeScreen() }
        }
    }

    /// The beacons heard at the device's present place.
    var heardBeacons: [(identity: BeaconIdentity, signal: BeaconSignal)] {
        guard hardware.contains(.bluetooth), bluetooth.isOn, let place else { return [] }
        return bluetooth.beacons.compactMap { beacon in
            BeaconSignal(of: beacon, at: place.coordinate, profile: profile).map { (beacon.identity, $0) }
        }
    }

    /// Looks for beacons for the apps that monitor them, after the device or a beacon has moved.
    func senseBeacons() {
        guard applications.contains(where: \.monitorsBeacons) else { return }
        let heard = heardBeacons.map(\.identity)
        for application in applications { application.noticeBeacons(heard) }
    }

    /// Reports to the managers that range, every second while there are any.
    func range() {
        guard bluetooth.tick == nil else { return }
        bluetooth.tick = clock.after(profile.rangingIntervalSeconds) { [weak self] in
            guard let self else { return }
            bluetooth.tick = nil
            for application in applications { application.range() }
            if applications.contains(where: \.ranges) { range() }
        }
    }
}
