import Cryptography
import HTTPServer
import JSON
import Testing
import Whereabouts

@testable import Service

/// What a person's stream tells, on record first, and when it ends.
@Suite struct LiveStoryTests {
    /// A stream read without a socket.
    private final class Reader {
        struct Told {
            let id: Int64
            let event: String
            let data: JSONValue
        }

        let answer: Answer
        private let stream: HTTPStream
        private var text = ""
        private let signal = Monitor(0)

        init?(_ response: HTTPResponse) {
            answer = Answer(response)
            guard let stream = response.stream else { return nil }
            self.stream = stream
        }

        /// Waits until what was told is as wanted, or the stream is over.
        func until(_ isGood: ([Told]) -> Bool) -> [Told] {
            while !isGood(told), take() {}
            return told
        }

        /// Everything up to the end.
        var toTheEnd: String {
            while take() {}
            return text
        }

        func leave() { stream.abandon() }

        private func take() -> Bool {
            let seen = signal.read { $0 }
            switch stream.next(100, wake: { [signal] in signal.change { $0 += 1 } }) {
            case .bytes(let bytes):
                text += String(decoding: bytes, as: UTF8.self)
                return true
            case .nothingYet: return signal.wait(milliseconds: 20_000) { $0 > seen ? true : nil } == true
            case .end, .cut: return false
            }
        }

        /// The events as they came, whole ones only, without the comments between them.
        var blocks: [String] {
            let parts = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
            return parts.dropLast().filter { !$0.hasPrefix(":") }
        }

        var told: [Told] {
            guard let end = text.utf8.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
            return text[...end].split(separator: "\n\n").compactMap { block in
                var fields: [Substring: Substring] = [:]
                for line in block.split(separator: "\n") {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    fields[line[..<colon]] = line[line.index(after: colon)...].dropFirst()
                }
                guard let id = fields["id"].flatMap({ Int64($0) }), let event = fields["event"],
                    let data = fields["data"].flatMap({ try? JSONDocument.parse(Array($0.utf8)).root })
                else { return nil }
                return Told(id: id, event: String(event), data: data)
            }
        }
    }

    private static func open(
        _ house: ServiceUnderTest, as token: String, after: Int64? = nil
    ) throws -> Reader {
        let given = Monitor<HTTPResponse?>(nil)
        house.send(
            "GET", "/v1/live", as: token, headers: after.map { [("Last-Event-ID", "\($0)")] } ?? []
        ) { response in given.change { $0 = response } }
        let response = try #require(given.wait { $0 })
        try #require(response.status == 200)
        return try #require(Reader(response))
    }

    private static func scene() throws -> (house: ServiceUnderTest, walker: String, friend: String, phone: String) {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        return (house, walker, friend, phone)
    }

    private static func ask(_ house: ServiceUnderTest, as friend: String) -> Answer {
        house.send(
            "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late for dinner"}"#)
    }

