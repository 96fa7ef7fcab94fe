import Glibc
import HTTPServer
package import JSON

/// Someone who asks the service: a way to it and a token.
///
///     let client = ServiceClient(transport: SocketTransport(address: address), token: "wp_…")
///     let location = try client.get(["v1", "people", "anna", "location"])["location"]
///
/// What can be asked is told by `/openapi.json`. Answers are JSON; a problem is thrown in the service's own words. A busy
/// service is asked again when it says, so every `POST` has an `Idempotency-Key` of its own: done twice is done once.
package struct ServiceClient: Sendable {
    package let transport: any Transport
    let token: String
    /// Why the operator reads, for the record.
    package var purpose: String?
    /// What names of places are wanted in: tags of BCP 47, the best first.
    package var languages: [String]

    package init(
        transport: any Transport, token: String, purpose: String? = nil, languages: [String] = []
    ) {
        (self.transport, self.token, self.purpose, self.languages) = (transport, token, purpose, languages)
    }

    /// A page of a list.
    package struct Page {
        package let items: JSONArray
        /// What to pass for `after` to get the next one; `nil` on the last.
        package let next: String?
        /// The number of the event that the page reflects, where the service tells it.
        package let asOf: Int64?
    }

    /// A busy service is asked again for so long.
    private static let patienceSeconds = 120

    package func get(
        _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ClientError) -> JSONValue {
        try send("GET", path, query: query)
    }

    /// - Parameter json: the body, an object.
    package func post(_ path: [String], json: [UInt8]) throws(ClientError) -> JSONValue {
        try send("POST", path, body: json)
    }

    /// Not sent again by itself: the first may have had its effect.
    package func delete(_ path: [String]) throws(ClientError) -> JSONValue {
        try send("DELETE", path, patienceSeconds: 0)
    }

    /// - Parameter after: the ``Page/next`` of the page before.
    package func page(
        _ path: [String], query: [(name: String, value: String)] = [], after: String? = nil
    ) throws(ClientError) -> Page {
        let answer = try get(path, query: query + (after.map { [("after", $0)] } ?? []))
        let next = Self.cursor(of: answer)
        // A cursor that stands still would be asked for ever.
        guard let items = answer["items"]?.array, next == nil || next != after else { throw Self.unexpected(path) }
        return Page(items: items, next: next, asOf: answer["asOf"]?.int)
    }

    /// The `next` of an answer, a text or a number.
    package static func cursor(of answer: JSONValue) -> String? {
        answer["next"].flatMap { value in value.string ?? value.int.map { "\($0)" } }
    }

    package static func unexpected(_ path: [String]) -> ClientError {
        .service("The service's answer from /\(path.joined(separator: "/")) is not of the form this tool knows.")
    }

    /// Sends one request; a service that is busy is asked again when it says.
    private func send(
        _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = [],
        patienceSeconds: Int = ServiceClient.patienceSeconds
    ) throws(ClientError) -> JSONValue {
        for part in path where part.isEmpty || part.contains("/") || part == "." || part == ".." {
            throw .request("A name in a request must not be empty, \".\" or \"..\", nor contain \"/\".")
        }
        var headers = [("Authorization", "Bearer " + token)]
        if method == "POST" {
            let key = [0, 0].map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }.joined(separator: "-")
            headers.append(("Idempotency-Key", "\"\(key)\""))
        }
        if !body.isEmpty { headers.append(("Content-Type", "application/json")) }
        if let purpose { headers.append(("Whereabouts-Purpose", percentEncoded(purpose))) }
        if !languages.isEmpty { headers.append(("Accept-Language", languages.joined(separator: ","))) }
        let request = HTTPRequest(
            method: method, path: "/" + path.joined(separator: "/"), query: query, headers: headers, body: body)
        var waited = 0
        while true {
            let response = try transport.answer(to: request)
            if response.status == 503, let seconds = Self.retryAfter(response), waited < patienceSeconds {
                sleep(UInt32(seconds))
                waited += seconds
                continue
            }
            return try Self.value(of: response)
        }
    }

    private static func retryAfter(_ response: HTTPResponse) -> Int? {
        let text = response.headers.first { $0.name.lowercased() == "retry-after" }?.value
        return text.flatMap { Int($0) }.flatMap { (0...patienceSeconds).contains($0) ? max(1, $0) : nil }
    }

    /// The JSON of an answer, or its problem as an error in the service's own words.
    private static func value(of response: HTTPResponse) throws(ClientError) -> JSONValue {
        let root = try? JSONDocument.parse(response.body).root
        guard (200..<300).contains(response.status) else {
            let sentence =
                root?["detail"]?.string ?? root?["title"]?.string
                ?? "The service answered with status \(response.status)."
            throw response.status == 400 || response.status == 422 ? .request(sentence) : .service(sentence)
        }
        guard let root else { throw .service("The service's answer is not JSON.") }
        return root
    }
}
