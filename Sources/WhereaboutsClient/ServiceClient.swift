import Glibc
import HTTPServer
package import JSON
package import Replies

/// A client of the service: its address and a token.
///
///     let anna = try ServiceClient(address: "https://where.example", token: "wp_…")
///     if case .now(let location) = try await anna.ask(where: "ben", purpose: "dinner is ready") { … }
///
/// Errors carry the service's own sentences. If the service is busy, the client waits as long as the service says and
/// sends the request again; every `POST` has an `Idempotency-Key`, so that a repeated one has no second effect. A
/// client is a value that many tasks may use at once; its copies share their connections. Times are ``UnixTime``.
///
/// All methods throw ``ClientError``. They do not declare the type, because Swift 6.3 rejects a `catch` of some cases
/// of a typed error.
public struct ServiceClient: Sendable {
    /// The way to the service.
    package let transport: any Transport
    let token: String
    /// The operator's purpose for reads, which the log records.
    package var purpose: String?
    /// The languages for names of places: BCP 47 tags, the best first.
    public var languages: [String]
    /// Where the service's promises are kept that its answers are recorded. An answer about a person without such a
    /// promise is refused, unless this is ``ReceiptKeeping/notKept``.
    public var receipts: ReceiptKeeping

    /// How long one answer may take. A request waits for at most 30 s at the service.
    private static let answerSeconds = 60

    /// Makes a client of a service that listens.
    ///
    /// - Parameters:
    ///   - address: The service's address, for example `https://where.example`. Use `http` only if no network is in
    ///     between.
    ///   - token: A person's token (`wp_…`), or for ``report(_:)`` a device's reporting key (`wd_…`).
    ///   - trustFile: A PEM file with your own CA, to trust instead of the system's certificates.
    ///   - languages: The languages for names of places: BCP 47 tags, the best first.
    ///   - receipts: Where receipts are kept; by default in ``ReceiptKeeping/standard(for:)``.
    /// - Throws: ``ClientError/request(_:)`` if the address has another form.
    public init(
        address: String, token: String, trustFile: String? = nil, languages: [String] = [],
        receipts: ReceiptKeeping? = nil
    ) throws {
        guard let transport = WireTransport(address, trustFile: trustFile, seconds: Self.answerSeconds) else {
            throw ClientError.request(
                "An address of the service has the form https://HOST or https://HOST:PORT, without a path.")
        }
        self.init(
            transport: transport, token: token, languages: languages, receipts: receipts ?? .standard(for: address))
    }

    /// A client that uses another transport.
    package init(
        transport: any Transport, token: String, purpose: String? = nil, languages: [String] = [],
        receipts: ReceiptKeeping = .notKept
    ) {
        (self.transport, self.token, self.purpose, self.languages) = (transport, token, purpose, languages)
        self.receipts = receipts
    }

    /// A page of a list.
    public struct Page<Item: Sendable>: Sendable {
        /// The items of the page.
        public let items: [Item]
        /// The value of `after` for the next page; `nil` on the last page.
        public let next: String?
        /// The place in the log up to which the page was read: a number for the operator, an opaque reference for
        /// everyone else. Pass it as `at-least` to read nothing older.
        public let asOf: String?
    }

    // MARK: Waiting on the thread, for the tool

    /// The JSON of a `GET`.
    package func get(
        _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ClientError) -> JSONValue {
        try send("GET", path, query: query)
    }

    /// The bytes of a `GET` whose answer is not JSON.
    package func file(_ path: [String], query: [(name: String, value: String)] = []) throws(ClientError) -> [UInt8] {
        let response = try answer(to: try request("GET", path, query: query, body: []))
        if (200..<300).contains(response.status) {
            try keepReceipt(of: response, path)
            return response.body
        }
        throw Self.problem(of: response, try? JSONDocument.parse(response.body).root)
    }

    /// Takes the bytes of a `GET` whose answer is a long file, as they come.
    ///
    /// - Parameter take: Is called on any thread. If this throws, it may have taken a part.
    /// - Returns: The headers of the answer.
    package func download(
        _ path: [String], query: [(name: String, value: String)] = [], _ take: @escaping @Sendable ([UInt8]) -> Void
    ) throws(ClientError) -> [(name: String, value: String)] {
        let request = try request("GET", path, query: query, body: [])
        var waited = 0
        while true {
            let response = try transport.download(request, take)
            if (200..<300).contains(response.status) {
                try keepReceipt(of: response, path)
                return response.headers
            }
            guard let pause = Self.pauseSeconds(response), waited < Self.patienceSeconds else {
                throw Self.problem(of: response, try? JSONDocument.parse(response.body).root)
            }
            sleep(UInt32(pause))
            waited += pause
        }
    }

    /// - Parameter json: The body, an object.
    package func post(_ path: [String], json: [UInt8]) throws(ClientError) -> JSONValue {
        try send("POST", path, body: json)
    }

    /// Sends a `PUT`, which can be repeated.
    ///
    /// - Parameter json: The body, an object.
    package func put(_ path: [String], json: [UInt8]) throws(ClientError) -> JSONValue {
        try send("PUT", path, body: json)
    }

