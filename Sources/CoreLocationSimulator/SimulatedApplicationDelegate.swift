/// The system's calls into an app, in place of `UIApplicationDelegate`.
public protocol SimulatedApplicationDelegate: AnyObject {
    /// The app has been launched; here it makes its location managers.
    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool])
}

/// Why an app was launched.
public struct SimulatedLaunchOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Launched in the background because of a location event, as `UIApplication.LaunchOptionsKey.location`.
    public static let location = SimulatedLaunchOption(rawValue: "UIApplicationLaunchOptionsLocationKey")
}

/// Whether and how an app runs.
public enum SimulatedApplicationState: String, Sendable {
    /// Never launched since installed or since the device started.
    case notRunning
    case foreground, background, suspended
    /// Ended by the system, as when memory was short.
    case terminatedBySystem
    /// Ended by the user, in the app switcher.
    case forceQuit

    var isRunning: Bool { self == .foreground || self == .background }
    var isDead: Bool { !isRunning && self != .suspended }
}
