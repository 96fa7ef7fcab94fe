import DeviceAgent
import Glibc
import JSON
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// The record of a question, for the subject, for the asker and as a spreadsheet.
@Suite struct AuditStoryTests {
    private static let hasPython = Foreign.hasPython(with: "csv")

    @Test func `each leg of an answered question has its time, and the asker can prove what was shown`() throws {
        let scene = try Neighbourhood()
        try scene.house.grant("walker", to: "friend")
        let simulation = try scene.startPhone()
        defer { simulation.stop() }
        let url = try scene.ask()
        let outcome = try scene.outcome(of: url)
        #expect(outcome["status"]?.string == "answered")
        let query = try #require(try scene.audited { $0["disclosed"]?.count == 1 && $0["pushes"]?.count == 1 }.query)
        let asked = try #require(query["at"]?.double)
        let pushed = try #require(query["pushes"]?.array.map(Array.init)?.first?["at"]?.double)
        let received = try #require(query["fix"]?["receivedAt"]?.double)
        let shown = try #require(query["disclosed"]?.array.map(Array.init)?.first)
        let legs = try #require(query["latency"])
        func leg(_ name: String) -> Double { Double(legs[name]?.int ?? -1) }
        // The clock may put the push after the fix it led to: APNs' answer travels on.
        if pushed <= received {
            #expect(abs(leg("pushAccepted") - (pushed - asked) * 1000) < 1)
            #expect(abs(leg("fixReceived") - (received - pushed) * 1000) < 1)
        }
        #expect(leg("disclosed") >= 0)

        let head = scene.house.service.log.head
        let own = scene.house.send("GET", "/v1/people/friend/asked?at-least=\(head)", as: scene.friend)
        let entry = try #require(own.items.first { $0["kind"]?.string == "query" })
        #expect(entry["subject"]?.string == "walker")
        #expect(entry["status"]?.string == "answered")
        #expect(entry["purpose"]?.string == "late for dinner")
        let proof = try #require(entry["shown"]?.array.map(Array.init)?.first)
        #expect(proof["number"]?.int == shown["number"]?.int)
        #expect(proof["sha256"]?.string?.count == 64)
        // In full: a time of day may hold the half of it.
        #expect(!own.text.contains("\(Neighbourhood.place.latitude)"), "where the walker was is not shown again")
    }

