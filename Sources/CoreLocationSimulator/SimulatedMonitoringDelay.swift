/// How a busy system monitors circles. A test on a phone cannot cause this.
public enum SimulatedMonitoringDelay: Sendable, Equatable {
    /// Watching begins so many seconds after it was asked for, and `regionMonitoringSetupDelayed` comes at once.
    case setup(seconds: Double)
    /// Crossings are reported this many seconds late. When watching begins, `regionMonitoringResponseDelayed` says so
    /// and offers an alternate region: the circle around the same center that the system could watch better, if there
    /// is one.
    case response(seconds: Double, betterRadiusMeters: Double?)
}
