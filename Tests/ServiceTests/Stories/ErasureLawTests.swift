import Cryptography
import Envelopes
import JSON
import Posting
import SQLite
import TestSupport
import Testing

@testable import Log
@testable import Projections
@testable import Reactors
@testable import Service
@testable import Whereabouts

/// An erasure reaches every table of every projection and every field of the saved standing.
///
/// Ids of people, devices, grants, regions and so on are large numbers here, so that each can be recognized everywhere:
/// a table or field that is added later is searched too, without a change of this file.
@Suite struct ErasureLawTests {
    /// Where the ids begin. Each needs four bytes, of which the first two occur nowhere else.
    private enum First {
        static let principal: Int64 = 0x5A3C_0101
        static let token: Int64 = 0x5B3D_0101
        static let grant: Int64 = 0x5C3E_0101
        static let region: Int64 = 0x5D3F_0101
        static let invitation: Int64 = 0x5E41_0101
    }

    /// The marks by which a value is recognized as the walker's.
    private struct Marks {
        var integers: Set<Int64> = []
        let texts = ["unmistakable", "peculiar", "hideaway", "rendezvous", "errand", "gibberish"]
        /// The walker's purposes in questions to others are the walker's data too.
        static let toldToOthers = "rendezvous"
        let degrees = 40.5...40.8

        func found(_ value: Int64) -> Bool { integers.contains(value) }
        func found(_ value: Double) -> Bool { degrees.contains(value) }
        func found(_ text: String) -> Bool { texts.contains { text.contains($0) } }
        func found(_ blob: [UInt8]) -> Bool {
            if texts.contains(where: { Self.contains(blob, Array($0.utf8)) }) { return true }
            return integers.contains { integer in
                Self.contains(blob, (0..<4).map { UInt8(truncatingIfNeeded: integer >> (24 - 8 * $0)) })
            }
        }

        static func contains(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
            ErasedKeyTests.contains(bytes, pattern[...])
        }
    }

    /// A service whose ids begin where they can be recognized, and the walker with something of every kind.
    private final class World {
        let house: ServiceUnderTest
        var marks = Marks()
        let walker: PersonID
        let friend: PersonID
        let device: DeviceID

