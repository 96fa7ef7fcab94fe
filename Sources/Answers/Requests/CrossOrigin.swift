package import HTTPServer

/// The web pages of other origins that may read answers in a browser (the CORS protocol of the Fetch standard): those
/// in `allowedOrigins` of `config.json`, by default none.
///
/// Such a page sends its own token. The service never sends `Access-Control-Allow-Credentials` and never allows `*`:
/// with a cookie, any page could otherwise ask in the name of the person who opens it.
package struct CrossOrigin: Sendable {
    /// The allowed origins, each in the form that ``isOrigin(_:)`` accepts.
    package let origins: Set<String>

    package init(origins: Set<String>) {
        self.origins = origins
    }

    /// How long a browser may remember the answer to a preflight.
    private static let preflightSeconds = 600
    /// The request headers that a page may set (`Access-Control-Allow-Headers`).
    private static let requestFields = [
        "Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Whereabouts-Purpose",
    ]
    /// The answer headers that a page may read (`Access-Control-Expose-Headers`).
    private static let answerFields = [
        "Content-Crs", "Link", "Location", "Retry-After", "Whereabouts-Outdated", "Whereabouts-Request",
    ]

    /// The CORS headers of the answer to a request; none if no origin is configured. `Vary: Origin` says
    /// that they depend on the page.
    package func fields(for request: HTTPRequest) -> [(name: String, value: String)] {
        guard !origins.isEmpty else { return [] }
        guard let origin = origin(of: request) else { return [("Vary", "Origin")] }
        return [
            ("Vary", "Origin"), ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", Self.answerFields.joined(separator: ", ")),
        ]
    }

    /// The answer to a preflight request of an allowed page; `nil` for any other request.
    ///
    /// - Parameter methods: The methods of the routes at this path.
    package func preflight(_ request: HTTPRequest, methods: [String]) -> HTTPResponse? {
        guard request.method == "OPTIONS", request.header("access-control-request-method") != nil,
            origin(of: request) != nil
        else { return nil }
        return HTTPResponse(
            status: 204,
            headers: [
                ("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
                ("Access-Control-Allow-Headers", Self.requestFields.joined(separator: ", ")),
                ("Access-Control-Max-Age", "\(Self.preflightSeconds)"),
            ])
    }

    /// The request's origin, if it is an allowed one.
    private func origin(of request: HTTPRequest) -> String? {
        request.header("origin").flatMap { origins.contains($0) ? $0 : nil }
    }

    /// Whether a text is an origin as browsers write it: scheme, host and an optional port, in lower case, without a
    /// path. For example `https://map.example.org`.
    package static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return false }
        let host = text.dropFirst(scheme.count)
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
