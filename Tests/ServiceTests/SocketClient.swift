import Glibc
import TestSupport
import Testing

/// An independent HTTP/1.1 client: one connection for each request, and no code of the service.
struct SocketClient: Sendable {
    let port: Int

    @discardableResult
    func send(
        _ method: String, _ target: String, as token: String?, _ body: String = "",
        headers: [(String, String)] = []
    ) throws -> Answer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Loopback.connect(descriptor, port: port))
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        lines += headers.map { "\($0.0): \($0.1)" }
        lines.append("Content-Length: \(body.utf8.count)")
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        try #require(Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(descriptor, &piece, piece.count, 0), count > 0 {
            received.append(contentsOf: piece[..<count])
        }
        return try Self.answer(from: received)
    }

    private static func answer(from bytes: [UInt8]) throws -> Answer {
        let emptyLine = Array("\r\n\r\n".utf8)
        let end = try #require(bytes.indices.first { bytes[$0...].starts(with: emptyLine) })
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let status = try #require(lines.first.flatMap { Int($0.dropFirst(9).prefix(3)) })
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (
                name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
            )
        }
        return Answer(status: status, headers: fields, body: Array(bytes[(end + emptyLine.count)...]))
    }
}
