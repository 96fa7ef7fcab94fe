package import Log
package import Whereabouts

extension EventLog {
    /// The log of a directory without its projections, for measurements and crash tests.
    ///
    /// - Parameter eventsReadAtStart: The missing events that the index of fixes reads before this returns; `nil` for
    ///   as many as in a service.
    package static func alone(
        in directory: DataDirectory, eventsReadAtStart: Int64? = nil,
        clock: @escaping @Sendable () -> Timestamp = { Timestamp.now }
    ) throws(LogError) -> EventLog {
        let keys = try directory.openKeys()
        var identities = FixIdentities.Settings(folder: directory.fixIdentities)
        if let eventsReadAtStart { identities.eventsReadAtStart = eventsReadAtStart }
        return try EventLog(
            path: directory.log, keys: keys, savedStanding: StandingFile(directory: directory.projections),
            identities: identities, clock: clock)
    }
}
