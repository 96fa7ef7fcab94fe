import Glibc
import HTTPServer
package import JSON

/// Someone who asks the service: a way to it and a token.
///
///     let anna = try ServiceClient(address: "https://where.example", token: "wp_…")
///     if case .now(let location) = try await anna.ask(where: "ben", purpose: "dinner is ready") { … }
///
/// A problem is thrown in the service's own words. A busy service is asked again when it says, so every `POST` has an
/// `Idempotency-Key` of its own: done twice is done once. A client is a value and may be used by many tasks at once; its
/// copies share their connections. Times are ``UnixTime``.
///
/// What is thrown is a ``ClientError``, without the type saying so: Swift 6.3 fails on a `catch` of some cases of an error
/// whose type is told.
public struct ServiceClient: Sendable {
    package let transport: any Transport
    let token: String
    /// Why the operator reads, for the record.
    package var purpose: String?
    /// What names of places are wanted in: tags of BCP 47, the best first.
    public var languages: [String]

    /// How long one answer may take; the longest that is waited for at the service is 30 s.
    private static let answerSeconds = 60

    /// A client of a service that listens.
    ///
    /// - Parameters:
    ///   - address: where, as in `https://where.example`; `http` only where nobody is between.
    ///   - token: whose rights: a person's (`wp_…`), or for ``report(_:)`` a device's reporting key (`wd_…`).
    ///   - trustFile: PEM file of the certificates to trust instead of the system's, for an authority of one's own.
    ///   - languages: what names of places are wanted in: tags of BCP 47, the best first.
    /// - Throws: ``ClientError/request(_:)`` for what is no such address.
    public init(
        address: String, token: String, trustFile: String? = nil, languages: [String] = []
    ) throws {
        guard let transport = WireTransport(address, trustFile: trustFile, seconds: Self.answerSeconds) else {
            throw ClientError.request(
                "An address of the service has the form https://HOST or https://HOST:PORT, without a path.")
        }
        self.init(transport: transport, token: token, languages: languages)
    }

    package init(
        transport: any Transport, token: String, purpose: String? = nil, languages: [String] = []
    ) {
        (self.transport, self.token, self.purpose, self.languages) = (transport, token, purpose, languages)
    }

    /// A page of a list.
    public struct Page<Item: Sendable>: Sendable {
        public let items: [Item]
        /// What to pass for `after` to get the next one; `nil` on the last.
        public let next: String?
        /// Up to where in the log the page was read: the operator gets a number, everyone else an opaque reference. Pass it
        /// for `at-least` to read nothing older.
        public let asOf: String?
    }

    // MARK: Waiting on the thread, for the tool

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
    ) throws(ClientError) -> Page<JSONValue> {
        let answer = try get(path, query: query + Self.cursor(after))
        return try Self.page(of: answer, path, after: after) { $0 }
    }

    /// The `next` of an answer, a text or a number.
    package static func cursor(of answer: JSONValue) -> String? { answer["next"].flatMap(name) }

    /// What the service names something by: an opaque reference, or a number for the operator.
    package static func name(_ value: JSONValue) -> String? { value.string ?? value.int.map { "\($0)" } }

    package static func unexpected(_ path: [String]) -> ClientError {
        .service("The service's answer from /\(path.joined(separator: "/")) is not of the form that is known here.")
    }

    static func cursor(_ after: String?) -> [(name: String, value: String)] { after.map { [("after", $0)] } ?? [] }

    /// - Parameter item: reads an item; `nil` for what is none.
    static func page<Item>(
        of answer: JSONValue, _ path: [String], after: String?, _ item: (JSONValue) -> Item?
    ) throws(ClientError) -> Page<Item> {
        let next = cursor(of: answer)
        // A cursor that stands still would be asked for ever.
        guard let values = answer["items"]?.array, next == nil || next != after else { throw unexpected(path) }
        let items = values.compactMap(item)
        guard items.count == answer["items"]?.count else { throw unexpected(path) }
        return Page(items: items, next: next, asOf: answer["asOf"].flatMap(name))
    }

    private func send(
        _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = [],
        patienceSeconds: Int = ServiceClient.patienceSeconds
    ) throws(ClientError) -> JSONValue {
        let request = try request(method, path, query: query, body: body)
        var waited = 0
        while true {
            let response = try transport.answer(to: request)
            guard let pause = Self.pauseSeconds(response), waited < patienceSeconds else {
                return try Self.value(of: response)
            }
            sleep(UInt32(pause))
            waited += pause
        }
    }

    // MARK: Requests and answers

    /// A busy service is asked again for so long.
    static let patienceSeconds = 120

    /// A request that can be sent, and sent again.
    func request(
        _ method: String, _ path: [String], query: [(name: String, value: String)], body: [UInt8]
    ) throws(ClientError) -> HTTPRequest {
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
        guard headers.allSatisfy({ $0.1.utf8.allSatisfy { (0x20...0x7E).contains($0) } }) else {
            throw .request("A token and the tags of languages are of visible ASCII characters.")
        }
        return HTTPRequest(
            method: method, path: "/" + path.joined(separator: "/"), query: query, headers: headers, body: body)
    }

    /// After how long a busy service is asked again; `nil` for an answer.
    static func pauseSeconds(_ response: HTTPResponse) -> Int? {
        guard response.status == 503, let seconds = retryAfter(response) else { return nil }
        return (0...patienceSeconds).contains(seconds) ? max(1, seconds) : nil
    }

    private static func retryAfter(_ response: HTTPResponse) -> Int? {
        response.headers.first { $0.name.lowercased() == "retry-after" }.flatMap { Int($0.value) }
    }

    /// The JSON of an answer, or its problem as an error in the service's own words.
    static func value(of response: HTTPResponse) throws(ClientError) -> JSONValue {
        let root = try? JSONDocument.parse(response.body).root
        guard (200..<300).contains(response.status) else {
            let sentence =
                root?["detail"]?.string ?? root?["title"]?.string
                ?? "The service answered with status \(response.status)."
            throw .problem(
                ClientError.Problem(
                    status: response.status, detail: sentence, retryAfterSeconds: retryAfter(response)))
        }
        guard let root else { throw .service("The service's answer is not JSON.") }
        return root
    }
}
