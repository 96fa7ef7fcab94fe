import Glibc
import JSON
import LocationPush
import Log
import PushStandIn
import WhereaboutsClient

/// `push-stand-in`: plays APNs for location pushes until SIGINT or SIGTERM. The options are explained in the
/// documentation page "The push stand-in".
///
/// Makes the credentials in `DIR` if they do not exist, prints the settings for a sender and a simulated phone, and
/// then a JSON line for each push and each event of a connection. `DIR/stand-in.json` has the same settings; it is
/// written once both ports listen:
///
///     {"processID":4711,"host":"localhost","port":40123,"courier":"127.0.0.1:40124","environment":"development",
///      "caFile":"DIR/ca.pem","keyFile":"DIR/AuthKey_….p8","keyID":"…","teamID":"…"}
///
/// Ports left out or 0 are chosen by the system. Only the loopback address is served.
enum PushStandInCommand {
    private static let directory = Options.text(
        "directory", "DIR", help: "where to write the certificate, the key and stand-in.json")
    private static let listen = loopback(
        "listen", help: "where senders connect (default: a free port of 127.0.0.1)")
    private static let courier = loopback(
        "courier", help: "where simulated phones connect (default: a free port)")
    private static let environment = Options.choice(
        "environment", ["development", "production"], help: "which of Apple's services to imitate")
    private static let bundleIDs = Options.text(
        "bundle-ids", "ID[,ID…]", help: "accept pushes for these apps only (default: all)")
    private static let streams = Options.number(
        "streams", "N", in: 1...1_000_000, help: "the limit of concurrent pushes on one connection")
    private static let script = Options.text(
        "script", "FILE", help: "a JSON list of rules: which push gets which answer")

    static let command = Command(
        words: ["push-stand-in"], summary: "Run a local stand-in for Apple's push service.", requires: [directory],
        accepts: [listen, courier, environment, bundleIDs, streams, script],
        details: """
            Checks each push against Apple's documentation and prints one JSON line for it. The page PushStandIn of the
            documentation describes the rules of a script.
            """, reach: .nothing, run: run)

    private static let scriptBytesMax = 64 << 20

    /// A port of this computer; the stand-in serves no other.
    private static func loopback(_ name: String, help: String) -> Option<UInt16> {
        Option(
            name: name, placeholder: "HOST:PORT", help: help, form: "127.0.0.1:PORT, because it serves this host only",
            read: { text in
                guard let address = ServeCommand.address(text), ["127.0.0.1", "localhost"].contains(address.host) else {
                    return nil
                }
                return UInt16(address.port)
            })
    }

    private static func run(_ invocation: Invocation) throws(ToolError) {
        var signals = StopSignals.blocked()
        // Writing to a peer that has gone is an error code, not the end.
        signal(SIGPIPE, SIG_IGN)
        // The reader of stand-in.json may have another working directory, so its paths are absolute.
        let folder = absolutePath(invocation.required(directory))
        var configuration = PushStandIn.Configuration(directory: folder)
        configuration.port = invocation[listen] ?? 0
        configuration.courierPort = invocation[courier] ?? 0
        configuration.environment = invocation[environment].flatMap(PushEnvironment.init) ?? .development
        if let list = invocation[bundleIDs] {
            configuration.bundleIDs = Set(list.split(separator: ",").map(String.init))
        }
        if let streams = invocation[streams] { configuration.streamsMax = Int(streams) }
        if let path = invocation[script] { configuration.script = try rules(path) }
        configuration.record = { put($0.jsonLine + [UInt8(ascii: "\n")]) }
        configuration.recordConnection = { put($0.jsonLine + [UInt8(ascii: "\n")]) }
        do {
            let standIn = try PushStandIn(configuration)
            try DataDirectory.writePrivate(
                facts(of: standIn, environment: configuration.environment), to: "\(folder)/stand-in.json")
            announce(standIn, environment: configuration.environment)
            var number: Int32 = 0
            sigwait(&signals, &number)
            standIn.stop()
        } catch { throw .data("\(error)") }
    }

    private static func rules(_ path: String) throws(ToolError) -> [PushStandInRule] {
        guard let bytes = DataDirectory.read(path, atMost: scriptBytesMax) else {
            throw .data("\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        do { return try PushStandInRule.script(bytes) } catch { throw .data("\(path): \(error)") }
    }

    /// The path seen from the root, without following links.
    private static func absolutePath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return "\(String(cString: here))/\(path)"
    }

    /// Writes to standard output at once. A reader that has gone is no reason to stop.
    private static func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func facts(of standIn: PushStandIn, environment: PushEnvironment) -> [UInt8] {
        var text = JSONWriter()
        text.beginObject()
        text.field("processID", Int(getpid()))
        text.field("host", "localhost")
        text.field("port", Int(standIn.port))
        text.field("courier", "127.0.0.1:\(standIn.courierPort)")
        text.field("environment", environment.rawValue)
        text.field("caFile", standIn.credentials.trustFile)
        text.field("keyFile", standIn.credentials.providerKeyFile)
        text.field("keyID", standIn.credentials.keyID)
        text.field("teamID", standIn.credentials.teamID)
        text.endObject()
        return text.bytes + [UInt8(ascii: "\n")]
    }

    private static func announce(_ standIn: PushStandIn, environment: PushEnvironment) {
        let lines = """
            pushes      https://localhost:\(standIn.port) (\(environment.rawValue))
            phones      127.0.0.1:\(standIn.courierPort)
            CA file     \(standIn.credentials.trustFile)
            key file    \(standIn.credentials.providerKeyFile)
            key id      \(standIn.credentials.keyID)
            team id     \(standIn.credentials.teamID)

            """
        put(Array(lines.utf8))
    }
}
