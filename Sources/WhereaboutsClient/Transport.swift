import Glibc
package import HTTPServer
import Synchronization

/// Carries a request to the service and its answer back.
package protocol Transport: Sendable {
    /// Sends a request. `completion` is called once, on any thread, and must be quick.
    func send(
        _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void)
    /// Sends a request whose answer may be long. Blocks this thread until it is there.
    ///
    /// - Parameter take: Takes the body of a good answer in pieces, on any thread. If the answer is interrupted, it has
    ///   taken only a part.
    /// - Returns: The answer without the body; a refusal with its body.
    func download(
        _ request: HTTPRequest, _ take: @escaping @Sendable ([UInt8]) -> Void
    ) throws(ClientError) -> HTTPResponse
    /// Whether the service runs in its own process, so that devices report to it meanwhile.
    var isRunningService: Bool { get }
    /// Closes the connections and threads of this client. Nothing can be sent afterwards.
    func close()
}

extension Transport {
    /// The answer of a service in this process; a long answer is a stream.
    package func download(
        _ request: HTTPRequest, _ take: @escaping @Sendable ([UInt8]) -> Void
    ) throws(ClientError) -> HTTPResponse {
        var response = try answer(to: request)
        guard (200..<300).contains(response.status) else { return response }
        take(response.body)
        response.body = []
        guard let stream = response.stream else { return response }
        while true {
            let arrived = Awaited<Void>()
            switch stream.next(Self.pieceBytes, wake: { arrived.give(()) }) {
            case .bytes(let bytes): take(bytes)
            case .nothingYet: arrived.take()
            case .end: return response
            case .cut: throw .service("The answer was cut off.")
            }
        }
    }

    /// The bytes taken from a stream at a time.
    private static var pieceBytes: Int { 64 << 10 }

    /// The answer. Blocks this thread, so it must not be called on the shared pool.
    package func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse {
        let awaited = Awaited<Result<HTTPResponse, ClientError>>()
        send(request) { awaited.give($0) }
        return try awaited.take().get()
    }

    /// The answer, or ``ClientError/cancelled`` as soon as the task is cancelled; the request then continues
    /// unobserved.
    func answer(awaiting request: HTTPRequest) async throws(ClientError) -> HTTPResponse {
        let told = Mutex<CheckedContinuation<Result<HTTPResponse, ClientError>, Never>?>(nil)
        @Sendable func tell(_ result: Result<HTTPResponse, ClientError>) {
            told.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }?.resume(returning: result)
        }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                told.withLock { $0 = continuation }
                // The task was cancelled before the answer could be awaited.
                if Task.isCancelled { tell(.failure(.cancelled)) } else { send(request, tell) }
            }
        } onCancel: {
            tell(.failure(.cancelled))
        }.get()
    }
}

/// One value from another thread.
final class Awaited<Value: Sendable>: @unchecked Sendable {
    // The semaphore is made before anyone else can see the object and is POSIX's own for many threads.
    private let arrived: UnsafeMutablePointer<sem_t>
    private let value = Mutex<Value?>(nil)

    init() {
        arrived = .allocate(capacity: 1)
        sem_init(arrived, 0, 0)
    }

    deinit {
        sem_destroy(arrived)
        arrived.deallocate()
    }

    func give(_ given: Value) {
        value.withLock { $0 = given }
        sem_post(arrived)
    }

    func take() -> Value {
        while true {
            // An interrupted wait is repeated.
            while sem_wait(arrived) != 0 {}
            if let given = value.withLock({ $0 }) { return given }
        }
    }
}
