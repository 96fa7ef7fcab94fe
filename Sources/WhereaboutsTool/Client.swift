import Glibc
import JSON
import Log
import Replies
import Whereabouts
import WhereaboutsClient

/// A client of the service that throws the tool's errors.
struct Client {
    var service: ServiceClient
    /// The remote service; `nil` for that of a data directory.
    var server: Reach.Server?
    /// The service's name and the source of its token, for the error about a token that is not accepted.
    private let origin: (service: String, token: Reach.TokenSource)?

    /// - Parameter origin: `nil` if the token was made for the client.
    init(service: ServiceClient, origin: (service: String, token: Reach.TokenSource)? = nil) {
        (self.service, self.origin) = (service, origin)
    }

    /// - Throws: ``ToolError/usage(_:)`` if the address is not a service's.
    init(_ server: Reach.Server) throws(ToolError) {
        guard let transport = WireTransport(server.url, trustFile: server.trustFile) else {
            throw .usage("\"\(server.url)\" is not a service's address; give one, for example https://where.example.")
        }
        self.init(
            service: ServiceClient(transport: transport, token: server.token),
            origin: ("at \(server.url)", server.source))
        self.server = server
    }

    func get(
        _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in try service.get(path, query: query) }
    }

    /// The bytes of a `GET` whose answer is not JSON.
    func file(
        _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ToolError) -> [UInt8] {
        try told { () throws(ClientError) in try service.file(path, query: query) }
    }

    /// Takes the bytes of a `GET` whose answer is a long file, as they come, on any thread.
    ///
    /// - Returns: The headers of the answer.
    func download(
        _ path: [String], query: [(name: String, value: String)] = [], _ take: @escaping @Sendable ([UInt8]) -> Void
    ) throws(ToolError) -> [(name: String, value: String)] {
        try told { () throws(ClientError) in try service.download(path, query: query, take) }
    }

    func post(_ path: [String], body: (inout JSONWriter) -> Void = { _ in }) throws(ToolError) -> JSONValue {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        return try told { () throws(ClientError) in try service.post(path, json: writer.bytes) }
    }

    func put(_ path: [String], body: (inout JSONWriter) -> Void) throws(ToolError) -> JSONValue {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        return try told { () throws(ClientError) in try service.put(path, json: writer.bytes) }
    }

    func post(_ path: [String], json: [UInt8]) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in try service.post(path, json: json) }
    }

    /// Sends a `POST` and returns at once.
    func begin(_ path: [String], json: [UInt8]) throws(ToolError) -> ServiceClient.PostUnderWay {
        try told { () throws(ClientError) in try service.begin(path, json: json) }
    }

    /// Waits for the answer to a `POST` that was begun.
    ///
    /// - Parameter refused: Called before the error is thrown if the service would refuse the same request again.
    func finish(_ post: ServiceClient.PostUnderWay, refused: () -> Void) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in
            do throws(ClientError) { return try post.value() } catch {
                if case .problem(let problem) = error, [404, 409, 422].contains(problem.status) { refused() }
                throw error
            }
        }
    }

    func delete(
        _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in try service.delete(path, query: query) }
    }

    /// All items of a list, page by page, and the number of the last event that the last page includes.
    ///
    /// - Parameter body: Takes the items of a page.
    @discardableResult
    func pages(
        _ path: [String], query: [(name: String, value: String)] = [],
        page body: ([JSONValue]) throws(ToolError) -> Void
    ) throws(ToolError) -> String? {
        var after: String?
        while true {
            let page = try told { () throws(ClientError) in try service.page(path, query: query, after: after) }
            try body(page.items)
            guard let next = page.next else { return page.asOf }
            after = next
        }
    }

    /// All items of a list as replies.
    func all<Item: Reply>(
        _: Item.Type, _ path: [String], query: [(name: String, value: String)] = []
    ) throws(ToolError) -> [Item] {
        var all: [Item] = []
        try pages(path, query: query) { (page) throws(ToolError) in
            for item in page { all.append(try item.read()) }
        }
        return all
    }

    /// All items of a list, however many pages it has.
    func items(_ path: [String], query: [(name: String, value: String)] = []) throws(ToolError) -> [JSONValue] {
        var all: [JSONValue] = []
        try pages(path, query: query) { all.append(contentsOf: $0) }
        return all
    }

    /// Runs `ask`, with the tool's errors.
    func told<Value>(_ ask: () throws(ClientError) -> Value) throws(ToolError) -> Value {
        do throws(ClientError) { return try ask() } catch {
            if case .problem(let problem) = error, problem.status == 401, let origin {
                throw .data("The service \(origin.service) does not accept the token \(origin.token.words).")
            }
            throw ToolError(error)
        }
    }
}

