import Foundation
import TestProcesses
import TestSupport
import Testing

/// Mosquitto on a free port of the loopback address, and a client that publishes to it in bytes of MQTT 3.1.1, so that
/// nothing of the service's side takes part.
final class RunningBroker {
    static let program = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"].first { path in
        FileManager.default.isExecutableFile(atPath: path)
    }

    private let reserved = (open: ReservedPort(), locked: ReservedPort())
    private let process = Process()
    private let folder = TemporaryFolder()

    var port: Int { reserved.open.number }
    /// Where the service comes in: with TLS and a password when there is a ``Lock``, otherwise ``port`` too.
    let servicePort: Int

    /// The broker's security: a certificate with its key, and a user's password.
    struct Lock {
        let certificateFile, keyFile: String
        let user, password: String
    }

    init(_ lock: Lock? = nil) throws {
        servicePort = (lock == nil ? reserved.open : reserved.locked).number
        // The broker stays root, because another user could not read files that only their owner may read.
        var lines = ["per_listener_settings true", "persistence false", "user root"]
        lines += ["listener \(port) 127.0.0.1", "allow_anonymous true"]
        if let lock {
            let passwords = folder.file("passwords")
            let hash = Process()
            hash.executableURL = URL(filePath: "/usr/bin/mosquitto_passwd")
            hash.arguments = ["-b", "-c", passwords, lock.user, lock.password]
            try hash.runBounded()
            hash.waitUntilExit()
            lines += ["listener \(servicePort) 127.0.0.1", "allow_anonymous false", "password_file \(passwords)"]
            lines += ["certfile \(lock.certificateFile)", "keyfile \(lock.keyFile)"]
        }
        let file = try folder.write(lines.joined(separator: "\n"), to: "broker.conf")
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments = ["-c", file]
        process.standardError = FileHandle.nullDevice
        try process.runBounded()
    }

    deinit {
        // It inherits a mask of blocked signals, by which it would never hear a polite one.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    struct Message {
        let topic: String
        let payload: String
        var isRetained = false
    }

    /// Publishes with quality of service 1; all are the broker's when this returns.
    func publish(_ messages: [Message]) throws {
        let descriptor = try session(of: "p")
        defer { close(descriptor) }
        for message in messages {
            let topic = Array(message.topic.utf8)
            let rest = [0, UInt8(topic.count)] + topic + [0, 1] + Array(message.payload.utf8)
            // The length, seven bits a byte, lowest first; two bytes reach here.
            let length = [UInt8(rest.count & 127) | 128, UInt8(rest.count >> 7)]
            try send([message.isRetained ? 0x33 : 0x32] + length + rest, descriptor)
            try expect([0x40, 2, 0, 1], descriptor)
        }
        try send([0xE0, 0], descriptor)
    }

    /// The messages to an app that subscribes to the topic, one per call; `nil` after half a minute without one.
    func subscription(to topic: String) throws -> () -> (topic: String, payload: String)? {
        let descriptor = try session(of: "s")
        let name = Array(topic.utf8)
        try send([0x82, UInt8(name.count + 5), 0, 1, 0, UInt8(name.count)] + name + [0], descriptor)
        try expect([0x90, 3, 0, 1, 0], descriptor)
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        return {
            var head = [UInt8](repeating: 0, count: 4)
            guard recv(descriptor, &head, 4, Int32(MSG_WAITALL)) == 4, head[0] & 0xF0 == 0x30 else { return nil }
            // A length below 128 is all these tests need.
            var rest = [UInt8](repeating: 0, count: Int(head[1]) - 2)
            guard recv(descriptor, &rest, rest.count, Int32(MSG_WAITALL)) == rest.count else { return nil }
            let length = Int(head[2]) << 8 | Int(head[3])
            return (
                String(decoding: rest.prefix(length), as: UTF8.self),
                String(decoding: rest.dropFirst(length), as: UTF8.self)
            )
        }
    }

    /// The retained messages of the broker, by topic.
    func retained() throws -> [String: String] {
        let descriptor = try session(of: "r")
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try send([0x82, 6, 0, 1, 0, 1, UInt8(ascii: "#"), 0], descriptor)
        try expect([0x90, 3, 0, 1, 0], descriptor)
        // This message comes after all messages that were retained at the subscription.
        let end = "end-of-retained"
        try send([0x30, UInt8(end.utf8.count + 2), 0, UInt8(end.utf8.count)] + Array(end.utf8), descriptor)
        var found: [String: String] = [:]
        func read(_ count: Int) throws -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            guard count > 0 else { return [] }
            try #require(recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count)
            return bytes
        }
        while true {
            let head = try read(1)[0]
            var (length, shift) = (0, 0)
            while true {
                let byte = try read(1)[0]
                length |= Int(byte & 127) << shift
                shift += 7
                if byte < 128 { break }
            }
            let rest = try read(length)
            guard head & 0xF0 == 0x30, head & 6 == 0 else { continue }
            let name = Int(rest[0]) << 8 | Int(rest[1])
            let topic = String(decoding: rest[2..<2 + name], as: UTF8.self)
            if topic == end { return found }
            if head & 1 == 1 { found[topic] = String(decoding: rest[(2 + name)...], as: UTF8.self) }
        }
    }

    /// A connection that the broker has accepted.
    private func session(of client: Unicode.Scalar) throws -> Int32 {
        let descriptor = try connection()
        try send([0x10, 13, 0, 4] + Array("MQTT".utf8) + [4, 2, 0, 60, 0, 1, UInt8(ascii: client)], descriptor)
        try expect([0x20, 2, 0, 0], descriptor)
        return descriptor
    }

    /// The broker needs a moment until it listens.
    private func connection() throws -> Int32 {
        for _ in 0..<500 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            if Loopback.connect(descriptor, port: port) { return descriptor }
            close(descriptor)
            poll(nil, 0, 10)
        }
        throw Failure()
    }

    struct Failure: Error {}

    private func send(_ bytes: [UInt8], _ descriptor: Int32) throws {
        try #require(Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    private func expect(_ bytes: [UInt8], _ descriptor: Int32) throws {
        var received = [UInt8](repeating: 0, count: bytes.count)
        try #require(recv(descriptor, &received, received.count, Int32(MSG_WAITALL)) == bytes.count)
        #expect(received == bytes)
    }
}
