/// How a system that is busy monitors circles: what no test on a phone can bring about.
public enum SimulatedMonitoringDelay: Sendable, Equatable {
    /// Watching begins so many seconds after it was asked for, and `regionMonitoringSetupDelayed` comes at once.
    case setup(seconds: Double)
    /// Crossings are told so many seconds late. `regionMonitoringResponseDelayed` says so when watching begins, and names
    /// in its place the circle around the same center that the system could watch better, when there is one.
    case response(seconds: Double, betterRadiusMeters: Double?)
}
