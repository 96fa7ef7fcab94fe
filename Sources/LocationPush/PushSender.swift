internal import Synchronization
internal import Threading

/// Which APNs to talk to.
package struct PushEndpoint: Sendable {
    /// Host name or address; the server's certificate must be made out to it.
    package let host: String
    /// TCP port: 443 or 2197 at Apple.
    package let port: UInt16
    /// The service that answers there.
    package let environment: PushEnvironment
    /// PEM file of the certificates to trust; nil for the system's own, as for Apple's hosts.
    package let trustFile: String?

    /// By default, Apple's service for `environment`.
    package init(
        environment: PushEnvironment, host: String? = nil, port: UInt16 = 443, trustFile: String? = nil
    ) {
        self.environment = environment
        self.host = host ?? environment.host
        self.port = port
        self.trustFile = trustFile
    }

    /// `https://HOST` and the port when it is not 443.
    package var url: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? "https://\(name)" : "https://\(name):\(port)"
    }
}

/// Something an operator may want to know. Contains no provider token and no device token.
package enum PushDiagnostic: Sendable, Equatable, CustomStringConvertible {
    case connected(connection: Int)
    case disconnected(connection: Int, why: String)
    case notConnected(why: String, againInMs: Int64)
    /// A refusal that concerns more than one push; the queue or the topic is held.
    case held(PushReason)

    /// One line for the diagnostics.
    package var description: String {
        switch self {
        case .connected(let connection): "APNs connection \(connection) is open"
        case .disconnected(let connection, let why): "APNs connection \(connection) has ended: \(why)"
        case .notConnected(let why, let againInMs): "no APNs connection (\(why)); trying again in \(againInMs) ms"
        case .held(let reason): "APNs refused with \(reason.name); pushes are held"
        }
    }
}

/// How a sender is doing.
package struct PushSenderStatus: Sendable, Equatable {
    /// Connections that are open, among them those that only wait for their last answers.
    package var openConnections = 0
    /// Pushes that have not ended, on their way or not.
    package var outstanding = 0
    /// Pushes on their way.
    package var inFlight = 0
    /// The alarm that holds the whole queue.
    package var heldBecause: PushReason?
    /// Why there is no connection, when making one failed.
    package var connectFault: String?
}

