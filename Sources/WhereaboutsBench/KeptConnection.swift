import Glibc
import JSON

/// One connection to a service of this computer that is kept from request to request, as an app's URLSession keeps its own.
/// HTTP/1.1 and no more than a benchmark needs. Used by one thread.
final class KeptConnection {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let descriptor: Int32
    private var received: [UInt8] = []
    private var piece = [UInt8](repeating: 0, count: 16 << 10)

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure(description: "The service cannot be reached.") }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// The JSON of a good answer.
    func send(_ method: String, _ path: String, _ body: String = "", as token: String) throws -> JSONValue {
        var request = Array(
            """
            \(method) \(path) HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """.utf8)[...]
        while !request.isEmpty {
            let count = request.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                throw Failure(description: "\(method) \(path): \(String(cString: strerror(errno)))")
            }
            request = request.dropFirst(count)
        }
        received.removeAll(keepingCapacity: true)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { throw Failure(description: "\(method) \(path): no whole answer") }
            received.append(contentsOf: piece[..<count])
            guard let (status, body) = answer else { continue }
            guard (200..<300).contains(status) else {
                throw Failure(description: "\(method) \(path): \(status) \(String(decoding: body, as: UTF8.self))")
            }
            return try JSONDocument.parse(Array(body)).root
        }
    }

    /// Status and body, once they are there.
    private var answer: (status: Int, body: ArraySlice<UInt8>)? {
        let emptyLine = Array("\r\n\r\n".utf8)
        guard received.count >= 4,
            let end = (0...(received.count - 4)).first(where: { received[$0..<($0 + 4)].elementsEqual(emptyLine) })
        else { return nil }
        let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }.flatMap {
            Int($0.dropFirst(15).drop { $0 == " " })
        }
        guard let status = lines.first.flatMap({ Int($0.dropFirst(9).prefix(3)) }), let length,
            received.count == end + 4 + length
        else { return nil }
        return (status, received[(end + 4)...])
    }
}
