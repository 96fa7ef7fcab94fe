import Glibc

/// A folder of a test's own, removed with what is in it.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/sqlite-tests-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "No temporary folder could be made.")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// The names of the files in it, sorted.
    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The path of a file in it.
    func file(_ name: String) -> String { path + "/" + name }

    /// Size in bytes and permission bits of a file in it; `nil` when there is none.
    func status(_ name: String) -> (size: Int, mode: UInt32)? {
        var status = stat()
        guard stat(file(name), &status) == 0 else { return nil }
        return (Int(status.st_size), status.st_mode & 0o777)
    }

    /// Writes `bytes` over those at `offset` of a file in it, which is made when missing.
    func overwrite(_ name: String, at offset: Int, with bytes: [UInt8]) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        precondition(
            pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count, "The file cannot be written.")
    }

    /// Cuts a file in it to `size` bytes.
    func truncate(_ name: String, to size: Int) {
        precondition(Glibc.truncate(file(name), off_t(size)) == 0, "The file cannot be cut.")
    }
}