extension Client {
    /// The number of the newest event of the log. Only the operator of this computer sees it.
    func head() throws(ToolError) -> Int64 {
        try projections().map(\.head).max() ?? 0
    }

    /// The generations of projections. Only the operator of this computer sees them.
    func projections() throws(ToolError) -> [ProjectionItem] {
        try all(ProjectionItem.self, APIPath.projections.parts())
    }

    /// The handles of all people.
    func people() throws(ToolError) -> [String] {
        try all(PersonItem.self, APIPath.people.parts()).map(\.handle)
    }

    /// The query parameter that makes a read wait for the changes of earlier commands. A remote service does not show
    /// how long its log is, so a read there may lack the last milliseconds.
    func waitingForEarlierCommands() throws(ToolError) -> [(name: String, value: String)] {
        server == nil ? [("at-least", "\(try head())")] : []
    }

    /// Waits until every view shows the changes of earlier commands, for a read by a person, who does not see the log's
    /// numbers.
    func waitForEarlierCommands() throws(ToolError) {
        guard server == nil else { return }
        let head = try head()
        for _ in 0..<500 {
            if try projections().allSatisfy({ !$0.generation.isActive || $0.place >= head }) { return }
            usleep(20_000)
        }
    }

    /// The same client with a token that the operator issues for a person.
    ///
    /// - Parameter seconds: How long the token is valid.
    func acting(as person: Handle, scopes: [String], seconds: Int64) throws(ToolError) -> Client {
        if server?.isPersons == true { return self }
        return try issuing(to: person, scopes: scopes, until: Timestamp.now.adding(seconds: seconds)).client
    }

    /// Acts as a person with a token that remains valid; if the act fails, the token is revoked.
    func endowing<Value>(
        _ person: Handle, scopes: [String], _ body: (_ holder: Client, _ token: String) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        let (holder, token) = try issuing(to: person, scopes: scopes, until: nil)
        do throws(ToolError) { return try body(holder, token) } catch {
            do throws(ToolError) { _ = try delete(APIPath.token.parts(token)) } catch let second {
                throw .data("\(error) The token \(token), issued for this, is still valid: \(second)")
            }
            throw error
        }
    }

    private func issuing(
        to person: Handle, scopes: [String], until: Timestamp?
    ) throws(ToolError) -> (client: Client, token: String) {
        let issued = try post(APIPath.peopleTokens.parts(person.text)) { body in
            body.array("scopes") { array in scopes.forEach { array.value($0) } }
            body.field("until", milliseconds: until?.milliseconds)
        }
        let token = try issued.read(IssuedToken.self)
        let client = ServiceClient(
            transport: service.transport, token: token.token, purpose: service.purpose, languages: service.languages)
        var holder = Client(service: client)
        holder.server = server
        return (holder, token.id.text)
    }
}

extension ToolError {
    init(_ error: ClientError) {
        switch error {
        case .request(let sentence): self = .usage(sentence)
        // The service could not accept the request, so the command's arguments are wrong.
        case .problem(let problem) where problem.status == 400 || problem.status == 422: self = .usage(problem.detail)
        case .problem, .service, .cancelled: self = .data(error.description)
        }
    }
}
