package import LocationPush
internal import Synchronization
internal import Threading

/// A local APNs for `location` pushes: an HTTP/2 server on the loopback address that checks every rule, answers with
/// APNs' statuses and reasons, and hands accepted pushes to simulated phones over a second port (``Courier``).
///
/// Everything runs on one thread. The code that checks the provider token, the HPACK forms and the rules shares nothing
/// with the sender; only the transport (TLS, nghttp2) is the same.
package final class PushStandIn: Sendable {
    /// How to run.
    package struct Configuration: Sendable {
        /// Where credentials and phones are kept.
        package var directory: String
        /// Port for pushes; 0 lets the system choose.
        package var port: UInt16 = 0
        /// Port for simulated phones; 0 lets the system choose.
        package var courierPort: UInt16 = 0
        /// The APNs service that is played; tokens of the other one are refused.
        package var environment = PushEnvironment.development
        /// Bundle ids the key may push to; nil for any.
        package var bundleIDs: Set<String>?
        /// Where the time is read, for the age of provider tokens among others.
        package var clock = PushClock.system
        /// Streams a connection may have open once a valid push has come over it; before that it is one.
        package var streamsMax = 1000
        /// The faults of the next pushes and connections.
        package var script: [PushStandInRule] = []
        /// Called on the stand-in's thread with the record of each push, for a log of JSON lines.
        package var record: @Sendable (PushRecord) -> Void = { _ in }
        /// Called on the same thread with each event of a connection.
        package var recordConnection: @Sendable (ConnectionRecord) -> Void = { _ in }

        /// The usual stand-in on a directory.
        package init(directory: String) {
            self.directory = directory
        }
    }

    /// Milliseconds that a GOAWAY waits for the pushes it is to leave unprocessed.
    package static let gatheringMs: Int64 = 1000
    /// Records kept for ``pushes``; older ones are dropped.
    package static let recordsMax = 10_000
    /// Connections of both kinds together; one more is closed at once.
    package static let connectionsMax = 4096

    /// The secrets in use.
    package let credentials: PushStandInCredentials
    /// The port for pushes.
    package let port: UInt16
    /// The port for simulated phones.
    package let courierPort: UInt16
    private let shared: StandInShared
    private let thread: WorkerThread
    private let isJoined = Atomic<Bool>(false)

    /// Makes or reads the credentials, listens on both ports and starts the thread.
    ///
    /// - Throws: ``TransportFault`` when a port is taken or the directory cannot be used.
    package init(_ configuration: Configuration) throws(TransportFault) {
        let credentials = try PushStandInCredentials.make(in: configuration.directory)
        let phones = try PhoneRegistry(directory: configuration.directory)
        let shared = StandInShared(
            courier: Courier(phones: phones), script: configuration.script, wake: try WakePipe())
        let context = try TLSContext(
            certificateFile: credentials.serverCertificateFile, keyFile: credentials.serverKeyFile)
        let listener = try LoopbackListener(port: configuration.port)
        let courierListener = try LoopbackListener(port: configuration.courierPort)
        let judge = try ProviderTokenJudge(credentials)
        self.credentials = credentials
        self.port = listener.port
        self.courierPort = courierListener.port
        self.shared = shared
        let loop = HandedOver(
            PushStandInLoop(
                configuration, shared: shared, context: context, judge: judge, listener: listener,
                courierListener: courierListener))
        self.thread = try startThread { loop.value.run() }
    }

    deinit {
        stop()
    }

    /// Closes everything and ends the thread; blocks until then. May be called again.
    package func stop() {
        shared.contents.withLock { $0.isStopping = true }
        shared.wake.wake()
        if !isJoined.exchange(true, ordering: .sequentiallyConsistent) { thread.join() }
    }

    /// The address for a sender.
    package func endpoint(environment: PushEnvironment = .development) -> PushEndpoint {
        PushEndpoint(environment: environment, host: "localhost", port: port, trustFile: credentials.trustFile)
    }

    /// Adds faults for the next pushes, one fault per push in this order, after the earlier ones.
    package func script(_ faults: [PushStandInFault]) {
        script(faults.map { PushStandInRule($0) })
    }

    /// Adds rules after those scripted before.
    package func script(_ rules: [PushStandInRule]) {
        shared.contents.withLock { $0.courier.script.append(rules) }
    }

    /// Removes all rules, so that pushes and connections are handled as usual.
    package func clearScript() {
        shared.contents.withLock { $0.courier.script.clear() }
    }

    /// The pushes seen so far, oldest first, at most ``recordsMax``.
    package var pushes: [PushRecord] { shared.contents.withLock { Array($0.records) } }

    /// How many pushes were answered 200 or processed without an answer.
    package var acceptedCount: Int { shared.contents.withLock { $0.courier.counts.accepted } }

    /// How many streams senders have reset, whatever for.
    package var resetsReceived: Int { shared.contents.withLock { $0.courier.counts.resets } }

    /// How many connections have come so far, those refused by the script included.
    package var connectionCount: Int { shared.contents.withLock { $0.courier.counts.connections } }

    /// Makes a device token for a phone that never attaches.
    ///
    /// - Returns: the token's bytes.
    /// - Throws: ``TransportFault`` when it cannot be written down.
    package func registerPhone(
        bundleID: String, environment: PushEnvironment = .development
    ) throws(TransportFault) -> [UInt8] {
        let token = try shared.contents.withLock { contents throws(TransportFault) in
            try contents.courier.register(bundleID: bundleID, environment: environment)
        }
        return bytes(hex: token)
    }

    /// Ends a device token: pushes to it are answered 410 from now on.
    ///
    /// - Throws: ``TransportFault`` when it cannot be written down.
    package func unregisterPhone(_ token: [UInt8], atUnixMs now: Int64) throws(TransportFault) {
        try shared.contents.withLock { contents throws(TransportFault) in
            try contents.courier.unregister(hex(token), atUnixMs: now)
        }
    }
}

/// The state shared by callers and the stand-in's thread.
final class StandInShared: Sendable {
    struct Contents: ~Copyable {
        var courier: Courier
        var records: [PushRecord] = []
        var isStopping = false

        mutating func note(_ record: PushRecord) {
            // Dropped in blocks, so that a long run does not move the whole array for every push.
            if records.count >= 2 * PushStandIn.recordsMax { records.removeFirst(PushStandIn.recordsMax) }
            records.append(record)
        }
    }

    let wake: WakePipe
    let contents: Mutex<Contents>

    init(courier: sending Courier, script: [PushStandInRule], wake: WakePipe) {
        self.wake = wake
        self.contents = Mutex(Contents(courier: courier))
        contents.withLock { $0.courier.script.append(script) }
    }
}

/// Carries a value to the thread that will own it. The maker keeps no reference.
private struct HandedOver<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: sending Value) {
        self.value = value
    }
}

/// The bytes of lower-case hexadecimal digits that we wrote ourselves.
private func bytes(hex: String) -> [UInt8] {
    let digits = hex.utf8.map { $0 >= 0x61 ? $0 - 0x61 + 10 : $0 - 0x30 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
