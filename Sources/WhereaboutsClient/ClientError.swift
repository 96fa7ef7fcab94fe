/// Why a request came to nothing.
public enum ClientError: Error, Equatable, Sendable {
    /// It was not sent: what was given cannot be a request, as the sentence says.
    case request(String)
    /// The service refused it.
    case problem(Problem)
    /// The service cannot be reached, or what answers there is not the service; the sentence says what is wrong.
    case service(String)
    /// The task that waited was cancelled. What was asked may have been done all the same.
    case cancelled

    /// What the service says in its problem details (RFC 9457).
    public struct Problem: Equatable, Sendable {
        /// The status of HTTP: 400 and 422 for what cannot be asked so, 401 for a token that is not good, 404 for whom or
        /// what the token may not see, or is not there, 409 for what has changed meanwhile, 429 for too much.
        public let status: Int
        /// One sentence that says what to do.
        public let detail: String
        /// Seconds after which to try again, where the service says so.
        public let retryAfterSeconds: Int?
    }
}

extension ClientError: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .request(let sentence), .service(let sentence): sentence
        case .problem(let problem): problem.detail
        case .cancelled: "Nobody waits for the answer any more."
        }
    }
}
