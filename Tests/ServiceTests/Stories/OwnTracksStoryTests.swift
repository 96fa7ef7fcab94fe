import Cryptography
import Geodesy
import Glibc
import HTTPServer
import JSON
import Log
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Reactors
@testable import Service

/// The messages of OwnTracks' apps other than locations, and the answers to them.
@Suite struct OwnTracksStoryTests {
    /// Two people with a phone each.
    private struct Pair {
        let house: ServiceUnderTest
        let walkerKey, friendKey: String
        let friendToken: String

        init(_ house: ServiceUnderTest? = nil) throws {
            self.house = try house ?? ServiceUnderTest()
            _ = try self.house.addPerson("walker")
            friendToken = try self.house.addPerson("friend")
            walkerKey = try self.house.addDevice("walker-phone", of: "walker")
            friendKey = try self.house.addDevice("friend-phone", of: "friend")
        }

        func post(_ body: String, as key: String) -> Answer { house.send("POST", "/owntracks", as: key, body) }

        /// A location so many seconds ago.
        func location(_ secondsAgo: Int64 = 0, latitude: Double = 46.5, _ more: String = "") -> String {
            let time = house.clock.seconds - secondsAgo
            return #"{"_type":"location","lat":\#(latitude),"lon":9.25,"tst":\#(time),"acc":5,"tid":"ab"\#(more)}"#
        }
    }

    private func messages(_ answer: Answer) -> [JSONValue] { answer.json?.array.map { Array($0) } ?? [] }

    // MARK: Regions, transitions, the rest

    @Test func `waypoints become regions, change and go with the app's`() throws {
        let pair = try Pair()
        func regions() -> [JSONValue] { pair.house.manage("GET", "/v1/people/walker/regions").items }
        let home = #"{"_type":"waypoint","desc":"home","tst":1767225610,"lat":46.5,"lon":9.25,"rad":150}"#
        #expect(pair.post(home, as: pair.walkerKey).text == "[]")
        #expect(regions().map { $0["id"]?.string } == ["home"])
        #expect(regions().first?["circle"]?["radiusMeters"]?.double == 150)
        let head = pair.house.service.log.head
        #expect(pair.post(home, as: pair.walkerKey).status == 200)
        #expect(pair.house.service.log.head == head)
        try pair.house.restart()
        let list =
            #"{"_type":"waypoints","waypoints":[\#(home.replacing("150", with: "200")),\#(home.replacing("10,", with: "11,"))]}"#
        #expect(pair.post(list, as: pair.walkerKey).status == 200)
        #expect(regions().map { $0["id"]?.string } == ["home", "home 2"])
        #expect(regions().first?["circle"]?["radiusMeters"]?.double == 200)
        let gone = #"{"_type":"waypoint","desc":"home","tst":1767225610,"lat":-1000000,"lon":-1000000}"#
        #expect(pair.post(gone, as: pair.walkerKey).status == 200)
        #expect(regions().map { $0["id"]?.string } == ["home 2"])
        #expect(pair.house.manage("GET", "/v1/people/friend/regions").items.isEmpty)
    }

