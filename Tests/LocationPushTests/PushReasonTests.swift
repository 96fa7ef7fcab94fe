import LocationPush
import Testing

@Suite struct PushReasonTests {
    /// Names and statuses: Apple, "Handling notification responses from APNs", table 2.
    static let documented: [(String, Int, PushConsequence)] = [
        ("BadCollapseId", 400, .bug), ("BadDeviceToken", 400, .wrongEnvironment), ("BadExpirationDate", 400, .bug),
        ("BadMessageId", 400, .bug), ("BadPriority", 400, .bug), ("BadTopic", 400, .bug),
        ("DeviceTokenNotForTopic", 400, .retireDeviceToken(ifNotRegisteredSince: nil)),
        ("DuplicateHeaders", 400, .bug), ("IdleTimeout", 400, .retryOnNewConnection),
        ("InvalidPushType", 400, .bug), ("MissingDeviceToken", 400, .bug), ("MissingTopic", 400, .bug),
        ("PayloadEmpty", 400, .bug), ("TopicDisallowed", 400, .configurationAlarm),
        ("BadCertificate", 403, .configurationAlarm), ("BadCertificateEnvironment", 403, .configurationAlarm),
        ("BadEnvironmentKeyIdInToken", 403, .configurationAlarm),
        ("BadEnvironmentKeyInToken", 403, .configurationAlarm),
        ("ExpiredProviderToken", 403, .renewProviderToken), ("Forbidden", 403, .bug),
        ("InvalidProviderToken", 403, .configurationAlarm), ("MissingProviderToken", 403, .configurationAlarm),
        ("UnrelatedKeyIdInToken", 403, .retryOnNewConnection), ("BadPath", 404, .bug),
        ("MethodNotAllowed", 405, .bug), ("ExpiredToken", 410, .retireDeviceToken(ifNotRegisteredSince: 7)),
        ("Unregistered", 410, .retireDeviceToken(ifNotRegisteredSince: 7)), ("PayloadTooLarge", 413, .bug),
        ("TooManyProviderTokenUpdates", 429, .configurationAlarm), ("TooManyRequests", 429, .retry),
        ("InternalServerError", 500, .retry), ("ServiceUnavailable", 503, .retryOnNewConnection),
        ("Shutdown", 503, .retryOnNewConnection),
    ]

    @Test func `every documented reason has its status and consequence, and the table has no other`() {
        for (name, status, consequence) in Self.documented {
            let rejection = PushRejection(
                status: status, reason: PushReason(name), timestampMs: status == 410 ? 7 : nil)
            #expect(rejection.consequence == consequence, "\(name)")
        }
        let spellings = Set(Self.documented.map(\.0)).subtracting(["BadEnvironmentKeyInToken"])
        #expect(Set(PushReason.table.map(\.name)) == spellings)
        for row in PushReason.table { #expect(Self.documented.contains { $0.0 == row.name && $0.1 == row.status }) }
    }

    @Test(
        arguments: [
            (400, .bug), (403, .configurationAlarm), (410, .retireDeviceToken(ifNotRegisteredSince: nil)), (418, .bug),
            (429, .retry), (500, .retry), (503, .retryOnNewConnection),
        ] as [(Int, PushConsequence)])
    func `an unknown reason is kept and judged by its status`(status: Int, consequence: PushConsequence) {
        let reason = PushReason("NewInTwentyThirty")
        #expect(reason == .other("NewInTwentyThirty"))
        #expect(PushRejection(status: status, reason: reason).consequence == consequence)
    }

    @Test func `an unknown reason is cut and cleaned before it is shown`() {
        let reason = PushReason("A\u{1B}[31m\n" + String(repeating: "x", count: 100))
        #expect(reason.name.utf8.count == 64)
        #expect(reason.name.hasPrefix("A[31mx"))
    }
}
