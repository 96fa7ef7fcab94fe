/// The sender's reaction to a refusal by APNs.
package enum PushConsequence: Sendable, Equatable {
    /// Try again after a pause, with the same `apns-id`.
    case retry
    /// Try again after a pause, on a new connection.
    case retryOnNewConnection
    /// Sign a new provider token, once for all pushes that wait, and try once more.
    case renewProviderToken
    /// Forget the device token, unless the device registered it again after this time (milliseconds since 1970 UTC;
    /// nil: APNs names no time, so forget it in any case).
    case retireDeviceToken(ifNotRegisteredSince: Int64?)
    /// The device token is malformed or belongs to the other APNs service: do not use it here again.
    case wrongEnvironment
    /// Key, team, topic or clock is wrong: notify the operator and hold the queue; more pushes would fail the same way.
    case configurationAlarm
    /// This push can never succeed: fail it and do not repeat it.
    case bug
}

/// The reason that APNs gives for refusing a push (Apple: "Handling notification responses from APNs").
package enum PushReason: Sendable, Hashable {
    case badCollapseID, badDeviceToken, badExpirationDate, badMessageID, badPriority, badTopic
    case deviceTokenNotForTopic, duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic
    case payloadEmpty, topicDisallowed
    case badCertificate, badCertificateEnvironment, badEnvironmentKeyID, expiredProviderToken, forbidden
    case invalidProviderToken, missingProviderToken, unrelatedKeyID
    case badPath, methodNotAllowed, expiredToken, unregistered, payloadTooLarge
    case tooManyProviderTokenUpdates, tooManyRequests, internalServerError, serviceUnavailable, shutdown
    /// A reason this table does not know, as received; empty when APNs gave none.
    case other(String)

    /// Every reason that Apple documents, with its name, status and consequence. `PushConsequence.retireDeviceToken`
    /// is completed with the answer's time by ``PushRejection/consequence``.
    package static let table: [(reason: PushReason, name: String, status: Int, consequence: PushConsequence)] = [
        (.badCollapseID, "BadCollapseId", 400, .bug),
        (.badDeviceToken, "BadDeviceToken", 400, .wrongEnvironment),
        (.badExpirationDate, "BadExpirationDate", 400, .bug),
        (.badMessageID, "BadMessageId", 400, .bug),
        (.badPriority, "BadPriority", 400, .bug),
        (.badTopic, "BadTopic", 400, .bug),
        (.deviceTokenNotForTopic, "DeviceTokenNotForTopic", 400, .retireDeviceToken(ifNotRegisteredSince: nil)),
        (.duplicateHeaders, "DuplicateHeaders", 400, .bug),
        (.idleTimeout, "IdleTimeout", 400, .retryOnNewConnection),
        (.invalidPushType, "InvalidPushType", 400, .bug),
        (.missingDeviceToken, "MissingDeviceToken", 400, .bug),
        (.missingTopic, "MissingTopic", 400, .bug),
        (.payloadEmpty, "PayloadEmpty", 400, .bug),
        (.topicDisallowed, "TopicDisallowed", 400, .configurationAlarm),
        (.badCertificate, "BadCertificate", 403, .configurationAlarm),
        (.badCertificateEnvironment, "BadCertificateEnvironment", 403, .configurationAlarm),
        (.badEnvironmentKeyID, "BadEnvironmentKeyIdInToken", 403, .configurationAlarm),
        (.expiredProviderToken, "ExpiredProviderToken", 403, .renewProviderToken),
        (.forbidden, "Forbidden", 403, .bug),
        (.invalidProviderToken, "InvalidProviderToken", 403, .configurationAlarm),
        (.missingProviderToken, "MissingProviderToken", 403, .configurationAlarm),
        (.unrelatedKeyID, "UnrelatedKeyIdInToken", 403, .retryOnNewConnection),
        (.badPath, "BadPath", 404, .bug),
        (.methodNotAllowed, "MethodNotAllowed", 405, .bug),
        (.expiredToken, "ExpiredToken", 410, .retireDeviceToken(ifNotRegisteredSince: nil)),
        (.unregistered, "Unregistered", 410, .retireDeviceToken(ifNotRegisteredSince: nil)),
        (.payloadTooLarge, "PayloadTooLarge", 413, .bug),
        // The present token is kept and the hold slows the sender down, which is all that helps here.
        (.tooManyProviderTokenUpdates, "TooManyProviderTokenUpdates", 429, .configurationAlarm),
        (.tooManyRequests, "TooManyRequests", 429, .retry),
        (.internalServerError, "InternalServerError", 500, .retry),
        (.serviceUnavailable, "ServiceUnavailable", 503, .retryOnNewConnection),
        (.shutdown, "Shutdown", 503, .retryOnNewConnection),
    ]

    /// The reason for a name; an unknown one is kept, cut to 64 printable ASCII characters.
    package init(_ name: String) {
        if let known = Self.byName[name] {
            self = known
        } else if name == "BadEnvironmentKeyInToken" {
            // The live service is reported to spell it so.
            self = .badEnvironmentKeyID
        } else {
            let printable = name.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }.prefix(64)
            self = .other(String(String.UnicodeScalarView(printable)))
        }
    }

    /// APNs' spelling.
    package var name: String {
        if case .other(let text) = self { return text }
        return Self.byReason[self]?.name ?? ""
    }

    /// The consequence of the reason, or of the status if the reason is unknown.
    func consequence(status: Int) -> PushConsequence {
        if let known = Self.byReason[self]?.consequence { return known }
        switch status {
        case 403: return .configurationAlarm
        case 410: return .retireDeviceToken(ifNotRegisteredSince: nil)
        case 429, 500, 502, 504: return .retry
        case 501...599: return .retryOnNewConnection
        default: return .bug
        }
    }

    private static let byName = Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0.reason) })
    private static let byReason = Dictionary(
        uniqueKeysWithValues: table.map { ($0.reason, (name: $0.name, consequence: $0.consequence)) })
}

/// A refusal by APNs.
package struct PushRejection: Sendable, Equatable {
    /// HTTP status, not 200.
    package let status: Int
    /// Why, in APNs' words.
    package let reason: PushReason
    /// For status 410: since when the device token is no longer valid, in milliseconds since 1970 UTC.
    package let timestampMs: Int64?

    /// A refusal.
    package init(status: Int, reason: PushReason, timestampMs: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestampMs = timestampMs
    }

    /// The consequence by ``PushReason/table``, completed with the time.
    package var consequence: PushConsequence {
        let consequence = reason.consequence(status: status)
        if case .retireDeviceToken = consequence { return .retireDeviceToken(ifNotRegisteredSince: timestampMs) }
        return consequence
    }
}
