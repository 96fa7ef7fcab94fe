import Glibc
import LocationPush
import PushStandIn
import Synchronization
import TestSupport
import Testing

/// Many pushes with a failing network or APNs: no push is lost or hangs, and only pushes that were unanswered when
/// their connection or stream was reset are sent twice.
@Suite struct PushFaultTests {
    /// Pushes of one run: few by default, many with `WHEREABOUTS_LONG=1`.
    static let count = isLongForm ? 5000 : 300

    /// The permitted effects of a scripted fault.
    struct Trouble: Sendable, CustomTestStringConvertible {
        let name: String
        let rules: [PushStandInRule]
        /// Whether some tries may end without an answer to the question whether APNs accepted the push.
        var leavesUnknown = false
        /// Connections made by the end; nil when chance decides.
        var connections: Int?
        /// Whether the server falls silent. Only then is silence taken for a fault soon: a busy machine makes pauses
        /// too.
        var isSilence = false

        var testDescription: String { name }
    }

    static let troubles: [Trouble] = [
        Trouble(name: "none", rules: [], connections: 1),
        Trouble(
            name: "GOAWAY with 20 unprocessed",
            rules: [PushStandInRule(.goAwayBefore(reason: "Shutdown", unprocessed: 20), skip: 60)], connections: 2),
        Trouble(
            name: "GOAWAY that includes the push",
            rules: [PushStandInRule(.goAwayAfter(reason: ""), skip: 60, times: 3)], connections: nil),
        Trouble(
            name: "2 % REFUSED_STREAM", rules: [PushStandInRule(.reset(errorCode: 7), times: nil, share: 0.02)],
            connections: 1),
        Trouble(
            name: "the limit of streams goes 1, 1000, 1, 1000",
            rules: [
                PushStandInRule(.maxConcurrentStreams(1), skip: 60),
                PushStandInRule(.maxConcurrentStreams(1000), skip: 150),
            ], connections: 1),
        Trouble(
            name: "2 % reset before acceptance",
            rules: [PushStandInRule(.reset(errorCode: 2), times: nil, share: 0.02)], leavesUnknown: true,
            connections: 1),
        Trouble(
            name: "2 % reset after acceptance",
            rules: [PushStandInRule(.resetAfterAcceptance(errorCode: 2), times: nil, share: 0.02)],
            leavesUnknown: true, connections: 1),
        Trouble(
            name: "connections cut", rules: [PushStandInRule(.close, skip: 60), PushStandInRule(.close, skip: 90)],
            leavesUnknown: true),
        Trouble(
            name: "a connection cut after acceptance",
            rules: [PushStandInRule(.closeAfterAcceptance, skip: 60)], leavesUnknown: true),
        Trouble(
            name: "a black hole", rules: [PushStandInRule(.blackHole, skip: 60)], leavesUnknown: true,
            isSilence: true),
        Trouble(
            name: "three refused connects and one that stays silent",
            rules: [PushStandInRule(.refuseConnection, times: 3), PushStandInRule(.silentConnection)],
            leavesUnknown: true, isSilence: true),
        Trouble(
            name: "429 with Retry-After",
            rules: [
                PushStandInRule(
                    .answer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 1), skip: 60, times: 5)
            ], connections: 1),
        Trouble(
            name: "503 with Retry-After",
            rules: [
                PushStandInRule(
                    .answer(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 1), skip: 60, times: 5)
            ]),
        Trouble(name: "slow answers", rules: [PushStandInRule(.delay(ms: 20), times: nil, share: 0.5)], connections: 1),
    ]

    @Test(arguments: troubles)
    func `every push is accepted, and the server's log is the sender's by id and try`(trouble: Trouble) async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script(trouble.rules)
        let sender = try scene.sender {
            $0.timing.retryMs = [1, 1, 1, 1, 1, 1]
            $0.timing.pingAfterSilenceMs = trouble.isSilence ? 200 : 30_000
            $0.timing.pingAnswerMs = trouble.isSilence ? 200 : 30_000
            $0.timing.settingsMs = trouble.isSilence ? 500 : 30_000
            $0.timing.connectMs = trouble.isSilence ? 500 : 30_000
            // One connection unless the trouble takes it away.
            $0.timing.connectWhenFullMs = 600_000
        }
        let ended = try await scene.push(Self.count, over: sender, inFlight: 100)
        // Before the sender says goodbye to its connections.
        let resets = scene.standIn.resetsReceived
        sender.stop()
        let server = scene.standIn
        #expect(ended.count == Self.count)
        #expect(ended.allSatisfy { if case .accepted = $0.outcome { true } else { false } })
        #expect(resets == 0, "a good sender resets no stream")
        if let connections = trouble.connections { #expect(server.connectionCount == connections) }
        let unknown = ended.reduce(0) { $0 + $1.unknownTries }
        if !trouble.leavesUnknown { #expect(unknown == 0) }
        // Accepted more than once are only those whose answer was lost, at most once for each such answer.
        #expect((Self.count...Self.count + unknown).contains(server.acceptedCount))
        expectAgreement(ended, server.pushes)
        #expect(ended.allSatisfy { $0.attempts.map(\.number) == Array(1...$0.attempts.count) })
    }

    @Test func `an expired provider token with 100 on their way is renewed exactly once`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let tokens = ProviderTokenSource(
            key: try scene.standIn.credentials.providerTokenKey(), clock: scene.senderClock.clock)
        let sender = try scene.sender { $0.providerTokens = tokens }
        _ = await sender.send(try scene.push())
        // The sender's clock says that its token is 30 minutes old, the server's says 70.
        scene.senderClock.moveAhead(minutes: 30)
        scene.standInClock.moveAhead(minutes: 70)
        let ended = try await scene.push(100, over: sender, inFlight: 100)
        sender.stop()
        #expect(scene.standIn.acceptedCount == 101)
        #expect(ended.allSatisfy { $0.attempts.count <= 2 })
        #expect(ended.contains { $0.attempts.count == 2 })
        #expect(try tokens.current().number == 2)
        expectAgreement(ended, Array(scene.standIn.pushes.dropFirst()))
    }

    /// No server listens on the port until the system has refused the third connect.
    @Test func `three refused connects are waited out, each longer than the one before`() async throws {
        let scene = try Scene()
        let port = scene.standIn.port
        scene.standIn.stop()
        let pauses = Mutex<[Int64]>([])
        let directory = scene.directory
        let later = Mutex<PushStandIn?>(nil)
        let sender = try scene.sender {
            $0.timing.reconnectMs = 8
            $0.jitter = { 1 }
            $0.diagnose = { diagnostic in
                guard case .notConnected(_, let pauseMs) = diagnostic else { return }
                pauses.withLock { $0.append(pauseMs) }
                guard pauses.withLock({ $0.count }) == 3 else { return }
                var configuration = PushStandIn.Configuration(directory: directory)
                configuration.port = port
                later.withLock { $0 = try? PushStandIn(configuration) }
            }
        }
        let ended = try await scene.push(50, over: sender, inFlight: 50)
        sender.stop()
        #expect(pauses.withLock { $0 } == [8, 16, 32])
        #expect(ended.allSatisfy { $0.attempts.count == 1 })
        #expect(later.withLock { $0?.acceptedCount } == 50)
        later.withLock { $0?.stop() }
        scene.close()
    }

    @Test func `pushes that wait because every stream is taken get more connections, which are closed when idle`()
        async throws
    {
        let scene = try Scene(streamsMax: 4)
        defer { scene.close() }
        scene.standIn.script([PushStandInRule(.delay(ms: 5), times: nil)])
        let (diagnostics, continuation) = AsyncStream.makeStream(of: PushDiagnostic.self)
        let sender = try scene.sender {
            $0.connectionsMax = 3
            $0.timing.connectWhenFullMs = 10
            $0.timing.closeSpareMs = 1000
            $0.diagnose = { continuation.yield($0) }
        }
        let ended = try await scene.push(400, over: sender, inFlight: 400)
        #expect(ended.allSatisfy { $0.attempts.count == 1 })
        #expect(Set(ended.flatMap { $0.attempts.map(\.connection) }) == [1, 2, 3])
        expectAgreement(ended, scene.standIn.pushes)
        // Both spares are given up; the oldest connection stays.
        var closed: [Int] = []
        for await diagnostic in diagnostics {
            if case .disconnected(let connection, "idle") = diagnostic { closed.append(connection) }
            if closed.count == 2 { break }
        }
        #expect(closed.sorted() == [2, 3])
        let last = await sender.send(try scene.push())
        #expect(last.attempts.map(\.connection) == [1])
        #expect(scene.standIn.connectionCount == 3)
        sender.stop()
    }

    @Test func `one stream at a time for ever is enough for one connection that answers quickly`() async throws {
        let scene = try Scene(streamsMax: 1)
        defer { scene.close() }
        let sender = try scene.sender { $0.connectionsMax = 1 }
        let ended = try await scene.push(200, over: sender, inFlight: 100)
        #expect(ended.allSatisfy { $0.attempts.count == 1 && $0.attempts[0].connection == 1 })
        sender.stop()
    }

    @Test func `1,000 good pushes reset no stream and need one connection`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        let sender = try scene.sender()
        let ended = try await scene.push(1000, over: sender, inFlight: 100)
        #expect(ended.count == 1000)
        #expect(scene.standIn.resetsReceived == 0)
        #expect(scene.standIn.connectionCount == 1)
        #expect(scene.standIn.pushes.allSatisfy { $0.status == 200 && $0.notes.isEmpty })
        sender.stop()
    }

    @Test func `the stand-in sees a reset when there is one`() async throws {
        let scene = try Scene()
        defer { scene.close() }
        scene.standIn.script([.none, .delay(ms: 60_000)])
        let sender = try scene.sender()
        _ = await sender.send(try scene.push())
        // Its deadline passes before the answer: the stream is given up.
        _ = try scene.pushThatIsLate(over: sender)
        // A later answer on the same connection says that the reset has arrived.
        _ = await sender.send(try scene.push())
        #expect(scene.standIn.resetsReceived == 1)
        sender.stop()
    }
}

