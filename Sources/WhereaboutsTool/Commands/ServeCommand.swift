import Glibc
import Log
import PostgreSQLLog
import Reactors
import Service
import Threading
import Whereabouts
import WhereaboutsClient

/// `serve`: runs the service until SIGINT or SIGTERM.
enum ServeCommand {
    private static let listen = Option<SocketAddress>(
        name: "listen", placeholder: "HOST:PORT", help: "where to listen (default: config.json, else 127.0.0.1:8080)",
        form: "HOST:PORT, for example 127.0.0.1:8080", read: { Self.address($0) })

    private static let acceptLoss = Option.flag(
        "accept-loss", help: "start although durable events are lost, and record the loss")

    private static let signIn = Option.flag(
        "sign-in", help: "print a link that signs one browser in to the page as the operator")

    static let command = Command(
        words: ["serve"], summary: "Run the service until SIGINT or SIGTERM.", accepts: [listen, acceptLoss, signIn],
        details: """
            On a signal, it answers the requests it has accepted, within 5 s, and exits with 0. It speaks no TLS: for the
            internet, put a reverse proxy in front.

            If the log can no longer be written, it answers waiting requests with 503 and exits with 75, so that a service
            manager restarts it. If the disk is full, it keeps running and accepts no reports until there is space.

            If config.json names "writers" in "log", it is a reader: it follows the log in the database, answers reads about
            people once a writer has recorded them, and passes everything else on.
            """, makesInstallation: true, reach: .files, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        var signals = StopSignals.blocked()

        let path = try House.path(of: invocation)
        let address = if let given = invocation[listen] { given } else { try configuredAddress(path) }
        let manager = ServiceManager()
        if try isReader(path) { return try serveReader(path, address, signals, manager, invocation) }
        guard let service = try open(path, address, signals, manager, invocation) else { return }
        let port: Int
        do {
            port = try service.listen(host: address.host, port: Int(address.port) ?? 0)
        } catch {
            service.stop(.untilSIGKILL)
            throw .data("\(error)")
        }
        let bound = address.host.contains(":") ? "[\(address.host)]:\(port)" : "\(address.host):\(port)"
        invocation.console.line("Whereabouts \(Version.text) serves \(path)\n\n  http://\(bound)/\n")
        // Users who may read the journal are not all operators.
        if service.adminTokenIsNew, getenv("JOURNAL_STREAM") != nil {
            invocation.console.line("The operator's token is in \(path)/admin.token.")
        } else if service.adminTokenIsNew {
            invocation.console.line(
                """
                The operator's token, shown this once (it stays in \(path)/admin.token):

                  \(service.adminToken)

                """)
        }
        if invocation.has(signIn), let code = service.operatorSignInCode() {
            invocation.console.line("Open the page within 15 minutes, signed in:\n\n  http://\(bound)/?code=\(code)\n")
        }
        invocation.console.flush()
        manager.tell("READY=1")
        // A service that cannot write its log ends; a service manager restarts it.
        service.whenLogFails { kill(getpid(), SIGTERM) }
        wait(for: signals, manager) { service.isAnswering(milliseconds: $0) }
        manager.tell("STOPPING=1")
        if service.failure == nil {
            invocation.console.note("Stopping: accepted requests are answered first. A second signal stops at once.")
        }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        if service.isLogOnServer { endSoon(invocation.console) }
        let isQuiet = service.stop(.untilSIGKILL)
        let failure = service.failure.map { fault in
            ToolError.stopped("\(fault) No acknowledged report is lost; start the service again.")
        }
        if !isQuiet {
            if let failure { invocation.console.note("whereabouts: \(failure)") }
            invocation.console.flush()
            // A thread still uses the libraries, so their handlers at exit must not run.
            _exit(failure?.exitCode ?? 0)
        }
        if let failure { throw failure }
    }

    /// Opens the service; if its log is in a database, waits until no other process has it. `nil` after a signal.
    private static func open(
        _ path: String, _ address: SocketAddress, _ signals: sigset_t, _ manager: ServiceManager,
        _ invocation: Invocation
    ) throws(ToolError) -> Service? {
        do {
            let directory = try DataDirectory(path: path)
            let configuration = try ServiceConfiguration.read(directory.configuration)
            var logServer: LogServer?
            if let database = configuration.database {
                let turn = TurnToServe(
                    directory: directory, settings: LogServerSettings(database), address: address,
                    console: invocation.console, acceptingLoss: invocation.has(acceptLoss))
                logServer = try turn.wait(for: signals, manager)
                if logServer == nil { return nil }
            }
            return try Service(
                directory: directory, configuration: configuration, gazetteerPath: GazetteerLocation.find(),
                logServer: logServer, acceptingLoss: invocation.has(acceptLoss))
        } catch let error as ToolError { throw error } catch {
            // What a database server refuses now it may do at the next start; nothing in the data directory is wrong.
            switch error as? LogError {
            case .server, .commitUnknown, .fenced: throw .stopped("\(error)")
            default: throw .data("\(error)")
            }
        }
    }

    /// Ends the process after some seconds: a commit waits for as long as the database has too few standbys. Its callers have
    /// no answer yet.
    private static func endSoon(_ console: Console) {
        WorkerThread {
            usleep(secondsToStop * 1_000_000)
            console.note(
                "whereabouts: The log's database server did not answer; the newest reports may be durable or not, and nobody was told that they are."
            )
            _exit(75)
        }.detach()
    }

    private static let secondsToStop: UInt32 = 5

    /// Waits for one of the signals, and meanwhile notifies the service manager while requests are answered.
    ///
    /// - Parameter isAnswering: Whether a request is answered within so many milliseconds.
    static func wait(for signals: sigset_t, _ manager: ServiceManager, _ isAnswering: (Int) -> Bool) {
        var signals = signals
        // Twice in each interval of the watchdog, as in sd_watchdog_enabled(3); every hour without one.
        let seconds = (manager.watchdogSeconds ?? 7200) / 2
        var pause = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        while sigtimedwait(&signals, nil, &pause) < 0 {
            if errno == EAGAIN, isAnswering(Int(seconds * 1000)) { manager.tell("WATCHDOG=1") }
        }
    }

    /// As `SocketAddress`; port 0 lets the system choose.
    static func address(_ text: String) -> SocketAddress? {
        text.hasSuffix(":0") ? SocketAddress(host: text.dropLast(2), port: 0) : SocketAddress(text)
    }

    private static func configuredAddress(_ path: String) throws(ToolError) -> SocketAddress {
        let text: String
        do throws(ServiceConfiguration.ReadError) {
            text = try ServiceConfiguration.read(path + "/config.json").listen
        } catch { throw .data("\(error)") }
        guard let address = address(text) else {
            throw .data("config.json: \"listen\" must be HOST:PORT, for example 127.0.0.1:8080.")
        }
        return address
    }
}
