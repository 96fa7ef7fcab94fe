import Glibc
package import Log
package import SQLite

extension ProjectionFile {
    /// The newest events that the projections in a folder have folded, as witnesses of the log.
    package static func witnesses(
        in folder: String, access: (String) -> Connection.Access? = { _ in .readOnly }
    ) -> [LogWitness] {
        var witnesses: [LogWitness] = []
        guard let entries = opendir(folder) else { return witnesses }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(".sqlite") else { continue }
            // A file that cannot be read, or whose place has a wrong checksum, is folded again and is no witness. The
            // saved standing has another form of place; loading it compares it with the log.
            let path = "\(folder)/\(name)"
            if let access = access(path), let witness = witness(path, access) { witnesses.append(witness) }
        }
        return witnesses
    }

    /// The newest event of the log according to the file at `path`; `nil` if the file cannot be read or is damaged.
    private static func witness(_ path: String, _ access: Connection.Access) -> LogWitness? {
        guard let file = try? ProjectionFile(path: path, access: access),
            let saved = try? FollowedProjection.readPlace(file), let log = saved.logID
        else { return nil }
        return LogWitness(log: log, epoch: saved.epoch, number: saved.number, leaf: saved.leaf)
    }
}
