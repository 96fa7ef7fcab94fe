public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends a request and brings the answer back, once, from any thread. `URLSession` on a phone.
public protocol RequestSending: Sendable {
    func send(_ request: URLRequest, completion: @escaping @Sendable (Result<ServiceAnswer, any Error>) -> Void)
}

/// What the service answered.
public struct ServiceAnswer: Sendable, Equatable {
    public let status: Int
    public let body: Data

    public init(status: Int, body: Data) { (self.status, self.body) = (status, body) }
}

extension URLSession: RequestSending {
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
