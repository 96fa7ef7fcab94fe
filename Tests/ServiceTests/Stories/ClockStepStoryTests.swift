import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// The house's clock is set; time goes on as before.
@Suite struct ClockStepStoryTests {
    private static let day: Int64 = 86_400

    private struct Asked {
        let house: ServiceUnderTest
        let friend, url: String

        init() throws {
            house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            _ = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            try house.grant("walker", to: "friend")
            let asked = house.send(
                "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"to test","deadlineSeconds":5}"#)
            url = try #require(asked["url"]?.string)
        }

        var status: String? { house.send("GET", url, as: friend)["status"]?.string }

        /// How often it has timed out, once it has.
        func ends() throws -> Int {
            for _ in 0..<1000 {
                let ends = try house.events().count {
                    if case .locationQueryEnded(_, .timedOut, _) = $0.event { true } else { false }
                }
                if ends > 0 { return ends }
                _ = house.service.log.waitForHead(after: house.service.log.head, milliseconds: 20)
            }
            return 0
        }
    }

    @Test(arguments: [-day, day]) func `a question of five seconds ends after five seconds`(step: Int64) throws {
        let asked = try Asked()
        asked.house.clock.advance(seconds: 2)
        asked.house.clock.step(seconds: step)
        asked.house.clock.advance(seconds: 2)
        // Several ticks of the timekeeper.
        _ = asked.house.service.log.waitForHead(after: asked.house.service.log.head, milliseconds: 500)
        #expect(asked.status == "pending")
        let list = asked.house.send("GET", "/v1/people/friend/asked", as: asked.friend)
        #expect(list.text.contains("pending"), "\(list.text)")
        asked.house.clock.advance(seconds: 1)
        #expect(asked.status == "noAnswer")
        #expect(try asked.ends() == 1)
    }

    @Test func `after a start in an earlier time a question has its whole time once more, and no more`() throws {
        let asked = try Asked()
        try asked.house.restart { asked.house.clock.step(seconds: -Self.day) }
        #expect(asked.status == "pending")
        asked.house.clock.advance(seconds: 5)
        #expect(asked.status == "noAnswer")
        #expect(try asked.ends() == 1)
    }

    @Test func `after a start in a later time a question is over`() throws {
        let asked = try Asked()
        try asked.house.restart { asked.house.clock.step(seconds: Self.day) }
        #expect(asked.status == "noAnswer")
        #expect(try asked.ends() == 1)
    }
}
