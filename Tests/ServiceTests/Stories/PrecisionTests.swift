import Geodesy
import JSON
import Testing
import Whereabouts

@testable import Service

/// A coarse grant is a wall: what it hides changes nothing that the asker sees.
@Suite struct PrecisionTests {
    /// Everything a kilometer friend of the walker can get, in two worlds that differ only in where, how and at what moment
    /// of a quarter of an hour the walker is inside one cell.
    @Test func `two worlds that differ inside one cell answer byte for byte alike`() throws {
        // The cell of Vienna's Karlsplatz reaches from 48.20 to 48.21 north; the second place is 600 m from the first.
        let one = try World(latitude: 48.2006, longitude: 16.3698, secondsAgo: 125, more: #""horizontalAccuracy":5"#)
        let other = try World(
            latitude: 48.2058, longitude: 16.3712, secondsAgo: 40,
            more: #""horizontalAccuracy":48,"altitude":171.5,"verticalAccuracy":4,"speed":3.5,"course":210,"floor":2"#)
        let distance = Geodesic.distanceMeters(
            from: try Coordinate(latitude: 48.2006, longitude: 16.3698),
            to: try Coordinate(latitude: 48.2058, longitude: 16.3712))
        try #require(distance > 500)
        let answers = try (one.everything(), other.everything())
        #expect(answers.0.count == answers.1.count)
        for (first, second) in zip(answers.0, answers.1) {
            let isSame = first == second
            #expect(isSame, "\(first)\n\(second)")
        }
        // And the one thing that may be seen is seen.
        #expect(answers.0.contains { $0.contains(#""precision":"kilometer""#) })
        #expect(answers.0.allSatisfy { !$0.contains("48.2006") && !$0.contains("horizontalAccuracy") })
    }

    private final class World {
        let house: ServiceUnderTest
        let friend: String

        init(latitude: Double, longitude: Double, secondsAgo: Int64, more: String) throws {
            house = try ServiceUnderTest()
            // 08:05: both moments lie in one quarter of an hour.
            house.clock.advance(seconds: 300)
            _ = try house.addPerson("walker")
            let phone = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            try house.grant("walker", to: "friend", precision: "kilometer", history: true)
            let report = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds - secondsAgo),"latitude":\#(latitude),"longitude":\#(longitude),\#(more)}"#
            )
            try #require(report["new"]?.int == 1)
            _ = house.settled()
        }

        /// Each answer without the names that are random in every world.
        func everything() throws -> [String] {
            var answers: [String] = []
            for what in ["location", "track", "visits", "crossings", "audit", "regions", "grants", "devices", "tokens"]
            {
                answers.append(house.send("GET", "/v1/people/walker/\(what)", as: friend).observable)
            }
            for maxAge in [300, 600, 3600] {
                let asked = house.send(
                    "POST", "/v1/people/walker/location-queries", as: friend,
                    #"{"purpose":"where","maxAgeSeconds":\#(maxAge)}"#)
                let url = try #require(asked["url"]?.string)
                let id = try #require(asked["id"]?.string)
                for method in ["GET", "HEAD", "DELETE", "GET"] {
                    let answer = house.send(method, url, as: friend).observable
                    answers.append(
                        answer.split(separator: id, omittingEmptySubsequences: false).joined(separator: "ID"))
                }
            }
            return answers
        }
    }
}
