internal import Glibc

/// How many descriptors this process may have open (`getrlimit(2)`, `RLIMIT_NOFILE`).
enum DescriptorLimit {
    /// Descriptors left for what is no connection: files, their journals, other sockets.
    private static let reserve = 128

    /// The connections there is room for, at most `wanted`. The limit is raised for that as far as the system allows: a
    /// service manager starts its processes with 1,024 for programs that use `select`, which nothing here does.
    ///
    /// - Returns: 1 at the least.
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
