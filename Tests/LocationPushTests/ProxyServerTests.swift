import Glibc
import LocationPush
import PushStandIn
import TestSupport
import Testing

/// An HTTP/2 server of a third make before the stand-in: Debian's nghttpx ends the sender's connections and makes its own.
@Suite struct ProxyServerTests {
    private static let count = 300

    enum Trouble: String, CaseIterable {
        case none, oneStream
    }

    /// nghttpx on its own port, in front of a stand-in.
    private final class Proxy {
        let id: pid_t
        private let reserved = ReservedPort()
        var port: Int { reserved.number }

        init(before scene: Scene, streams: Int) throws {
            let port = reserved.number
            let folder = scene.directory
            let arguments = [
                "nghttpx", "--frontend=127.0.0.1,\(port)", "--frontend-http2-max-concurrent-streams=\(streams)",
                "--backend=127.0.0.1,\(scene.standIn.port);;proto=h2;tls;sni=localhost", "--insecure", "--workers=1",
                "--no-via", "--no-add-x-forwarded-proto", "--no-location-rewrite", "--no-server-rewrite",
                "--errorlog-file=/dev/null", "--accesslog-file=/dev/null", "--conf=/dev/null",
                "\(folder)/server-key.pem", "\(folder)/server.pem",
            ]
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            for descriptor in [1, 2] as [Int32] {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
            }
            // nghttpx forks a worker process; a process group lets the test end both.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
            var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
            defer { for word in words { free(word) } }
            var made: pid_t = 0
            let code = posix_spawnp(&made, "nghttpx", &actions, &attributes, &words, environ)
            guard code == 0 else { throw TransportFault(call: "posix_spawnp", code: code) }
            id = made
        }

        deinit {
            kill(-id, SIGKILL)
            var status: Int32 = 0
            waitpid(id, &status, 0)
        }
    }

    @Test(
        .enabled(if: Foreign.has("nghttpx"), "nghttpx (Debian's nghttp2-proxy) is not there"),
        arguments: Trouble.allCases)
    func `through nghttpx every push arrives once, whatever number of streams it allows`(
        trouble: Trouble
    ) async throws {
        let scene = try Scene()
        defer { scene.close() }
        let proxy = try Proxy(before: scene, streams: trouble == .oneStream ? 1 : 100)
        defer { withExtendedLifetime(proxy) {} }
        let sender = try scene.sender {
            $0.endpoint = PushEndpoint(
                environment: .development, host: "localhost", port: UInt16(proxy.port),
                trustFile: scene.standIn.credentials.trustFile)
            $0.timing.retryMs = [1, 1, 1, 1]
            $0.timing.connectWhenFullMs = 600_000
        }
        // The sender connects as soon as the proxy listens.
        _ = try #require(await sender.send(try scene.push()).attempts.first)
        let ended = try await scene.push(Self.count, over: sender, inFlight: 50)
        sender.stop()
        #expect(ended.count == Self.count)
        for push in ended {
            if case .accepted = push.outcome { continue }
            Issue.record("\(push.outcome) \(push.attempts)")
        }
        let accepted = Dictionary(
            grouping: scene.standIn.pushes.filter { $0.status == 200 }, by: { $0.apnsID ?? "" })
        for push in ended {
            // On a busy machine the proxy refuses streams that it has not processed; they are sent again.
            let isUnprocessed = push.attempts.dropLast().allSatisfy { $0.ending == .notProcessed }
            #expect(accepted[push.id]?.count == 1 && isUnprocessed, "\(push.attempts)")
        }
    }
}
