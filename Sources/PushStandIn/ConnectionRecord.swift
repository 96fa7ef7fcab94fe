internal import JSON

/// An event on a connection, other than a push, that the stand-in saw.
package struct ConnectionRecord: Sendable, Equatable {
    /// The kind of event.
    package enum What: Sendable, Equatable {
        case opened
        /// The sender reset a stream, with an error code of RFC 9113 section 7.
        case reset(stream: Int32, errorCode: UInt32)
        /// The connection is gone, and why.
        case closed(String)
    }

    /// Milliseconds since 1970 UTC.
    package let atMs: Int64
    /// 1, 2, 3 … in the order of arrival of connections.
    package let connection: Int
    /// The kind of event.
    package let what: What

    /// The record as one JSON line, without the line's end:
    /// `{"time":…,"connection":1,"event":"reset","stream":3,"errorCode":8}`.
    package var jsonLine: [UInt8] {
        var line = JSONWriter()
        line.beginObject()
        line.field("time", milliseconds: atMs)
        line.field("connection", connection)
        switch what {
        case .opened:
            line.field("event", "opened")
        case .reset(let stream, let errorCode):
            line.field("event", "reset")
            line.field("stream", Int(stream))
            line.field("errorCode", Int(errorCode))
        case .closed(let why):
            line.field("event", "closed")
            line.field("why", why)
        }
        line.endObject()
        return line.bytes
    }
}
