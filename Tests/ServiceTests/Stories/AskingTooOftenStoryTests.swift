import JSON
import Log
import Testing

@testable import Service

/// A person who has the right to ask asks too often.
@Suite struct AskingTooOftenStoryTests {
    private static func refused(_ house: ServiceUnderTest, _ walker: String) -> [JSONValue] {
        house.send("GET", "/v1/people/walker/audit?limit=500&at-least=\(house.service.log.head)", as: walker).items
            .filter { $0["reason"]?.string == "tooOften" }
    }

    @Test func `a friend who asks too often is told when to ask again, and the walker sees it`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let stranger = try house.addPerson("stranger")
        try house.grant("walker", to: "friend", history: true)
        func ask(_ person: String, as asker: String) -> Answer {
            house.send(
                "POST", "/v1/people/\(person)/location-queries", as: asker, #"{"purpose":"late for dinner"}"#)
        }
        for _ in 1...3 { #expect(ask("walker", as: friend).status == 202) }
        let refused = ask("walker", as: friend)
        #expect(refused.status == 429 && refused.header("Retry-After") == "600")
        for _ in 1...3 { #expect(house.send("GET", "/v1/people/walker/location", as: friend).status == 200) }
        let read = house.send("GET", "/v1/people/walker/track", as: friend)
        #expect(read.status == 429 && read.header("Retry-After") == "60")
        let seen = Self.refused(house, walker)
        #expect(Set(seen.map { $0["kind"]?.string }) == ["query", "read"])
        #expect(seen.first { $0["kind"]?.string == "query" }?["purpose"]?.string == "late for dinner")
        #expect(Set(seen.map { $0["requester"]?.string ?? $0["reader"]?.string }) == ["friend"])
        // A stranger gets the same answer about her as about an unknown person, however often they ask.
        for _ in 1...8 { #expect(ask("walker", as: stranger).observable == ask("nobody", as: stranger).observable) }
        house.clock.advance(seconds: 600)
        #expect(ask("walker", as: friend).status == 202)
        // Nothing of it is lost in a restart.
        let after = ask("walker", as: friend).status
        try house.restart()
        #expect(after == 429 && ask("walker", as: friend).status == 429)
    }

    @Test func `a long history comes page by page, and going on shows nothing new`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        try house.grant("walker", to: "friend", history: true)
        func report(_ range: Range<Int>) {
            let fixes = range.map {
                #"{"timestamp":\#(Int(house.clock.seconds) - 1000 + $0),"latitude":48.2,"longitude":\#(16 + Double($0) / 1000)}"#
            }
            #expect(
                house.send("POST", "/v1/fixes", as: phone, #"{"fixes":[\#(fixes.joined(separator: ","))]}"#)
                    .status == 200)
        }
        report(0..<100)
        func page(_ more: String) -> Answer {
            house.send(
                "GET", "/v1/people/walker/track?limit=10&at-least=\(house.service.log.head)\(more)", as: friend)
        }
        var times: [Double] = []
        var answer = page("")
        var cursors: [String] = []
        while true {
            #expect(answer.status == 200)
            times += answer.items.compactMap { $0["timestamp"]?.double }
            guard let next = answer["next"]?.string else { break }
            cursors.append(next)
            answer = page("&after=\(next)")
        }
        #expect(times.count == 100 && Set(times).count == 100 && times == times.sorted())
        // Reports from now on appear on no further page of that read.
        house.clock.advance(seconds: 100)
        report(1000..<1005)
        #expect(page("&after=\(try #require(cursors.last))").items.isEmpty)
        // Another read begins another time; three of them can be gone on with.
        #expect(page("").status == 200 && page("").status == 200)
        #expect(page("&after=\(cursors[0])").items.count == 10)
        #expect(page("").status == 200)
        #expect(page("").status == 429)
        #expect(page("&after=\(cursors[0])").status == 429)
        #expect(page("&after=nonsense").status == 422)
    }
}
