/// Why a request failed.
public enum ClientError: Error, Equatable, Sendable {
    /// The request was not sent: an argument is not valid, as the sentence says.
    case request(String)
    /// The service refused the request.
    case problem(Problem)
    /// The service cannot be reached, or the answer is not the service's; the sentence names the cause.
    case service(String)
    /// The waiting task was cancelled. The service may have done the request anyway.
    case cancelled

    /// The problem details of the service's answer (RFC 9457).
    public struct Problem: Equatable, Sendable {
        /// The HTTP status: 400 and 422 for a request that is not possible, 401 for an invalid token, 404 for a person
        /// or thing that does not exist or that the token may not see, 409 for a conflict with a change meanwhile, 429
        /// for too many requests.
        public let status: Int
        /// One sentence that says what to do.
        public let detail: String
        /// The seconds after which to try again, if the service gave them.
        public let retryAfterSeconds: Int?
    }
}

extension ClientError: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .request(let sentence), .service(let sentence): sentence
        case .problem(let problem): problem.detail
        case .cancelled: "The task that waited for the answer was cancelled."
        }
    }
}
