import Cryptography
import Glibc
import HTTPServer
import JSON
import PushStandIn
import Replies
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Projections
@testable import Reactors
@testable import Service
@testable import Tables

/// A whole service on a temporary directory, called in process or over a socket, with a clock that the test moves.
///
/// Blocks the calling thread while it waits; the service works on its own threads.
final class ServiceUnderTest: Sendable {
    private let folder = TemporaryFolder()
    var directory: String { folder.path }
    let clock: HouseClock
    private let configuration: ServiceConfiguration
    private let gazetteerPath: String?
    private let running = Mutex<Service?>(nil)
    private let port = Mutex<Int>(0)

    /// - Parameter standIn: where pushes go; none are sent without it.
    convenience init(clock: HouseClock = .standing, standIn: PushStandIn? = nil) throws {
        try self.init(clock: clock, push: standIn.map { [Self.push(over: $0)] } ?? [])
    }

    /// - Parameter clock: goes with the system's when pushes are to end by more than their deadline.
    convenience init(clock: HouseClock, push: [ServiceConfiguration.Push]) throws {
        try self.init(clock: clock) { $0.push = push }
    }

    /// - Parameters:
    ///   - gazetteer: the file of places; `nil` for a service without names and time zones.
    ///   - configure: changes the settings of `config.json`.
    init(
        clock: HouseClock = .standing, gazetteer: String? = ServiceUnderTest.gazetteer,
        configure: (inout ServiceConfiguration) -> Void
    ) throws {
        (self.clock, gazetteerPath) = (clock, gazetteer)
        var configuration = ServiceConfiguration()
        configure(&configuration)
        self.configuration = configuration
        try start()
    }

    /// Settings as in `config.json` for apps whose pushes go to a stand-in.
    static func push(
        over standIn: PushStandIn, bundleIDs: [String] = [bundleID], environment: PushEnvironment = .development
    ) -> ServiceConfiguration.Push {
        ServiceConfiguration.Push(
            host: "localhost", port: Int64(standIn.port), caFile: standIn.credentials.trustFile,
            teamID: standIn.credentials.teamID, keyID: standIn.credentials.keyID,
            keyFile: standIn.credentials.providerKeyFile, bundleIDs: bundleIDs, environment: environment)
    }

    deinit {
        running.withLock { $0 }?.stop()
    }

    static let bundleID = "org.example.whereabouts"

    /// The names and bytes of a gazetteer made from public data (`data/README.md`).
    static let gazetteer = "\(Repository.root)/data/places.gazetteer"

    var service: Service {
        guard let service = running.withLock({ $0 }) else { preconditionFailure("The service was stopped.") }
        return service
    }

    /// `nil` while the service is stopped.
    var runningService: Service? { running.withLock { $0 } }

    func start() throws {
        let clock = self.clock
        let service = try Service(
            directory: try DataDirectory(path: directory), configuration: configuration, gazetteerPath: gazetteerPath,
            clock: { clock.now }, steady: { clock.steady })
        running.withLock { $0 = service }
    }

    func stop() {
        let service = running.withLock { service in
            defer { service = nil }
            return service
        }
        service?.stop()
    }

    /// Stops, lets `body` at the files, starts again.
    func restart(_ body: () throws -> Void = {}) throws {
        stop()
        try body()
        try start()
        if port.withLock({ $0 }) > 0 { _ = try listen() }
    }

    /// Listens on a port of the loopback address, after a restart the same one again.
    ///
    /// - Parameter wanted: the port; 0 lets the system choose.
    @discardableResult
    func listen(at wanted: Int = 0) throws -> Int {
        try port.withLock { port in
            if port == 0 { port = wanted }
            port = try service.listen(host: "127.0.0.1", port: port)
            return port
        }
    }

    var operatorToken: String { service.adminToken }

    // MARK: Asking

    /// Asks without a socket.
    ///
    /// - Parameter target: path and query as in a URL; nothing is escaped. Numbers of the log in it are written as
    ///   the operator sees them; a person's request carries the person's references for them (``named(_:for:)``).
    @discardableResult
    func send(
        _ method: String, _ target: String, as token: String?, _ body: String = "", headers: [(String, String)] = []
    ) -> Answer {
        if method == "GET", target.hasPrefix("/v1/people/"), !target.contains("at-least=") { rest() }
        let given = Monitor<HTTPResponse?>(nil)
        send(method, target, as: token, body, headers: headers) { response in given.change { $0 = response } }
        guard let response = given.wait(milliseconds: patienceMilliseconds, for: { $0 }) else {
            waitedInVain(for: "the answer to \(method) \(target)")
        }
        return Answer(response)
    }

