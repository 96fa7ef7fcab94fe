package import Answers
package import Cryptography
package import Log
import MQTT
import Synchronization
package import Whereabouts

/// Everything that runs without a request, each part on its own thread: deadlines and schedules, pushes, live streams,
/// webhooks, rounds of witnesses, a broker's messages.
package final class RunningReactors: Sendable {
    /// Ends queries at their deadline, and asks the questions of schedules.
    private let timekeeper: Timekeeper
    /// The apps whose phones can be woken; `nil` if no app is configured.
    package let apps: PushApps?
    /// Wakes phones for open queries; `nil` if no app is configured.
    private let pusher: Pusher?
    /// Sends events to the open live streams.
    package let deliverer: Deliverer
    /// Posts to webhooks; `nil` unless the operator allows targets or mail.
    package let webhooks: WebhookDeliverer?
    /// Has persons' logs cosigned; `nil` unless witnesses are configured.
    package let witnesses: WitnessRounds?
    /// The subscription to an MQTT broker; `nil` unless one is configured, and before the start.
    private let broker = Mutex<BrokerReceiver?>(nil)

    /// Starts the timekeeper and the pusher, which need nothing but the log. The others begin with
    /// ``start(_:_:sources:personLogs:secretBoxes:)``.
    ///
    /// - Parameter whenKeysDestroyed: Called after the keys of old reports were destroyed.
    /// - Throws: ``ConfigurationError`` if an app's key cannot be used.
    package init(
        _ configuration: ServiceConfiguration, log: EventLog, clock: @escaping @Sendable () -> Timestamp,
        steady: @escaping @Sendable () -> Int64, whenKeysDestroyed: @escaping @Sendable () -> Void
    ) throws {
        timekeeper = Timekeeper(log: log, clock: clock, whenKeysDestroyed: whenKeysDestroyed)
        apps = configuration.push.isEmpty ? nil : try PushApps(configuration.push)
        pusher = apps.map { Pusher(log: log, apps: $0, clock: clock) }
        deliverer = Deliverer(log: log, clock: clock)
        webhooks = try WebhookDeliverer(configuration)
        witnesses = configuration.witnesses.isEmpty ? nil : WitnessRounds(configuration.witnesses, steady: steady)
    }

    /// Starts the others.
    ///
    /// - Parameters:
    ///   - decisions: The log that takes the broker's reports.
    ///   - secretBoxes: The keys of devices that encrypt in the app, by the device's handle.
    /// - Throws: ``LogError`` if the log cannot be opened for reading, or the broker's password cannot be read.
    package func start(
        _ configuration: ServiceConfiguration, _ decisions: Decisions, sources: FeedSources, personLogs: PersonLogs,
        secretBoxes: [Handle: SecretBox]
    ) throws {
        try deliverer.start(sources)
        try webhooks?.start(sources)
        try witnesses?.start(sources, personLogs)
        if let wanted = configuration.mqtt {
            let intake = BrokerIntake(
                decisions: decisions, secretBoxes: secretBoxes, deviceContacts: sources.deviceContacts)
            let trackers = try wanted.discoveryPrefix.map { try TrackerPublisher(prefix: $0, sources) }
            let receiver = BrokerReceiver(try BrokerConfiguration(wanted, for: decisions.log.id), intake, trackers)
            broker.withLock { $0 = receiver }
        }
    }

    /// Stops one thread after the other.
    ///
    /// - Parameter brokerMilliseconds: How long to wait for the broker's thread, which may be connecting.
    /// - Returns: `false` if the broker's thread is still working.
    package func stop(brokerMilliseconds: Int) -> Bool {
        deliverer.stop()
        webhooks?.stop()
        witnesses?.stop()
        timekeeper.stop()
        pusher?.stop()
        return broker.withLock { $0.take() }?.stop(milliseconds: brokerMilliseconds) ?? true
    }
}
