import Glibc

extension DataDirectory {
    /// The files of the directory with secrets or personal data.
    private static let secrets = ["kek", "admin.token", "keys.sqlite", "log.sqlite"]

    /// The files that an operator may put into a directory before the first start.
    private static let preparations: Set<String> = [
        ".", "..", "LOCK", "kek", "admin.token", "config.json", "projections", "restoring", "lost+found",
    ]

    /// Removes the access of other users to the directory and its secrets, with a line of diagnostics.
    ///
    /// A systemd credential is not changed, because systemd protects it.
    ///
    /// - Throws: ``LogError/notPrivate(_:)`` if access cannot be removed, or if the directory has other files too,
    ///   whose users could be locked out.
    static func closeToOthers(_ path: String) throws(LogError) {
        let mode = try rightsOfOthers(path)
        if mode != 0 {
            guard mode & S_ISVTX == 0, isOurs(path) else {
                throw .notPrivate(
                    "Other users can access \(path) (mode \(octal(mode))), which holds files that the service did not make; name another directory with --data, or run chmod go= \(path)."
                )
            }
            try close(path, mode)
        }
        for name in secrets {
            let file = "\(path)/\(name)"
            let mode = try rightsOfOthers(file)
            if mode != 0 { try close(file, mode) }
        }
    }

    /// The mode if other users have access, else 0; also 0 if the file does not exist.
    private static func rightsOfOthers(_ path: String) throws(LogError) -> mode_t {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return 0 }
            throw .file(path: path, errno: errno)
        }
        return status.st_mode & 0o077 == 0 ? 0 : status.st_mode & 0o7777
    }

    /// Removes the access of group and others, with a line of diagnostics.
    private static func close(_ path: String, _ mode: mode_t) throws(LogError) {
        guard chmod(path, mode & ~0o077) == 0 else {
            throw .notPrivate(
                "Other users can access \(path) (mode \(octal(mode))): \(String(cString: strerror(errno))). Run chmod go= \(path) as its owner."
            )
        }
        Diagnostics.fault(
            "directory.closed",
            "Other users could access \(path) (mode \(octal(mode))); now only its owner can. If others use this machine, they may have read it."
        )
    }

    private static func octal(_ mode: mode_t) -> String { String(mode, radix: 8) }

    /// Whether the directory has a log, or only files of the service.
    private static func isOurs(_ path: String) -> Bool {
        if access("\(path)/log.sqlite", F_OK) == 0 { return true }
        return Set(names(in: path)).isSubset(of: preparations)
    }

    /// The names in a directory; empty if it cannot be read.
    package static func names(in path: String) -> [String] {
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }
}