/// Sends location pushes to one APNs service over HTTP/2, on its own thread.
///
/// It connects when the first push arrives, keeps the connection, and opens a new one if APNs asks for it or is silent.
/// If pushes wait although every connection carries as many as APNs allows, it opens another, up to a bound, and closes
/// that when it has been idle for long. A push uses the connection with the fewest pushes in flight.
///
/// Every push ends in exactly one ``PushOutcome``. A push answered with 429 or 5xx is tried again with the same
/// `apns-id` until its deadline, after growing pauses or the time in `Retry-After`, at most 24 times. After a 429,
/// nothing is sent to that device token meanwhile. A push that was lost with its connection, or not answered in time,
/// is tried up to three more times. A push that APNs certainly did not process is sent again without counting.
package final class PushSender: Sendable {
    /// The settings of a sender.
    package struct Configuration: Sendable {
        /// Which APNs to talk to.
        package var endpoint: PushEndpoint
        /// Shared by all senders of one team and key.
        package var providerTokens: ProviderTokenSource
        /// Time-outs and pauses.
        package var timing = PushTiming()
        /// Where the time is read.
        package var clock = PushClock.system
        /// Connections that may be open for new pushes at a time.
        package var connectionsMax = 4
        /// The most outstanding pushes; more end at once as `queueFull`. The service's own pushes may fill three
        /// quarters, so that pushes for people are taken even if APNs is away for long.
        package var outstandingMax = 10_000
        /// Called on the sender's thread when pushes of a kind that was refused as `queueFull` are taken again, because
        /// at least a sixteenth of ``outstandingMax`` has ended. Called once for each time that the queue was full.
        package var madeRoom: @Sendable () -> Void = {}
        /// Numbers from 0 up to but not including 1, for pauses.
        package var jitter: @Sendable () -> Double = { Double.random(in: 0..<1) }
        /// Called on the sender's thread.
        package var diagnose: @Sendable (PushDiagnostic) -> Void = { _ in }

        /// A configuration with the usual intervals and bounds.
        package init(endpoint: PushEndpoint, providerTokens: ProviderTokenSource) {
            self.endpoint = endpoint
            self.providerTokens = providerTokens
        }
    }

    private let configuration: Configuration
    private let inbox: PushInbox
    private let thread: WorkerThread
    private let isJoined = Atomic<Bool>(false)

    /// Starts the sender's thread. Nothing is connected before the first push.
    ///
    /// - Throws: ``TransportFault`` when the trusted certificates cannot be read or the system has no resources.
    package init(_ configuration: Configuration) throws(TransportFault) {
        let context = try TLSContext(trusting: configuration.endpoint.trustFile)
        let inbox = PushInbox(wake: try WakePipe())
        self.configuration = configuration
        self.inbox = inbox
        self.thread = try startThread {
            PushSenderLoop(configuration, inbox: inbox, context: context).run()
        }
    }

    deinit {
        stop(drainMs: 0)
    }

    /// Hands a push in. Returns at once.
    ///
    /// All closures are called on the sender's thread and must not block. Only the completion of a push that is refused
    /// at once (`queueFull`, `stopped`, `otherEnvironment`) is called on the caller's thread.
    ///
    /// - Parameters:
    ///   - isWanted: Called right before each try, before a push waits for a try, and by ``reconsider()``. If it returns
    ///     `false`, the push ends as `withdrawn` and nothing is sent.
    ///   - began: Called with 1, 2, 3 … right before a connection gets each try.
    ///   - attempted: Called once for each `began`, with the same number, at the end of the try; also for a push that is in
    ///     flight when its deadline comes, when it becomes unwanted or when the sender stops.
    ///   - completion: Called exactly once, after everything else.
    package func send(
        _ push: LocationPushRequest, isWanted: @escaping @Sendable () -> Bool = { true },
        began: @escaping @Sendable (_ attempt: Int) -> Void = { _ in },
        attempted: @escaping @Sendable (PushAttempt) -> Void = { _ in },
        completion: @escaping @Sendable (PushOutcome) -> Void
    ) {
        guard push.environment == configuration.endpoint.environment else {
            return completion(.failed(.otherEnvironment))
        }
        let now = configuration.clock.now()
        let submission = PushSubmission(
            push: push, deadlineMs: now.monotonicMs + (push.deadlineMs - now.unixMs), isWanted: isWanted,
            began: began, attempted: attempted, completion: completion)
        if let fault = inbox.put(submission, bound: configuration.outstandingMax) {
            completion(.failed(fault))
        }
    }

    /// Hands a push in and waits for its outcome without holding a thread.
    package func send(_ push: LocationPushRequest) async -> (outcome: PushOutcome, attempts: [PushAttempt]) {
        await withCheckedContinuation { continuation in
            let attempts = AttemptList()
            send(
                push, attempted: { attempt in attempts.append(attempt) },
                completion: { outcome in continuation.resume(returning: (outcome, attempts.all)) })
        }
    }

    /// Checks every waiting push; those that are no longer wanted end as `withdrawn`. Returns at once, on any thread.
    /// Calls in quick succession become one.
    ///
    /// Cost: one call of `isWanted` per waiting push.
    package func reconsider() {
        inbox.reconsider()
    }

    /// Which APNs it talks to.
    package var endpoint: PushEndpoint { configuration.endpoint }

    /// The number of pushes of this priority that would be taken now. Cost: a lock.
    package func room(for priority: LocationPushRequest.Priority) -> Int {
        inbox.room(for: priority, bound: configuration.outstandingMax)
    }

    /// How the sender is doing, as of the last turn of its loop.
    package var status: PushSenderStatus { inbox.status }

    /// Takes no more pushes, gives those outstanding time to end, fails the rest as `stopped`, and ends the thread.
    ///
    /// Blocks until then. May be called again; must not be called from a completion.
    ///
    /// - Parameter drainMs: milliseconds to wait for outstanding pushes.
    package func stop(drainMs: Int64 = 5_000) {
        inbox.stop(drainMs: drainMs)
        if !isJoined.exchange(true, ordering: .sequentiallyConsistent) { thread.join() }
    }

    /// As ``stop(drainMs:)``, but returns at once: several senders can drain together before each is waited for.
    package func beginStopping(drainMs: Int64 = 5_000) {
        inbox.stop(drainMs: drainMs)
    }

    private final class AttemptList: Sendable {
        private let list = Mutex<[PushAttempt]>([])
        func append(_ attempt: PushAttempt) { list.withLock { $0.append(attempt) } }
        var all: [PushAttempt] { list.withLock { $0 } }
    }
}

