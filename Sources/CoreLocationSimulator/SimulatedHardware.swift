/// The parts of a device that determine locations. Availability checks depend on them.
public struct SimulatedHardware: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let gps = SimulatedHardware(rawValue: 1)
    public static let wifi = SimulatedHardware(rawValue: 2)
    public static let cellular = SimulatedHardware(rawValue: 4)

    public static let bluetooth = SimulatedHardware(rawValue: 8)
    public static let magnetometer = SimulatedHardware(rawValue: 16)

    /// Tells floors apart: without it a fix has none.
    public static let barometer = SimulatedHardware(rawValue: 32)

    public static let phone: SimulatedHardware = [.gps, .wifi, .cellular, .bluetooth, .magnetometer, .barometer]
    /// A tablet without a cellular modem has no GPS either.
    public static let wifiTablet: SimulatedHardware = [.wifi, .bluetooth, .magnetometer, .barometer]

    /// Significant changes and regions are found by cells and access points, which cost nothing to hear.
    static let monitoring: SimulatedHardware = [.wifi, .cellular]
    var canMonitor: Bool { !isDisjoint(with: .monitoring) }

    /// The best one-sigma accuracy of the device; `nil` if it cannot locate itself.
    func sigmaMeters(in profile: SimulationProfile) -> Double? {
        if contains(.gps) { return 0 }
        if contains(.wifi) { return profile.wifiSigmaMeters }
        return contains(.cellular) ? profile.cellularSigmaMeters : nil
    }
}