    /// Waits until the projections have folded what is in the log, so that a read that names no number shows the test's
    /// own writes on a slow machine too. Where a test holds a projection still, it goes on after three seconds.
    private func rest() {
        _ = service.host.wait(for: service.log.head, in: ProjectionKind.all.map(\.name), milliseconds: 3000)
    }

    func send(
        _ method: String, _ target: String, as token: String?, _ body: String = "", headers: [(String, String)] = [],
        respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let parts = named(target, for: token).split(separator: "?", maxSplits: 1)
        let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1)
            return (name: String(sides[0]), value: sides.count > 1 ? String(sides[1]) : "")
        }
        service.handle(
            HTTPRequest(
                method: method, path: String(parts[0]), query: query,
                headers: headers + (token.map { [("Authorization", "Bearer \($0)")] } ?? []), body: Array(body.utf8)),
            respond: respond)
    }

    /// The target with each number of the log as the holder of the token names it.
    func named(_ target: String, for token: String?) -> String {
        guard let references = token.flatMap(references(of:)), !references.isPlain else { return target }
        var parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let kinds: [String: References.Kind] = [
            "grants": .grant, "links": .link, "invitations": .invitation, "account-invitations": .accountInvitation,
            "tokens": .token,
            "webhooks": .webhook, "dead-letters": .deadLetter, "corrections": .correction, "schedules": .schedule,
            "track": .event,
        ]
        parts[0] = path.indices.map { index in
            guard index > 0, let kind = kinds[path[index - 1]], let number = Int64(path[index]) else {
                return path[index]
            }
            return references.name(number, kind).text
        }.joined(separator: "/")
        if parts.count > 1 {
            parts[1] = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { pair in
                guard pair.hasPrefix("at-least="), let number = Int64(pair.dropFirst(9)) else { return String(pair) }
                return "at-least=\(references.event(number).text)"
            }.joined(separator: "&")
        }
        return parts.joined(separator: "?")
    }

    /// The log's number for a value in an answer to the operator or to a person.
    func number(_ value: JSONValue?, _ kind: References.Kind = .event, of person: String = "walker") -> Int64? {
        if let number = value?.int { return number }
        guard let text = value?.string, let references = references(ofPerson: person) else { return nil }
        return kind == .event ? references.place(text) : references.number(text, kind)
    }

    /// How numbers look to a person.
    func references(ofPerson handle: String) -> References? {
        let person = Handle(handle).flatMap { handle in service.log.withStanding { $0.person(handle) } }
        return person.map { service.decisions.references(of: $0) }
    }

    /// How numbers look to the holder of a token; `nil` for a text that is none.
    func references(of token: String) -> References? {
        let hash = Hash256(SHA256().hash(Array(token.utf8)))
        let caller = service.log.withStanding { $0.caller(tokenHash: hash, at: clock.now) }
        return caller.map { service.decisions.references(for: $0) }
    }

    /// Asks as the operator and expects success.
    @discardableResult
    func manage(
        _ method: String, _ target: String, _ body: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) -> Answer {
        let answer = send(method, target, as: operatorToken, body)
        #expect(
            (200..<300).contains(answer.status), "\(method) \(target): \(answer.text)", sourceLocation: sourceLocation)
        return answer
    }

    // MARK: Making

    /// A person, and the person's token with all possible scopes.
    func addPerson(_ handle: String) throws -> String {
        manage("POST", "/v1/people", #"{"handle":"\#(handle)"}"#)
        return try token(of: handle)
    }

    func token(of handle: String, scopes: String = #"["query","audit","manage"]"#) throws -> String {
        try #require(manage("POST", "/v1/people/\(handle)/tokens", #"{"scopes":\#(scopes)}"#)["token"]?.string)
    }

    /// A device, and its reporting key.
    func addDevice(_ handle: String, of person: String) throws -> String {
        try #require(manage("POST", "/v1/people/\(person)/devices", #"{"handle":"\#(handle)"}"#)["password"]?.string)
    }

    @discardableResult
    func grant(
        _ subject: String, to requester: String, precision: String = "exact", history: Bool = false, more: String = ""
    ) throws -> Int64 {
        try #require(
            manage(
                "POST", "/v1/people/\(subject)/grants",
                #"{"requester":"\#(requester)","precision":"\#(precision)","history":\#(history)\#(more)}"#)["id"]?.int)
    }

    // MARK: Looking

    /// Opened events of the log after `number`, read as the log's own reader does.
    func events(after number: Int64 = 0) throws -> [RecordedEvent] {
        let reader = try service.log.reader()
        var events: [RecordedEvent] = []
        while true {
            let page = try reader.events(after: events.last?.number ?? number, limit: 1000)
            if page.isEmpty { return events }
            events += page.map(\.event)
        }
    }

    /// The active generation of each projection, once all are at the head of the log.
    func settled() -> [String: ProjectionHost.Status] {
        let head = service.log.head
        let isThere = service.host.wait(
            for: head, in: ProjectionKind.all.map(\.name), milliseconds: patienceMilliseconds)
        #expect(isThere, "A projection does not reach the head.")
        let active = service.host.status.filter { $0.generation.role == .active }
        return Dictionary(active.map { ($0.generation.name, $0) }) { first, _ in first }
    }

    func fingerprints() -> [String: Fingerprint] { settled().mapValues(\.fingerprint) }
}

/// The service's answer.
struct Answer {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    init(_ response: HTTPResponse) {
        (status, headers, body) = (response.status, response.headers, response.body)
    }

    init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { try? JSONDocument.parse(body).root }
    var items: [JSONValue] { json?["items"]?.array.map { Array($0) } ?? [] }
    subscript(_ member: String) -> JSONValue? { json?[member] }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// Everything by which a caller could distinguish two answers, except the parts that differ by design.
    var observable: String {
        let own: Set<String> = ["whereabouts-request", "date"]
        let fields = headers.filter { !own.contains($0.name.lowercased()) }.map { name, value in
            // A receipt is a commitment that the caller cannot open, and its signature.
            "\(name): \(name == Receipts.header ? "\(value.count) characters" : value)"
        }
        return "\(status)\n\(fields.joined(separator: "\n"))\n\n\(text)"
    }
}

extension JSONValue {
    /// The identifier in an answer: the operator's number or a person's reference.
    var name: String? { string ?? int.map { "\($0)" } }
}

/// The time of the house as a test sets it.
final class HouseClock: Sendable {
    /// `wasSet` is the distance by which the clock was set, without elapsed time, in milliseconds.
    private let state: Mutex<(base: Int64, wasSet: Int64, isRunning: Bool)>

    private init(base: Int64, isRunning: Bool) { state = Mutex((base, 0, isRunning)) }

    /// Stays at 2026-05-04T08:00:00Z until it is moved.
    static var standing: HouseClock { HouseClock(base: 1_777_881_600_000, isRunning: false) }

    /// Goes with the system's clock, from which it can be moved away.
    static var running: HouseClock { HouseClock(base: 0, isRunning: true) }

    var now: Timestamp {
        Timestamp(milliseconds: steady + state.withLock { $0.wasSet })
    }

    /// Milliseconds of elapsed time, as a clock shows that is never set.
    var steady: Int64 {
        let (base, _, isRunning) = state.withLock { $0 }
        return base + (isRunning ? Timestamp.now.milliseconds : 0)
    }

    /// Unix seconds, whole.
    var seconds: Int64 { now.milliseconds / 1000 }

    func advance(seconds: Int64) { state.withLock { $0.base += seconds * 1000 } }
    /// Sets the clock, forward or back; no time passes.
    func step(seconds: Int64) { state.withLock { $0.wasSet += seconds * 1000 } }
    func set(_ time: Timestamp) { state.withLock { $0.base = time.milliseconds } }
}

extension RouteTable {
    /// The routes of a service, to look at their descriptions.
    static let all: RouteTable = {
        do { return try ServiceUnderTest().service.door.routes } catch { preconditionFailure("\(error)") }
    }()
}