/// The server's log and the sender's record agree, push by push and try by try.
func expectAgreement(
    _ ended: [EndedPush], _ server: [PushRecord], sourceLocation: SourceLocation = #_sourceLocation
) {
    let arrived = Dictionary(grouping: server, by: { $0.apnsID ?? "" })
    #expect(Set(arrived.keys).isSubset(of: Set(ended.map(\.id))), sourceLocation: sourceLocation)
    for push in ended {
        let records = (arrived[push.id] ?? []).map(\.status)
        #expect(
            couldHaveSeen(records[...], push.attempts[...]), "\(records) \(push.attempts)",
            sourceLocation: sourceLocation)
    }
}

/// Whether a server with these statuses on record, 0 where it gave none, is one that these tries may have met: it
/// answered as the sender says, it may or may not have received an unanswered try, and an answer may be lost only if
/// the sender does not know the try's outcome.
private func couldHaveSeen(_ records: ArraySlice<Int>, _ attempts: ArraySlice<PushAttempt>) -> Bool {
    guard let attempt = attempts.first else { return records.isEmpty }
    let rest = attempts.dropFirst()
    if let status = attempt.status { return records.first == status && couldHaveSeen(records.dropFirst(), rest) }
    if couldHaveSeen(records, rest) { return true }
    guard let seen = records.first else { return false }
    if case .unknown = attempt.ending { return couldHaveSeen(records.dropFirst(), rest) }
    return seen == 0 && couldHaveSeen(records.dropFirst(), rest)
}

/// A push with all that became of it.
struct EndedPush: Sendable {
    let id: String
    let outcome: PushOutcome
    let attempts: [PushAttempt]

    /// Tries that ended without an answer from APNs.
    var unknownTries: Int { attempts.count { if case .unknown = $0.ending { true } else { false } } }
}

extension PushAttempt {
    /// The HTTP status, when there was one.
    var status: Int? {
        switch ending {
        case .accepted: 200
        case .rejected(let rejection): rejection.status
        case .notProcessed, .unknown: nil
        }
    }
}

extension Scene {
    /// Sends many pushes, so many at a time.
    func push(_ count: Int, over sender: PushSender, inFlight: Int) async throws -> [EndedPush] {
        let pushes = try (0..<count).map { _ in try push() }
        return await withTaskGroup(of: EndedPush.self) { group in
            var ended: [EndedPush] = []
            for (index, push) in pushes.enumerated() {
                if index >= inFlight, let next = await group.next() { ended.append(next) }
                group.addTask {
                    let (outcome, attempts) = await sender.send(push)
                    return EndedPush(id: push.apnsID, outcome: outcome, attempts: attempts)
                }
            }
            for await next in group { ended.append(next) }
            return ended
        }
    }
}
