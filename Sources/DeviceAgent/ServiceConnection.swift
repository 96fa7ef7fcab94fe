internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The phone's way to the service: HTTP through URLSession, as in an app. May be used by several threads.
package final class ServiceConnection: Sendable {
    /// How long an answer may take; the system gives an extension about half a minute for everything.
    private static let timeoutSeconds = 10.0

    private let session: URLSession
    private let base: String

    /// - Parameter service: `http://host:port` or `https://…`, without a path.
    /// - Throws: ``ScenarioError`` when that is not an address.
    package init(service: String) throws(ScenarioError) {
        let base = service.hasSuffix("/") ? String(service.dropLast()) : service
        guard let url = URL(string: base), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host != nil
        else { throw ScenarioError("service must be an address like http://127.0.0.1:8080.") }
        self.base = base
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.timeoutSeconds
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    deinit {
        session.invalidateAndCancel()
    }

    /// Sends a message and blocks until there is an answer or ten seconds have passed without a byte.
    package func send(_ message: ServiceRequest) -> ServiceReply {
        guard let url = URL(string: base + message.path) else { return .nothing(reason: "The path is not one.") }
        var request = URLRequest(url: url)
        request.httpMethod = message.method
        request.httpBody = Data(message.body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(message.bearer)", forHTTPHeaderField: "Authorization")
        let answer = Answer()
        session.dataTask(with: request) { data, response, error in
            if let response = response as? HTTPURLResponse {
                answer.give(.answer(status: response.statusCode, body: data.map { Array($0) } ?? []))
            } else {
                answer.give(.nothing(reason: error?.localizedDescription ?? "There was no answer."))
            }
        }.resume()
        return answer.wait()
    }
}

/// A reply on its way from URLSession's queue to the thread that waits for it.
private final class Answer: Sendable {
    private let reply = Mutex(ServiceReply.nothing(reason: "There was no answer."))
    private let semaphore = DispatchSemaphore(value: 0)

    func give(_ reply: ServiceReply) {
        self.reply.withLock { $0 = reply }
        semaphore.signal()
    }

    func wait() -> ServiceReply {
        semaphore.wait()
        return reply.withLock { $0 }
    }
}
