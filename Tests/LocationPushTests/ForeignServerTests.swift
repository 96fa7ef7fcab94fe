import Glibc
import JSON
import LocationPush
import PushStandIn
import TestSupport
import Testing

/// The same troubles from an APNs of another make: PyPI h2 reads the frames, PyPI cryptography the provider token.
@Suite struct ForeignServerTests {
    private static let hasPython = Foreign.hasPython(with: "h2, cryptography")
    static let count = 300

    @Test(
        .enabled(if: hasPython, "WHEREABOUTS_PYTHON names no python with h2 and cryptography"),
        arguments: [
            ("none", 1), ("goaway", 2), ("refused", 1), ("limit", 1), ("reset", 1), ("busy", nil), ("expired", 1),
            ("ping", 2),
        ] as [(String, Int?)])
    func `a server on PyPI h2 that makes trouble gets every push, and its log is the sender's`(
        trouble: String, connections: Int?
    ) async throws {
        let scene = try Scene()
        defer { scene.close() }
        let server = try ChildProcess(
            Foreign.python, [Repository.conformance("apns_with_h2.py"), scene.directory, trouble])
        let port = try #require(server.nextLine().flatMap { try? JSONDocument.parse($0).root["port"]?.int })
        let tokens = ProviderTokenSource(
            key: try scene.standIn.credentials.providerTokenKey(), clock: scene.senderClock.clock)
        let sender = try scene.sender {
            $0.endpoint = PushEndpoint(
                environment: .development, host: "localhost", port: UInt16(port),
                trustFile: scene.standIn.credentials.trustFile)
            $0.providerTokens = tokens
            $0.timing.retryMs = [1, 1, 1, 1]
            if trouble == "ping" {
                // Only then is silence taken for a fault soon: a busy machine makes pauses too.
                $0.timing.pingAfterSilenceMs = 500
                $0.timing.pingAnswerMs = 5000
            }
            $0.timing.connectWhenFullMs = 600_000
        }
        _ = try #require(await sender.send(try scene.push()).attempts.first)
        // Old enough to be renewed when the server calls it expired.
        if trouble == "expired" { scene.senderClock.moveAhead(minutes: 30) }
        let ended = try await scene.push(Self.count, over: sender, inFlight: 100)
        sender.stop()
        let lines = server.endAndReadAll().compactMap { try? JSONDocument.parse($0) }
        let totals = try #require(lines.last?.root)
        #expect(totals["broken"]?.int == 0, "the sender broke the protocol")
        #expect(totals["resets"]?.int == 0)
        if let connections { #expect(totals["connections"]?.int == Int64(connections)) }
        #expect(ended.count == Self.count)
        for push in ended {
            if case .accepted = push.outcome { continue }
            Issue.record("\(push.outcome) \(push.attempts)")
        }
        if trouble == "expired" { #expect(try tokens.current().number == 2) }
        let unknown = ended.reduce(0) { $0 + $1.unknownTries }
        if !["reset", "ping"].contains(trouble) { #expect(unknown == 0) }

        let seen = Dictionary(grouping: lines.dropLast(), by: { $0.root["id"]?.string ?? "" })
        for push in ended {
            let statuses = (seen[push.id] ?? []).compactMap { $0.root["status"]?.int }
            let known = push.attempts.compactMap(\.status).map(Int64.init)
            #expect(statuses.filter { $0 != 0 } == known, "\(push.attempts)")
            #expect(statuses.count { $0 == 0 } <= push.attempts.count - known.count)
        }
    }
}

/// Another project's program that runs beside the test. Ending it closes its input.
private final class ChildProcess {
    private let processID: pid_t
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>
    private var hasEnded = false

    init(_ program: String, _ arguments: [String]) throws {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw TransportFault(call: "pipe") }
        // No other child may hold our ends: its life would keep this one's input open.
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var made: pid_t = 0
        let code = posix_spawn(&made, program, &actions, nil, &words, environ)
        close(toChild[0])
        close(fromChild[1])
        guard code == 0 else { throw TransportFault(call: "posix_spawn", code: code) }
        processID = made
        input = toChild[1]
        output = fdopen(fromChild[0], "r")
    }

    deinit {
        if !hasEnded { _ = endAndReadAll() }
    }

    func nextLine() -> [UInt8]? {
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let count = getline(&line, &capacity, output)
        guard count > 0, let line else { return nil }
        return UnsafeRawBufferPointer(start: line, count: count).filter { $0 != 0x0A }
    }

    func endAndReadAll() -> [[UInt8]] {
        close(input)
        var lines: [[UInt8]] = []
        while let line = nextLine() { lines.append(line) }
        fclose(output)
        var status: Int32 = 0
        waitpid(processID, &status, 0)
        hasEnded = true
        return lines
    }
}
