import Cryptography
import HTTPServer
import JSON
import Log
import Replies
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import Service

/// The events of a person's stream, which are recorded first, and the end of the stream.
@Suite struct LiveStoryTests {
    /// A stream read without a socket.
    private final class Reader {
        struct Told {
            /// Only the last event of those sent together has one.
            let id: Int64?
            let event: String
            let data: JSONValue
            let number: Int64?
        }

        let answer: Answer
        private let stream: HTTPStream
        /// The person's.
        private let references: References
        /// As they came: a name's letter may lie across two pieces.
        private var bytes: [UInt8] = []
        private var text: String { String(decoding: bytes, as: UTF8.self) }
        private let signal = Monitor(0)

        init?(_ response: HTTPResponse, _ references: References?) {
            answer = Answer(response)
            guard let stream = response.stream, let references else { return nil }
            (self.stream, self.references) = (stream, references)
        }

        /// Waits until the events are as wanted or the stream has ended.
        func until(_ isGood: ([Told]) -> Bool) -> [Told] {
            while !isGood(told), take() {}
            return told
        }

        /// Everything up to the end.
        var toTheEnd: String {
            while take() {}
            return text
        }

        /// Whether the service ended the stream, by the bytes read so far.
        private(set) var hasEnded = false

        func leave() { stream.abandon() }

        private func take() -> Bool {
            let seen = signal.read { $0 }
            switch stream.next(100, wake: { [signal] in signal.change { $0 += 1 } }) {
            case .bytes(let more):
                bytes += more
                return true
            case .nothingYet: return signal.wait(milliseconds: patienceMilliseconds) { $0 > seen ? true : nil } == true
            case .end, .cut:
                hasEnded = true
                return false
            }
        }

        /// The events as they came, whole ones only, without the comments between them.
        var blocks: [String] {
            let parts = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
            return parts.dropLast().filter { !$0.hasPrefix(":") }
        }

        var told: [Told] {
            guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
            return String(decoding: bytes[...end], as: UTF8.self).split(separator: "\n\n").compactMap { block in
                var fields: [Substring: Substring] = [:]
                for line in block.split(separator: "\n") {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    fields[line[..<colon]] = line[line.index(after: colon)...].dropFirst()
                }
                guard let event = fields["event"],
                    let data = fields["data"].flatMap({ try? JSONDocument.parse(Array($0.utf8)).root })
                else { return nil }
                return Told(
                    id: fields["id"].flatMap { references.place($0) }, event: String(event), data: data,
                    number: data["number"]?.string.flatMap { references.number($0, .event) })
            }
        }
    }

    private static func open(
        _ house: ServiceUnderTest, as token: String, after: Int64? = nil
    ) throws -> Reader {
        let given = Monitor<HTTPResponse?>(nil)
        let references = house.references(of: token)
        house.send(
            "GET", "/v1/live", as: token,
            headers: after.flatMap { references?.place($0).text }.map { [("Last-Event-ID", $0)] } ?? []
        ) { response in given.change { $0 = response } }
        let response = try given.expected("the stream") { $0 }
        try #require(response.status == 200)
        return try #require(Reader(response, references))
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
        let numbers = told.compactMap(\.number), ids = told.compactMap(\.id)
        #expect(numbers.count == told.count && numbers == numbers.sorted())
        #expect(!ids.isEmpty && ids == ids.sorted() && told.last?.id != nil)
        live.leave()
    }

