internal import Glibc

/// The number of descriptors that this process may have open (`getrlimit(2)`, `RLIMIT_NOFILE`).
enum DescriptorLimit {
    /// The descriptors for everything but connections: files, their journals, other sockets.
    private static let reserve = 128

    /// The number of connections that the limit allows, at most `wanted`. First raises the limit as far as the system
    /// permits: service managers start processes with 1,024, for programs that use `select`, which nothing here does.
    ///
    /// - Returns: At least 1.
    static func room(forConnections wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        let needed = rlim_t(wanted + reserve)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return max(1, min(wanted, Int(clamping: limit.rlim_cur) - reserve))
    }
}
