import Glibc
import HTTPServer
import JSON
import LocationPush
import Log
import PushStandIn
import Reactors
import Service
import Synchronization
import Whereabouts

/// Pushes over one connection to a server that accepts everything, so many at a time: the sender alone.
struct PushBench {
    private let port: UInt16
    private let directory: String
    private let pushes: Int
    private let inFlight: Int

    init(_ options: Options) throws {
        port = UInt16(try options.number("port", default: 0))
        directory = try options.text("dir")
        pushes = try options.number("pushes", default: 100_000)
        inFlight = try options.number("in-flight", default: 100)
    }

    func run() throws {
        let credentials = try PushStandInCredentials.make(in: directory)
        var configuration = PushSender.Configuration(
            endpoint: PushEndpoint(
                environment: .development, host: "localhost", port: port, trustFile: credentials.trustFile),
            providerTokens: ProviderTokenSource(key: try credentials.providerTokenKey()))
        configuration.connectionsMax = 1
        let relay = Relay(sender: try PushSender(configuration), pushes: pushes)
        // The connection is there before the clock starts, as with the others.
        relay.run(1, inFlight: 1)
        let (begun, cpu) = (nanoseconds(), usedMicroseconds())
        relay.run(pushes, inFlight: inFlight)
        PushFigures(pushes: pushes, nanoseconds: nanoseconds() - begun, cpu: usedMicroseconds() - cpu).show()
        relay.sender.stop()
    }
}

/// Makes the keys and certificates that all senders use, and prints where they are and a provider token.
enum PushCredentials {
    static func run(_ options: Options) throws {
        let credentials = try PushStandInCredentials.make(in: try options.text("dir"))
        let now = PushClock.system.now().unixMs / 1000
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("keyFile", credentials.providerKeyFile)
        writer.field("keyID", credentials.keyID)
        writer.field("teamID", credentials.teamID)
        writer.field("providerToken", try credentials.providerTokenKey().sign(issuedAtSeconds: now))
        writer.endObject()
        printLine(writer.bytes)
    }
}

/// The printed figures of a push benchmark.
struct PushFigures {
    let pushes: Int
    let nanoseconds: Int64
    /// Microseconds of processor time.
    let cpu: Int64

    func show() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("pushes", pushes)
        writer.field("pushesPerSecond", Int(Double(pushes) / (Double(nanoseconds) / 1e9)))
        writer.field("cpuMicroseconds", Double(cpu * 100 / Int64(pushes)) / 100)
        writer.endObject()
        printLine(writer.bytes)
    }
}

