package import Whereabouts

extension EventLog {
    /// The log of a directory without any projection beside it, for measurements and crash tests.
    ///
    /// Nothing looks up whether an older fix is known, so every one counts as new.
    package static func alone(
        in directory: DataDirectory, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now }
    ) throws(LogError) -> EventLog {
        let keys = try directory.openKeys()
        return try EventLog(
            path: directory.log, keys: keys, standingFile: StandingFile(directory: directory.projections),
            rows: { _, _, _ in FixTail.Row.none }, timelinePlace: { .max }, clock: clock)
    }

    /// A reader of this log for one thread.
    package func reader() throws(LogError) -> LogReader { try LogReader(path: path, keys: keys) }
}
