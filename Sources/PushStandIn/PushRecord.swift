internal import JSON

/// One push as the stand-in received it, and its answer. Contains only the end of the device token.
package struct PushRecord: Sendable, Equatable {
    /// Milliseconds since 1970 UTC.
    package let arrivedMs: Int64
    /// 1, 2, 3 … in the order of arrival of connections.
    package let connection: Int
    /// HTTP/2 stream of the request.
    package let stream: Int32
    /// As received; nil when it was left out.
    package let apnsID: String?
    /// The last 8 hexadecimal digits.
    package let deviceTokenEnd: String
    /// `apns-push-type` as received.
    package let pushType: String?
    /// `apns-topic` as received.
    package let topic: String?
    /// `apns-priority` as received.
    package let priority: String?
    /// `apns-expiration` as received.
    package let expiration: String?
    /// `apns-collapse-id` as received.
    package let collapseID: String?
    /// Bytes of the body, counted up to one above the allowed most.
    package let payloadBytes: Int
    /// Names of the fields that came as never-indexed HPACK literals, in order.
    package let neverIndexed: [String]
    /// Flaws that APNs accepts and a sender should correct, for example a missing field that APNs fills in.
    package let notes: [String]
    /// HTTP status of the answer; 0 when there was none.
    package let status: Int
    /// The reason given; nil with status 200 and 0.
    package let reason: String?

    /// The record as one JSON line, without the line's end.
    package var jsonLine: [UInt8] {
        var line = JSONWriter()
        line.beginObject()
        line.field("time", milliseconds: arrivedMs)
        line.field("connection", connection)
        line.field("stream", Int(stream))
        line.field("apnsID", apnsID)
        line.field("deviceTokenEnd", deviceTokenEnd)
        line.field("pushType", pushType)
        line.field("topic", topic)
        line.field("priority", priority)
        line.field("expiration", expiration)
        line.field("collapseID", collapseID)
        line.field("payloadBytes", payloadBytes)
        if !neverIndexed.isEmpty {
            line.array("neverIndexed") { list in for name in neverIndexed { list.value(name) } }
        }
        if !notes.isEmpty { line.array("notes") { list in for note in notes { list.value(note) } } }
        line.field("status", status)
        line.field("reason", reason)
        line.endObject()
        return line.bytes
    }
}
