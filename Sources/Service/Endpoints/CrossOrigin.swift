import HTTPServer

/// Which pages of other origins a browser lets read the answers (the CORS protocol of the Fetch standard): those that
/// `allowedOrigins` of `config.json` names, and none unless it does.
///
/// Such a page shows a token of its own. `Access-Control-Allow-Credentials` is never sent, and no origin stands for all: a
/// cookie would otherwise let any page ask in the name of whoever opens it.
struct CrossOrigin: Sendable {
    let origins: Set<String>

    /// Said of preflights for ten minutes; a browser asks again after that.
    private static let preflightSeconds = 600
    private static let requestFields = [
        "Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Whereabouts-Purpose",
    ]
    private static let answerFields = [
        "Content-Crs", "Link", "Location", "Retry-After", "Whereabouts-Request",
    ]

    /// The fields that every answer to a request has.
    func fields(for request: HTTPRequest) -> [(name: String, value: String)] {
        guard !origins.isEmpty else { return [] }
        guard let origin = origin(of: request) else { return [("Vary", "Origin")] }
        return [
            ("Vary", "Origin"), ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", Self.answerFields.joined(separator: ", ")),
        ]
    }

    /// The answer to a browser that asks before the request itself; `nil` when this is no such question of an allowed page.
    func preflight(_ request: HTTPRequest, methods: [String]) -> HTTPResponse? {
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

    private func origin(of request: HTTPRequest) -> String? {
        request.header("origin").flatMap { origins.contains($0) ? $0 : nil }
    }

    /// Whether a text is an origin as browsers write it: scheme, host and perhaps a port, in lower case and without a path.
    static func isOrigin(_ text: String) -> Bool {
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
