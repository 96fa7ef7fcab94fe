internal import Glibc
internal import LocationPush

/// A non-blocking TCP connection that carries lines of text, bounded on both ways.
final class LineConnection {
    /// A line and its end, in bytes; a longer one ends the connection.
    static let lineBytesMax = 64 * 1024
    /// Output waiting for a peer that does not read; more ends the connection.
    private static let outputBytesMax = 1024 * 1024

    let descriptor: Int32
    private(set) var isClosed = false
    private var input: [UInt8] = []
    private var output: [UInt8] = []

    /// Takes over a non-blocking socket.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    var pollEvents: Int16 { Int16(POLLIN) | (output.isEmpty ? 0 : Int16(POLLOUT)) }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(descriptor)
    }

    /// Reads the available bytes and returns the complete lines, without their ends.
    func readLines() -> [[UInt8]] {
        guard !isClosed else { return [] }
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        // A bounded read a turn: the rest is still there at the next one.
        let count = recv(descriptor, &piece, piece.count, 0)
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
            close()
            return []
        }
        guard count > 0 else { return [] }
        input.append(contentsOf: piece[..<count])
        var lines: [[UInt8]] = []
        var start = 0
        while let end = input[start...].firstIndex(of: 0x0A) {
            lines.append(Array(input[start..<end]))
            start = end + 1
        }
        input.removeFirst(start)
        if input.count >= Self.lineBytesMax || lines.contains(where: { $0.count >= Self.lineBytesMax }) {
            close()
            return []
        }
        return lines
    }

    /// Sends a line, or as much as the socket takes; the rest with ``flush()``.
    func write(line: [UInt8]) {
        guard !isClosed else { return }
        output.append(contentsOf: line)
        output.append(0x0A)
        flush()
        if output.count > Self.outputBytesMax { close() }
    }

    func flush() {
        guard !isClosed, !output.isEmpty else { return }
        let count = output.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count > 0 {
            output.removeFirst(count)
        } else if count < 0 && errno != EAGAIN && errno != EINTR {
            close()
        }
    }
}