/// Microseconds of processor time this process has used.
func usedMicroseconds() -> Int64 {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return Int64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
        + Int64(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
}

/// Keeps pushes in flight: each that ends sends the next.
private final class Relay: Sendable {
    let sender: PushSender
    private let next = Atomic<Int>(0)
    private let left = Atomic<Int>(0)
    private let wanted = Atomic<Int>(0)
    private let done = WakePipe.made()
    private let deadlineMs = PushClock.system.now().unixMs + 3_600_000

    init(sender: PushSender, pushes: Int) {
        self.sender = sender
    }

    func run(_ count: Int, inFlight: Int) {
        next.store(0, ordering: .relaxed)
        wanted.store(count, ordering: .relaxed)
        left.store(count, ordering: .relaxed)
        for _ in 0..<min(inFlight, count) { sendNext() }
        var polled = pollfd(fd: done.descriptor, events: Int16(POLLIN), revents: 0)
        while left.load(ordering: .acquiring) > 0 { poll(&polled, 1, 1000) }
        done.drain()
    }

    private func sendNext() {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard number < wanted.load(ordering: .relaxed) else { return }
        sender.send(Self.push(number, deadlineMs: deadlineMs)) { [self] outcome in
            guard case .accepted = outcome else { preconditionFailure("A push was not accepted: \(outcome)") }
            sendNext()
            if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.wake() }
        }
    }

    private static let token = [UInt8]((0..<32).map { UInt8($0 % 16 * 17) })
    private static let payload = Array(#"{"aps":{},"query":"6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03"}"#.utf8)

    /// A push with an id that no other has.
    private static func push(_ number: Int, deadlineMs: Int64) -> LocationPushRequest {
        let id = Identifier128(random: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, UInt64(number))
        guard
            let push = try? LocationPushRequest(
                deviceToken: token, bundleID: "org.example.app", environment: .development, priority: .userAsked,
                expirationSeconds: deadlineMs / 1000, apnsID: id.description, collapseID: "device-3", payload: payload,
                deadlineMs: deadlineMs)
        else { preconditionFailure("The push keeps the rules.") }
        return push
    }
}

extension WakePipe {
    fileprivate static func made() -> WakePipe {
        guard let pipe = try? WakePipe() else { preconditionFailure("There are descriptors left.") }
        return pipe
    }
}

/// The same pushes through the whole service: each is a query, the decision to push, the push and its outcome; every
/// event is durable before its consequences.
struct PushEventsBench {
    private let port: Int64
    private let directory: String
    private let pushes: Int

    init(_ options: Options) throws {
        port = Int64(try options.number("port", default: 0))
        directory = try options.text("dir")
        pushes = try options.number("pushes", default: 5000)
    }

    func run() throws {
        let credentials = try PushStandInCredentials.make(in: directory)
        var configuration = ServiceConfiguration()
        configuration.push = [
            ServiceConfiguration.Push(
                host: "localhost", port: port, caFile: credentials.trustFile, teamID: credentials.teamID,
                keyID: credentials.keyID, keyFile: credentials.providerKeyFile, bundleIDs: ["org.example.app"],
                environment: .development)
        ]
        let service = try Service(
            directory: try DataDirectory(path: directory + "/data"), configuration: configuration, gazetteerPath: nil)
        defer { service.stop() }
        let house = InProcess(service: service)
        house.all(pushes) { index in ("POST", "/v1/people", #"{"handle":"person-\#(index)"}"#) }
        let keys = house.all(pushes) { index in
            ("POST", "/v1/people/person-\(index)/devices", #"{"handle":"phone-\#(index)"}"#)
        }.map { $0["password"]?.string ?? "" }
        house.all(pushes, tokens: keys) { index in
            (
                "PUT", "/v1/devices/phone-\(index)/location-push-token",
                #"{"hex":"\#(hex(Array("phone-\(index)".utf8)))","environment":"development","bundleID":"org.example.app"}"#
            )
        }
        // One push to have the connection.
        house.all(1) { _ in ("POST", "/v1/devices/phone-0/push-tests", "{}") }
        let head = house.head
        let (begun, cpu) = (nanoseconds(), usedMicroseconds())
        house.all(pushes) { index in
            ("POST", "/v1/people/person-\(index)/location-queries", #"{"purpose":"bench","deadlineSeconds":600}"#)
        }
        // The question, the start and the end of the push; the first phone was woken by the test just now.
        while house.head < head + Int64(3 * pushes) - 1 { usleep(5000) }
        let figures = PushFigures(pushes: pushes, nanoseconds: nanoseconds() - begun, cpu: usedMicroseconds() - cpu)
        expectAccepted(pushes - 1, house, after: head)
        figures.show()
    }

    /// Checks in the log that this many queries had their pushes answered with 200 and that no try had another answer,
    /// because figures of failing pushes are meaningless.
    private func expectAccepted(_ count: Int, _ house: InProcess, after head: Int64) {
        var accepted: Set<String> = []
        var place: String? = String(head)
        while let after = place {
            let query = [("kind", "locationPushAttempted"), ("limit", "1000"), ("after", after)]
            guard let page = house.all(1, query: query, { _ in ("GET", "/v1/events", "") }).first else { break }
            guard let items = page["items"]?.array else { break }
            for item in items {
                let status = item["content"]?["status"]?.int
                precondition(status == 200, "A push was answered \(status.map { "\($0)" } ?? "not at all").")
                if let query = item["content"]?["query"]?.string { accepted.insert(query) }
            }
            place = page["next"]?.string
        }
        precondition(accepted.count >= count, "Of \(count) pushes \(accepted.count) were accepted.")
    }
}

/// A service asked without a socket, some requests at a time.
private struct InProcess {
    let service: Service
    private static let atOnce = 64

    var head: Int64 {
        all(1) { _ in ("GET", "/v1/projections", "") }.first?["items"]?.array?.compactMap { $0["head"]?.int }.max() ?? 0
    }

    @discardableResult
    func all(
        _ count: Int, tokens: [String]? = nil, query: [(name: String, value: String)] = [],
        _ request: (Int) -> (method: String, path: String, body: String)
    ) -> [JSONValue] {
        let answers = Mutex([JSONValue?](repeating: nil, count: count))
        let underWay = DispatchLimit(Self.atOnce)
        for index in 0..<count {
            let (method, path, body) = request(index)
            underWay.enter()
            service.handle(
                HTTPRequest(
                    method: method, path: path, query: query,
                    headers: [("Authorization", "Bearer \(tokens?[index] ?? service.adminToken)")],
                    body: Array(body.utf8))
            ) { response in
                guard (200..<300).contains(response.status), let root = try? JSONDocument.parse(response.body).root
                else { preconditionFailure("\(path): \(String(decoding: response.body, as: UTF8.self))") }
                answers.withLock { $0[index] = root }
                underWay.leave()
            }
        }
        underWay.waitForAll()
        return answers.withLock { $0.compactMap { $0 } }
    }
}

/// Lets so many in at a time.
private final class DispatchLimit: @unchecked Sendable {
    // The semaphore is made before anyone else can see the object and is POSIX's own for many threads.
    private let free: UnsafeMutablePointer<sem_t>
    private let limit: Int

    init(_ limit: Int) {
        self.limit = limit
        free = .allocate(capacity: 1)
        sem_init(free, 0, UInt32(limit))
    }

    deinit {
        sem_destroy(free)
        free.deallocate()
    }

    func enter() { while sem_wait(free) != 0 {} }
    func leave() { sem_post(free) }
    func waitForAll() { for _ in 0..<limit { enter() } }
}
