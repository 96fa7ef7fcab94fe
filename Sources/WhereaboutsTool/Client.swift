import JSON
import Service
import Whereabouts
import WhereaboutsClient

/// The service's client as commands use it: its errors are the tool's.
struct Client {
    var service: ServiceClient
    /// The server elsewhere that is asked; `nil` when the operator's own data directory is.
    var server: Reach.Server?

    init(service: ServiceClient, server: Reach.Server? = nil) { (self.service, self.server) = (service, server) }

    /// - Throws: ``ToolError/usage(_:)`` when the address is not one of a server.
    init(_ server: Reach.Server) throws(ToolError) {
        guard let transport = WireTransport(server.url, trustFile: server.trustFile) else {
            throw .usage("\"\(server.url)\" is not the address of a server; give one such as https://where.example.")
        }
        self.init(service: ServiceClient(transport: transport, token: server.token), server: server)
    }

    func get(
        _ path: String..., query: [(name: String, value: String)] = []
    ) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in try service.get(path, query: query) }
    }

    func post(_ path: String..., body: (inout JSONWriter) -> Void = { _ in }) throws(ToolError) -> JSONValue {
        try post(path, body: body)
    }

    func post(_ path: [String], body: (inout JSONWriter) -> Void = { _ in }) throws(ToolError) -> JSONValue {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        return try told { () throws(ClientError) in try service.post(path, json: writer.bytes) }
    }

    func post(_ path: String..., json: [UInt8]) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in try service.post(path, json: json) }
    }

    func delete(_ path: [String]) throws(ToolError) -> JSONValue {
        try told { () throws(ClientError) in try service.delete(path) }
    }

    /// All items of a list, page after page as they come, and the number of the event that the last page reflects.
    ///
    /// - Parameter body: takes the items of a page.
    @discardableResult
    func pages(
        _ path: String..., query: [(name: String, value: String)] = [],
        page body: ([JSONValue]) throws(ToolError) -> Void
    ) throws(ToolError) -> Int64? {
        try pages(path, query: query, page: body)
    }

    /// All items of a list that is short by nature.
    func items(_ path: String..., query: [(name: String, value: String)] = []) throws(ToolError) -> [JSONValue] {
        try items(path, query: query)
    }

    func items(_ path: [String], query: [(name: String, value: String)] = []) throws(ToolError) -> [JSONValue] {
        var all: [JSONValue] = []
        try pages(path, query: query) { all.append(contentsOf: $0) }
        return all
    }

    @discardableResult
    private func pages(
        _ path: [String], query: [(name: String, value: String)],
        page body: ([JSONValue]) throws(ToolError) -> Void
    ) throws(ToolError) -> Int64? {
        var after: String?
        while true {
            let page = try told { () throws(ClientError) in try service.page(path, query: query, after: after) }
            try body(page.items)
            guard let next = page.next else { return page.asOf }
            after = next
        }
    }

    private func told<Value>(_ ask: () throws(ClientError) -> Value) throws(ToolError) -> Value {
        do throws(ClientError) { return try ask() } catch { throw ToolError(error) }
    }
}

extension Client {
    /// The newest event of the log, as the operator of this computer sees it.
    func head() throws(ToolError) -> Int64 {
        try items("v1", "projections").compactMap { $0["head"]?.int }.max() ?? 0
    }

    /// What makes a read wait until it shows everything that earlier commands have changed. A server elsewhere does not
    /// tell how long its log is; there a read shows what has been folded, which is some milliseconds old.
    func waitingForEarlierCommands() throws(ToolError) -> [(name: String, value: String)] {
        server == nil ? [("at-least", "\(try head())")] : []
    }

    /// The same way, as a person: with a token that the operator issues for it.
    ///
    /// - Parameter seconds: how long the token is good.
    func acting(as person: Handle, scopes: [String], seconds: Int64) throws(ToolError) -> Client {
        if server?.isPersons == true { return self }
        return try issuing(to: person, scopes: scopes, until: Timestamp.now.adding(seconds: seconds)).client
    }

    /// Does something as a person by a token that stays good, unless it comes to nothing: then it is revoked.
    func endowing<Value>(
        _ person: Handle, scopes: [String], _ body: (Client) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        let (holder, token) = try issuing(to: person, scopes: scopes, until: nil)
        do throws(ToolError) { return try body(holder) } catch {
            do throws(ToolError) { _ = try delete(["v1", "tokens", "\(token)"]) } catch let second {
                throw .data("\(error) The token \(token) was issued for it and is still good: \(second)")
            }
            throw error
        }
    }

    private func issuing(
        to person: Handle, scopes: [String], until: Timestamp?
    ) throws(ToolError) -> (client: Client, token: Int64) {
        let issued = try post("v1", "people", person.text, "tokens") { body in
            body.array("scopes") { array in scopes.forEach { array.value($0) } }
            body.field("until", milliseconds: until?.milliseconds)
        }
        guard let token = issued["token"]?.string, let id = issued["id"]?.int else {
            throw ToolError(ServiceClient.unexpected(["v1", "people", person.text, "tokens"]))
        }
        let client = ServiceClient(
            transport: service.transport, token: token, purpose: service.purpose, languages: service.languages)
        return (Client(service: client, server: server), id)
    }
}

extension ToolError {
    init(_ error: ClientError) {
        switch error {
        case .request(let sentence): self = .usage(sentence)
        // The request cannot be, and so what was typed.
        case .problem(let problem) where problem.status == 400 || problem.status == 422: self = .usage(problem.detail)
        case .problem, .service, .cancelled: self = .data(error.description)
        }
    }
}