/// A push on its way from the caller to the sender's thread.
struct PushSubmission: Sendable {
    let push: LocationPushRequest
    /// On the monotonic clock.
    let deadlineMs: Int64
    let isWanted: @Sendable () -> Bool
    let began: @Sendable (Int) -> Void
    let attempted: @Sendable (PushAttempt) -> Void
    let completion: @Sendable (PushOutcome) -> Void
}

/// The state shared by callers and the sender's thread.
final class PushInbox: Sendable {
    private struct Contents {
        var submissions: [PushSubmission] = []
        var outstanding = 0
        /// The kinds of pushes that were refused as `queueFull` and not announced since.
        var turnedAway: Set<LocationPushRequest.Priority> = []
        var drainMs: Int64?
        var mustReconsider = false
        var status = PushSenderStatus()

        func room(for priority: LocationPushRequest.Priority, bound: Int) -> Int {
            max(0, (priority == .userAsked ? bound : bound - bound / 4) - outstanding)
        }
    }

    /// The reciprocal of the share of the room that must be free before ``Configuration/madeRoom`` is called.
    private static let roomShare = 16

    let wake: WakePipe
    private let contents = Mutex(Contents())

    init(wake: WakePipe) {
        self.wake = wake
    }

    var status: PushSenderStatus { contents.withLock { $0.status } }

    /// Why the submission was not taken, or nil.
    func put(_ submission: PushSubmission, bound: Int) -> PushFault? {
        let fault = contents.withLock { contents -> PushFault? in
            if contents.drainMs != nil { return .stopped }
            if contents.room(for: submission.push.priority, bound: bound) == 0 {
                contents.turnedAway.insert(submission.push.priority)
                return .queueFull
            }
            contents.outstanding += 1
            contents.submissions.append(submission)
            return nil
        }
        if fault == nil { wake.wake() }
        return fault
    }

    func stop(drainMs: Int64) {
        contents.withLock { contents in
            contents.drainMs = min(contents.drainMs ?? drainMs, drainMs)
        }
        wake.wake()
    }

    func reconsider() {
        let isNews = contents.withLock { contents in
            defer { contents.mustReconsider = true }
            return !contents.mustReconsider
        }
        if isNews { wake.wake() }
    }

    /// The pushes since the last call, whether waiting ones are to be checked, and whether the sender is to stop.
    func take() -> (submissions: [PushSubmission], mustReconsider: Bool, drainMs: Int64?) {
        contents.withLock { contents in
            defer {
                contents.submissions = []
                contents.mustReconsider = false
            }
            return (contents.submissions, contents.mustReconsider, contents.drainMs)
        }
    }

    func room(for priority: LocationPushRequest.Priority, bound: Int) -> Int {
        contents.withLock { $0.drainMs == nil ? $0.room(for: priority, bound: bound) : 0 }
    }

    /// Notes that a push has ended.
    ///
    /// - Returns: Whether there is room again for pushes that were refused.
    func noteEnded(bound: Int) -> Bool {
        contents.withLock { contents in
            contents.outstanding -= 1
            guard !contents.turnedAway.isEmpty, contents.drainMs == nil else { return false }
            let invited = contents.turnedAway.filter { priority in
                contents.room(for: priority, bound: bound) >= max(1, bound / Self.roomShare)
            }
            contents.turnedAway.subtract(invited)
            return !invited.isEmpty
        }
    }

    func note(_ status: PushSenderStatus) {
        contents.withLock { $0.status = status }
    }
}