    /// Sends a `POST` and returns at once, so that the next one can be made meanwhile.
    ///
    /// - Parameter json: The body, an object.
    package func begin(_ path: [String], json: [UInt8]) throws(ClientError) -> PostUnderWay {
        let request = try request("POST", path, query: [], body: json)
        let awaited = Awaited<Result<HTTPResponse, ClientError>>()
        transport.send(request) { awaited.give($0) }
        return PostUnderWay(client: self, request: request, path: path, awaited: awaited)
    }

    /// A request that was sent and not yet answered.
    package struct PostUnderWay {
        fileprivate let client: ServiceClient
        fileprivate let request: HTTPRequest
        fileprivate let path: [String]
        fileprivate let awaited: Awaited<Result<HTTPResponse, ClientError>>

        /// Waits for the answer, once. While the service is busy, the request is repeated as any other.
        package func value() throws(ClientError) -> JSONValue {
            var response = try awaited.take().get()
            if let pause = ServiceClient.pauseSeconds(response) {
                sleep(UInt32(pause))
                response = try client.answer(to: request)
            }
            return try client.value(of: response, path)
        }
    }

    /// Sent only once: a repeated one could find the thing gone by the first.
    package func delete(
        _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ClientError) -> JSONValue {
        try send("DELETE", path, query: query, patienceSeconds: 0)
    }

    /// - Parameter after: The ``Page/next`` of the page before.
    package func page(
        _ path: [String], query: [(name: String, value: String)] = [], after: String? = nil
    ) throws(ClientError) -> Page<JSONValue> {
        let answer = try get(path, query: query + Self.cursor(after))
        return try Self.page(of: answer, path, after: after) { (item: JSONValue) in item }
    }

    /// Reads an answer.
    ///
    /// - Parameter path: The path that it came from, for the error about an answer of another form.
    package static func read<Object: Reply>(
        _: Object.Type, from json: JSONValue, _ path: [String]
    ) throws(ClientError) -> Object {
        do throws(ReplyError) {
            guard let object = try Object.read(json) else { throw ReplyError.notAnObject }
            return object
        } catch { throw unexpected(path, error) }
    }

    /// The error for an answer of an unexpected form.
    package static func unexpected(_ path: [String], _ error: ReplyError? = nil) -> ClientError {
        let fault = error.map { "\($0)" } ?? "has a form that this client does not know"
        return .service("The service's answer from /\(path.joined(separator: "/")) \(fault).")
    }

    static func cursor(_ after: String?) -> [(name: String, value: String)] { after.map { [("after", $0)] } ?? [] }

    /// - Parameter item: Makes an item of a row; `nil` if it cannot.
    static func page<Row: MemberValue, Item>(
        of answer: JSONValue, _ path: [String], after: String?, _ item: (Row) -> Item?
    ) throws(ClientError) -> Page<Item> {
        let page = try read(Replies.Page<Row>.self, from: answer, path)
        let next = page.end.next?.text
        // A cursor that does not advance would be followed for ever.
        guard next == nil || next != after else { throw unexpected(path) }
        let items = page.items.compactMap(item)
        guard items.count == page.items.count else { throw unexpected(path) }
        return Page(items: items, next: next, asOf: page.end.asOf.text)
    }

    private func send(
        _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = [],
        patienceSeconds: Int = ServiceClient.patienceSeconds
    ) throws(ClientError) -> JSONValue {
        let request = try request(method, path, query: query, body: body)
        return try value(of: try answer(to: request, patienceSeconds: patienceSeconds), path)
    }

    /// The answer to a request, which is repeated while the service is busy.
    fileprivate func answer(
        to request: HTTPRequest, patienceSeconds: Int = ServiceClient.patienceSeconds
    ) throws(ClientError) -> HTTPResponse {
        var waited = 0
        while true {
            let response = try transport.answer(to: request)
            guard let pause = Self.pauseSeconds(response), waited < patienceSeconds else { return response }
            sleep(UInt32(pause))
            waited += pause
        }
    }

    // MARK: Requests and answers

    /// How long the client repeats a request to a busy service.
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
            throw .request("A token and the tags of languages must be visible ASCII characters.")
        }
        return HTTPRequest(
            method: method, path: "/" + path.joined(separator: "/"), query: query, headers: headers, body: body)
    }

    /// The seconds after which to repeat a request to a busy service; `nil` for any other answer.
    static func pauseSeconds(_ response: HTTPResponse) -> Int? {
        guard response.status == 503, let seconds = retryAfter(response) else { return nil }
        return (0...patienceSeconds).contains(seconds) ? max(1, seconds) : nil
    }

    private static func retryAfter(_ response: HTTPResponse) -> Int? {
        response.headers.first { $0.name.lowercased() == "retry-after" }.flatMap { Int($0.value) }
    }

    /// The JSON of an answer, or its problem as an error with the service's own sentence.
    static func value(of response: HTTPResponse) throws(ClientError) -> JSONValue {
        let root = try? JSONDocument.parse(response.body).root
        guard (200..<300).contains(response.status) else { throw problem(of: response, root) }
        guard let root else { throw .service("The service's answer is not JSON.") }
        return root
    }

    private static func problem(of response: HTTPResponse, _ root: JSONValue?) -> ClientError {
        let problem = root.flatMap { try? ProblemReply.read($0) }
        let sentence = problem?.detail ?? problem?.title ?? "The service answered with status \(response.status)."
        return .problem(
            ClientError.Problem(status: response.status, detail: sentence, retryAfterSeconds: retryAfter(response)))
    }
}
