import Glibc
import LocationPush
import PushStandIn
import Synchronization
import TestSupport

/// A stand-in on a folder of its own, with one phone registered.
final class Scene: Sendable {
    static let bundleID = "org.example.whereabouts"

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
        change(&configuration)
        return try PushSender(configuration)
    }

    func push(
        to device: [UInt8]? = nil, id: String = uuid(), priority: LocationPushRequest.Priority = .userAsked,
        expirationSeconds: Int64 = 0, collapseID: String? = nil, environment: PushEnvironment = .development,
        bundleID: String = Scene.bundleID, payload: String = #"{"aps":{},"query":"q"}"#, withinMs: Int64 = 60_000
    ) throws -> LocationPushRequest {
        try LocationPushRequest(
            deviceToken: device ?? phone, bundleID: bundleID, environment: environment, priority: priority,
            expirationSeconds: expirationSeconds, apnsID: id, collapseID: collapseID, payload: Array(payload.utf8),
            deadlineMs: senderClock.clock.now().unixMs + withinMs)
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