    /// Guessed handles are recorded ten times a minute and counted beyond that: every attempt leaves a trace.
    @Test func `every refusal of a minute is on record or in the count of the rest`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let stranger = try house.addPerson("stranger")
        let principal = try #require(
            house.service.log.withStanding { standing in
                Handle("stranger").flatMap { standing.person($0)?.principal }
            })
        let before = house.service.log.head
        let since = house.clock.now
        for attempt in 0..<25 {
            let asked = house.send(
                "POST", "/v1/people/\(attempt % 2 == 0 ? "walker" : "nobody")/location-queries", as: stranger,
                #"{"purpose":"hello"}"#)
            #expect(asked.status == 404)
        }
        house.clock.advance(seconds: 61)
        // The count is written with the next event.
        _ = try house.addPerson("friend")
        var refused = 0
        var counts: [Int64] = []
        for recorded in try house.events(after: before) {
            switch recorded.event {
            case .locationQueried(let query):
                if query.verdict.isRefused, query.requester == principal { refused += 1 }
            case .refusalsCounted(let by, let count, let from):
                #expect(by == principal && from == since)
                counts.append(count)
            default: continue
            }
        }
        #expect(refused == Limits.refusalsRecordedAMinute)
        #expect(counts == [25 - Int64(refused)])
    }

    @Test func `in the own list a person who says nothing and one who does not exist look the same`() throws {
        let house = try ServiceUnderTest()
        let friend = try house.addPerson("friend")
        _ = try house.addPerson("walker")
        func ask(_ name: String) {
            let asked = house.send(
                "POST", "/v1/people/\(name)/location-queries", as: friend, #"{"purpose":"hello"}"#)
            let read = house.send("GET", "/v1/people/\(name)/track", as: friend)
            #expect(asked.status == 404 && read.status == 404)
        }
        ask("walker")
        ask("nobody-at-all")
        let own = house.send("GET", "/v1/people/friend/asked?at-least=\(house.service.log.head)", as: friend)
        let shapes = own.items.filter { $0["kind"]?.string != "change" }.map { item in
            // Numbers and ids differ each time; everything else is compared.
            ["kind", "at", "purpose", "status", "initiation", "deadline", "question"].map {
                "\(item[$0]?.string ?? "") \(item[$0]?.double ?? 0)"
            } + ["\(item["subject"] == nil)", "\(item["shown"]?.count ?? -1)"]
        }
        try #require(shapes.count == 4, "\(own.text)")
        #expect(shapes[0] == shapes[2])
        #expect(shapes[1] == shapes[3])
        #expect(own.items.allSatisfy { $0["status"] == nil || $0["status"]?.string == "noSuchPerson" }, "\(own.text)")
        #expect(!own.text.contains("walker"))
    }

    @Test(.enabled(if: hasPython, "There is no Python."))
    func `the audit as CSV is read by Python's csv, and no cell is a formula`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let friend = try house.addPerson("friend")
        try house.grant("walker", to: "friend")
        let purposes = [
            "=cmd|' /C calc'!A0", #"a \"quoted\", b"#, #"two\r\nlines"#, "@sum", "-1+1", #"\"\u0301"#, "plain",
        ]
        for purpose in purposes {
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":-48.2,"longitude":-16.4,"horizontalAccuracy":8}"#)
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"\#(purpose)"}"#)
            #expect(house.send("GET", try #require(asked["url"]?.string), as: friend).status == 200)
            house.clock.advance(seconds: 3600)
        }
        let answer = house.send(
            "GET", "/v1/people/walker/audit?limit=500&at-least=\(house.service.log.head)", as: walker,
            headers: [("Accept", "text/csv")])
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type")?.hasPrefix("text/csv") == true)
        let page = house.send(
            "GET", "/v1/people/walker/audit?limit=2", as: walker, headers: [("Accept", "text/csv")])
        #expect(page.header("Link")?.contains("rel=\"next\"") == true)
        let folder = TemporaryFolder()
        let path = folder.file("audit.csv")
        try write(answer.body, to: path)
        let program = """
            import csv
            rows = list(csv.DictReader(open('\(path)', newline='', encoding='utf-8'), strict=True))
            raw = open('\(path)', 'rb').read()
            assert raw.count(b'\\r\\n') >= len(rows) + 1
            asked = [row['purpose'] for row in rows if row['kind'] == 'query']
            assert asked == ['plain', '"\\u0301', "'-1+1", "'@sum", 'two\\r\\nlines', 'a "quoted", b', "'=cmd|' /C calc'!A0"], asked
            shown = [row for row in rows if row['kind'] == 'shown']
            assert len(shown) == 7 and all(float(row['latitude']) == -48.2 for row in shown), shown
            assert all(None not in row for row in rows)
            for row in rows:
                for name, cell in row.items():
                    assert not cell or cell[0] not in '=+@\\t\\r' , (name, cell)
                    assert not cell.startswith('-') or name in ('latitude', 'longitude'), (name, cell)
            """
        try Foreign.python(program)
    }

    /// A read of one old day must not fetch the pages of all years before it, because each page is a recorded read.
    @Test func `a list of a time ends soon after that time, and not within a day of it`() throws {
        let house = try ServiceUnderTest()
        house.manage("POST", "/v1/people", #"{"handle":"walker"}"#)
        func read(_ times: Int) { for _ in 0..<times { house.manage("GET", "/v1/people/walker/pauses") } }
        func next(from: Double) throws -> String? {
            _ = house.settled()
            let page = house.manage("GET", "/v1/people/walker/audit?from=\(from)&limit=10")
            try #require(page.status == 200, "\(page.text)")
            return page["next"].flatMap { $0.isNull ? nil : $0.string ?? $0.int.map { "\($0)" } }
        }
        read(30)
        house.clock.advance(seconds: 3600)
        read(3)
        #expect(try next(from: Double(house.clock.seconds) - 10) != nil)
        house.clock.advance(seconds: 3 * 86_400)
        read(3)
        #expect(try next(from: Double(house.clock.seconds) - 10) == nil)
        #expect(try next(from: Double(house.clock.seconds) - 4 * 86_400) != nil)
    }
}
