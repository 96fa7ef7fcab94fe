internal import Glibc
internal import JSON
package import LocationPush

/// A push as a simulated phone gets it.
package struct CourierPush: Sendable, Equatable {
    /// The push's UUID; the same one twice is the same push sent again.
    package let apnsID: String
    /// Bundle id with `.location-query`.
    package let topic: String
    /// 1, 5 or 10.
    package let priority: Int
    /// Seconds since 1970 UTC; nil when the sender left it out.
    package let expirationSeconds: Int64?
    /// The JSON object as sent.
    package let payload: [UInt8]
}

/// A simulated phone's line to the stand-in's courier port (``Courier`` describes the protocol).
///
/// Belongs to one thread; every call blocks for at most its time-out. A lost connection is made again by the next
/// call, which resumes the tokens registered so far.
package final class CourierClient {
    private let host: String
    private let port: UInt16
    private var connection: LineConnection?
    private var tokens: [String] = []
    private var waiting: [CourierPush] = []
    private var replies: [JSONValue] = []

    /// A client that is not connected yet.
    package init(host: String = "127.0.0.1", port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Registers for location pushes, as `startMonitoringLocationPushes(completion:)` does.
    ///
    /// - Returns: the device token, of no particular length.
    /// - Throws: ``TransportFault`` when the courier is not there, refuses or does not answer in time.
    package func register(
        bundleID: String, environment: PushEnvironment, timeoutMs: Int64 = 5_000
    ) throws(TransportFault) -> [UInt8] {
        let deadlineMs = now() + timeoutMs
        try connectIfNeeded(until: deadlineMs)
        let reply = try ask("register", until: deadlineMs) { wish in
            wish.field("bundleID", bundleID)
            wish.field("environment", environment.rawValue)
        }
        let token = reply["token"]?.string ?? ""
        tokens.append(token)
        return try Self.bytes(hex: token)
    }

    /// Attaches a token registered earlier, as after a restart of the phone.
    ///
    /// - Throws: ``TransportFault``, also when the token is not known any more.
    package func resume(token: [UInt8], timeoutMs: Int64 = 5_000) throws(TransportFault) {
        let deadlineMs = now() + timeoutMs
        try connectIfNeeded(until: deadlineMs)
        try resume(hex(token), until: deadlineMs)
        tokens.append(hex(token))
    }

    /// Ends all tokens of this client: pushes to them are answered 410.
    ///
    /// - Throws: ``TransportFault`` when the courier is not there or does not answer in time.
    package func unregister(timeoutMs: Int64 = 5_000) throws(TransportFault) {
        let deadlineMs = now() + timeoutMs
        try connectIfNeeded(until: deadlineMs)
        _ = try ask("unregister", until: deadlineMs) { _ in }
        tokens = []
    }

    /// The next push, or nil when none came in time. Connects again if the line was lost.
    ///
    /// - Throws: ``TransportFault`` when the courier cannot be reached in time.
    package func nextPush(timeoutMs: Int64) throws(TransportFault) -> CourierPush? {
        let deadlineMs = now() + timeoutMs
        while waiting.isEmpty {
            try connectIfNeeded(until: deadlineMs)
            // Resuming may have brought a stored push along.
            if waiting.isEmpty, !(try readSome(until: deadlineMs)) { return nil }
        }
        return waiting.removeFirst()
    }

    /// Closes the line; the tokens stay registered, and pushes to them are stored until they expire.
    package func disconnect() {
        connection?.close()
        connection = nil
    }

    private func connectIfNeeded(until deadlineMs: Int64) throws(TransportFault) {
        if let connection, !connection.isClosed { return }
        replies = []
        var fault = TransportFault("no time to connect")
        for address in try SocketAddress.resolve(host: host, port: port) {
            do throws(TransportFault) {
                let descriptor = try address.beginConnecting()
                let line = LineConnection(descriptor)
                guard wait(descriptor, Int16(POLLOUT), until: deadlineMs) else { continue }
                var code: Int32 = 0
                var length = socklen_t(MemoryLayout<Int32>.size)
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
                guard code == 0 else { throw TransportFault(call: "connect", code: code) }
                connection = line
                for token in tokens { try resume(token, until: deadlineMs) }
                return
            } catch {
                disconnect()
                fault = error
            }
        }
        throw fault
    }

    private func resume(_ token: String, until deadlineMs: Int64) throws(TransportFault) {
        _ = try ask("resume", until: deadlineMs) { $0.field("token", token) }
    }

    private func ask(
        _ verb: String, until deadlineMs: Int64, _ body: (inout JSONWriter) -> Void
    ) throws(TransportFault) -> JSONValue {
        var line = JSONWriter()
        line.beginObject()
        line.object(verb, body)
        line.endObject()
        connection?.write(line: line.bytes)
        while replies.isEmpty {
            guard try readSome(until: deadlineMs) else { throw TransportFault("the courier does not answer") }
            if connection == nil { throw TransportFault("the courier closed the line") }
        }
        let reply = replies.removeFirst()
        if let error = reply["error"]?.string { throw TransportFault("courier: \(error)") }
        return reply
    }

    /// Waits for bytes and sorts the lines into pushes and replies; false when the time is over.
    private func readSome(until deadlineMs: Int64) throws(TransportFault) -> Bool {
        guard let connection else { return now() < deadlineMs }
        guard wait(connection.descriptor, connection.pollEvents, until: deadlineMs) else { return false }
        connection.flush()
        for line in connection.readLines() {
            if let push = Self.push(line) {
                waiting.append(push)
            } else if let reply = try? JSONDocument.parse(line).root {
                replies.append(reply)
            } else {
                throw TransportFault("the courier does not speak JSON")
            }
        }
        if connection.isClosed { self.connection = nil }
        return true
    }

    /// Cuts the payload out of a line unchanged: `payload` is the last member of the object inside the object, and
    /// `,"payload":` cannot occur inside an earlier string, where its quotes would be escaped.
    private static func push(_ line: [UInt8]) -> CourierPush? {
        let key = Array(#","payload":"#.utf8)
        guard line.starts(with: Array(#"{"push":"#.utf8)), line.suffix(2).elementsEqual([0x7D, 0x7D]),
            let start = line.indices.first(where: { line[$0...].starts(with: key) }),
            let said = try? JSONDocument.parse(line[..<start] + [0x7D, 0x7D]).root["push"],
            let apnsID = said["apnsID"]?.string, let topic = said["topic"]?.string,
            let priority = said["priority"]?.int
        else { return nil }
        return CourierPush(
            apnsID: apnsID, topic: topic, priority: Int(priority), expirationSeconds: said["expiration"]?.int,
            payload: Array(line[(start + key.count)...].dropLast(2)))
    }

    private func wait(_ descriptor: Int32, _ events: Int16, until deadlineMs: Int64) -> Bool {
        var polled = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&polled, 1, Int32(clamping: max(0, deadlineMs - now()))) > 0
    }

    private func now() -> Int64 { PushClock.system.now().monotonicMs }

    private static func bytes(hex: String) throws(TransportFault) -> [UInt8] {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map { UInt8($0) } }
        guard !digits.isEmpty, digits.count % 2 == 0, digits.count == hex.utf8.count else {
            throw TransportFault("the courier gave no token")
        }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
