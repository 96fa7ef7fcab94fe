import Glibc
import Transparency
import WhereaboutsClient
import WitnessServer

/// `witness`: cosigns the checkpoints of logs until SIGINT or SIGTERM.
enum WitnessCommand {
    private static let directory = Options.text(
        "directory", "DIR", help: "where the key and the state are; made if it does not exist")
    private static let listen = Option<SocketAddress>(
        name: "listen", placeholder: "HOST:PORT", help: "where to listen (default: 127.0.0.1:7380)",
        form: "HOST:PORT, for example 127.0.0.1:7380", read: { ServeCommand.address($0) })
    private static let log = Option<KnownLog>(
        name: "log", placeholder: "VKEY", help: "the public key of a log to witness; again for each further log",
        mayRepeat: true, form: "a public key NAME+HASH+BASE64 of a log", read: { try? KnownLog(text: $0) })
    private static let name = Option<KeyName>(
        name: "name", placeholder: "NAME", help: "the name of a new key (default: HOST/witness)",
        form: "a name without spaces and plus signs, for example anna.example/witness", read: { try? KeyName($0) })
    private static let key = Option.flag("key", help: "print the public key and exit")

    static let command = Command(
        words: ["witness"], summary: "Cosign checkpoints of other people's logs until SIGINT or SIGTERM.",
        requires: [directory], accepts: [listen, log, name, key],
        details: """
            Cosigns a checkpoint (C2SP tlog-witness) if it continues the one before of the same log. It learns how many
            entries a log has, and nothing else. It speaks no TLS: put a reverse proxy in front.

            DIR/logs may have more public keys, one a line. The file is read again when it changes.

            Keep DIR/key and DIR/state.sqlite together, and never restore an older copy of them: a witness that forgets could
            cosign a second history.
            """, reach: .nothing, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let folder = invocation.required(directory)
        do throws(WitnessFault) {
            if invocation.has(key) {
                let verifier = try WitnessFolder(folder).publicKey(name: invocation[name])
                return invocation.console.line(policyLine(verifier))
            }
            try serve(folder, invocation)
        } catch { throw .data(error.description) }
    }

    private static func serve(_ folder: String, _ invocation: Invocation) throws(WitnessFault) {
        var signals = StopSignals.blocked()
        defer { pthread_sigmask(SIG_UNBLOCK, &signals, nil) }

        let address = invocation[listen] ?? SocketAddress(host: "127.0.0.1", port: 7380)
        var configuration = CosigningServer.Configuration(directory: folder)
        configuration.host = address.host
        configuration.port = Int(address.port) ?? 0
        configuration.name = invocation[name]
        configuration.logs = invocation.all(log)
        let console = invocation.console
        configuration.report = { console.note($0) }
        let server = try CosigningServer(configuration)
        let bound = SocketAddress(host: address.host, port: UInt16(server.port))
        console.line(
            """
            This witness keeps its state in \(folder)

              http://\(bound.text)/add-checkpoint

            Copy this line into the policy of everyone who trusts it:

              \(policyLine(server.verifier))

            """)
        console.flush()
        let manager = ServiceManager()
        manager.tell("READY=1")
        var signal: Int32 = 0
        sigwait(&signals, &signal)
        manager.tell("STOPPING=1")
        server.stop()
    }

    /// The line of a policy (C2SP tlog-policy).
    private static func policyLine(_ verifier: NoteVerifier) -> String { "witness \(verifier.name) \(verifier.text)" }
}
