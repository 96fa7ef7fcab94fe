internal import Glibc

/// A connection to the service: HTTP/1.1 over TCP without TLS, one TCP connection for each message. Any thread may use
/// it.
///
/// It is for code that asks and manages beside the phones and may block. The app on a phone uses URLSession instead,
/// which calls back later.
package struct ServiceConnection: Sendable {
    /// How long the service may be silent.
    private static let patienceSeconds = 10
    /// The answers that are asked for here are far shorter.
    private static let answerBytesMax = 64 << 10

    private let address: HostAndPort

    /// - Parameter service: `http://HOST:PORT`.
    /// - Throws: ``ScenarioError`` when it has another form.
    package init(service: String) throws(ScenarioError) {
        let base = service.hasSuffix("/") ? service.dropLast() : service[...]
        guard base.hasPrefix("http://"), let address = HostAndPort(String(base.dropFirst(7))), address.port > 0 else {
            throw ScenarioError("service must be an address like http://127.0.0.1:8080.")
        }
        self.address = address
    }

    /// Sends a message and blocks until there is an answer, or nothing has come for ten seconds.
    package func send(_ message: ServiceRequest) -> ServiceReply {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(address.host, "\(address.port)", &hints, &found)
        guard status == 0 else { return .nothing(reason: String(cString: gai_strerror(status))) }
        defer { freeaddrinfo(found) }
        var reply = ServiceReply.nothing(reason: "The name has no address.")
        var next = found
        while let candidate = next?.pointee {
            let descriptor = socket(
                candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), candidate.ai_protocol)
            guard descriptor >= 0 else { return Self.failed() }
            defer { close(descriptor) }
            var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
            if connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 {
                return exchange(message, over: descriptor)
            }
            reply = Self.failed()
            next = candidate.ai_next
        }
        return reply
    }

    private func exchange(_ message: ServiceRequest, over descriptor: Int32) -> ServiceReply {
        let head = """
            \(message.method) \(message.path) HTTP/1.1\r
            Host: \(address)\r
            Connection: close\r
            Authorization: Bearer \(message.bearer)\r
            Content-Type: application/json\r
            Content-Length: \(message.body.count)\r
            \r

            """
        var rest = (Array(head.utf8) + message.body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return Self.failed() }
            rest = rest.dropFirst(count)
        }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while answer.count <= Self.answerBytesMax {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count >= 0 else { return Self.failed() }
            if count == 0 {
                return Self.reply(from: answer) ?? .nothing(reason: "The answer is not a whole one of HTTP/1.1.")
            }
            answer.append(contentsOf: piece[..<count])
        }
        return .nothing(reason: "The answer is too long.")
    }

    /// The status and the body, if both came whole; the length must be said.
    static func reply(from bytes: [UInt8]) -> ServiceReply? {
        let emptyLine = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: emptyLine) }) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3))
        else { return nil }
        let body = Array(bytes[(end + emptyLine.count)...])
        let lengths = lines.dropFirst().filter { $0.lowercased().hasPrefix("content-length:") }
            .map { Int($0.dropFirst(15).filter { $0 != " " }) }
        guard lengths == [body.count] else { return nil }
        return .answer(status: status, body: body)
    }

    private static func failed() -> ServiceReply { .nothing(reason: String(cString: strerror(errno))) }
}
