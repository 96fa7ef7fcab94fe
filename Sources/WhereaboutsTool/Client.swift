import Glibc
import HTTPServer
import JSON
import Service
import Whereabouts

/// Someone who asks the service: a way to it and a token.
struct Client {
    let transport: any Transport
    let token: String
    /// Why the operator reads, for the record.
    var purpose: String?

    /// A busy service is asked again for so long.
    private static let patienceSeconds = 120

    func get(
        _ path: String..., query: [(name: String, value: String)] = []
    ) throws(ToolError) -> JSONValue {
        try send("GET", path, query: query)
    }

    func post(_ path: String..., body: (inout JSONWriter) -> Void = { _ in }) throws(ToolError) -> JSONValue {
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        return try send("POST", path, body: writer.bytes)
    }

    func post(_ path: String..., json: [UInt8]) throws(ToolError) -> JSONValue {
        try send("POST", path, body: json)
    }

    /// Not sent again by itself: the first may have had its effect.
    func delete(_ path: [String]) throws(ToolError) -> JSONValue {
        try send("DELETE", path, patienceSeconds: 0)
    }

    /// All items of a list, page after page as they come, and the number of the event that the last page reflects.
    ///
    /// - Parameter page: takes the items of a page.
    @discardableResult
    func pages(
        _ path: String..., query: [(name: String, value: String)] = [],
        page: (JSONArray) throws(ToolError) -> Void
    ) throws(ToolError) -> Int64? {
        var after: String?
        while true {
            let answer = try send("GET", path, query: query + (after.map { [("after", $0)] } ?? []))
            guard let items = answer["items"]?.array else { throw unexpected(path) }
            try page(items)
            guard let next = Self.cursor(answer["next"]) else { return answer["asOf"]?.int }
            // A cursor that stands still would be asked for ever.
            guard next != after else { throw unexpected(path) }
            after = next
        }
    }

    /// All items of a list that is short by nature.
    func items(_ path: String..., query: [(name: String, value: String)] = []) throws(ToolError) -> [JSONValue] {
        var all: [JSONValue] = []
        var after: String?
        repeat {
            let answer = try send("GET", path, query: query + (after.map { [("after", $0)] } ?? []))
            guard let items = answer["items"]?.array else { throw unexpected(path) }
            all.append(contentsOf: items)
            let next = Self.cursor(answer["next"])
            guard next == nil || next != after else { throw unexpected(path) }
            after = next
        } while after != nil
        return all
    }

    static func cursor(_ value: JSONValue?) -> String? {
        value.flatMap { $0.string ?? $0.int.map { "\($0)" } }
    }

    /// Sends one request; a service that is busy is asked again when it says.
    private func send(
        _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = [],
        patienceSeconds: Int = Client.patienceSeconds
    ) throws(ToolError) -> JSONValue {
        for part in path where part.isEmpty || part.contains("/") || part == "." || part == ".." {
            throw .usage("A name in a request must not be empty, \".\" or \"..\", nor contain \"/\".")
        }
        var headers = [("Authorization", "Bearer " + token)]
        if !body.isEmpty { headers.append(("Content-Type", "application/json")) }
        if let purpose { headers.append(("Whereabouts-Purpose", percentEncoded(purpose))) }
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
    private static func value(of response: HTTPResponse) throws(ToolError) -> JSONValue {
        let root = try? JSONDocument.parse(response.body).root
        guard (200..<300).contains(response.status) else {
            let sentence =
                root?["detail"]?.string ?? root?["title"]?.string
                ?? "The service answered with status \(response.status)."
            throw response.status == 400 || response.status == 422 ? .usage(sentence) : .data(sentence)
        }
        guard let root else { throw .data("The service's answer is not JSON.") }
        return root
    }

    private func unexpected(_ path: [String]) -> ToolError {
        .data("The service's answer from /\(path.joined(separator: "/")) is not of the form this tool knows.")
    }
}

extension Client {
    /// The newest event of the log. A read that waits for it shows what an earlier command has changed.
    func head() throws(ToolError) -> Int64 {
        try items("v1", "projections").compactMap { $0["head"]?.int }.max() ?? 0
    }

    /// The same way, as a person: with a token that the operator issues for it.
    ///
    /// - Parameter seconds: how long the token is good.
    func acting(as person: Handle, scopes: [String], seconds: Int64) throws(ToolError) -> Client {
        let until = Timestamp.now.adding(seconds: seconds)
        let issued = try post("v1", "people", person.text, "tokens") { body in
            body.array("scopes") { array in scopes.forEach { array.value($0) } }
            body.field("until", milliseconds: until.milliseconds)
        }
        guard let token = issued["token"]?.string else { throw unexpected(["v1", "people", person.text, "tokens"]) }
        return Client(transport: transport, token: token, purpose: purpose)
    }
}
