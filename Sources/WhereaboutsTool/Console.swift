import Glibc
import Synchronization

/// Where the tool writes: results to one side, sentences for people to the other.
final class Console: Sendable {
    private let write: @Sendable (_ bytes: [UInt8], _ isResult: Bool) -> Void
    /// Results not yet written: many short lines become few long writes.
    private let buffer = Mutex<[UInt8]>([])
    /// Whether progress may be shown, in place on one line.
    let showsProgress: Bool

    private static let bufferBytes = 64 << 10

    /// - Parameter write: takes what is to be shown; results and notes come apart.
    init(showsProgress: Bool = false, write: @escaping @Sendable (_ bytes: [UInt8], _ isResult: Bool) -> Void) {
        self.showsProgress = showsProgress
        self.write = write
    }

    /// Standard output and standard error.
    static let standard = Console(showsProgress: isatty(STDERR_FILENO) != 0) { bytes, isResult in
        writeAll(bytes, to: isResult ? STDOUT_FILENO : STDERR_FILENO)
    }

    /// A result; it is shown by ``flush()`` at the latest.
    func result(_ bytes: some Sequence<UInt8>) {
        buffer.withLock { buffer in
            buffer.append(contentsOf: bytes)
            if buffer.count >= Self.bufferBytes {
                write(buffer, true)
                buffer.removeAll(keepingCapacity: true)
            }
        }
    }

    /// A line of the result.
    func line(_ text: String) {
        result((text + "\n").utf8)
    }

    /// Shows the results so far.
    func flush() {
        buffer.withLock { buffer in
            if !buffer.isEmpty { write(buffer, true) }
            buffer.removeAll(keepingCapacity: true)
        }
    }

    /// A sentence beside the result, on standard error.
    func note(_ sentence: String) {
        flush()
        write(Array((sentence + "\n").utf8), false)
    }

    /// Replaces the line of progress; an empty text removes it.
    func progress(_ text: String) {
        guard showsProgress else { return }
        // ECMA-48: carriage return, then "erase in line" from there to the end.
        write(Array("\r\u{1B}[K\(text)".utf8), false)
    }
}

/// Writes all bytes. When the reader has gone (`whereabouts events | head`) the process ends by SIGPIPE as usual; when
/// the disk is full it ends here, because a result cut off in silence would look complete.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBytes { buffer in
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { exit(3) }
            rest = rest.dropFirst(count)
        }
    }
}
