import Cryptography
import HTTPServer
import JSON
import Synchronization
import TestSupport
import Testing

@testable import WhereaboutsClient

@Suite struct ServiceClientTests {
    /// A transport that gives its answers one after the other, repeats the last one, and keeps the requests.
    private final class Answers: Transport {
        private let state: Mutex<(left: [HTTPResponse], asked: [HTTPRequest])>
        var isRunningService: Bool { true }

        init(_ answers: HTTPResponse...) { state = Mutex((answers, [])) }

        var asked: [HTTPRequest] { state.withLock { $0.asked } }

        func send(
            _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void
        ) {
            let answer = state.withLock { state in
                state.asked.append(request)
                return state.left.count > 1 ? state.left.removeFirst() : state.left[0]
            }
            completion(.success(answer))
        }

        func close() {}
    }

    @Test(arguments: [(400, nil), (401, nil), (404, nil), (409, nil), (429, 7), (500, nil)] as [(Int, Int?)])
    func `a problem is told in the service's words`(status: Int, retryAfterSeconds: Int?) {
        var response = HTTPResponse.problem(status, title: "Problem", detail: "Say it otherwise.")
        if let retryAfterSeconds { response.headers.append(("Retry-After", "\(retryAfterSeconds)")) }
        let client = ServiceClient(transport: Answers(response), token: "")
        let problem = ClientError.Problem(
            status: status, detail: "Say it otherwise.", retryAfterSeconds: retryAfterSeconds)
        #expect(throws: ClientError.problem(problem)) { try client.get(["v1", "people"]) }
    }

    @Test func `an answer that is no JSON is no answer`() {
        let client = ServiceClient(transport: Answers(.text("hello")), token: "")
        #expect(throws: ClientError.service("The service's answer is not JSON.")) { try client.get(["v1", "people"]) }
    }

    @Test func `a list whose pages stand still ends`() throws {
        let response = HTTPResponse.json(Array(#"{"items":[],"next":"7","asOf":1}"#.utf8))
        let client = ServiceClient(transport: Answers(response), token: "")
        #expect(try client.page(["v1", "people"]).next == "7")
        #expect(throws: ClientError.self) { try client.page(["v1", "people"], after: "7") }
    }

    @Test func `a busy service is asked again, with the key that makes it the same request`() throws {
        var busy = HTTPResponse.problem(503, title: "Busy", detail: "Later.")
        busy.headers.append(("Retry-After", "0"))
        let answers = Answers(busy, .json(Array("{}".utf8), status: 201))
        let client = ServiceClient(transport: answers, token: "wo_1")
        _ = try client.post(["v1", "people"], json: Array(#"{"handle":"anna"}"#.utf8))
        let keys = answers.asked.map { $0.header("idempotency-key") }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
        _ = try client.post(["v1", "people"], json: Array(#"{"handle":"ben"}"#.utf8))
        #expect(answers.asked.last?.header("idempotency-key") != keys[0])
    }

    private static let body = Array(#"{"items":[],"next":null,"asOf":1}"#.utf8)

    @Test(arguments: ["location", "track", "visits", "crossings", "trips", "places", "summary", "audit", "findings"])
    func `an answer about a person without a receipt is refused, unless none are kept`(what: String) throws {
        let folder = TemporaryFolder()
        var client = ServiceClient(
            transport: Answers(.json(Self.body)), token: "", receipts: .folder(folder.file("receipts")))
        let path = ["v1", "people", "anna", what]
        #expect {
            try client.get(path)
        } throws: { error in
            "\(error)".contains("without a receipt") && "\(error)".contains("--no-receipts")
        }
        #expect(throws: ClientError.self) { try client.file(path) }
        client.receipts = .notKept
        #expect(throws: Never.self) { try client.get(path) }
        // An answer that is about no one has none.
        client.receipts = .folder(folder.file("receipts"))
        #expect(throws: Never.self) { try client.get(["v1", "people"]) }
    }

    @Test func `receipts are kept one after the other, in a file for each person`() throws {
        let folder = TemporaryFolder()
        let text = "whereabouts receipt v1\nlog x\n\n— a b\n"
        var response = HTTPResponse.json(Self.body)
        response.headers.append(("Whereabouts-Receipt", Base64.encode(Array(text.utf8))))
        let client = ServiceClient(
            transport: Answers(response), token: "", receipts: .folder(folder.file("new/receipts")))
        _ = try client.get(["v1", "people", "anna", "visits"])
        _ = try client.file(["v1", "people", "ben", "proof"])
        _ = try client.get(["v1", "people", "anna", "track"])
        func kept(_ name: String) throws -> String {
            String(decoding: try contents(ofFile: folder.file("new/receipts/\(name).receipts")), as: UTF8.self)
        }
        #expect(try kept("anna") == text + "\n" + text)
        #expect(try kept("ben") == text)
    }

    @Test(arguments: [
        ("https://where.example", "where.example"), ("http://127.0.0.1:8080", "127.0.0.1_8080"),
    ])
    func `each service has its own folder of receipts`(address: String, name: String) throws {
        guard case .folder(let path) = ReceiptKeeping.standard(for: address) else { return #expect(Bool(false)) }
        #expect(path.hasSuffix("/whereabouts-receipts/\(name)"))
        #expect(ReceiptKeeping.folder("/a").about("anna") == .file("/a/anna.receipts"))
    }

    @Test(arguments: ["", ".", "..", "a/b"]) func `a name that would lead elsewhere is not sent`(name: String) {
        let answers = Answers(.text(""))
        let client = ServiceClient(transport: answers, token: "")
        #expect(throws: ClientError.self) { try client.delete(["v1", "people", name]) }
        #expect(answers.asked.isEmpty)
    }
}
