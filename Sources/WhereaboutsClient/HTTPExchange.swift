import Glibc
package import HTTPServer

/// A host and a port, as the service writes them into its lock file.
package struct SocketAddress: Equatable, Sendable {
    package let host: String
    package let port: String

    /// Reads `HOST:PORT`, `[IPV6]:PORT` and `http://HOST:PORT`.
    package init?(_ text: String) {
        let bare = text.hasPrefix("http://") ? text.dropFirst(7) : text[...]
        let authority = bare.hasSuffix("/") ? bare.dropLast() : bare
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        var host = authority[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let port = authority[authority.index(after: colon)...]
        guard !host.isEmpty, let number = UInt16(port), number > 0 else { return nil }
        (self.host, self.port) = (String(host), String(port))
    }

    /// Port 0 lets the system choose; one cannot be reached by it.
    package init(host: some StringProtocol, port: UInt16) {
        (self.host, self.port) = (String(host), String(port))
    }

    package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// One request to the service that runs on this computer, and its answer: HTTP/1.1 over a connection of its own.
///
/// Just what the service on the other side needs: it sends `Content-Length` with every answer and speaks no TLS itself.
package struct HTTPExchange {
    let address: SocketAddress

    package init(address: SocketAddress) { self.address = address }

    /// Comparing all projections of a large log is the longest that an answer may take.
    private static let waitSeconds = 1800
    private static let headBytesMax = 64 << 10
    /// More than the largest page.
    private static let bodyBytesMax = 256 << 20

    /// - Throws: ``ClientError/service(_:)`` when the service cannot be reached, or what answers is none.
    package func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse {
        let descriptor = try connected()
        defer { close(descriptor) }
        try send(Self.bytes(of: request, host: address.text), to: descriptor)
        return try receive(from: descriptor)
    }

    static func bytes(of request: HTTPRequest, host: String) -> [UInt8] {
        var target = request.path.split(separator: "/").map { "/" + percentEncoded(String($0)) }.joined()
        if target.isEmpty { target = "/" }
        if !request.query.isEmpty {
            target +=
                "?"
                + request.query.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }
                .joined(separator: "&")
        }
        var head = "\(request.method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
        for (name, value) in request.headers { head += "\(name): \(value)\r\n" }
        if !request.body.isEmpty || request.method != "GET" { head += "Content-Length: \(request.body.count)\r\n" }
        return Array((head + "\r\n").utf8) + request.body
    }

    private func connected() throws(ClientError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(address.host, address.port, &hints, &found)
        guard status == 0 else {
            throw .service(
                "The service's address \(address.text) is unknown: \(String(cString: gai_strerror(status))).")
        }
        defer { freeaddrinfo(found) }
        var next = found
        while let candidate = next?.pointee {
            let descriptor = socket(
                candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), candidate.ai_protocol)
            guard descriptor >= 0 else { break }
            var patience = timeval(tv_sec: Self.waitSeconds, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
            if connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 { return descriptor }
            let error = errno
            close(descriptor)
            errno = error
            next = candidate.ai_next
        }
        throw .service("The service at \(address.text) cannot be reached: \(systemError()).")
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                // Without the flag a service that has gone would end this process by a signal.
                Glibc.send(descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            // A service that refuses a long body early has answered already: the answer says more than the error.
            if count < 0 && (errno == EPIPE || errno == ECONNRESET) { return }
            guard count > 0 else { throw broken(systemError()) }
            sent += count
        }
    }

    private func receive(from descriptor: Int32) throws(ClientError) -> HTTPResponse {
        var bytes: [UInt8] = []
        var wanted: (head: ResponseHead, end: Int)?
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if wanted == nil, let head = try parsedHead(of: bytes) { wanted = head }
            if let wanted, bytes.count >= wanted.end {
                let body = Array(bytes[wanted.head.byteCount..<wanted.end])
                return HTTPResponse(status: wanted.head.status, headers: wanted.head.headers, body: body)
            }
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw broken(systemError()) }
            guard count > 0 else { throw broken("the connection ended before the answer did") }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    private func parsedHead(of bytes: [UInt8]) throws(ClientError) -> (head: ResponseHead, end: Int)? {
        guard let byteCount = ResponseHead.byteCount(of: bytes) else {
            guard bytes.count <= Self.headBytesMax else { throw broken("its header is too long") }
            return nil
        }
        guard let head = ResponseHead(bytes[..<byteCount]), head.bodyByteCount <= Self.bodyBytesMax else {
            throw broken("what answers there is not this service")
        }
        return (head, byteCount + head.bodyByteCount)
    }

    private func broken(_ reason: String) -> ClientError {
        .service("The exchange with the service at \(address.text) broke off: \(reason).")
    }
}

/// The first lines of an answer.
struct ResponseHead {
    let status: Int
    let headers: [(name: String, value: String)]
    /// Including the empty line.
    let byteCount: Int
    /// 0 for the answers that have no body.
    let bodyByteCount: Int

    /// Where the head ends, if all of it is there.
    static func byteCount(of bytes: [UInt8]) -> Int? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { bytes[$0..<$0 + 4].elementsEqual(end) }.map { $0 + 4 }
    }

    /// - Returns: `nil` for what is no head of HTTP/1.1, or one that does not say how long the body is.
    init?(_ bytes: ArraySlice<UInt8>) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1."), let status = Int(first.dropFirst(9).prefix(3)),
            (200...599).contains(status)
        else { return nil }
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append((line[..<colon].lowercased(), String(value)))
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) }
        let hasBody = status != 204 && status != 304
        guard !hasBody || (length ?? -1) >= 0 else { return nil }
        (self.status, self.headers, byteCount) = (status, headers, bytes.count)
        bodyByteCount = hasBody ? length ?? 0 : 0
    }
}

/// Everything but the unreserved characters of RFC 3986 as escapes.
package func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            encoded += digits.count == 1 ? "%0" + digits : "%" + digits
        }
    }
    return encoded
}

/// What the system says about the call that failed last.
private func systemError() -> String { String(cString: strerror(errno)) }
