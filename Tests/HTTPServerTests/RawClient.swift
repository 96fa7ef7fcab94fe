import Glibc
import TestSupport
import Testing

/// A client that sends any bytes and reads answers one by one. A server that neither answers nor ends the connection
/// within ``patienceSeconds`` fails the test.
final class RawClient {
    let descriptor: CInt
    private var received: [UInt8] = []

    struct Answer: Equatable {
        var status: Int
        var head: String
        var body: String

        func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix(name + ": ") {
                return String(line.dropFirst(name.count + 2))
            }
            return nil
        }
    }

    init?(port: Int) {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        let isConnected = Loopback.connect(descriptor, port: port)
        self.descriptor = descriptor
        var patience = timeval(tv_sec: Int(patienceSeconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        signal(SIGPIPE, SIG_IGN)
        if !isConnected { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// - Returns: whether everything was taken by the socket.
    @discardableResult func send(_ text: String) -> Bool {
        send(Array(text.utf8))
    }

    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says that nothing more will be sent.
    func endSending() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Bytes that came after the last complete answer.
    var unread: Int { received.count }

    /// The next answer, or `nil` if the connection ends before one is complete.
    func receive(isHead: Bool = false) -> Answer? {
        let separator = Array("\r\n\r\n".utf8)
        while true {
            if let end = firstIndex(of: separator) {
                let head = String(decoding: received[..<end], as: UTF8.self)
                guard let status = head.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
                var answer = Answer(status: status, head: head, body: "")
                let length = isHead || status < 200 ? 0 : answer.header("content-length").flatMap { Int($0) } ?? 0
                let start = end + separator.count
                if received.count >= start + length {
                    answer.body = String(decoding: received[start..<(start + length)], as: UTF8.self)
                    received.removeFirst(start + length)
                    return answer
                }
            }
            if !readMore() { return nil }
        }
    }

    /// Whether the server ends the connection without sending anything more.
    var isEnded: Bool {
        !readMore() && received.isEmpty
    }

    /// Whether bytes, or the end, can be read within that time.
    func isReadable(withinMilliseconds milliseconds: CInt) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, milliseconds) > 0
    }

    /// Sends a piece each 10 ms until the server answers or ends the connection.
    func drip(_ piece: String) throws {
        try eventually("an answer", pauseMilliseconds: 0) {
            if isReadable(withinMilliseconds: 10) { return true }
            send(piece)
            return false
        }
    }

    /// The received bytes that no call has returned yet.
    var pending: [UInt8] { received }
    func clear() { received = [] }

    func readMore() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 { received.append(contentsOf: buffer[..<count]) }
        if count < 0, errno == EAGAIN { Issue.record("Neither an answer nor the end came.") }
        return count > 0
    }

    private func firstIndex(of pattern: [UInt8]) -> Int? {
        guard received.count >= pattern.count else { return nil }
        return (0...(received.count - pattern.count)).first { received[$0...].starts(with: pattern) }
    }
}

/// A thread that runs a closure, to be waited for.
struct TestThread {
    private let thread: pthread_t

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    init(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { body in
                if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(run)).toOpaque())
        self.thread = thread
    }

    func join() {
        pthread_join(thread, nil)
    }
}
