package import HTTPServer

/// Carries a request to the service and its answer back.
package protocol Transport: Sendable {
    func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse
    /// Whether a service runs that others report to meanwhile.
    var isRunningService: Bool { get }
    /// Ends what was begun for this client. Nothing is sent afterwards.
    func close()
}

/// The way to a service that listens, over its own address.
package struct SocketTransport: Transport {
    let address: SocketAddress
    package var isRunningService: Bool { true }

    package init(address: SocketAddress) { self.address = address }

    package func answer(to request: HTTPRequest) throws(ClientError) -> HTTPResponse {
        try HTTPExchange(address: address).answer(to: request)
    }

    package func close() {}
}
