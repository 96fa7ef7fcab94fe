import JSON
package import LocationPush
import Log
import Synchronization
package import Whereabouts

/// The apps whose phones can be woken: for each bundle id and APNs service, the sender that reaches it.
///
/// APNs binds a connection to a team and a key and counts how often a provider token is renewed. So apps that share
/// server, team and key share a sender, and all senders of one team and key share their provider token.
package final class PushApps: Sendable {
    /// A phone's app and the APNs service that its token is for.
    private struct App: Hashable {
        let bundleID: String
        let environment: Whereabouts.PushEnvironment
    }

    /// The server and credentials of one sender.
    private struct Address: Hashable {
        let host: String
        let port: Int64
        let caFile: String?
        let environment: Whereabouts.PushEnvironment
        let signer: Signer
    }

    /// The key that signs provider tokens.
    private struct Signer: Hashable {
        let teamID: String
        let keyID: String
        let keyFile: String
    }

    /// A sender and the number of its pushes that have not ended. Any thread may use it.
    package final class Line: Sendable {
        /// The sender; it has one thread and a bounded queue.
        package let sender: PushSender
        /// The most pushes without an outcome.
        private let bound: Int
        /// The pushes without an outcome yet.
        private let outstanding = Atomic<Int>(0)

        fileprivate init(_ configuration: PushSender.Configuration) throws(TransportFault) {
            sender = try PushSender(configuration)
            bound = configuration.outstandingMax
        }

        /// The number of pushes that it takes now. Beyond that, a push ends with `queueFull`.
        package var room: Int { max(0, bound - outstanding.load(ordering: .relaxed)) }

        /// As `PushSender.send(_:isWanted:began:attempted:completion:)`, and counts the push.
        package func send(
            _ push: LocationPushRequest, isWanted: @escaping @Sendable () -> Bool,
            began: @escaping @Sendable (_ attempt: Int) -> Void,
            attempted: @escaping @Sendable (PushAttempt) -> Void,
            completion: @escaping @Sendable (PushOutcome) -> Void
        ) {
            outstanding.add(1, ordering: .sequentiallyConsistent)
            sender.send(push, isWanted: isWanted, began: began, attempted: attempted) { [self] outcome in
                outstanding.subtract(1, ordering: .relaxed)
                completion(outcome)
            }
        }

        /// Has the sender ask again whether its waiting pushes are wanted.
        fileprivate func reconsider() {
            // Without this, each answered question would wake the sender's thread. A push that arrives after this check
            // is checked on arrival.
            if outstanding.load(ordering: .sequentiallyConsistent) > 0 { sender.reconsider() }
        }
    }

    private let lineByApp: [App: Line]
    private let lines: [Line]

    /// Reads the keys and starts a thread for each sender. No connection is made before the first push.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting that cannot be used.
    package init(_ settings: [ServiceConfiguration.Push]) throws(ConfigurationError) {
        var sources: [Signer: ProviderTokenSource] = [:]
        var lines: [Address: Line] = [:]
        var lineByApp: [App: Line] = [:]
        for push in settings {
            let signer = Signer(teamID: push.teamID, keyID: push.keyID, keyFile: push.keyFile)
            let address = Address(
                host: push.host, port: push.port, caFile: push.caFile, environment: push.environment, signer: signer)
            do {
                let source = try sources[signer] ?? ProviderTokenSource(key: push.providerTokenKey())
                sources[signer] = source
                let line = try lines[address] ?? Line(Self.configuration(push, source))
                lines[address] = line
                for bundleID in push.bundleIDs {
                    lineByApp[App(bundleID: bundleID, environment: push.environment)] = line
                }
            } catch {
                for line in lines.values { line.sender.stop(drainMs: 0) }
                throw ConfigurationError(
                    "Pushes for \(push.bundleIDs.joined(separator: ", ")) cannot be sent: \(error)")
            }
        }
        self.lineByApp = lineByApp
        self.lines = Array(lines.values)
    }

    /// The sender for a phone with this token; `nil` if its app is not configured.
    package func line(for token: Standing.PushToken) -> Line? {
        lineByApp[App(bundleID: token.token.bundleID, environment: token.environment)]
    }

    /// The number of pushes that can be handed in now for devices of this token's app.
    package func room(for token: Standing.PushToken) -> Int { line(for: token)?.room ?? 0 }

    /// Whether any sender takes another push.
    var hasRoom: Bool { lines.contains { $0.room > 0 } }

    /// Has every sender check its waiting pushes.
    func reconsider() { for line in lines { line.reconsider() } }

    /// How long a push in flight may take to end when the sender stops, in milliseconds; then it ends as stopped.
    private static let drainMs: Int64 = 1500

    /// Gives pushes in flight time to end, in all senders at once. Waiting pushes end as stopped. Blocks for about
    /// `drainMs`.
    package func stop() {
        for line in lines { line.sender.beginStopping(drainMs: Self.drainMs) }
        for line in lines { line.sender.stop(drainMs: Self.drainMs) }
    }

    /// The push that wakes a device. Its payload is `{"aps":{},"<name>":"<id>"}`, without personal data.
    ///
    /// It expires at the deadline, converted to the system's clock, because APNs reads that. The two clocks differ if a
    /// simulation sets the house's.
    ///
    /// - Throws: ``PushRequestError`` if the device's token or bundle id has a wrong form.
    package static func request(
        to device: DeviceID, _ token: Standing.PushToken, for id: QueryID, named name: String,
        priority: LocationPushRequest.Priority, deadline: Timestamp, at now: Timestamp
    ) throws(PushRequestError) -> LocationPushRequest {
        var payload = JSONWriter()
        payload.beginObject()
        payload.object("aps") { _ in }
        payload.field(name, id.description)
        payload.endObject()
        let deadlineMs = PushClock.system.now().unixMs + (deadline.milliseconds - now.milliseconds)
        return try LocationPushRequest(
            deviceToken: token.token.bytes, bundleID: token.token.bundleID,
            environment: token.environment.ofAPNs, priority: priority,
            expirationSeconds: deadlineMs / 1000,
            apnsID: LocationPushAttempt.apnsID(id, device).description,
            collapseID: "device-\(device.rawValue)", payload: payload.bytes, deadlineMs: deadlineMs)
    }

    private static func configuration(
        _ push: ServiceConfiguration.Push, _ source: ProviderTokenSource
    ) -> PushSender.Configuration {
        var configuration = PushSender.Configuration(
            endpoint: PushEndpoint(
                environment: push.environment.ofAPNs, host: push.host, port: UInt16(push.port),
                trustFile: push.caFile),
            providerTokens: source)
        configuration.diagnose = { Diagnostics.note("push", "\($0)") }
        return configuration
    }
}