    /// The records of a stream, in order, name the bytes of its batches: so many events each.
    @discardableResult
    private static func expectOnRecord(_ reader: Reader, _ house: ServiceUnderTest) throws -> [LocationRead] {
        let request = try #require(reader.answer.header("Whereabouts-Request"))
        // Taken before the log is read: what comes meanwhile is on record, and would be missing from the records here.
        var blocks = reader.blocks[...]
        let records = try house.events().compactMap { event -> LocationRead? in
            guard event.correlation.description == request, case .locationRead(let read) = event.event else {
                return nil
            }
            return read
        }
        #expect(records.first?.count == 0 && records.first?.verdict == .own)
        for record in records.dropFirst() {
            let batch = blocks.prefix(Int(record.count))
            blocks = blocks.dropFirst(batch.count)
            // This reader takes a hundred bytes at a time, so it may have only a part of the last one.
            guard batch.count == record.count else { break }
            let bytes = Array(batch.map { $0 + "\n\n" }.joined().utf8)
            #expect(record.content.content?.answerHash.map(\.bytes) == SHA256().hash(bytes).bytes)
        }
        #expect(blocks.isEmpty, "something left without a record")
        return records
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
            let records = try Self.expectOnRecord(reader, house)
            #expect(Set(records.map(\.question)) == [.live])
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
        let seen = try #require(first.until { $0.contains { $0.event == "query" } }.last?.id)
        first.leave()
        house.clock.advance(seconds: 3600)
        _ = Self.ask(house, as: friend)
        house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        let second = try Self.open(house, as: walker, after: seen)
        let missed = second.until { $0.contains { $0.event == "change" } }
        #expect(missed.filter { $0.event == "query" }.count == 1)
        #expect(missed.allSatisfy { ($0.number ?? 0) > seen })
        #expect(Set(missed.map(\.number)).count == missed.count)
        house.clock.advance(seconds: 3600)
        _ = Self.ask(house, as: friend)
        let more = second.until { $0.filter { $0.event == "query" }.count == 2 }
        #expect(Set(more.map(\.number)).count == more.count)
        second.leave()
        // Neither a number of the log nor a reference of another person is accepted.
        let others = try #require(house.references(of: friend)).place(seen).text
        for wrong in ["999999", "1", others] {
            #expect(house.send("GET", "/v1/live", as: walker, headers: [("Last-Event-ID", wrong)]).status == 400)
        }
    }

