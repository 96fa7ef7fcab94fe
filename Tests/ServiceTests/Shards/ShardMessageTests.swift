import Cryptography
import HTTPServer
import JSON
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import Reactors
@testable import Readers
@testable import Service
@testable import Shards

/// The messages between a directory and its shards, and who may send them.
@Suite struct ShardMessageTests {
    private static let growth = FactsRequest.Growth(
        size: 41, root: Hash256(words: (1, 2, 3, 4)), from: 40, proof: [Hash256(words: (5, 6, 7, 8))])

    private static func request(_ number: Int64 = 1, after: Int64 = 0) throws -> FactsRequest {
        FactsRequest(
            shard: try #require(ShardNumber(rawValue: number)), log: Identifier128(high: 1, low: 2), epoch: 1,
            after: after, growth: growth)
    }

    @Test func `a message is read as it was written, and one of another form is not read`() throws {
        let request = try Self.request()
        #expect(FactsRequest(request.bytes) == request)
        let text = String(decoding: request.bytes, as: UTF8.self)
        for (given, wrong) in [
            ("\"shard\":1", "\"shard\":256"), ("\"epoch\":1", "\"epoch\":0"), ("\"after\":0", "\"after\":-1"),
            ("\"size\":41", "\"size\":0"), ("\"from\":40", "\"from\":-1"), ("\"proof\":[", "\"proof\":[\"5a\","),
        ] {
            #expect(text.contains(given))
            #expect(FactsRequest(Array(text.replacing(given, with: wrong).utf8)) == nil, "\(wrong)")
        }
        #expect(FactsRequest([]) == nil)
        #expect(FactsRequest([UInt8](repeating: 0x20, count: FactsRequest.bytesMax + 1)) == nil)

        let person = PersonID(rawValue: 2)
        let items = [
            DirectoryFacts.Item(
                event: .personAdded(person, handle: .open(try #require(Handle("anna")))), stream: .audit(person),
                actor: .operator, correlation: Identifier128(high: 9, low: 9)),
            DirectoryFacts.Item(
                event: .tokenRevoked(TokenID(rawValue: 4)), stream: .audit(person), actor: person.principal,
                correlation: Identifier128(high: 9, low: 8)),
        ]
        let answer = FactsAnswer(
            facts: DirectoryFacts(directory: request.log, after: 3, upTo: 7, items: items), witnessed: 40)
        let read = try #require(FactsAnswer(answer.bytes, after: 3))
        #expect(read.facts.items.map(\.event) == items.map(\.event) && read.witnessed == 40)
        #expect(read.facts.items.map(\.actor) == items.map(\.actor))
        // Only facts of the directory: a fix is none.
        let other = String(decoding: answer.bytes, as: UTF8.self).replacing("\"kind\":5", with: "\"kind\":10")
        #expect(FactsAnswer(Array(other.utf8), after: 3) == nil)
    }

    @Test func `only a process with the secret gets facts, and each message once`() throws {
        let scene = try ShardScene()
        let body = try Self.request().bytes
        func send(_ header: String?) -> Answer {
            scene.directory.send(
                "POST", "/shards/facts", as: scene.directory.operatorToken, String(decoding: body, as: UTF8.self),
                headers: header.map { [(ReaderSeal.requestHeader, $0)] } ?? [])
        }
        func seal(_ byte: UInt8, for purpose: String) -> ReaderSeal {
            ReaderSeal(under: SymmetricKey(bytes: [UInt8](repeating: byte, count: 32)), for: purpose)
        }
        let now = scene.clock.now
        #expect(send(nil).status == 404)
        #expect(send(seal(0x5b, for: FactsEndpoint.purpose).request(body, at: now).header).status == 404)
        #expect(send(seal(0x5a, for: "whereabouts readers v1").request(body, at: now).header).status == 404)
        // The secret is right, and the log is not the one of this number.
        let header = seal(0x5a, for: FactsEndpoint.purpose).request(body, at: now).header
        let answer = send(header)
        #expect(answer.status == 409 && answer.text.contains("another log"), "\(answer.text)")
        #expect(send(header).status == 404)
    }

    @Test func `a shard that comes later gets no fact of someone who was erased`() throws {
        let scene = try ShardScene()
        scene.shards[1].stop()
        _ = try scene.addPerson("unmistakable", in: 1)
        _ = try scene.addPerson("anna", in: 1)
        let ids = scene.directory.service.log.withStanding { standing in
            ["unmistakable", "anna"].compactMap { Handle($0).flatMap { standing.person($0) } }
        }
        scene.manage("DELETE", "/v1/people/unmistakable")
        try scene.shards[1].start()
        try scene.shards[1].listen()
        try scene.settle()
        let known = try scene.events(2, .personAdded, .tokenIssued, .personErased, .personPlaced).compactMap(
            \.stream.person)
        #expect(known.contains(ids[1]) && !known.contains(ids[0]))
    }

    @Test func `a shard without its directory answers for a minute, and takes reports after that`() throws {
        let state = DirectoryFollower.State(heardAt: 1000)
        #expect(DirectoryFollower.problem(state, at: 1000 + DirectoryFollower.silentSecondsMax) == nil)
        let silent = try #require(DirectoryFollower.problem(state, at: 1001 + DirectoryFollower.silentSecondsMax))
        #expect(silent.response.status == 503 && silent.response.headers.contains { $0.name == "Retry-After" })
        #expect(
            DirectoryFollower.problem(DirectoryFollower.State(heardAt: 1000, trouble: "It was cut."), at: 1000) != nil)
    }

    @Test func `a configuration that makes no house is refused with a sentence`() {
        let shards = #""shards":{"addresses":{"1":"http://127.0.0.1:1"},"keyFile":"k"}"#
        let shard = #""shard":{"number":1,"directory":"http://127.0.0.1:1","keyFile":"k"}"#
        for (text, word) in [
            ("{\(shards),\(shard)}", "one of the two"), (#"{"shards":{"keyFile":"k"}}"#, "addresses"),
            (#"{"shards":{"addresses":{"0":"http://127.0.0.1:1"},"keyFile":"k"}}"#, "1 to 255"),
            (
                #"{"shards":{"addresses":{"1":"http://127.0.0.1:1","2":"http://127.0.0.1:1"},"keyFile":"k"}}"#,
                "different"
            ),
            (#"{"shards":{"addresses":{"1":"http://one.example"},"keyFile":"k"}}"#, "https"),
            (#"{"shards":{"addresses":{"1":"http://127.0.0.1:1"}}}"#, "keyFile"),
            (#"{"shard":{"number":1,"keyFile":"k"}}"#, "directory"),
            (#"{"shard":{"number":1,"directory":"http://127.0.0.1:1","key":"k"}}"#, "\"key\""),
            ("{\(shard),\"mqtt\":{\"host\":\"localhost\"}}", "mqtt"),
        ] {
            do {
                _ = try ServiceConfiguration.parse(Array(text.utf8))
                Issue.record("\(text) was taken.")
            } catch { #expect("\(error)".contains(word), "\(error)") }
        }
    }

    @Test func `a log of another part of the house is not opened`() throws {
        let scene = try ShardScene(shards: 1)
        _ = try scene.addPerson("anna", in: 1)
        for house in [scene.directory, scene.shards[0]] {
            house.stop()
            do {
                _ = try Service(
                    directory: try DataDirectory(path: house.directory), configuration: ServiceConfiguration(),
                    gazetteerPath: nil)
                Issue.record("It was opened as a house with one log.")
            } catch { #expect("\(error)".contains("shard"), "\(error)") }
        }
    }
}
