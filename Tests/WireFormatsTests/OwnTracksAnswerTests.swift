import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct OwnTracksAnswerTests {
    private func friend(_ name: String, _ fill: (inout Fix) -> Void = { _ in }) throws -> OwnTracksAnswer.Friend {
        var fix = Fix(
            timestamp: Timestamp(milliseconds: 1_767_225_610_900),
            coordinate: try Coordinate(latitude: 46.5, longitude: -9.25))
        fill(&fix)
        return OwnTracksAnswer.Friend(handle: try #require(Handle(name)), fix: fix)
    }

    private func text(
        _ friends: [OwnTracksAnswer.Friend], isToReport: Bool = false, requests: [String] = []
    ) -> String {
        let answer = OwnTracksAnswer(friends: friends, isToReport: isToReport, requests: requests)
        return String(decoding: answer.bytes, as: UTF8.self)
    }

    @Test func `who has nothing to be told gets an empty array`() {
        #expect(text([]) == "[]")
    }

    /// The example of the booklet, in whole numbers and kilometers an hour.
    @Test func `a friend is a card and a location of the same tid`() throws {
        let friend = try friend("john") {
            $0.horizontalAccuracy = 19.6
            $0.altitude = 410.2
            $0.verticalAccuracy = 3
            $0.speed = 10
            $0.course = 271.5
        }
        #expect(
            text([friend]) == """
                [{"_type":"card","tid":"jo","name":"john","topic":"owntracks/john/jo"},\
                {"_type":"location","tid":"jo","topic":"owntracks/john/jo","lat":46.5,"lon":-9.25,"tst":1767225610,\
                "acc":20,"alt":410,"vac":3,"vel":36,"cog":272}]
                """)
    }

    @Test func `of a coarse place nothing is told that is not known`() throws {
        #expect(
            text([try friend("john")]).hasSuffix(#""lat":46.5,"lon":-9.25,"tst":1767225610}]"#))
    }

    @Test func `friends of one beginning have letters of their own`() throws {
        let friends = try ["john", "joan", "joe", "j", "john.b"].map { try friend($0) }
        let answer = try json(text(friends))
        let cards = (answer.array.map(Array.init) ?? []).filter { $0["_type"]?.string == "card" }.map {
            $0["tid"]?.string
        }
        #expect(cards == ["jo", "j0", "j1", "j2", "j3"])
    }

    @Test func `a command is one, and a request is answered`() {
        #expect(
            text([], isToReport: true, requests: ["tours", "tour"]) == """
                [{"_type":"cmd","action":"response","request":"tours","status":200,"ntours":0,"tours":[]},\
                {"_type":"cmd","action":"response","request":"tour","status":501},\
                {"_type":"cmd","action":"reportLocation"}]
                """)
    }
}
