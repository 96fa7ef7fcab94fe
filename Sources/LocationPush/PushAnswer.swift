internal import JSON

/// APNs' answer to one request.
struct PushAnswer: Equatable {
    let status: Int
    let apnsID: String?
    let uniqueID: String?
    /// Nil for status 200.
    let rejection: PushRejection?
    /// `Retry-After` in seconds, at most a day.
    let retryAfterSeconds: Int64?
}

/// Gathers the parts of one response.
struct PushAnswerParts {
    /// Error bodies have under 100 bytes; of a longer one nothing is understood.
    private static let bodyBytesMax = 4096

    private(set) var status = 0
    private var apnsID: String?
    private var uniqueID: String?
    private var retryAfter: RetryAfter?
    private var body: [UInt8] = []

    mutating func take(header name: String, _ value: String) {
        switch name {
        case ":status": status = Int(value) ?? 0
        case "apns-id": apnsID = value
        case "apns-unique-id": uniqueID = value
        case "retry-after": retryAfter = RetryAfter(value)
        default: break
        }
    }

    mutating func take(body bytes: UnsafeRawBufferPointer) {
        body.append(contentsOf: bytes.prefix(Self.bodyBytesMax + 1 - body.count))
    }

    /// - Parameter unixMs: when it came.
    func answer(atUnixMs unixMs: Int64) -> PushAnswer {
        PushAnswer(
            status: status, apnsID: apnsID, uniqueID: uniqueID,
            rejection: status == 200 ? nil : rejection, retryAfterSeconds: retryAfter?.seconds(atUnixMs: unixMs))
    }

    /// `{"reason":"Unregistered","timestamp":1732147200123}`; anything else is an unnamed reason.
    private var rejection: PushRejection {
        let said = try? JSONDocument.parse(body.count > Self.bodyBytesMax ? [] : body).root
        return PushRejection(
            status: status, reason: PushReason(said?["reason"]?.string ?? ""), timestampMs: said?["timestamp"]?.int)
    }
}
