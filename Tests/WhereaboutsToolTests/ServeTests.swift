import Foundation
import Glibc
import JSON
import Service
import TestProcesses
import TestSupport
import Testing

@testable import Log

/// The built tool as a service manager runs it: its notifications and its end.
@Suite struct ServeTests {
    @Test func `a service manager is told of readiness, of life and of the end`() throws {
        let temporary = TemporaryFolder()
        let folder = temporary.path
        let manager = try Datagrams(path: folder + "/notify")
        let service = tool(
            ["--data", folder + "/data", "serve", "--listen", "127.0.0.1:0"],
            environment: ["NOTIFY_SOCKET": folder + "/notify", "WATCHDOG_USEC": "100000"])
        try service.runBounded()
        #expect(manager.next() == "READY=1")
        #expect(manager.next() == "WATCHDOG=1")
        #expect(manager.next() == "WATCHDOG=1")
        service.terminate()
        var last = manager.next()
        while last == "WATCHDOG=1" { last = manager.next() }
        #expect(last == "STOPPING=1")
        service.waitUntilExit()
        #expect(service.terminationReason == .exit && service.terminationStatus == 0)
    }

    /// The connections wait up to 30 s; the service must end long before that.
    @Test func `a stopping service ends every kind of connection`() throws {
        let temporary = TemporaryFolder()
        let data = temporary.path + "/data"
        let manager = try Datagrams(path: temporary.path + "/notify")
        let service = tool(
            ["--data", data, "serve", "--listen", "127.0.0.1:0"],
            environment: ["NOTIFY_SOCKET": temporary.path + "/notify"])
        try service.runBounded()
        defer { service.terminate() }
        #expect(manager.next() == "READY=1")
        let address = try #require(DataDirectory.running(in: data)?.address)
        let port = try #require(Int(address.drop { $0 != ":" }.dropFirst()))
        let token = try String(contentsOfFile: data + "/admin.token", encoding: .utf8).filter { !$0.isWhitespace }
        func ask(_ method: String, _ target: String, _ body: String = "", as token: String) throws -> JSONValue {
            let wire = try Wire(port: port)
            wire.send(method, target, as: token, body)
            let answer = wire.answer()
            try #require(answer.hasPrefix("HTTP/1.1 20"), "\(method) \(target): \(answer)")
            let content = answer.range(of: "\r\n\r\n").map { answer[$0.upperBound...] } ?? ""
            return try JSONDocument.parse(Array(content.utf8)).root
        }
        var tokens: [String: String] = [:]
        for person in ["anna", "bert"] {
            _ = try ask("POST", "/v1/people", #"{"handle":"\#(person)"}"#, as: token)
            let made = try ask("POST", "/v1/people/\(person)/tokens", #"{"scopes":["query","audit"]}"#, as: token)
            tokens[person] = try #require(made["token"]?.string)
        }
        let (anna, bert) = (try #require(tokens["anna"]), try #require(tokens["bert"]))
        _ = try ask("POST", "/v1/people/anna/devices", #"{"handle":"phone"}"#, as: token)
        _ = try ask("POST", "/v1/people/anna/grants", #"{"requester":"bert","precision":"exact"}"#, as: token)
        let query = try #require(
            try ask("POST", "/v1/people/anna/location-queries", #"{"purpose":"dinner"}"#, as: bert)["id"]?.string)

        let poll = try Wire(port: port)
        poll.send("GET", "/v1/location-queries/\(query)?wait=30", as: bert)
        // One holds its thread, and the next finds no room: neither may hold up the end.
        let followers = try (0..<2).map { _ in try Wire(port: port) }
        for follower in followers { follower.send("GET", "/v1/events?after=1000000&wait=30", as: token) }
        let live = try Wire(port: port)
        live.send("GET", "/v1/live", as: anna)
        #expect(live.next().contains("text/event-stream"))
        let idle = try Wire(port: port)
        idle.send("GET", "/healthz", as: nil)
        #expect(idle.next().contains("200 OK"))
        let halfHead = try Wire(port: port)
        halfHead.send("POST /v1/fixes HTTP/1.1\r\nHost: h\r\nContent-Le")
        let halfBody = try Wire(port: port)
        halfBody.send("POST /v1/fixes HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{")
        let slow = try Wire(port: port, receiving: 4096)
        slow.send("GET", "/openapi.json", as: nil)
        // The earlier requests have arrived once a later one on another connection is answered.
        _ = try ask("GET", "/v1/people", as: token)

        service.terminate()
        let pending = poll.answer()
        #expect(pending.hasPrefix("HTTP/1.1 200") && pending.contains(#""status":"pending""#), "\(pending)")
        for follower in followers { #expect(follower.answer().hasPrefix("HTTP/1.1 200")) }
        // The last chunk; earlier ones may have been read with the head.
        #expect(live.answer().hasSuffix("0\r\n\r\n"))
        #expect(idle.answer().isEmpty)
        for half in [halfHead, halfBody] { #expect(half.answer().hasPrefix("HTTP/1.1 503")) }
        service.waitUntilExit()
        #expect(service.terminationReason == .exit && service.terminationStatus == 0)
        withExtendedLifetime(slow) {}
    }
}

/// The built tool, not yet running.
private func tool(_ arguments: [String], environment: [String: String]) -> Process {
    let process = Process()
    process.executableURL = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "whereabouts")
    if !FileManager.default.fileExists(atPath: process.executableURL?.path ?? "") {
        process.executableURL = Bundle.main.bundleURL.appending(path: "whereabouts")
    }
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.environment?["WATCHDOG_PID"] = nil
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
}

/// A connection that sends the given bytes and waits at most 20 s for an answer.
private final class Wire {
    private let descriptor: Int32

    /// - Parameter receiving: bytes that may wait unread.
    init(port: Int, receiving: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiving {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        try #require(Loopback.connect(descriptor, port: port))
    }

    deinit { close(descriptor) }

    func send(_ method: String, _ target: String, as token: String?, _ body: String = "") {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let fields = "Host: h\r\n\(authorization)Content-Length: \(body.utf8.count)"
        send("\(method) \(target) HTTP/1.1\r\n\(fields)\r\n\r\n\(body)")
    }

    func send(_ text: String) { _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }

    /// The next bytes.
    func next() -> String {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        return String(decoding: piece[..<max(0, count)], as: UTF8.self)
    }

    /// The bytes until the content is complete or the connection ends.
    func answer() -> String {
        var text = ""
        while case let piece = next(), !piece.isEmpty {
            text += piece
            let parts = text.components(separatedBy: "\r\n\r\n")
            guard parts.count > 1, let field = parts[0].lowercased().range(of: "content-length: ") else { continue }
            let length = Int(parts[0][field.upperBound...].prefix { $0.isNumber }) ?? 0
            if parts.dropFirst().joined(separator: "\r\n\r\n").utf8.count >= length { break }
        }
        return text
    }
}

/// A socket that takes datagrams, as systemd's does.
private final class Datagrams {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        // Far longer than a start takes: a test that waits forever reports nothing.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next one, waiting for it; empty when none comes.
    func next() -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }
}
