import Glibc
import LocationPush
import PushStandIn
import Synchronization

/// A stand-in on a folder of its own, with one phone registered.
final class Scene: Sendable {
    static let bundleID = "org.example.whereabouts"

    let directory: String
    let standIn: PushStandIn
    let phone: [UInt8]
    let senderClock = SettableClock()
    let standInClock = SettableClock()

    init(directory: String? = nil, bundleIDs: Set<String>? = nil, streamsMax: Int = 1000) throws {
        self.directory = try directory ?? Scene.temporaryFolder()
        var configuration = PushStandIn.Configuration(directory: self.directory)
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

    static func temporaryFolder() throws -> String {
        var template = Array("/tmp/push-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TransportFault(call: "mkdtemp") }
        return String(cString: made)
    }

    /// Ends the stand-in and removes its folder.
    func close() {
        standIn.stop()
        for name in ["ca.pem", "server.pem", "server-key.pem", "provider.json", "phones.jsonl"] {
            unlink("\(directory)/\(name)")
        }
        unlink(standIn.credentials.providerKeyFile)
        rmdir(directory)
    }
}

/// The system's clocks, moved on by a chosen span.
final class SettableClock: Sendable {
    private let aheadMs = Mutex<Int64>(0)

    func moveAhead(minutes: Int64) { aheadMs.withLock { $0 += minutes * 60_000 } }

    var clock: PushClock {
        PushClock { [self] in
            let now = PushClock.system.now()
            let ahead = aheadMs.withLock { $0 }
            return PushTime(unixMs: now.unixMs + ahead, monotonicMs: now.monotonicMs + ahead)
        }
    }
}

func uuid() -> String {
    let digits = (0..<32).map { _ in "0123456789abcdef".randomElement()! }
    let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
    return groups.map { String($0) }.joined(separator: "-")
}

/// A second opinion: a program of someone else's, run to its end.
enum Foreign {
    /// The python of `WHEREABOUTS_PYTHON`, when it has the module.
    static func python(with module: String) -> String? {
        guard let path = getenv("WHEREABOUTS_PYTHON") else { return nil }
        let python = String(cString: path)
        return run("'\(python)' -c 'import \(module)' 2>&1").status == 0 ? python : nil
    }

    static func has(_ program: String) -> Bool {
        run("command -v \(program)").status == 0
    }

    static func run(_ command: String) -> (status: Int32, output: String) {
        guard let pipe = popen(command, "r") else { return (-1, "") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&piece, 1, piece.count, pipe), count > 0 {
            bytes.append(contentsOf: piece[..<count])
        }
        let status = pclose(pipe)
        return (status, String(decoding: bytes, as: UTF8.self))
    }

    /// The scripts beside the tests.
    static func script(_ name: String) -> String {
        let here = #filePath
        let tests = here.split(separator: "/").dropLast(2).joined(separator: "/")
        return "/\(tests)/Conformance/\(name)"
    }
}
