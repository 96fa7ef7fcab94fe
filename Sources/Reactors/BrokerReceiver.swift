package import Answers
package import Cryptography
import Glibc
package import Log
package import MQTT
import Synchronization
import Threading
package import Whereabouts
import WireFormats

/// Takes the messages that OwnTracks apps publish to an MQTT broker, under `owntracks/PERSON/DEVICE` and its subtopics.
/// The broker decides who may publish where; here the topic identifies the device.
///
/// A message is acknowledged once it is durable, is kept as rejected, or names no known device. While the log takes no
/// commands, messages stay with the broker. If a query waits for the owner of a phone that has published since the
/// start, the phone gets a request to report under its subtopic `cmd`, which it must be allowed to read.
package final class BrokerReceiver: Sendable {
    /// The connection to the broker, with its thread's loop.
    private let subscription: BrokerSubscription
    private let thread: Mutex<WorkerThread?>

    /// Subscribes and starts the thread. An unreachable broker is not an error: the subscription keeps trying.
    ///
    /// - Parameter trackers: The trackers that persons have at the broker; `nil` if the operator allows none.
    init(_ configuration: BrokerConfiguration, _ intake: BrokerIntake, _ trackers: TrackerPublisher?) {
        let isNoted = Mutex(false)
        let phones = Mutex<[DeviceID: String]>([:])
        var configuration = configuration
        if let trackers { configuration.furtherTopics = [trackers.filter, trackers.testFilter] }
        let subscription = BrokerSubscription(configuration) { message in
            if trackers?.take(message) ?? false { return true }
            guard let sender = Sender(topic: message.topic, in: intake.decisions) else {
                let isFirst = isNoted.withLock { noted in
                    defer { noted = true }
                    return !noted
                }
                if isFirst {
                    Diagnostics.note(
                        "mqtt.unknown",
                        "A topic names no device of this service; it must be owntracks/PERSON/DEVICE.")
                }
                return true
            }
            guard sender.isFromApp else { return true }
            phones.withLock { $0[sender.device] = sender.topic }
            return Self.take(message, from: sender, intake)
        } begin: {
            trackers?.begin()
        } due: {
            Self.commands(to: phones.withLock { $0 }, intake.decisions) + (trackers?.due() ?? [])
        } note: { sentence in
            Diagnostics.note("mqtt.connection", sentence)
        }
        self.subscription = subscription
        thread = Mutex(WorkerThread { subscription.run() })
    }

    /// Ends the subscription. The broker keeps the messages that arrive from now on.
    ///
    /// - Returns: `false` if the thread is still working after `milliseconds`. Connecting to a silent broker takes
    ///   minutes and cannot be interrupted.
    @discardableResult
    package func stop(milliseconds: Int) -> Bool {
        subscription.stop()
        return thread.withLock { thread in
            defer { thread = nil }
            return thread?.join(milliseconds: milliseconds) ?? true
        }
    }

    /// The device that published a message, by its topic.
    private struct Sender {
        let device: DeviceID
        let handle: Handle
        /// `owntracks/PERSON/DEVICE`, as the client wrote it.
        let topic: String
        /// Whether the app published the message. Commands and cards come from others.
        let isFromApp: Bool

        /// The person's device of this name, with or without the `PERSON.` that device handles begin with.
        init?(topic: String, in decisions: Decisions) {
            let parts = topic.lowercased().split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count >= 3, let person = Handle(parts[1]) else { return nil }
            let names = [Handle(parts[2]), Handle("\(parts[1]).\(parts[2])")].compactMap { $0 }
            let found = decisions.log.withStanding { standing -> (DeviceID, Handle)? in
                guard let id = standing.person(person) else { return nil }
                for name in names {
                    if let device = standing.device(name), standing.devices[device]?.person == id {
                        return (device, name)
                    }
                }
                return nil
            }
            guard let found else { return nil }
            (device, handle) = found
            self.topic = topic.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
            isFromApp = !["cmd", "info"].contains(parts.dropFirst(3).first)
        }
    }

    /// The commands that phones get now, each after its event is durable.
    private static func commands(to phones: [DeviceID: String], _ decisions: Decisions) -> [BrokerPublication] {
        let (log, now) = (decisions.log, decisions.clock())
        let asked = log.withStanding { standing in
            standing.queries.open.isEmpty
                ? []
                : phones.keys.filter { standing.isToBeCommanded($0) { log.questions.time(of: $0, $1, at: now) } }
        }
        return asked.compactMap { device in
            // A command that the log does not take now is tried again on the next turn.
            guard
                (try? decisions.log.appendAndWait(.commandReports(device), by: .house, correlation: .random())) != nil,
                let topic = phones[device]
            else { return nil }
            return BrokerPublication(topic: "\(topic)/cmd", payload: OwnTracksAnswer.reportLocation)
        }
    }

    /// Takes a message in. Blocks until its reports are durable.
    ///
    /// - Returns: Whether the message is settled: durable, or never to be used. `false` leaves it with the broker.
    private static func take(_ message: BrokerMessage, from sender: Sender, _ intake: BrokerIntake) -> Bool {
        let box = intake.secretBoxes[sender.handle]
        var reports = OwnTracks.reports(
            from: message.payload, now: intake.decisions.clock(), opening: box.map { box in { box.open(base64: $0) } })
        intake.decisions.answerQuestions(with: &reports, of: sender.device)
        if message.isRetained {
            // A repeated message. A repeated fix is recognized; of any other report the service cannot know whether it
            // still holds.
            reports = reports.filter { if case .fix = $0 { true } else { false } }
        }
        guard !reports.isEmpty else { return true }
        let command = Command.reportFixes(
            device: .named(sender.handle), DeviceReport.all(reports, from: message.payload, receivedLive: true))
        do throws(AppendFailure) {
            _ = try intake.decisions.log.appendAndWait(command, by: .house, correlation: .random())
            if !message.isRetained {
                intake.deviceContacts.note(sender.device, at: intake.decisions.clock(), address: "MQTT")
            }
            return true
        } catch {
            switch error {
            case .refused: return true
            case .busy, .full, .notYet, .elsewhere, .fault: return false
            }
        }
    }
}

extension BrokerConfiguration {
    /// The client of the configured broker, with a durable session.
    ///
    /// - Parameter log: The log's id, part of the client's name, so that the broker keeps messages while the service is
    ///   off.
    ///   off.
    /// - Throws: ``LogError`` if the password file cannot be read.
    package init(_ broker: ServiceConfiguration.Broker, for log: Identifier128) throws(LogError) {
        self.init(
            host: broker.host, port: Int(broker.port), clientID: "whereabouts-\(log)", topic: "owntracks/+/+/#")
        user = broker.user
        tls = broker.isEncrypted ? broker.caFile.map { .file($0) } ?? .system : nil
        guard let path = broker.passwordFile else { return }
        guard let bytes = DataDirectory.read(path, atMost: 4096) else { throw .file(path: path, errno: errno) }
        password = String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }
}

/// The parts that take in the messages of a broker.
package struct BrokerIntake: Sendable {
    /// Appends the reports.
    package let decisions: Decisions
    /// The keys of devices whose OwnTracks app encrypts.
    package let secretBoxes: [Handle: SecretBox]
    /// The last requests of devices.
    package let deviceContacts: DeviceContacts

    package init(decisions: Decisions, secretBoxes: [Handle: SecretBox], deviceContacts: DeviceContacts) {
        self.decisions = decisions
        self.secretBoxes = secretBoxes
        self.deviceContacts = deviceContacts
    }
}