extension ServiceConfiguration.Push {
    /// A provider token signed now, which remains a secret for an hour.
    ///
    /// - Throws: `ProviderTokenError`, which contains no secret.
    package func providerToken(at now: Timestamp) throws -> String {
        try providerTokenKey().sign(issuedAtSeconds: now.milliseconds / 1000)
    }

    /// The key that signs provider tokens, from the `.p8` file.
    ///
    /// - Throws: `ProviderTokenError`, which contains no secret.
    package func providerTokenKey() throws(ProviderTokenError) -> ProviderTokenKey {
        guard let pem = DataDirectory.read(keyFile, atMost: 16 << 10) else {
            throw .badKey("\(keyFile) cannot be read")
        }
        return try ProviderTokenKey(pem: pem, keyID: keyID, teamID: teamID)
    }
}

extension Command {
    /// The command that retires a device token after an answer of APNs; `nil` if the answer does not say that the token
    /// is invalid.
    package static func retiring(
        _ token: Standing.PushToken, of device: DeviceID, after rejection: PushRejection
    ) -> Command? {
        // Without a time from Apple, the answer is about the registration that was tried.
        let asOf: Timestamp
        switch rejection.consequence {
        case .retireDeviceToken(let since): asOf = since.map(Timestamp.init(milliseconds:)) ?? token.registeredAt
        case .wrongEnvironment: asOf = token.registeredAt
        default: return nil
        }
        return .retirePushToken(device, token.token, reason: rejection.reason.name, asOf: asOf)
    }
}

extension Whereabouts.PushEnvironment {
    /// The same environment in the type of the module `LocationPush`.
    var ofAPNs: LocationPush.PushEnvironment { self == .production ? .production : .development }
    /// Apple's host for the environment.
    var appleHost: String { ofAPNs.host }
}

/// A setting that cannot be used, in one sentence.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The sentence, with the name of the setting.
    package let description: String
    /// An error with this sentence.
    package init(_ description: String) { self.description = description }
}
