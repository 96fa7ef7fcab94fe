package import Log

extension EventLog {
    /// Whether another process writes the log, and this one only follows it.
    package var isFollowed: Bool { identities == nil }
}
