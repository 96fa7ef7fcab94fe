import CMosquitto
import Glibc
import Synchronization

/// A subscription at an MQTT broker (version 3.1.1, quality of service 1), by libmosquitto.
///
/// The session is persistent: the broker keeps messages that are published while this client is away. The client
/// acknowledges a message only after `take` has accepted it. libmosquitto 2.0 queues the acknowledgement before it
/// calls back. After `mosquitto_threaded_set` it leaves the writing to the next turn of the loop, which is ours. If
/// `take` refuses a message, the client closes the connection instead, and the broker sends the message again.
package final class BrokerSubscription: Sendable {
    private let configuration: BrokerConfiguration
    private let take: @Sendable (BrokerMessage) -> Bool
    private let due: @Sendable () -> [BrokerPublication]
    private let begin: @Sendable () -> Void
    private let note: @Sendable (String) -> Void
    private let stopping = Atomic<Bool>(false)

    /// How long the loop waits for bytes; also how soon it sees that it shall stop.
    private static let turnMilliseconds: Int32 = 100
    private static let keepAliveSeconds: Int32 = 60
    /// Turns between two attempts to connect: a second at first, a minute at the most.
    private static let pauseTurns = (first: 10, most: 600)

    /// - Parameters:
    ///   - take: called on the thread of ``run()`` for each message; returns whether the message is stored durably. The
    ///     message is acknowledged only then.
    ///   - begin: called on the same thread when a connection is made, before the first message of it.
    ///   - due: called on the same thread, ten times a second while connected; returns messages to publish, each once.
    ///   - note: called with a sentence for the operator when the connection is made or lost.
    package init(
        _ configuration: BrokerConfiguration, take: @escaping @Sendable (BrokerMessage) -> Bool,
        begin: @escaping @Sendable () -> Void = {}, due: @escaping @Sendable () -> [BrokerPublication] = { [] },
        note: @escaping @Sendable (String) -> Void
    ) {
        (self.configuration, self.take, self.due, self.note) = (configuration, take, due, note)
        self.begin = begin
    }

    /// Ends ``run()`` at its next turn.
    package func stop() { stopping.store(true, ordering: .relaxed) }

    /// Receives until ``stop()``. Call it once, on a dedicated thread. A failed setup is noted and tried again.
    package func run() {
        _ = Self.library
        let context = Context(self)
        guard
            let client = mosquitto_new(
                configuration.clientID, false, Unmanaged.passUnretained(context).toOpaque())
        else { preconditionFailure("Out of memory.") }
        defer {
            mosquitto_disconnect(client)
            mosquitto_destroy(client)
            withExtendedLifetime(context) {}
        }
        setUp(client)
        var pause = Self.pauseTurns.first
        var isKnownToFail = false
        while !stopping.load(ordering: .relaxed) {
            var code = mosquitto_connect(
                client, configuration.host, Int32(clamping: configuration.port), Self.keepAliveSeconds)
            while code == success, !stopping.load(ordering: .relaxed) {
                if context.isSubscribed { publish(client) }
                code = Self.turn(client)
                if context.isSubscribed {
                    pause = Self.pauseTurns.first
                    isKnownToFail = false
                }
            }
            guard !stopping.load(ordering: .relaxed) else { return }
            context.isSubscribed = false
            if !isKnownToFail {
                note("The connection to the broker is gone (\(Self.text(code))); it is tried again and again.")
                isKnownToFail = true
            }
            for _ in 0..<pause where !stopping.load(ordering: .relaxed) {
                usleep(UInt32(Self.turnMilliseconds) * 1000)
            }
            pause = min(pause * 2, Self.pauseTurns.most)
            // Without what waits to be sent: a location must not leave after its person has ended the sharing.
            _ = mosquitto_reinitialise(
                client, configuration.clientID, false, Unmanaged.passUnretained(context).toOpaque())
            setUp(client)
        }
    }

    /// One turn of the loop: waits for the socket, and reads and writes as far as it can.
    ///
    /// `mosquitto_loop` waits by `select` and fails when the process has 1,024 descriptors open before the connection is
    /// made. A service with many clients has.
    private static func turn(_ client: OpaquePointer) -> Int32 {
        let socket = mosquitto_socket(client)
        guard socket >= 0 else { return Int32(MOSQ_ERR_NO_CONN.rawValue) }
        let events = mosquitto_want_write(client) ? POLLIN | POLLOUT : POLLIN
        var waiting = pollfd(fd: socket, events: Int16(events), revents: 0)
        guard poll(&waiting, 1, turnMilliseconds) >= 0 || errno == EINTR else {
            return Int32(MOSQ_ERR_ERRNO.rawValue)
        }
        var code = success
        if Int32(waiting.revents) & ~POLLOUT != 0 { code = mosquitto_loop_read(client, 1) }
        if code == success, Int32(waiting.revents) & POLLOUT != 0 { code = mosquitto_loop_write(client, 1) }
        return code == success ? mosquitto_loop_misc(client) : code
    }

    private func setUp(_ client: OpaquePointer) {
        mosquitto_threaded_set(client, true)
        mosquitto_connect_callback_set(client, connected)
        mosquitto_message_callback_set(client, arrived)
        var code = mosquitto_username_pw_set(client, configuration.user, configuration.password)
        switch configuration.tls {
        case nil: break
        case .system where code == success:
            code = mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1)
        case .file(let path) where code == success:
            code = mosquitto_tls_set(client, path, nil, nil, nil, nil)
        default: break
        }
        if code != success { note("The connection to the broker cannot be set up: \(Self.text(code)).") }
    }

    /// Once for the process; libmosquitto counts.
    private static let library = mosquitto_lib_init()

    private static func text(_ code: Int32) -> String {
        code == Int32(MOSQ_ERR_ERRNO.rawValue)
            ? String(cString: strerror(errno)) : String(cString: mosquitto_strerror(code))
    }

    fileprivate func subscribe(_ client: OpaquePointer) {
        begin()
        for topic in [configuration.topic] + configuration.furtherTopics {
            if mosquitto_subscribe(client, nil, topic, 1) != success { cut(client) }
        }
        note("Connected to the broker.")
    }

    /// Drops messages that cannot be sent on this connection. ``due`` gives the messages for the next one.
    private func publish(_ client: OpaquePointer) {
        for message in due() {
            mosquitto_publish(
                client, nil, message.topic, Int32(message.payload.count), message.payload, 1,
                message.isRetained)
        }
    }

    fileprivate func take(_ message: BrokerMessage, _ client: OpaquePointer) {
        if !take(message) { cut(client) }
    }

    /// Nothing more is written on this connection: the acknowledgement that waits is not sent.
    private func cut(_ client: OpaquePointer) { shutdown(mosquitto_socket(client), Int32(SHUT_RDWR)) }
}

private let success = Int32(MOSQ_ERR_SUCCESS.rawValue)

/// The argument of the callbacks, which run only on the thread of ``BrokerSubscription/run()``.
private final class Context {
    unowned let subscription: BrokerSubscription
    var isSubscribed = false

    init(_ subscription: BrokerSubscription) { self.subscription = subscription }
}

private func connected(_ client: OpaquePointer?, _ object: UnsafeMutableRawPointer?, _ code: Int32) {
    guard let client, let object, code == 0 else { return }
    let context = Unmanaged<Context>.fromOpaque(object).takeUnretainedValue()
    context.isSubscribed = true
    context.subscription.subscribe(client)
}

private func arrived(
    _ client: OpaquePointer?, _ object: UnsafeMutableRawPointer?, _ message: UnsafePointer<mosquitto_message>?
) {
    guard let client, let object, let message = message?.pointee, let topic = message.topic else { return }
    let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
    let context = Unmanaged<Context>.fromOpaque(object).takeUnretainedValue()
    context.subscription.take(
        BrokerMessage(topic: String(cString: topic), payload: Array(payload), isRetained: message.retain), client)
}
