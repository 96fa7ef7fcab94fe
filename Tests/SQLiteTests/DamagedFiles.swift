import Glibc
import TestSupport

extension TemporaryFolder {
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
