public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends a request once and delivers the answer once, on any thread. `URLSession` on a phone.
public protocol RequestSending: Sendable {
    /// `completion` gets a failure only if no answer arrived; an answer with any HTTP status is a success.
    func send(_ request: URLRequest, completion: @escaping @Sendable (Result<ServiceAnswer, any Error>) -> Void)
}

/// The service's answer to a request.
public struct ServiceAnswer: Sendable, Equatable {
    /// The HTTP status.
    public let status: Int
    /// Empty if the answer has no body.
    public let body: Data

    /// An answer with an HTTP status and a body, which may be empty.
    public init(status: Int, body: Data) { (self.status, self.body) = (status, body) }
}

extension URLSession: RequestSending {
    /// Sends the request with a data task. Without an HTTP answer, `completion` gets the task's error.
    public func send(
        _ request: URLRequest, completion: @escaping @Sendable (Result<ServiceAnswer, any Error>) -> Void
    ) {
        let task = dataTask(with: request) { data, response, error in
            if let response = response as? HTTPURLResponse {
                completion(.success(ServiceAnswer(status: response.statusCode, body: data ?? Data())))
            } else {
                completion(.failure(error ?? URLError(.badServerResponse)))
            }
        }
        task.resume()
    }
}
