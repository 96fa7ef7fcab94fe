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
            path: directory.log, keys: keys, standingFile: StandingFile(directory: directory.projections),
            identities: identities, clock: clock)
    }

    /// Waits until every fix can be looked up, and no file has a mark of an erased person.
    ///
    /// - Returns: `false` if that takes longer than `milliseconds`, or is not possible.
    package func waitForFixIdentities(milliseconds: Int) -> Bool {
        identities.waitUntilComplete(milliseconds: milliseconds)
            && identities.waitUntilErased(milliseconds: milliseconds)
    }

    /// Compares the index of fixes with the log; returns a sentence if they differ. Cost: a refold.
    package func differenceOfFixIdentities() throws(LogError) -> String? {
        try identities.check(try reader()).problem
    }

    /// A reader of this log for one thread.
    package func reader() throws(LogError) -> LogReader { try LogReader(path: path, keys: keys) }
}
