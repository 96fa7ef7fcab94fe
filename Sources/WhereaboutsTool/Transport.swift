import Glibc
import HTTPServer
import Service
import Synchronization
import WhereaboutsClient

/// The way to a service opened in this process: the same router, no socket.
struct HouseTransport: Transport {
    let service: Service
    var isRunningService: Bool { false }

    func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse {
        let awaited = AwaitedAnswer()
        service.handle(request) { awaited.give($0) }
        return awaited.take()
    }

    func close() {
        service.stop()
    }
}

/// One answer that comes on another thread.
private final class AwaitedAnswer: @unchecked Sendable {
    // The semaphore is made before anyone else can see the object and is POSIX's own for many threads.
    private let arrived: UnsafeMutablePointer<sem_t>
    private let answer = Mutex<HTTPResponse?>(nil)

    init() {
        arrived = .allocate(capacity: 1)
        sem_init(arrived, 0, 0)
    }

    deinit {
        sem_destroy(arrived)
        arrived.deallocate()
    }

    func give(_ response: HTTPResponse) {
        answer.withLock { $0 = response }
        sem_post(arrived)
    }

    func take() -> HTTPResponse {
        while true {
            // Interrupted by a signal it waits again.
            while sem_wait(arrived) != 0 {}
            if let response = answer.withLock({ $0 }) { return response }
        }
    }
}

/// The service of a data directory, as the operator reaches it.
enum House {
    /// Runs `body` with a client of the operator and closes what was opened for it.
    static func withClient<Value>(
        _ invocation: Invocation, _ body: (Client) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        var client = try operatorClient(of: path(of: invocation))
        if invocation.takes(Options.purpose) { client.service.purpose = invocation[Options.purpose] }
        if invocation.takes(Options.languages) { client.service.languages = invocation[Options.languages] ?? [] }
        defer { client.service.transport.close() }
        return try body(client)
    }

    static func path(of invocation: Invocation) -> String {
        invocation[GlobalOptions.data] ?? DataDirectory.standardPath
    }

    private static func operatorClient(of path: String) throws(ToolError) -> Client {
        guard let running = DataDirectory.running(in: path) else {
            let service = try open(path)
            return Client(
                service: ServiceClient(transport: HouseTransport(service: service), token: service.adminToken))
        }
        guard let text = running.address, let address = SocketAddress(text) else {
            throw .data("Another command (process \(running.processID)) is using \(path); wait until it is done.")
        }
        guard let token = adminToken(of: path) else {
            throw .data("A service runs on \(path), and its admin.token cannot be read: \(lastSystemError()).")
        }
        return Client(service: ServiceClient(transport: SocketTransport(address: address), token: token))
    }

    /// Opens the service of a data directory in this process.
    static func open(_ path: String) throws(ToolError) -> Service {
        do {
            let directory = try DataDirectory(path: path)
            return try Service(
                directory: directory, configuration: try ServiceConfiguration.read(directory.configuration),
                gazetteerPath: GazetteerLocation.find())
        } catch {
            throw .data("\(error)")
        }
    }

    /// The operator's token, `nil` with `errno` set when it cannot be read.
    static func adminToken(of path: String) -> String? {
        DataDirectory.read(path + "/admin.token", atMost: 4096).map { bytes in
            String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
        }
    }
}

/// What the system says about the call that failed last.
func lastSystemError() -> String {
    String(cString: strerror(errno))
}
