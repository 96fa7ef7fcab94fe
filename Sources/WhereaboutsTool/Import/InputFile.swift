import Glibc

/// A file read from its beginning to its end.
final class InputFile {
    private let descriptor: Int32
    /// 0 for a file without a size, for example a pipe.
    let byteCount: Int
    /// Why the file could not be read further; `nil` if it could.
    private(set) var error: String?

    /// `nil` with `errno` set if the file cannot be opened.
    init?(_ path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        descriptor = opened
        var status = stat()
        byteCount = fstat(opened, &status) == 0 ? Int(status.st_size) : 0
    }

    deinit { close(descriptor) }

    /// The first bytes, without moving the read position; `nil` if the file is not a regular file or cannot be read.
    func head(_ count: Int) -> [UInt8]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: min(count, byteCount))
        let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return got == bytes.count ? bytes : nil
    }

    /// The next bytes, fewer than requested only at the end; `nil` with ``error`` set if the file cannot be read.
    func read(atMost count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                error = lastSystemError()
                return nil
            }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}
