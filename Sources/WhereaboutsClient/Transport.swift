import Glibc
package import HTTPServer
import Synchronization

/// Carries a request to the service and its answer back.
package protocol Transport: Sendable {
    /// Sends; `completion` is called once, on whatever thread, and must be quick.
    func send(
        _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void)
    /// Whether a service runs that others report to meanwhile.
    var isRunningService: Bool { get }
    /// Ends what was begun for this client. Nothing is sent afterwards.
    func close()
}

extension Transport {
    /// The answer, waited for on this thread: never on one of the shared pool.
    package func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse {
        let awaited = AwaitedAnswer()
        send(request) { awaited.give($0) }
        return try awaited.take().get()
    }

    /// The answer, or ``ClientError/cancelled`` as soon as the task is; the request runs on by itself then.
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
                // Cancelled before there was anybody to tell.
                if Task.isCancelled { tell(.failure(.cancelled)) } else { send(request, tell) }
            }
        } onCancel: {
            tell(.failure(.cancelled))
        }.get()
    }
}

/// One answer that comes on another thread.
private final class AwaitedAnswer: @unchecked Sendable {
    // The semaphore is made before anyone else can see the object and is POSIX's own for many threads.
    private let arrived: UnsafeMutablePointer<sem_t>
    private let answer = Mutex<Result<HTTPResponse, ClientError>?>(nil)

    init() {
        arrived = .allocate(capacity: 1)
        sem_init(arrived, 0, 0)
    }

    deinit {
        sem_destroy(arrived)
        arrived.deallocate()
    }

    func give(_ result: Result<HTTPResponse, ClientError>) {
        answer.withLock { $0 = result }
        sem_post(arrived)
    }

    func take() -> Result<HTTPResponse, ClientError> {
        while true {
            // Interrupted by a signal it waits again.
            while sem_wait(arrived) != 0 {}
            if let result = answer.withLock({ $0 }) { return result }
        }
    }
}
