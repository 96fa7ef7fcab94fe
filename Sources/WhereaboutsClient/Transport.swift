import Glibc
package import HTTPServer
import Synchronization

/// Carries a request to the service and its answer back.
package protocol Transport: Sendable {
    /// Sends a request. `completion` is called once, on any thread, and must be quick.
    func send(
        _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void)
    /// Whether the service runs in its own process, so that devices report to it meanwhile.
    var isRunningService: Bool { get }
    /// Closes the connections and threads of this client. Nothing can be sent afterwards.
    func close()
}

extension Transport {
    /// The answer. Blocks this thread, so it must not be called on the shared pool.
    package func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse {
        let awaited = AwaitedAnswer()
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

/// One answer from another thread.
final class AwaitedAnswer: @unchecked Sendable {
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
            // An interrupted wait is repeated.
            while sem_wait(arrived) != 0 {}
            if let result = answer.withLock({ $0 }) { return result }
        }
    }
}
