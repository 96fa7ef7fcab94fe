import Glibc
import HTTPServer
import Log
import Reactors
import Service
import WhereaboutsClient

/// The way to a service opened in this process: the same routes, without a socket.
struct HouseTransport: Transport {
    let service: Service
    var isRunningService: Bool { false }

    func send(
        _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void
    ) {
        service.handle(request) { completion(.success($0)) }
    }

    func close() {
        service.stop()
    }
}

/// The service of a data directory, for its operator.
enum House {
    /// Runs `body` with a client of the operator, and closes the client.
    static func withClient<Value>(
        _ invocation: Invocation, _ body: (Client) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        var client =
            switch try Reach(invocation) {
            case .directory(let path):
                try operatorClient(of: path, invocation)
            case .server(let server): try Client(server)
            }
        if invocation.takes(Options.purpose) { client.service.purpose = invocation[Options.purpose] }
        if invocation.takes(Options.languages) { client.service.languages = invocation[Options.languages] ?? [] }
        defer { client.service.transport.close() }
        return try body(client)
    }

    /// The data directory of a command that works on its files.
    static func path(of invocation: Invocation) throws(ToolError) -> String {
        guard Reach.url(of: invocation) == nil, invocation[GlobalOptions.profile] == nil else {
            throw .usage(
                "\"\(invocation.command.name)\" works on a data directory of this computer; give it with --data.")
        }
        return invocation[GlobalOptions.data] ?? DataDirectory.standardPath
    }

    /// How often the tool checks a directory that another process has; the checks are a twentieth of a second apart.
    private static let looksMax = 60

    /// The process that has the directory; `nil` if there is none.
    ///
    /// A process without an address is another command, or a service that starts: the tool waits three seconds for its end or
    /// its address.
    private static func running(in path: String) -> (processID: Int32, address: String?)? {
        for _ in 0..<looksMax {
            guard let running = DataDirectory.running(in: path), running.address == nil else { break }
            usleep(50_000)
        }
        return DataDirectory.running(in: path)
    }

    private static func operatorClient(of path: String, _ invocation: Invocation) throws(ToolError) -> Client {
        guard let running = running(in: path) else {
            if !invocation.command.makesInstallation, access(path + "/log.sqlite", F_OK) != 0, !namesDatabase(path) {
                let makers = invocation.makers.joined(separator: ", ")
                throw .data("There is no installation in \(path). Check --data, or create one with one of: \(makers).")
            }
            return client(of: try open(path))
        }
        guard let text = running.address, let transport = WireTransport("http://" + text) else {
            throw .data("Another command (process \(running.processID)) is using \(path); wait until it is done.")
        }
        guard let token = adminToken(of: path) else {
            throw .data("A service runs on \(path), and its admin.token cannot be read: \(lastSystemError()).")
        }
        return Client(
            service: ServiceClient(transport: transport, token: token),
            origin: ("at http://\(text)", .file(path + "/admin.token")))
    }

    /// Whether the log of a directory is in a database, so that a machine needs no file of it to begin with.
    private static func namesDatabase(_ path: String) -> Bool {
        (try? ServiceConfiguration.read(path + "/config.json"))?.database != nil
    }

    /// The operator's client of a service in this process.
    static func client(of service: Service) -> Client {
        Client(service: ServiceClient(transport: HouseTransport(service: service), token: service.adminToken))
    }

    /// Opens the service of a data directory in this process.
    static func open(_ path: String) throws(ToolError) -> Service {
        do { return try service(path) } catch { throw .data("\(error)") }
    }

    /// As ``open(_:)``, with the errors of `Service`.
    static func service(_ path: String) throws -> Service {
        let directory = try DataDirectory(path: path)
        return try Service(
            directory: directory, configuration: try ServiceConfiguration.read(directory.configuration),
            gazetteerPath: GazetteerLocation.find())
    }

    /// The operator's token; `nil` with `errno` set if it cannot be read.
    static func adminToken(of path: String) -> String? {
        DataDirectory.read(path + "/admin.token", atMost: 4096).map { bytes in
            String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
        }
    }
}

/// The system's message about the last failed call.
func lastSystemError() -> String {
    String(cString: strerror(errno))
}
