import HTTPServer

/// An open stream of data about a person. It takes ``Disclosed`` values, so each part is on record before it leaves, and
/// of other bytes only the comment that keeps an idle connection open.
package struct DisclosingStream: Sendable {
    /// The connection. Only this module writes to it.
    let connection: HTTPStream

    /// The comment that an idle stream sends each `Limits.liveHeartbeatSeconds`.
    private static let heartbeat = Array(": \n\n".utf8)

    /// - Parameter bytesMax: The most bytes that may wait for a slow client; the stream ends when there are more.
    package init(bytesMax: Int) { connection = HTTPStream(bytesMax: bytesMax) }

    /// Whether the client is gone, or the stream has ended.
    package var isOver: Bool { connection.isOver }

    /// Sends a part.
    package func write(_ part: consuming Disclosed) { connection.write(part.leave().body) }

    /// Sends a comment, which clients ignore.
    package func writeHeartbeat() { connection.write(Self.heartbeat) }

    /// Ends the stream once everything written so far has been sent.
    package func finish() { connection.finish() }
}