        init() throws {
            let hook = Origin("http://localhost:1")
            house = try ServiceUnderTest { $0.webhooks = .init(targets: [hook].compactMap { $0 }) }
            let directory = house.directory
            try house.restart { try Self.raiseIDs(directory) }
            let house = house
            let walkersToken = try house.addPerson("unmistakable")
            let friendsToken = try house.addPerson("friend")
            let key = try house.addDevice("peculiar-phone", of: "unmistakable")
            let tablet = try house.addDevice("peculiar-tablet", of: "unmistakable")
            _ = try house.addDevice("tablet", of: "friend")
            func id(_ handle: String) throws -> PersonID {
                let handle = try #require(Handle(handle))
                return try #require(house.service.log.withStanding { $0.person(handle) })
            }
            (walker, friend) = (try id("unmistakable"), try id("friend"))
            let phone = try #require(Handle("peculiar-phone"))
            device = try #require(house.service.log.withStanding { $0.device(phone) })

            func walkers(_ method: String, _ path: String, _ body: String = "", key: String? = nil) throws -> Answer {
                let answer = house.send(
                    method, path, as: walkersToken, body, headers: key.map { [("Idempotency-Key", $0)] } ?? [])
                try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
                return answer
            }
            let me = "/v1/people/unmistakable"
            for region in ["hideaway", "hideaway-2"] {
                _ = try walkers(
                    "POST", "\(me)/regions",
                    #"{"id":"\#(region)","circle":{"latitude":40.61,"longitude":40.61,"radiusMeters":150}}"#,
                    key: region)
            }
            _ = try walkers("DELETE", "\(me)/regions/hideaway-2")
            for other in [("unmistakable", "friend"), ("friend", "unmistakable")] {
                try house.grant(other.0, to: other.1, history: true)
            }
            let gone = try house.grant("unmistakable", to: "friend", precision: "city")
            house.manage("DELETE", "/v1/grants/\(gone)")
            _ = try walkers("POST", "\(me)/invitations", #"{"precision":"exact"}"#)
            _ = try walkers("POST", "/v1/account-invitations", "{}")
            _ = try walkers("POST", "\(me)/schedules", #"{"everySeconds":3600}"#)
            _ = try walkers("PUT", "\(me)/retention", #"{"trackDays":400}"#)
            _ = try walkers("POST", "\(me)/links", #"{"name":"errand"}"#)
            _ = try walkers("POST", "\(me)/webhooks", #"{"url":"http://localhost:1/errand","topics":["change"]}"#)

            // A day: a stay, a way and another stay; a pause; then news of the phone.
            Self.reportDay(house, phone: key, tablet: tablet)
            _ = try walkers("POST", "\(me)/pauses", "{}")
            house.clock.advance(seconds: 600)
            _ = try walkers("DELETE", "\(me)/pauses")
            house.clock.advance(seconds: 60)
            Self.report(house, key, [(house.clock.seconds, 40.62, 40.62)])
            Self.report(house, key, [(house.clock.seconds, 40.62, 40.62)], speed: 3)
            let unreadable = #"{"fixes":[{"timestamp":"gibberish","latitude":40.61,"longitude":40.61}]}"#
            #expect(house.send("POST", "/v1/fixes", as: key, unreadable).status == 200)
            let seconds = house.clock.seconds
            let reports = house.send(
                "POST", "/v1/reports", as: key,
                """
                {"reports":[{"type":"authorization","timestamp":\(seconds),"status":"authorizedAlways","accuracy":"full"},
                {"type":"visit","timestamp":\(seconds),"latitude":40.62,"longitude":40.62,"horizontalAccuracy":12,
                "arrival":\(seconds - 900)},
                {"type":"crossing","timestamp":\(seconds),"region":"hideaway","crossing":"exit"}]}
                """)
            #expect(reports["new"]?.int == 3, "\(reports.text)")
            let token = house.send(
                "PUT", "/v1/devices/peculiar-phone/location-push-token", as: key,
                #"{"hex":"00112233445566778899","environment":"development","bundleID":"org.example.errand"}"#)
            #expect(token.status == 200, "\(token.text)")
            _ = try walkers(
                "POST", "\(me)/corrections",
                #"{"type":"rename","latitude":40.61,"longitude":40.61,"name":"hideaway"}"#)
            let track = house.manage("GET", "\(me)/track?at-least=\(house.service.log.head)").items
            _ = try walkers(
                "DELETE", "\(me)/track/\(try #require(track.first?["number"]?.int))?reason=errand")

            // An import, taken back.
            let imported = house.manage(
                "POST", "/v1/imports", #"{"person":"unmistakable","file":{"name":"errand.gpx","bytes":9}}"#)
            let id = try #require(imported["id"]?.string, "\(imported.text)")
            let past = seconds - 90 * 86_400
            house.manage(
                "POST", "/v1/imports/\(id)/batches",
                """
                {"devices":[{"person":"unmistakable","device":"peculiar-phone","fixes":[],"visits":[{"timestamp":\(past),
                "latitude":40.61,"longitude":40.61,"horizontalAccuracy":12,"arrival":\(past - 900)}]}]}
                """)
            house.manage("POST", "/v1/imports/\(id)/ends", #"{"people":[{"person":"unmistakable"}],"fault":"errand"}"#)
            let undone = house.manage("POST", "/v1/imports/\(id)/withdrawals", #"{"reason":"errand"}"#)
            try #require(undone["visits"]?.int == 1, "\(undone.text)")

            // Reads, refusals, and questions in both directions: ended, and under way with a push.
            for what in ["location", "track", "visits", "crossings", "trips", "audit"] {
                house.manage("GET", "\(me)/\(what)?at-least=\(house.service.log.head)")
            }
            let pairs = [
                (asker: friendsToken, subject: "unmistakable", purpose: "errand"),
                (asker: walkersToken, subject: "friend", purpose: Marks.toldToOthers),
            ]
            for pair in pairs {
                let asked = house.send(
                    "GET", "/v1/people/\(pair.subject)/visits", as: pair.asker,
                    headers: [("Whereabouts-Purpose", pair.purpose)])
                #expect(asked.status == 200, "\(asked.text)")
                for _ in 0..<2 * Limits.refusalsRecordedAMinute {
                    let refused = house.send("GET", "/v1/people/nobody/location", as: pair.asker)
                    #expect(!(200..<300).contains(refused.status))
                }
            }
            let shown = house.send(
                "POST", "/v1/people/unmistakable/location-queries", as: friendsToken,
                #"{"purpose":"errand","maxAgeSeconds":600}"#)
            _ = house.send("GET", try #require(shown["url"]?.string), as: friendsToken)
            house.clock.advance(seconds: 120)
            for pair in pairs {
                let asked = house.send(
                    "POST", "/v1/people/\(pair.subject)/location-queries", as: pair.asker,
                    #"{"purpose":"\#(pair.purpose)","maxAgeSeconds":0,"deadlineSeconds":3600}"#)
                #expect(asked.status == 202 || asked.status == 201, "\(asked.text)")
            }
            try wake(phone, friendsToken)
            // The requests of a device that were given a key.
            let callers = house.service.log.withStanding { standing in
                standing.tokens.all.values.filter { $0.issued.principal == device.principal }.map(\.issued)
            }
            let issued = try #require(callers.first)
            let reporter = Caller(principal: issued.principal, scopes: issued.scopes, token: issued.id)
            _ = try house.service.log.appendAndWait(
                .registerPushToken(
                    device: phone, LocationPushToken(bytes: Array(repeating: 7, count: 32), bundleID: "org.errand"),
                    .development), by: reporter, correlation: RequestID(ofKeyedRequest: 77, 7))
            _ = house.send("GET", "/v1/people/nobody/location", as: walkersToken)
            seal(walkersToken, friendsToken, phone: key)
            collectMarks()
        }

        /// A push and a test of the phone are under way, one push ended, and one is refused.
        private func wake(_ phone: Handle, _ asker: String) throws {
            let log = house.service.log
            func newestQuestion() throws -> QueryID {
                try #require(log.withStanding { $0.queries.open[walker]?.last })
            }
            let query = try newestQuestion()
            let attempt = LocationPushAttempt(
                query: query, device: device, attempt: 1, apnsID: LocationPushAttempt.apnsID(query, device),
                status: 503, reason: "ServiceUnavailable", durationMilliseconds: 1, outcome: .refused)
            for command in [Command.startPushes(query, to: [device]), .recordPushAttempt(attempt)] {
                _ = try log.appendAndWait(command, by: .house, correlation: .random())
            }
            house.clock.advance(seconds: 90)
            let asked = house.send(
                "POST", "/v1/people/unmistakable/location-queries", as: asker,
                #"{"purpose":"errand","maxAgeSeconds":0,"deadlineSeconds":3600}"#)
            #expect((200..<300).contains(asked.status), "\(asked.text)")
            _ = try log.appendAndWait(
                .startPushes(try newestQuestion(), to: [device]), by: .house, correlation: .random())
            house.clock.advance(seconds: 90)
            let admin = try #require(
                house.service.log.withStanding { standing -> Caller? in
                    standing.tokens.all.values.first {
                        $0.issued.principal == .operator && !$0.isRevoked
                            && $0.issued.scopes.contains(.operate)
                    }.map { Caller(principal: $0.issued.principal, scopes: $0.issued.scopes, token: $0.issued.id) }
                })
            _ = try log.appendAndWait(.testPush(QueryID(high: 3, low: 9), to: phone), by: admin, correlation: .random())
        }

        /// Keys in both directions, and an envelope of the history with its key.
        private func seal(_ walkersToken: String, _ friendsToken: String, phone: String) {
            let (walker, friend) = (SealedPerson("unmistakable", seed: 31), SealedPerson("friend", seed: 32))
            walker.publish(house, as: walkersToken)
            friend.publish(house, as: friendsToken)
            walker.pin(friend, house, as: walkersToken)
            friend.pin(walker, house, as: friendsToken)
            let period = walker.period(for: [walker, friend])
            let sent = house.send(
                "POST", "/v1/envelopes", as: phone,
                SealedPerson.body([period.bytes, walker.track(at: house.clock.now, 40.62, 40.62, in: period).bytes]))
            #expect(sent["new"]?.int == 2, "\(sent.text)")
        }

        private func collectMarks() {
            house.service.log.withStanding { standing in
                let devices = standing.persons[walker]?.devices ?? []
                marks.integers = Set(devices.map(\.rawValue) + [walker.rawValue])
                for stream in [StreamID.track(walker), .audit(walker)] { marks.integers.insert(stream.rawValue) }
                for (id, token) in standing.tokens.all
                where marks.integers.contains(token.issued.principal.rawValue) {
                    marks.integers.insert(id.rawValue)
                }
                for (id, grant) in standing.grants.all where grant.subject == walker || grant.requester == walker {
                    marks.integers.insert(id.rawValue)
                }
                for id in standing.persons[walker]?.regions ?? [] { marks.integers.insert(id.rawValue) }
                for id in standing.persons[walker]?.sharing.invitations ?? [] { marks.integers.insert(id.rawValue) }
            }
        }

        static func report(_ house: ServiceUnderTest, _ key: String, _ fixes: [(Int64, Double, Double)], speed: Int = 1)
        {
            let list = fixes.map {
                #"{"timestamp":\#($0.0),"latitude":\#($0.1),"longitude":\#($0.2),"horizontalAccuracy":8,"speed":\#(speed)}"#
            }
            let answer = house.send(
                "POST", "/v1/fixes", as: key, #"{"fixes":[\#(list.joined(separator: ","))]}"#)
            #expect(answer.status == 200, "\(answer.text)")
        }

        /// The tablet stays, and leads until the phone is carried away.
        private static func reportDay(_ house: ServiceUnderTest, phone: String, tablet: String) {
            var fixes: [(Int64, Double, Double)] = []
            var time = house.clock.seconds - 4 * 3600
            func add(_ place: Double) {
                fixes.append((time, place, place))
                time += 60
            }
            for _ in 0..<90 { add(40.61) }
            for step in 1...10 { add(40.61 + 0.001 * Double(step)) }
            for _ in 0..<100 { add(40.62) }
            report(house, tablet, stride(from: 0, to: fixes.count, by: 10).map { (fixes[$0].0 - 30, 40.61, 40.61) })
            report(house, phone, fixes)
        }

        /// Has the log go on with large ids, as after many years.
        private static func raiseIDs(_ directory: String) throws {
            let data = try DataDirectory(path: directory)
            let file = StandingFile(directory: data.projections)
            let identity = try SQLiteLogEngine(path: data.log).identity
            let reader = try LogReader(path: data.log, keys: try data.openKeys())
            var (standing, heads) = try file.load(log: identity, reader: reader)
            try #require(standing.place == identity.size)
            (standing.persons.next, standing.tokens.next) = (First.principal, First.token)
            (standing.grants.next, standing.regions.next) = (First.grant, First.region)
            standing.invitations.next = First.invitation
            try file.save(standing, heads, log: identity)
        }

        /// The places with data of the walker: `file table column` of each projection, and `standing kind field`; and
        /// all tables, as `file table`.
        func places() throws -> (found: Set<String>, tables: Set<String>) {
            _ = house.settled()
            house.stop()
            defer { try? house.start() }
            var found: Set<String> = []
            var tables: Set<String> = []
            for name in names(in: house.directory + "/projections") where name.hasSuffix(".sqlite") {
                let path = "\(house.directory)/projections/\(name)"
                let projection = String(name.prefix { $0 != "-" })
                if projection == "standing" {
                    try searchStanding(path, &found)
                } else {
                    try searchTables(path, projection, &found, &tables)
                }
            }
            return (found, tables)
        }

        /// The files of the data directory, of the running service, that contain a word of the walker or, in
        /// projections, a coordinate. Both are sealed in the log.
        func filesWithBytes() -> [String] { filesWithBytes(below: house.directory) }

        private func filesWithBytes(below folder: String) -> [String] {
            let words = marks.texts.filter { $0 != Marks.toldToOthers }.map { Array($0.utf8) }
            let degrees = [406_100_000, 406_200_000].map { (value: Int64) in
                (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
            }
            return names(in: folder).flatMap { name -> [String] in
                let path = "\(folder)/\(name)"
                guard let bytes = DataDirectory.read(path, atMost: 1 << 28) else { return filesWithBytes(below: path) }
                let patterns = folder.hasSuffix("/projections") ? words + degrees : words
                return patterns.contains { Marks.contains(bytes, $0) } ? [name] : []
            }
        }

        private func searchTables(
            _ path: String, _ name: String, _ found: inout Set<String>, _ tables: inout Set<String>
        ) throws {
            for line in try Foreign.python(Self.dump(of: path)).split(separator: "\n") {
                let words = line.split(separator: "\t", omittingEmptySubsequences: false)
                let (table, column, type, value) = (words[0], words[1], words[2], words[3])
                tables.insert("\(name) \(table)")
                guard type != "table" else { continue }
                let bytes = Hex.decode(String(value))
                let isFound =
                    switch type {
                    case "int":
                        // Degrees are integers of 10⁻⁷ where that is exact.
                        Int64(value).map {
                            marks.found($0) || column.hasSuffix("_degrees") && marks.found(Double($0) / 1e7)
                        } == true
                    case "float": Double(value).map(marks.found) == true
                    default: bytes.map(marks.found) == true
                    }
                if isFound { found.insert("\(name) \(table) \(column)") }
            }
        }

        /// A program that prints each value of each table: table, column, type and value; text and blobs in
        /// hexadecimal.
        private static func dump(of path: String) -> String {
            """
            import sqlite3
            base = sqlite3.connect("\(path)")
            base.text_factory = bytes
            for (table,) in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                print(table.decode(), "", "table", "", sep="\\t")
                rows = base.execute(f'SELECT * FROM "{table.decode()}"')
                names = [column[0] for column in rows.description]
                for row in rows:
                    for name, value in zip(names, row):
                        if value is None: continue
                        shown = value.hex() if isinstance(value, bytes) else repr(value)
                        print(table.decode(), name, type(value).__name__, shown, sep="\\t")
            """
        }

        private func item(_ bytes: [UInt8]) throws -> CBORValue {
            try bytes.withUnsafeBytes { bytes in
                var reader = CBORReader(bytes)
                return try reader.value()
            }
        }

        private func searchStanding(_ path: String, _ found: inout Set<String>) throws {
            let connection = try Connection(path: path, access: .readOnly)
            let statement = try connection.prepare("SELECT kind, id, body FROM entry")
            while try statement.step() {
                let kind = try #require(StandingEntry.Kind(rawValue: statement.int(at: 0)))
                let body = statement.bytes(at: 2)
                let isTheirs = marks.found(statement.int(at: 1))
                guard isTheirs || marks.found(body), case .map(let fields) = try item(body) else {
                    continue
                }
                for field in fields {
                    var value = CBORWriter()
                    field.value.write(to: &value)
                    // Every value of the walker's entries is the walker's; in entries of others, the values with a mark
                    // are.
                    guard isTheirs || marks.found(value.bytes), case .unsigned(let key) = field.key else { continue }
                    found.insert("standing \(kind) \(key)")
                }
                if isTheirs { found.insert("standing \(kind)") }
            }
        }
    }

    /// The data that remain, with the reasons.
    private static let staying: [String: String] = [
        "standing person": "an erased person without a name is a principal of the log",
        "standing person 2": "that the person was erased",
        "standing person 3": "the ids of the person's devices, which their streams in the log have",
        "standing device": "the same", "standing device 1": "whose the device was",
        "standing device 3": "that it was removed",
        "standing token": "the hash of a token, so that it is refused", "standing token 1": "the same",
        "standing token 2": "the same", "standing token 3": "the same", "standing token 5": "the same",
        "streamIndex block stream": "where in the log a stream's events are",
        "audit change subject": "that the person was erased", "audit change item": "the same",
        "audit change other": "what others granted to the person: it is theirs, and names an erased person",
        "audit query requester": "what others were asked by the person: they may know that it happened",
        "audit query purpose_for_subject": "the same", "audit query verdict": "the grant that the other gave",
        "audit reading reader": "the same", "audit reading purpose": "the same", "audit reading verdict": "the same",
        "audit refusals requester": "how often the service refused somebody, without a question or a subject",
    ]

    /// Tables that have nothing to do with a person.
    private static let ofNobody: Set<String> = [
        "current place", "timeline place", "audit place", "streamIndex place", "envelopes place", "audit act",
    ]

    @Test func `nothing of an erased person is left in any table or field, nor in any file`() throws {
        let world = try World()
        let before = try world.places()
        // A table or kind of entry without the walker's data would not be tested.
        for table in before.tables.subtracting(Self.ofNobody) {
            #expect(before.found.contains { $0.hasPrefix(table + " ") }, "There is nothing of the walker in \(table).")
        }
        let kinds = (0..<64).compactMap(StandingEntry.Kind.init(rawValue:))
        for kind in kinds where ![.counters, .version].contains(kind) {
            #expect(
                before.found.contains { $0.hasPrefix("standing \(kind) ") },
                "There is nothing of the walker in \(kind).")
        }
        let files = world.filesWithBytes()
        for name in ["current", "timeline", "audit", "standing"] {
            #expect(files.contains { $0.hasPrefix(name) }, "\(name): \(files)")
        }

        let erased = world.house.manage("DELETE", "/v1/people/unmistakable")
        #expect(erased["erased"]?.bool == true, "\(erased.text)")
        #expect(world.filesWithBytes() == [])
        let after = try world.places().found
        #expect(after.subtracting(Self.staying.keys).sorted() == [])
        #expect(world.filesWithBytes() == [])
    }
}