    @Test func `a region event is a crossing of the device's own and a fix, each once`() throws {
        let pair = try Pair()
        let time = pair.house.clock.seconds
        let transition =
            #"{"_type":"transition","event":"leave","tst":\#(time),"wtst":1,"acc":3,"desc":"home","t":"c"}"#
        let location = pair.location(0, #","t":"c""#)
        for _ in 0..<2 {
            #expect(pair.post(transition, as: pair.walkerKey).text == "[]")
            #expect(pair.post(location, as: pair.walkerKey).text == "[]")
        }
        let reported = try pair.house.events().compactMap { recorded -> String? in
            switch recorded.event {
            case .sightingReported(_, .crossing, .open(.crossing(let crossing))):
                "\(crossing.region) \(crossing.isEntry) \(crossing.timestamp.milliseconds / 1000 == time)"
            case .fixReported: "fix"
            default: nil
            }
        }
        #expect(reported == ["home false true", "fix"])
    }

    @Test func `what the house has no words for is kept once in the app's, and shown by events`() throws {
        let pair = try Pair()
        let status = #"{"_type":"status","_id":"1","android":{"ps":1,"loc":0}}"#
        for body in [status, status, #"{"_type":"configuration","password":"s3cr3t"}"#, ""] {
            #expect(pair.post(body, as: pair.walkerKey).text == "[]")
        }
        let shown = pair.house.manage("GET", "/v1/events?limit=100&kind=MessageReported")
        let contents = shown.items.compactMap { $0["content"] }
        #expect(contents.map { $0["type"]?.string } == ["status", "configuration"])
        #expect(contents.first?["message"]?["android"]?["ps"]?.int == 1)
        #expect(!shown.text.contains("s3cr3t"))
    }

    @Test func `of an array everything counts, and what is hopeless is kept by itself`() throws {
        let pair = try Pair()
        let body = "[\(pair.location(9)),{\"_type\":\"hologram\"},7,\(pair.location(8))]"
        #expect(pair.post(body, as: pair.walkerKey).text == "[]")
        let kept = try pair.house.events().compactMap { recorded -> String? in
            guard case .inputRejected(_, _, _, .open(let input)) = recorded.event else { return nil }
            return String(decoding: input.head, as: UTF8.self)
        }
        #expect(kept == [#"{"_type":"hologram"}"#, "7"])
        #expect(try pair.house.events().count { if case .fixReported = $0.event { true } else { false } } == 2)
    }

    @Test func `a body that is far too long is taken, its beginning kept, and the queue moves on`() throws {
        let pair = try Pair()
        let client = SocketClient(port: try pair.house.listen())
        let long = #"[{"_type":"location","padding":""# + String(repeating: "x", count: 2 << 20) + #""}]"#
        for _ in 0..<2 {
            let answer = try client.send("POST", "/owntracks", as: pair.walkerKey, long)
            #expect(answer.status == 200 && answer.text == "[]")
        }
        #expect(try client.send("POST", "/owntracks", as: pair.walkerKey, pair.location()).status == 200)
        let rejected = try pair.house.events().compactMap { recorded -> (RejectionReason, Int64, Int)? in
            guard case .inputRejected(_, let reason, let length, .open(let input)) = recorded.event else { return nil }
            return (reason, length, input.head.count)
        }
        #expect(rejected.count == 1 && rejected[0] == (.tooLarge, Int64(long.utf8.count), Limits.rejectedBytes))
        #expect(try pair.house.events().contains { if case .fixReported = $0.event { true } else { false } })
    }

    @Test func `a request for tours is answered`() throws {
        let pair = try Pair()
        let answer = pair.post(#"{"_type":"request","request":"tours"}"#, as: pair.walkerKey)
        #expect(messages(answer).first?["action"]?.string == "response")
    }

    // MARK: Friends

    /// The bytes of an answer, and whether a record of them was durable when they were given.
    private func postOnRecord(_ body: String, _ pair: Pair, as key: String) throws -> (Answer, isOnRecord: Bool) {
        let before = pair.house.service.log.head
        let log = pair.house.service.log
        let given = Monitor<(HTTPResponse, Bool)?>(nil)
        pair.house.send("POST", "/owntracks", as: key, body) { response in
            let hash = SHA256().hash(response.body).bytes
            let events = (try? log.reader().events(after: before, limit: 1000)) ?? []
            let isOnRecord = events.contains { recorded, _ in
                guard case .locationRead(let read) = recorded.event else { return false }
                return read.content.content?.answerHash?.bytes == hash
            }
            given.change { $0 = (response, isOnRecord) }
        }
        let (response, isOnRecord) = try given.expected("the answer") { $0 }
        return (Answer(response), isOnRecord)
    }

    @Test func `a friend's place is told by grant, on record first, and again only when it is another`() throws {
        let pair = try Pair()
        #expect(pair.post(pair.location(30, latitude: 47.25), as: pair.friendKey).text == "[]")
        #expect(pair.post(pair.location(20), as: pair.walkerKey).text == "[]")
        let grant = try pair.house.grant("friend", to: "walker")
        let (answer, isOnRecord) = try postOnRecord(pair.location(10), pair, as: pair.walkerKey)
        let messages = messages(answer)
        #expect(messages.map { $0["_type"]?.string } == ["card", "location"])
        #expect(messages.map { $0["tid"]?.string } == ["fr", "fr"])
        #expect(messages.first?["name"]?.string == "friend")
        #expect(messages.last?["lat"]?.double == 47.25 && messages.last?["tst"]?.int == pair.house.clock.seconds - 30)
        #expect(isOnRecord)

        // Nothing new about the friend, then the same message sent again, because its answer was lost.
        let next = pair.location(9)
        #expect(pair.post(next, as: pair.walkerKey).text == "[]")
        #expect(pair.post(next, as: pair.walkerKey).text == answer.text)
        // The friend's audit shows the disclosure.
        let audit = pair.house.send(
            "GET", "/v1/people/friend/audit?at-least=\(pair.house.service.log.head)", as: pair.friendToken)
        let reads = audit.items.filter { $0["question"]?.string == "friends" }
        #expect(reads.count == 2 && reads.allSatisfy { $0["reader"]?.string == "walker" })

        pair.house.manage("DELETE", "/v1/grants/\(grant)")
        _ = pair.post(pair.location(5, latitude: 47.5), as: pair.friendKey)
        #expect(pair.post(pair.location(4), as: pair.walkerKey).text == "[]")
    }

    @Test func `a coarse grant tells the middle of a cell, without accuracy`() throws {
        let pair = try Pair()
        try pair.house.grant("friend", to: "walker", precision: "kilometer")
        _ = pair.post(pair.location(30, latitude: 47.251234), as: pair.friendKey)
        let message = messages(pair.post(pair.location(10), as: pair.walkerKey)).last
        let latitude = try #require(message?["lat"]?.double)
        #expect(latitude != 47.251234 && abs(latitude - 47.251234) < 0.02)
        #expect(message?["acc"] == nil && message?["tst"]?.int != nil)
    }

    /// Only a visible change causes a message, not a report of the phone: the rate of reports would disclose that the
    /// friend is on the way.
    @Test func `a coarse friend is told again only when something of it can be seen`() throws {
        let pair = try Pair()
        // 08:10, so that all that follows is in one quarter of an hour.
        pair.house.clock.advance(seconds: 600)
        try pair.house.grant("friend", to: "walker", precision: "kilometer")
        _ = pair.post(pair.location(200, latitude: 47.2512), as: pair.friendKey)
        #expect(messages(pair.post(pair.location(190), as: pair.walkerKey)).count == 2)
        for second in Int64(1)...5 {
            _ = pair.post(pair.location(180 - second, latitude: 47.2512 + 0.0001 * Double(second)), as: pair.friendKey)
            #expect(pair.post(pair.location(150 - second), as: pair.walkerKey).text == "[]")
        }
        let audit = pair.house.manage("GET", "/v1/people/friend/audit?at-least=\(pair.house.service.log.head)")
        #expect(audit.items.filter { $0["question"]?.string == "friends" }.count == 1)
        // The cell is held for ten minutes; then another cell, and another quarter, show.
        _ = pair.post(pair.location(100, latitude: 47.2712), as: pair.friendKey)
        #expect(pair.post(pair.location(90), as: pair.walkerKey).text == "[]")
        pair.house.clock.advance(seconds: 600)
        _ = pair.post(pair.location(100, latitude: 47.2712), as: pair.friendKey)
        #expect(messages(pair.post(pair.location(90), as: pair.walkerKey)).count == 2)
    }

    // MARK: Questions

    @Test func `a waiting question is passed on, and the app's answer ends it although its place is older`() throws {
        let pair = try Pair()
        try pair.house.grant("walker", to: "friend")
        _ = pair.post(pair.location(500), as: pair.walkerKey)
        let asked = pair.house.send(
            "POST", "/v1/people/walker/location-queries", as: pair.friendToken, #"{"purpose":"late"}"#)
        let id = try #require(asked["id"]?.string)
        // A message of the backlog does not answer the query; the reply asks the app to report.
        let command = #"[{"_type":"cmd","action":"reportLocation"}]"#
        #expect(pair.post(pair.location(400), as: pair.walkerKey).text == command)
        let commanded = try pair.house.events().count {
            if case .locationReportCommanded = $0.event { true } else { false }
        }
        #expect(commanded == 1)
        #expect(
            pair.house.send("GET", "/v1/location-queries/\(id)", as: pair.friendToken)["status"]?.string == "pending")
        #expect(pair.post(pair.location(390, #","t":"p""#), as: pair.walkerKey).text == command)
        #expect(pair.post(pair.location(300, #","t":"r""#), as: pair.walkerKey).text == "[]")
        let shown = pair.house.send("GET", "/v1/location-queries/\(id)", as: pair.friendToken)
        #expect(shown["status"]?.string == "answered")
        #expect(shown["location"]?["timestamp"]?.int == pair.house.clock.seconds - 300)
    }

    // MARK: Encrypted

    /// Sealed by PyNaCl 1.6.2 (`crypto_secretbox`) under "s3cr3t".
    private static let sealed = """
        {"_type":"encrypted","data":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXUoKTzZQItoRSLw/vvrVd7YeYDKsnpNqNrHoBXiT16R+tcxqLA8IEQ6Qmb\
        6tDa9gJCnsOTxlOvrH+LRskn832nxNYim8PWzFSvqEvDZaaqUCsOHsQXAQvUGJb8HVl1CWSQDwiULPic/ej48tQUxI8LaoMUHuhv3RrnzTLZKJoGsrCrfaeDvrn"}
        """

    @Test func `an encrypted location is a fix where the pass phrase is known, and kept sealed elsewhere`() throws {
        let folder = TemporaryFolder()
        let path = try folder.write("s3cr3t\n", to: "phrase")
        let phone = try #require(Handle("walker-phone"))
        let pair = try Pair(ServiceUnderTest { $0.ownTracksKeys[phone] = path })
        for key in [pair.walkerKey, pair.walkerKey, pair.friendKey, pair.friendKey] {
            #expect(pair.post(Self.sealed, as: key).text == "[]")
        }
        let reported = try pair.house.events().compactMap { recorded -> String? in
            switch recorded.event {
            case .fixReported(_, _, .open(let fix)): "\(fix.coordinate.latitude) \(fix.remainder ?? "")"
            case .inputRejected(_, let reason, _, .open(let input)):
                "\(reason.word) \(String(decoding: input.head.prefix(20), as: UTF8.self))"
            default: nil
            }
        }
        #expect(
            reported == [
                #"46.5 {"_decrypted":true,"t":"u","tid":"ab","topic":"owntracks/walker/phone"}"#,
                #"encryptedWithoutKey {"_type":"encrypted""#,
            ])
    }
}
