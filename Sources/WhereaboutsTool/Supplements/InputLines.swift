import Glibc

/// The lines of a file from an offset on, one at a time, in little memory whatever their length.
final class InputLines {
    /// The longest line; longer ones are skipped.
    static let lineBytesMax = 64 << 10
    private static let chunkBytes = 256 << 10

    /// Identifies the file that was opened: another file may get the same path later.
    struct Identity: Equatable {
        let byteCount: Int
        let modifiedNanoseconds: Int
    }

    let identity: Identity
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var at = 0
    /// The offset of the next line in the file.
    private(set) var offset: Int

    /// `nil` with `errno` set if it cannot be opened, or is not a file that can be read from an offset.
    init?(_ path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            errno = EINVAL
            return nil
        }
        descriptor = opened
        identity = Identity(
            byteCount: Int(status.st_size),
            modifiedNanoseconds: status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec)
        offset = 0
    }

    deinit { close(descriptor) }

    /// Continues with the line that begins at this offset.
    func seek(to offset: Int) {
        lseek(descriptor, off_t(offset), SEEK_SET)
        buffer = []
        at = 0
        self.offset = offset
    }

    enum Line {
        case line([UInt8])
        case tooLong
    }

    /// The next line without its end, and without a byte order mark at the beginning of the file; `nil` at the end of
    /// the file.
    ///
    /// - Throws: The system's error if the file cannot be read.
    func next() throws(ToolError) -> Line? {
        var line: [UInt8] = []
        var isTooLong = false
        let begin = offset
        while true {
            if at == buffer.count {
                guard try fill() else {
                    guard offset > begin else { return nil }
                    return finished(line, isTooLong, begin)
                }
            }
            let end = buffer[at...].firstIndex(of: 0x0A)
            let part = buffer[at..<(end ?? buffer.count)]
            if line.count + part.count > Self.lineBytesMax {
                (isTooLong, line) = (true, [])
            } else if !isTooLong {
                line += part
            }
            at += part.count + (end == nil ? 0 : 1)
            offset += part.count + (end == nil ? 0 : 1)
            if end != nil { return finished(line, isTooLong, begin) }
        }
    }

    private func finished(_ line: [UInt8], _ isTooLong: Bool, _ begin: Int) -> Line {
        if isTooLong { return .tooLong }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = begin == 0 && line.starts(with: mark) ? line[mark.count...] : line[...]
        return .line(Array(text.last == 0x0D ? text.dropLast() : text))
    }

    private func fill() throws(ToolError) -> Bool {
        buffer = [UInt8](repeating: 0, count: Self.chunkBytes)
        var count: Int
        repeat {
            count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw .data("The file cannot be read further: \(lastSystemError()).") }
        buffer.removeLast(Self.chunkBytes - count)
        at = 0
        return count > 0
    }
}
