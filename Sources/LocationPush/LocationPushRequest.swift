/// The two APNs services. A device token belongs to one of them.
package enum PushEnvironment: String, Sendable, Equatable {
    case development, production

    /// Apple's host for the service; port 443 or 2197.
    package var host: String {
        switch self {
        case .development: "api.sandbox.push.apple.com"
        case .production: "api.push.apple.com"
        }
    }
}

/// Why a push could not be written down. These are bugs of the caller or bad configuration.
package enum PushRequestError: Error, Equatable, Sendable {
    /// A device token has at least one byte and, as this module's bound, at most 512.
    case deviceTokenLength(Int)
    /// A bundle id is letters, digits, `-` and `.`, 1 to 155 of them.
    case bundleID
    /// An `apns-id` is a UUID in lower case, 8-4-4-4-12.
    case apnsID
    /// A collapse id has 1 to 64 bytes of printable ASCII.
    case collapseID
    /// A payload has 1 to 4096 bytes.
    case payloadLength(Int)
    /// The expiration is 0 or a time after 1970.
    case expiration
}

/// One push that wakes a location push service extension (Apple: "Creating a location push service extension").
package struct LocationPushRequest: Sendable, CustomStringConvertible {
    /// How urgent the push is.
    package enum Priority: Int, Sendable, Equatable {
        /// A person asked and waits: `apns-priority: 10`.
        case userAsked = 10
        /// The service asked by itself; the device may wait for a better moment: `apns-priority: 5`.
        case serverAsked = 5
    }

    /// Bytes a payload may have.
    package static let payloadBytesMax = 4096

    /// The bytes from `startMonitoringLocationPushes(completion:)`, of any length; not the ordinary push token.
    package let deviceToken: [UInt8]
    /// The app's bundle id; the topic is this with `.location-query` after it.
    package let bundleID: String
    /// The APNs service the device token belongs to.
    package let environment: PushEnvironment
    /// Whether a person waits for it.
    package let priority: Priority
    /// Seconds since 1970 UTC until which APNs keeps trying; 0 means one attempt, nothing stored.
    package let expirationSeconds: Int64
    /// The UUID of the push, the same on every try.
    package let apnsID: String
    /// Undelivered pushes of one collapse id are merged; nil for none.
    package let collapseID: String?
    /// A JSON object. Put no personal data in it.
    package let payload: [UInt8]
    /// Milliseconds since 1970 UTC at which the push ends as failed if APNs has not answered.
    package let deadlineMs: Int64

    /// Checks the parts against APNs' rules.
    ///
    /// - Throws: ``PushRequestError`` naming the part that breaks a rule.
    package init(
        deviceToken: [UInt8], bundleID: String, environment: PushEnvironment, priority: Priority,
        expirationSeconds: Int64, apnsID: String, collapseID: String? = nil, payload: [UInt8], deadlineMs: Int64
    ) throws(PushRequestError) {
        guard (1...512).contains(deviceToken.count) else { throw .deviceTokenLength(deviceToken.count) }
        guard (1...155).contains(bundleID.utf8.count), bundleID.utf8.allSatisfy(Self.isInBundleID) else {
            throw .bundleID
        }
        guard Self.isCanonicalUUID(apnsID) else { throw .apnsID }
        if let collapseID {
            guard (1...64).contains(collapseID.utf8.count), collapseID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw .collapseID }
        }
        guard (1...Self.payloadBytesMax).contains(payload.count) else { throw .payloadLength(payload.count) }
        guard expirationSeconds >= 0 else { throw .expiration }
        self.deviceToken = deviceToken
        self.bundleID = bundleID
        self.environment = environment
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.payload = payload
        self.deadlineMs = deadlineMs
    }

    /// Names the push by its id and the end of its device token, for diagnostics.
    package var description: String { "push \(apnsID) to …\(hex(deviceToken).suffix(8))" }

    /// The value of `apns-topic`.
    package var topic: String { bundleID + ".location-query" }

    /// The value of `:path`. Ends with the device token.
    package var path: String { "/3/device/" + hex(deviceToken) }

    /// The header fields of the push itself, which are all but HTTP/2's own and `authorization`.
    package var fields: [(name: String, value: String)] {
        var fields = [
            ("apns-push-type", "location"), ("apns-topic", topic), ("apns-priority", String(priority.rawValue)),
            ("apns-expiration", String(expirationSeconds)), ("apns-id", apnsID),
        ]
        if let collapseID { fields.append(("apns-collapse-id", collapseID)) }
        return fields
    }

    private static func isInBundleID(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
        default: false
        }
    }

    private static func isCanonicalUUID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (index, byte) in text.utf8.enumerated() {
            switch (index, byte) {
            case (8, 0x2D), (13, 0x2D), (18, 0x2D), (23, 0x2D): continue
            case (8, _), (13, _), (18, _), (23, _): return false
            case (_, 0x30...0x39), (_, 0x61...0x66): continue
            default: return false
            }
        }
        return true
    }
}
