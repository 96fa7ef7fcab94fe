/// Why a request came to nothing, in one sentence for whoever made it.
package enum ClientError: Error, Equatable, Sendable {
    /// The service says that the request cannot be (400, 422), or it cannot even be sent.
    case request(String)
    /// The service refuses, has something else to say, or cannot be reached.
    case service(String)
}
