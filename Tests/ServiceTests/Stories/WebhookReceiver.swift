import Glibc
import JSON
import TestSupport
import Testing
import Threading

@testable import Service

/// A webhook receiver on a free loopback port: real sockets, and no code of the sender.
final class WebhookReceiver: Sendable {
    struct Received: Sendable {
        let path: String
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]

        var id: String { headers["webhook-id"] ?? "" }
        var json: JSONValue? { try? JSONDocument.parse(body).root }
        var type: String { json?["type"]?.string ?? "" }
        /// The event's number in the form that the person sees.
        var number: JSONValue? { json?["data"]?["number"] }
    }

    enum Reply: Sendable {
        case status(Int, headers: [String] = [])
        case text(Int, type: String, String)
        /// A good head, and less of a body than it says.
        case cut
        /// A good head, and a body without end.
        case endless
        /// Nothing, as long as the other side holds the connection.
        case silence
    }

    let port: Int
    private let listener: Int32
    private let state = Monitor(State())
    private let reply: @Sendable (Received, _ index: Int) -> Reply

    private struct State {
        var received: [Received] = []
        var threads: [WorkerThread] = []
        var connections: Set<Int32> = []
        var isOver = false
    }

    /// - Parameter reply: called with each request and how many came before it.
    init(_ reply: @escaping @Sendable (Received, _ index: Int) -> Reply = { _, _ in .status(204) }) throws {
        self.reply = reply
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try #require(Loopback.bind(listener))
        try #require(listen(listener, 64) == 0)
        let thread = WorkerThread { [listener, monitor = state, reply] in
            while true {
                let connection = accept(listener, nil, nil)
                let isOver = monitor.read { $0.isOver }
                if connection < 0 || isOver { return }
                monitor.change { state in
                    state.connections.insert(connection)
                    state.threads.append(WorkerThread { Self.serve(connection, monitor, reply) })
                }
            }
        }
        state.change { $0.threads.append(thread) }
    }

    deinit {
        let (threads, connections) = state.change { state in
            state.isOver = true
            return (state.threads, state.connections)
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
        for thread in threads { thread.join() }
        close(listener)
    }

    var url: String { "http://localhost:\(port)" }
    var received: [Received] { state.read { $0.received } }

    /// Waits for messages that are as wanted.
    func until(
        _ sourceLocation: SourceLocation = #_sourceLocation, _ isGood: @escaping ([Received]) -> Bool
    ) -> [Received] {
        let found = state.wait(milliseconds: patienceMilliseconds) { isGood($0.received) ? $0.received : nil }
        if found == nil {
            Issue.record("Came: \(received.map { "\($0.type) \($0.id)" })", sourceLocation: sourceLocation)
        }
        return found ?? received
    }

    private static func serve(
        _ connection: Int32, _ state: Monitor<State>, _ reply: @Sendable (Received, Int) -> Reply
    ) {
        defer {
            _ = state.change { $0.connections.remove(connection) }
            close(connection)
        }
        var rest: [UInt8] = []
        while let request = request(connection, &rest) {
            let index = state.read { $0.received.count }
            let reply = reply(request, index)
            state.change { $0.received.append(request) }
            func send(_ text: String) -> Bool {
                let bytes = Array(text.utf8)
                return Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
            }
            switch reply {
            case .status(let status, let headers):
                let lines = ["HTTP/1.1 \(status) As told", "Content-Length: 0"] + headers
                _ = send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            case .text(let status, let type, let text):
                _ = send(
                    "HTTP/1.1 \(status) As told\r\nContent-Length: \(text.utf8.count)\r\nContent-Type: \(type)\r\n\r\n"
                        + text)
            case .cut:
                _ = send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all")
                return
            case .endless:
                _ = send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
                while send(String(repeating: "x", count: 10_000)) {}
                return
            case .silence:
                var byte: UInt8 = 0
                _ = recv(connection, &byte, 1, 0)
                return
            }
        }
    }

    private static func request(_ connection: Int32, _ rest: inout [UInt8]) -> Received? {
        let emptyLine = Array("\r\n\r\n".utf8)
        var piece = [UInt8](repeating: 0, count: 65_536)
        func more() -> Bool {
            let count = recv(connection, &piece, piece.count, 0)
            if count > 0 { rest += piece[..<count] }
            return count > 0
        }
        var end: Int?
        while true {
            end = rest.indices.first { rest[$0...].starts(with: emptyLine) }
            if end != nil { break }
            guard more() else { return nil }
        }
        guard let end else { return nil }
        let lines = String(decoding: rest[..<end], as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while rest.count < end + 4 + length { guard more() else { return nil } }
        let body = Array(rest[(end + 4)..<(end + 4 + length)])
        rest.removeFirst(end + 4 + length)
        return Received(path: String(lines[0].split(separator: " ")[1]), headers: headers, body: body)
    }
}
