import Glibc
import Synchronization
import Threading

/// The output of the tool: results on standard output, sentences for people on standard error.
final class Console: Sendable {
    private let write: @Sendable (_ bytes: [UInt8], _ isResult: Bool) -> Void
    /// Results not yet written, so that many short lines become few long writes.
    private let buffer = Mutex<[UInt8]>([])
    /// Whether progress may be shown, on one line that is overwritten.
    let showsProgress: Bool

    private static let bufferBytes = 64 << 10

    /// - Parameter write: Writes bytes, with whether they are a result or a note.
    init(showsProgress: Bool = false, write: @escaping @Sendable (_ bytes: [UInt8], _ isResult: Bool) -> Void) {
        self.showsProgress = showsProgress
        self.write = write
    }

    /// Standard output and standard error.
    static let standard = Console(showsProgress: isatty(STDERR_FILENO) != 0) { bytes, isResult in
        writeAll(bytes, to: isResult ? STDOUT_FILENO : STDERR_FILENO)
    }

    /// Adds to the result, which ``flush()`` shows at the latest.
    func result(_ bytes: some Sequence<UInt8>) {
        buffer.withLock { buffer in
            buffer.append(contentsOf: bytes)
            if buffer.count >= Self.bufferBytes {
                write(buffer, true)
                buffer.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Adds a line to the result.
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

    /// Writes a sentence on standard error.
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

    /// Runs `body` and shows `text` as the line of progress, at once and every second until it ends.
    ///
    /// - Parameter text: The line; called on another thread.
    func showingProgress<Value, Failure: Error>(
        _ text: @escaping @Sendable () -> String, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard showsProgress else { return try body() }
        let isDone = Monitor(false)
        let thread = WorkerThread {
            repeat { self.progress(text()) } while isDone.wait(milliseconds: 1000, for: { $0 ? true : nil }) == nil
        }
        defer {
            isDone.change { $0 = true }
            thread.join()
            progress("")
        }
        return try body()
    }
}

/// Writes all bytes. If the reader has gone (`whereabouts events | head`), SIGPIPE ends the process as usual. If the
/// disk is full, the process ends here, because a truncated result would look complete.
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
