import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPConformanceTests {
    // Connections that their clients have left are looked for in a quarter of the deadline.
    private static let server = Result { try TestServer { $0.requestDeadlineSeconds = 1 } }

    @Test(arguments: ConformanceCase.all)
    func `a request is answered or refused as the table says`(given: ConformanceCase) throws {
        let client = try #require(RawClient(port: Self.server.get().port))
        client.send(given.bytes)
        client.endSending()
        var statuses: [Int] = []
        while let answer = client.receive() {
            statuses.append(answer.status)
            // libmicrohttpd 0.9.75 refuses a malformed Content-Length by itself, in HTML, and sends that head twice.
            let isOwn = answer.status == 200 || answer.header("content-type") == "application/problem+json"
            if isOwn { #expect(!answer.body.hasPrefix("HTTP/")) }
            if isOwn, statuses == given.statuses { #expect(client.unread == 0) }
        }
        #expect(statuses == given.statuses)
    }

    @Test func `the table is not empty`() {
        #expect(ConformanceCase.all.count > 70)
    }

    @Test(arguments: [
        ("/a%20b/c%C3%A9?x=1&y=a+b%26&z&=v&&x=2", "/a b/cé|x=1;y=a b&;z=;=v;x=2"),
        ("/", "/|"), ("//a/", "//a/|"), ("/%7Euser", "/~user|"), ("/a?", "/a|"), ("/a?b=c=d?e", "/a|b=c=d?e"),
        ("/+?+", "/+| ="), ("http://example.org", "/|"), ("HTTP://example.org?a=1", "/|a=1"),
        ("/a..b/...", "/a..b/...|"),
    ])
    func `a target is understood segment by segment`(target: String, understood: String) throws {
        let client = try #require(RawClient(port: Self.server.get().port))
        client.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.receive()?.body == understood)
    }

    @Test func `damaged requests never stop the server`() throws {
        // Connections that their clients have left are looked for in a quarter of this.
        let server = try TestServer { $0.requestDeadlineSeconds = 0.04 }
        let chunks = "5\r\nhello\r\n0\r\n\r\n"
        let seed = Array("POST /echo?a=%41 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)".utf8)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var text = seed
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                default: text.insert(Array("\r\n: 0%".utf8).randomElement(using: &random) ?? 0, at: place)
                }
            }
            let client = try #require(RawClient(port: server.port))
            client.send(text)
            client.endSending()
            while client.receive() != nil {}
        }
        try server.wait { $0.connectionsOpen == 0 && $0.requestsWaiting == 0 }
    }
}

/// A line of `Tests/Conformance/http.txt`; its expectations are RFC 9112 and RFC 9110 read by hand.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let line: Int
    let statuses: [Int]
    let text: String

    var testDescription: String { "line \(line): \(text)" }

    static let all: [ConformanceCase] = {
        guard let table = try? contents(ofFile: Repository.conformance("http.txt")) else { return [] }
        let lines = String(decoding: table, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            guard let tab = line.firstIndex(of: "\t"), line.first != "#" else { return nil }
            let statuses = line[..<tab].split(separator: " ").compactMap { Int($0) }
            return ConformanceCase(line: index + 1, statuses: statuses, text: String(line[line.index(after: tab)...]))
        }
    }()

    /// The text with its marks resolved.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix("{H}") {
                bytes += Array("Host: h\r\n".utf8)
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("{N}") {
                bytes += Array("GET /next HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("\\x") {
                bytes.append(UInt8(rest.dropFirst(2).prefix(2), radix: 16) ?? 0)
                rest = rest.dropFirst(4)
            } else if rest.hasPrefix("\\") {
                bytes.append(rest.dropFirst().first == "r" ? 13 : 10)
                rest = rest.dropFirst(2)
            } else {
                bytes += Array(String(character).utf8)
                rest = rest.dropFirst()
            }
        }
        return bytes
    }
}
