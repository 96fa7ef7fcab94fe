internal import JSON
internal import LocationPush

/// A request as it arrived, complete.
struct ArrivedRequest {
    var fields: [(name: String, value: String, neverIndexed: Bool)] = []
    /// The body, cut one byte after the longest that is allowed.
    var body: [UInt8] = []

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        body.append(contentsOf: bytes.prefix(LocationPushRequest.payloadBytesMax + 1 - body.count))
    }

    func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

/// A push that keeps all the rules.
struct CheckedPush {
    let token: String
    let topic: String
    let priority: Int
    /// Nil: left out, so APNs stores the push by its own policy.
    let expirationSeconds: Int64?
    let payload: [UInt8]
}

/// A refusal in APNs' words.
struct PushRefusal: Error, Equatable {
    let status: Int
    let reason: String
    var timestampMs: Int64?
}

/// APNs' rules for `location` pushes (Apple: "Sending notification requests to APNs", "Creating a location push
/// service extension"), all of them checked, in the order of the fields.
struct PushRules {
    /// The APNs service that is played.
    let environment: PushEnvironment
    /// Bundle ids the key may push to; nil for any.
    let bundleIDs: Set<String>?
    private static let suffix = ".location-query"
    private static let collapseBytesMax = 64

    func check(
        _ request: ArrivedRequest, phones: PhoneRegistry, provider: (_ authorization: String?) -> PushRefusal?
    ) throws(PushRefusal) -> CheckedPush {
        guard request.first(":method") == "POST" else { throw PushRefusal(status: 405, reason: "MethodNotAllowed") }
        let token = try deviceToken(path: request.first(":path") ?? "")
        var names: Set<String> = []
        for field in request.fields where !names.insert(field.name).inserted {
            throw bad("DuplicateHeaders")
        }
        if let refusal = provider(request.first("authorization")) { throw refusal }
        if let type = request.first("apns-push-type"), type != "location" { throw bad("InvalidPushType") }
        let topic = try topic(request.first("apns-topic"))
        let priority = try priority(request.first("apns-priority"))
        let expiration = try expiration(request.first("apns-expiration"))
        if let id = request.first("apns-id"), !Self.isCanonicalUUID(id) { throw bad("BadMessageId") }
        if let collapseID = request.first("apns-collapse-id") {
            guard (1...Self.collapseBytesMax).contains(collapseID.utf8.count) else { throw bad("BadCollapseId") }
        }
        try checkPayload(request.body)
        guard let phone = phones[token], phone.environment == environment else { throw bad("BadDeviceToken") }
        guard phone.bundleID + Self.suffix == topic else { throw bad("DeviceTokenNotForTopic") }
        if let goneMs = phone.unregisteredAtMs {
            throw PushRefusal(status: 410, reason: "Unregistered", timestampMs: goneMs)
        }
        return CheckedPush(
            token: token, topic: topic, priority: priority, expirationSeconds: expiration, payload: request.body)
    }

    /// The flaws of an acceptable request.
    static func notes(on request: ArrivedRequest) -> [String] {
        var notes: [String] = []
        if request.first("apns-push-type") == nil { notes.append("apns-push-type is missing, taken as location") }
        if request.first("apns-priority") == nil { notes.append("apns-priority is missing, taken as 10") }
        if request.first("apns-expiration") == nil { notes.append("apns-expiration is missing: stored for 30 days") }
        if request.first("apns-id") == nil { notes.append("apns-id is missing: a repeated push cannot be told") }
        if request.first("content-encoding") != nil { notes.append("content-encoding: APNs does not decompress") }
        let secrets = request.fields.filter { [":path", "authorization"].contains($0.name) }
        if secrets.contains(where: { !$0.neverIndexed }) {
            notes.append(":path and authorization belong into never-indexed fields")
        }
        return notes
    }

    private func deviceToken(path: String) throws(PushRefusal) -> String {
        let prefix = "/3/device/"
        guard path.hasPrefix(prefix) else { throw PushRefusal(status: 404, reason: "BadPath") }
        let token = path.dropFirst(prefix.count)
        guard !token.isEmpty else { throw bad("MissingDeviceToken") }
        guard !token.contains("/") else { throw PushRefusal(status: 404, reason: "BadPath") }
        guard token.utf8.count % 2 == 0, token.utf8.allSatisfy(Self.isLowerHex) else { throw bad("BadDeviceToken") }
        return String(token)
    }

    private func topic(_ topic: String?) throws(PushRefusal) -> String {
        guard let topic, !topic.isEmpty else { throw bad("MissingTopic") }
        guard topic.hasSuffix(Self.suffix), topic.utf8.count > Self.suffix.utf8.count else { throw bad("BadTopic") }
        if let bundleIDs, !bundleIDs.contains(String(topic.dropLast(Self.suffix.count))) {
            throw bad("TopicDisallowed")
        }
        return topic
    }

    private func priority(_ text: String?) throws(PushRefusal) -> Int {
        switch text {
        case nil, "10": return 10
        case "5": return 5
        case "1": return 1
        default: throw bad("BadPriority")
        }
    }

    private func expiration(_ text: String?) throws(PushRefusal) -> Int64? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text) else {
            throw bad("BadExpirationDate")
        }
        return seconds
    }

    private func checkPayload(_ body: [UInt8]) throws(PushRefusal) {
        guard !body.isEmpty else { throw bad("PayloadEmpty") }
        guard body.count <= LocationPushRequest.payloadBytesMax else {
            throw PushRefusal(status: 413, reason: "PayloadTooLarge")
        }
        // Apple documents no word for a body that is no JSON object; this one is ours.
        guard let root = try? JSONDocument.parse(body).root, root.members != nil else {
            throw bad("PayloadNotAnObject")
        }
    }

    private func bad(_ reason: String) -> PushRefusal { PushRefusal(status: 400, reason: reason) }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isCanonicalUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy(isLowerHex) }
    }
}