    @Test func `a client that comes back after any event is told every later one, once`() throws {
        let (house, walker, friend, phone) = try Self.scene()
        try house.grant("walker", to: "friend")
        for round in 0..<4 {
            _ = Self.ask(house, as: friend)
            house.manage("POST", "/v1/people/walker/pauses", "{}")
            house.manage("DELETE", "/v1/people/walker/pauses")
            _ = house.send("POST", "/owntracks", as: phone, "lat \(round)")
            house.clock.advance(seconds: 3600)
        }
        // The last item of the stream.
        let last = try #require(
            house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)["number"]?.int)
        func told(after number: Int64) throws -> [Int64] {
            let reader = try Self.open(house, as: walker, after: number)
            defer { reader.leave() }
            return reader.until { $0.contains { $0.number == last } }.compactMap(\.number).filter { $0 <= last }
        }
        let all = try told(after: 0)
        try #require(all.count >= 16 && all.last == last)
        for number in 0..<last {
            #expect(try told(after: number) == all.filter { $0 > number }, "after \(number)")
        }
    }

    @Test func `what a phone sent in vain is told as it comes, and to a client that comes back`() throws {
        let (house, walker, _, phone) = try Self.scene()
        let live = try Self.open(house, as: walker)
        func report(_ body: String) { _ = house.send("POST", "/owntracks", as: phone, body) }
        report("lat 46.5")
        let told = try #require(live.until { $0.contains { $0.event == "rejected" } }.last)
        #expect(told.data["device"]?.string == "walker-phone" && told.data["reason"]?.string == "notJSON")
        #expect(told.data["text"]?.string == "lat 46.5" && told.data["lastContact"]?.int == house.clock.seconds)
        let seen = try #require(told.id)
        live.leave()
        report(#"{"_type":"location","lat":147,"lon":2,"tst":1777881000}"#)
        let second = try Self.open(house, as: walker, after: seen)
        let missed = second.until { $0.contains { $0.event == "rejected" } }
        #expect(missed.map { $0.data["reason"]?.string } == ["badCoordinate"])
        second.leave()
    }

    @Test func `a stream ends with its token's time, although nothing happens`() throws {
        let (house, walker, _, _) = try Self.scene()
        let until = house.clock.seconds + 60
        let made = house.send(
            "POST", "/v1/people/walker/tokens", as: walker, #"{"scopes":["query","audit"],"until":\#(until)}"#)
        let live = try Self.open(house, as: try #require(made["token"]?.string, "\(made.text)"))
        let head = house.service.log.head
        house.clock.advance(seconds: 60)
        #expect(live.toTheEnd.hasPrefix(": open") && live.hasEnded)
        #expect(house.service.log.head == head)
    }

    @Test(arguments: ["token", "person"]) func `a stream ends at once with what it was opened by`(what: String) throws {
        let (house, walker, _, _) = try Self.scene()
        let live = try Self.open(house, as: walker)
        if what == "token" {
            let tokens = house.send("GET", "/v1/people/walker/tokens", as: walker).items
            for token in tokens {
                house.manage("DELETE", "/v1/tokens/\(try #require(house.number(token["id"], .token)))")
            }
        } else {
            house.manage("DELETE", "/v1/people/walker")
        }
        #expect(live.toTheEnd.hasPrefix(": open") && live.hasEnded)
        #expect(house.send("GET", "/v1/live", as: walker).status == 401)
    }

    @Test func `who may not read the own audit has no stream, and nobody has too many`() throws {
        let (house, walker, _, phone) = try Self.scene()
        let query = try house.token(of: "walker", scopes: #"["query"]"#)
        #expect(house.send("GET", "/v1/live", as: query).status == 404)
        #expect(house.send("GET", "/v1/live", as: phone).status == 404)
        #expect(house.send("GET", "/v1/live", as: house.operatorToken).status == 404)
        let open = try (0..<Limits.liveStreamsPerPerson).map { _ in try Self.open(house, as: walker) }
        let refused = house.send("GET", "/v1/live", as: walker)
        #expect(refused.status == 429 && refused.header("Retry-After") == "10")
        for live in open { live.leave() }
        house.stop()
    }

    /// An hour: on the way, ten minutes at the gate, away. A fix each half minute, reported as it is taken.
    private static func walkToTheGate(_ house: ServiceUnderTest, _ phone: String, steps: Range<Int> = 0..<60) {
        for step in steps {
            let latitude = 48.2 + 0.0025 * Double(max(0, 20 - step, step - 39))
            house.clock.advance(seconds: 30)
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":\#(latitude),"longitude":16.4,"horizontalAccuracy":5}"#
            )
        }
    }

    private static func addGate(_ house: ServiceUnderTest) {
        house.manage(
            "POST", "/v1/people/walker/regions",
            #"{"id":"gate","circle":{"latitude":48.2,"longitude":16.4,"radiusMeters":150}}"#)
    }

    /// The names of the members whose values differ between the read and the stream. The place of a visit moves a
    /// little with every fix; not every such change is sent.
    private static func members(of item: JSONValue, otherThanIn told: Reader.Told?) -> [String] {
        let moving: Set = ["latitude", "longitude", "horizontalAccuracy"]
        guard let members = item.members else { return ["not an object"] }
        return members.filter { name, value in
            guard !moving.contains(name) else { return false }
            guard let said = told?.data[name] else { return true }
            return said.string != value.string || said.double != value.double
        }.map(\.0)
    }

    @Test func `visits and crossings are told as they are read, with the rights and records of reading them`() throws {
        let (house, walker, _, phone) = try Self.scene()
        Self.addGate(house)
        let live = try Self.open(house, as: walker)
        let audit = try house.token(of: "walker", scopes: #"["audit"]"#)
        let blind = try Self.open(house, as: audit)
        // Walk until the stream reports the visit while it lasts.
        Self.walkToTheGate(house, phone, steps: 0..<40)
        _ = live.until { $0.contains { $0.event == "visit" } }
        Self.walkToTheGate(house, phone, steps: 40..<60)
        let walked = house.service.log.head
        let visits = house.send("GET", "/v1/people/walker/visits?at-least=\(walked)", as: walker).items
        let crossings = house.send("GET", "/v1/people/walker/crossings?at-least=\(walked)", as: walker).items
        #expect(visits.count == 1 && crossings.count == 2)
        // The last event equals the present read.
        func untold(_ told: [Reader.Told]) -> [String] {
            visits.flatMap { Self.members(of: $0, otherThanIn: told.last { $0.event == "visit" }) }
                + crossings.flatMap { crossing in
                    Self.members(
                        of: crossing,
                        otherThanIn: told.last {
                            $0.event == "crossing" && $0.data["type"]?.string == crossing["type"]?.string
                        })
                }
        }
        let told = live.until { untold($0).isEmpty }
        #expect(untold(told) == [])
        let first = try #require(told.first { $0.event == "visit" })
        #expect(first.data["departure"]?.isNull == true)
        #expect(first.data["latitude"]?.double.map { abs($0 - 48.2) < 0.001 } == true)
        // Each part of the stream is on record as the kind of read that it is.
        let records = try Self.expectOnRecord(live, house)
        #expect(Set(records.map(\.question)) == [.live, .visits, .crossings])
        // A token that may not read visits gets none.
        house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        let others = blind.until { $0.contains { $0.event == "change" } }
        #expect(others.allSatisfy { !["visit", "crossing"].contains($0.event) })
        live.leave()
        blind.leave()
    }

    @Test func `visits and crossings that a client missed are told when it comes back, after a restart too`() throws {
        let (house, walker, _, phone) = try Self.scene()
        Self.addGate(house)
        let live = try Self.open(house, as: walker)
        house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        let seen = try #require(live.until { $0.last?.id != nil }.last?.id)
        live.leave()
        Self.walkToTheGate(house, phone)
        try house.restart()
        let back = try Self.open(house, as: walker, after: seen)
        func isAll(_ told: [Reader.Told]) -> Bool {
            told.contains { $0.event == "visit" && $0.data["departure"]?.double != nil }
                && told.count { $0.event == "crossing" } >= 2
        }
        let told = back.until(isAll)
        #expect(isAll(told))
        let place = try #require(told.last?.id)
        back.leave()
        // With the last id, the stream repeats nothing.
        let again = try Self.open(house, as: walker, after: place)
        house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        let rest = again.until { $0.contains { $0.event == "change" } }
        #expect(rest.map(\.event) == ["change"])
        again.leave()
    }

    @Test func `visits are told as the person corrected them`() throws {
        let (house, walker, _, phone) = try Self.scene()
        let live = try Self.open(house, as: walker)
        house.manage("POST", "/v1/people/walker/tokens", #"{"scopes":["query"]}"#)
        let seen = try #require(live.until { $0.last?.id != nil }.last?.id)
        live.leave()
        Self.walkToTheGate(house, phone)
        func read() -> [JSONValue] {
            house.send("GET", "/v1/people/walker/visits?at-least=\(house.service.log.head)", as: walker).items
        }
        /// The visits that a client gets when it comes back with an id from before the walk.
        func told() throws -> [JSONValue] {
            let back = try Self.open(house, as: walker, after: seen)
            defer { back.leave() }
            let told = back.until { $0.last?.id != nil }.filter { $0.event == "visit" }.map(\.data)
            try #require(!told.isEmpty)
            return told
        }
        func correct(_ body: String) {
            #expect(house.send("POST", "/v1/people/walker/corrections", as: walker, body).status == 201)
        }
        let visit = try #require(read().first)
        let (arrival, departure) = (
            try #require(visit["arrival"]?.double), try #require(visit["departure"]?.double)
        )
        #expect(try told().last?["id"]?.string == visit["id"]?.string)
        correct(#"{"type":"split","at":\#((arrival + departure) / 2)}"#)
        let parts = read()
        try #require(parts.count == 2)
        let last = try #require(try told().last)
        for name in ["id", "place"] { #expect(last[name]?.string == parts[1][name]?.string) }
        for name in ["arrival", "departure", "latitude"] { #expect(last[name]?.double == parts[1][name]?.double) }
        correct(#"{"type":"notVisit","from":\#(arrival - 60),"to":\#(departure + 60)}"#)
        #expect(read().isEmpty)
        #expect(try told().allSatisfy { $0["withdrawn"]?.bool == true })
    }

    @Test(arguments: ["answered", "silent", "refused", "cancelled"])
    func `askers are told how their questions stand, and no more than by asking`(course: String) throws {
        let (house, walker, friend, phone) = try Self.scene()
        try house.grant("walker", to: "friend", more: course == "refused" ? #","asksEachTime":true"# : "")
        let live = try Self.open(house, as: friend)
        let id = try #require(Self.ask(house, as: friend)["id"]?.string)
        _ = live.until { $0.contains { $0.event == "asked" } }
        switch course {
        case "answered":
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.4,"horizontalAccuracy":8}"#)
        case "refused":
            house.send("POST", "/v1/people/walker/consent-requests/\(id)", as: walker, #"{"consent":"refused"}"#)
        case "cancelled": house.send("DELETE", "/v1/location-queries/\(id)", as: friend)
        default: break
        }
        if course == "refused" || course == "silent" {
            // A no and a phone that does not answer are one until the deadline.
            house.manage("POST", "/v1/people/friend/tokens", #"{"scopes":["query"]}"#)
            let told = live.until { $0.contains { $0.event == "change" } }
            #expect(told.filter { $0.event == "asked" }.count == 1)
            house.clock.advance(seconds: 61)
        }
        let told = live.until { $0.count { $0.event == "asked" } == 2 }.filter { $0.event == "asked" }
        let end = course == "answered" ? "answered" : "noAnswer"
        #expect(told.map { $0.data["status"]?.string } == ["pending", end])
        #expect(told.allSatisfy { $0.data["query"]?.string == id && $0.data["subject"]?.string == "walker" })
        for item in told {
            let members = try #require(item.data.members).map { $0.0 }
            #expect(members == ["query", "subject", "status", "url"])
        }
        #expect(house.send("GET", "/v1/location-queries/\(id)", as: friend)["status"]?.string == end)
        live.leave()
        // A client that was away gets the current status.
        let back = try Self.open(house, as: friend, after: 1)
        #expect(
            back.until { $0.contains { $0.event == "asked" } }.last { $0.event == "asked" }?.data["status"]?.string
                == end)
        back.leave()
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
