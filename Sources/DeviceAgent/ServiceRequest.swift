/// A message of a phone to the service.
package struct ServiceRequest: Sendable, Equatable {
    package let method: String
    /// Begins with `/`.
    package let path: String
    /// The device's reporting key.
    package let bearer: String
    /// JSON.
    package let body: [UInt8]

    package init(method: String, path: String, bearer: String, body: [UInt8]) {
        (self.method, self.path, self.bearer, self.body) = (method, path, bearer, body)
    }
}

/// The answer to a request, or its failure.
package enum ServiceReply: Sendable, Equatable {
    case answer(status: Int, body: [UInt8])
    /// Nothing: the service is not there or was too slow. The reason is for people.
    case nothing(reason: String)
}