    @Test func `the subject is told of a question, the request for consent, the end and what was shown`() throws {
        let (house, walker, friend, phone) = try Self.scene()
        try house.grant("walker", to: "friend", more: #","asksEachTime":true"#)
        let live = try Self.open(house, as: walker)
        #expect(live.answer.header("Content-Type") == "text/event-stream")
        let asked = Self.ask(house, as: friend)
        let id = try #require(asked["id"]?.string)
        let request = live.until { $0.contains { $0.event == "consent" } }.last
        #expect(request?.data["consent"]?.string == "asked" && request?.data["query"]?.string == id)
        house.send("POST", "/v1/people/walker/consent-requests/\(id)", as: walker, #"{"consent":"given"}"#)
        house.send(
            "POST", "/v1/fixes", as: phone,
            #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":8}"#)
        house.send("GET", "/v1/location-queries/\(id)", as: friend)
        let told = live.until { $0.contains { $0.event == "disclosure" } }
        #expect(told.map(\.event) == ["query", "consent", "consent", "end", "disclosure"])
        #expect(told[0].data["requester"]?.string == "friend")
        #expect(told[0].data["purpose"]?.string == "late for dinner")
        #expect(told[3].data["end"]?.string == "answered")
        #expect(told[4].data["latitude"]?.double == 48.2)
        #expect(told.map(\.id) == told.map(\.id).sorted())
        live.leave()
    }

    @Test func `every byte was on record before it left, and the records are not told`() throws {
        let (house, walker, friend, _) = try Self.scene()
        try house.grant("walker", to: "friend")
        let live = try Self.open(house, as: walker), another = try Self.open(house, as: walker)
        for _ in 0..<3 {
            let before = live.told.count
            _ = Self.ask(house, as: friend)
            _ = live.until { $0.count > before }
            _ = another.until { $0.count > before }
            house.clock.advance(seconds: 3600)
        }
        #expect(Set(live.told.map(\.event)).isSubset(of: ["query", "end", "push"]))
        for reader in [live, another] {
            // The records of this stream, in order, name the bytes of its batches: so many events each.
            let request = try #require(reader.answer.header("Whereabouts-Request"))
            let records = try house.events().compactMap { event -> LocationRead? in
                guard event.correlation.description == request, case .locationRead(let read) = event.event else {
                    return nil
                }
                return read
            }
            #expect(records.first?.count == 0 && records.first?.verdict == .own)
            var blocks = reader.blocks[...]
            for record in records.dropFirst() {
                let batch = blocks.prefix(Int(record.count))
                // The last one may still be on its way to this reader.
                guard batch.count == record.count else { break }
                blocks = blocks.dropFirst(batch.count)
                let bytes = Array(batch.map { $0 + "\n\n" }.joined().utf8)
                #expect(record.question == .live)
                #expect(record.content.content?.answerHash.map(\.bytes) == SHA256().hash(bytes).bytes)
            }
            #expect(blocks.isEmpty, "something left without a record")
            #expect(records.count >= 4)
        }
        live.leave()
        another.leave()
    }

    @Test func `a client that comes back gets what it missed, once`() throws {
        let (house, walker, friend, _) = try Self.scene()
        try house.grant("walker", to: "friend")
        let first = try Self.open(house, as: walker)
        _ = Self.ask(house, as: friend)
        let seen = try #require(first.until { !$0.isEmpty }.first)
        first.leave()
        house.clock.advance(seconds: 3600)
        _ = Self.ask(house, as: friend)
        house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        let second = try Self.open(house, as: walker, after: seen.id)
        let missed = second.until { $0.contains { $0.event == "change" } }
        #expect(missed.filter { $0.event == "query" }.count == 1)
        #expect(missed.allSatisfy { $0.id > seen.id })
        #expect(Set(missed.map(\.id)).count == missed.count)
        house.clock.advance(seconds: 3600)
        _ = Self.ask(house, as: friend)
        let more = second.until { $0.filter { $0.event == "query" }.count == 2 }
        #expect(Set(more.map(\.id)).count == more.count)
        second.leave()
        #expect(house.send("GET", "/v1/live", as: walker, headers: [("Last-Event-ID", "999999")]).status == 400)
    }

    @Test(arguments: ["token", "person"]) func `a stream ends at once with what it was opened by`(what: String) throws {
        let (house, walker, _, _) = try Self.scene()
        let live = try Self.open(house, as: walker)
        if what == "token" {
            let tokens = house.send("GET", "/v1/people/walker/tokens", as: walker).items
            for token in tokens { house.manage("DELETE", "/v1/tokens/\(try #require(token["id"]?.int))") }
        } else {
            house.manage("DELETE", "/v1/people/walker")
        }
        #expect(live.toTheEnd.hasPrefix(": open"))
        #expect(house.send("GET", "/v1/live", as: walker).status == 401)
    }

    @Test func `who may not read the own audit has no stream, and nobody has too many`() throws {
        let (house, walker, _, phone) = try Self.scene()
        let query = try house.token(of: "walker", scopes: #"["query"]"#)
        #expect(house.send("GET", "/v1/live", as: query).status == 404)
        #expect(house.send("GET", "/v1/live", as: phone).status == 404)
        #expect(house.send("GET", "/v1/live", as: house.operatorToken).status == 404)
        let open = try (0..<Limits.liveStreamsPerPerson).map { _ in try Self.open(house, as: walker) }
        #expect(house.send("GET", "/v1/live", as: walker).status == 503)
        for live in open { live.leave() }
        house.stop()
    }

    @Test func `a habit is told when it is found`() throws {
        let (house, walker, friend, _) = try Self.scene()
        let live = try Self.open(house, as: walker)
        for _ in 0..<AskPatterns.threshold(.refused).steps {
            house.send("GET", "/v1/people/walker/track", as: friend)
            house.clock.advance(seconds: 61)
        }
        let told = live.until { $0.contains { $0.event == "finding" } }
        let finding = try #require(told.first { $0.event == "finding" })
        #expect(finding.data["pattern"]?.string == "refused" && finding.data["requester"]?.string == "friend")
        let listed = house.send("GET", "/v1/people/walker/findings?at-least=\(house.service.log.head)", as: walker)
        #expect(listed.items.map { $0["pattern"]?.string } == ["refused"])
        live.leave()
    }
}
