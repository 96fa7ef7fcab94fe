import Glibc
import LocationPush
import PushStandIn
import Synchronization
import TestSupport
import Testing

/// A stand-in with its own folder and one registered phone.
final class Scene: Sendable {
    static let bundleID = "org.example.whereabouts"
    /// Milliseconds that no test should need, on any machine.
    static let generousMs: Int64 = 900_000

    let folder: TemporaryFolder
    var directory: String { folder.path }
    let standIn: PushStandIn
    let phone: [UInt8]
    let senderClock = SettableClock()
    let standInClock = SettableClock()

    init(folder: TemporaryFolder = TemporaryFolder(), bundleIDs: Set<String>? = nil, streamsMax: Int = 1000) throws {
        self.folder = folder
        var configuration = PushStandIn.Configuration(directory: folder.path)
        configuration.clock = standInClock.clock
        configuration.bundleIDs = bundleIDs
        configuration.streamsMax = streamsMax
        self.standIn = try PushStandIn(configuration)
        self.phone = try standIn.registerPhone(bundleID: Self.bundleID)
    }

    /// A sender to the stand-in, with pauses short enough for tests.
    func sender(_ change: (inout PushSender.Configuration) -> Void = { _ in }) throws -> PushSender {
        let tokens = ProviderTokenSource(key: try standIn.credentials.providerTokenKey(), clock: senderClock.clock)
        var configuration = PushSender.Configuration(endpoint: standIn.endpoint(), providerTokens: tokens)
        configuration.clock = senderClock.clock
        configuration.timing.retryMs = [1, 1, 1]
        configuration.timing.reconnectMs = 1
        // The real clock counts these. A busy machine must not seem a silent peer; tests of silence set their own.
        configuration.timing.connectMs = Self.generousMs
        configuration.timing.settingsMs = Self.generousMs
        configuration.timing.requestMs = Self.generousMs
        configuration.timing.pingAfterSilenceMs = Self.generousMs
        configuration.timing.pingAnswerMs = Self.generousMs
        change(&configuration)
        return try PushSender(configuration)
    }

    func push(
        to device: [UInt8]? = nil, id: String = uuid(), priority: LocationPushRequest.Priority = .userAsked,
        expirationSeconds: Int64 = 0, collapseID: String? = nil, environment: PushEnvironment = .development,
        bundleID: String = Scene.bundleID, payload: String = #"{"aps":{},"query":"q"}"#,
        withinMs: Int64 = Scene.generousMs
    ) throws -> LocationPushRequest {
        try LocationPushRequest(
            deviceToken: device ?? phone, bundleID: bundleID, environment: environment, priority: priority,
            expirationSeconds: expirationSeconds, apnsID: id, collapseID: collapseID, payload: Array(payload.utf8),
            deadlineMs: senderClock.clock.now().unixMs + withinMs)
    }

    /// Sends pushes until one has begun a try before its deadline and has ended at it. Each has twice the time of the one
    /// before, because how soon a try begins depends on the machine.
    func pushThatIsLate(over sender: PushSender) throws -> WatchedPush {
        var withinMs: Int64 = 500
        while true {
            let push = try watched(withinMs: withinMs).go(over: sender)
            _ = push.end()
            if !push.attempts.isEmpty || withinMs > 60_000 { return push }
            withinMs *= 2
        }
    }

    /// Sends pushes until one ends as unreachable for a reason that contains `words`, each with twice the time of the one
    /// before: the first may end before a connection has been tried.
    func pushThatIsUnreachable(
        over sender: PushSender, saying words: String
    ) async throws -> (outcome: PushOutcome, attempts: [PushAttempt]) {
        var withinMs: Int64 = 1000
        while true {
            let (outcome, attempts) = await sender.send(try push(withinMs: withinMs))
            if case .failed(.unreachable(let why)) = outcome, why.contains(words) { return (outcome, attempts) }
            if withinMs > 30_000 { return (outcome, attempts) }
            withinMs *= 2
        }
    }

    /// Ends the stand-in.
    func close() { standIn.stop() }
}

/// The system's clocks, moved on by a chosen span.
final class SettableClock: Sendable {
    private let aheadMs = Mutex<Int64>(0)
    private let setOnMs = Mutex<Int64>(0)

    /// Sets the wall clock forward or back, as an administrator does. The monotonic clock does not change.
    func set(onByMinutes minutes: Int64) { setOnMs.withLock { $0 += minutes * 60_000 } }
    func moveAhead(minutes: Int64) { moveAhead(seconds: minutes * 60) }
    func moveAhead(seconds: Int64) { aheadMs.withLock { $0 += seconds * 1000 } }

    var clock: PushClock {
        PushClock { [self] in
            let now = PushClock.system.now()
            let ahead = aheadMs.withLock { $0 }
            let setOn = setOnMs.withLock { $0 }
            return PushTime(unixMs: now.unixMs + ahead + setOn, monotonicMs: now.monotonicMs + ahead)
        }
    }
}

func uuid() -> String {
    let digits = (0..<32).map { _ in "0123456789abcdef".randomElement()! }
    let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
    return groups.map { String($0) }.joined(separator: "-")
}
