import Glibc
import TestSupport
import Testing

/// The other end of a subscription, played by hand: bytes of MQTT 3.1.1 (OASIS 2014) on a port of the loopback address.
final class ScriptedBroker: Sendable {
    private let listener: Int32
    let port: Int

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try #require(Loopback.bind(listener))
        try #require(listen(listener, 4) == 0)
        self.listener = listener
    }

    deinit { close(listener) }

    /// Waits until the client has connected and subscribed, and acknowledges both.
    func session() throws -> Session {
        let session = Session(descriptor: accept(listener, nil, nil))
        try session.expect(type: 1)
        session.send([0x20, 2, 0, 0])
        let subscription = try session.expect(type: 8)
        session.send([0x90, 3, subscription[0], subscription[1], 1])
        return session
    }

    final class Session: Sendable {
        let descriptor: Int32

        init(descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

        /// Quality of service 1.
        func publish(_ topic: String, _ payload: String, identifier: UInt8, retained: Bool = false) {
            let rest = [0, UInt8(topic.utf8.count)] + Array(topic.utf8) + [0, identifier] + Array(payload.utf8)
            send([retained ? 0x33 : 0x32, UInt8(rest.count)] + rest)
        }

        /// The next packet of the client, which must be of this type; its bytes after the length.
        @discardableResult
        func expect(type: UInt8) throws -> [UInt8] {
            let next = try #require(packet(), "The client has gone.")
            #expect(next.type == type)
            return next.rest
        }

        /// `nil` when the client has gone. All packets here are short: one byte has their length.
        func packet() -> (type: UInt8, rest: [UInt8])? {
            guard let head = read(2), let rest = read(Int(head[1])) else { return nil }
            return (head[0] >> 4, rest)
        }

        private func read(_ count: Int) -> [UInt8]? {
            var bytes: [UInt8] = []
            while bytes.count < count {
                var byte: UInt8 = 0
                guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
                bytes.append(byte)
            }
            return bytes
        }
    }
}
