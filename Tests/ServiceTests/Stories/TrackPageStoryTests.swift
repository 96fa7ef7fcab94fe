import JSON
import Log
import Testing
import Whereabouts

@testable import PersonEndpoints
@testable import Service

/// A track longer than one read of the rows, in pages of any length.
@Suite struct TrackPageStoryTests {
    private static let devices = ["walker-phone", "walker-watch"]
    private static let fixes = 2500

    /// Every second a fix, the two devices in turns.
    private func house() throws -> ServiceUnderTest {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let start = house.clock.seconds - 7200
        for (turn, device) in Self.devices.enumerated() {
            _ = try house.addDevice(device, of: "walker")
            let all = stride(from: turn, to: Self.fixes, by: 2).map { second in
                #"{"timestamp":\#(start + Int64(second)),"latitude":48.2,"longitude":16.3,"horizontalAccuracy":8}"#
            }
            for first in stride(from: 0, to: all.count, by: 500) {
                house.manage(
                    "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a0\(turn)/batches",
                    #"{"device":"\#(device)","fixes":[\#(all[first..<min(first + 500, all.count)].joined(separator: ","))]}"#
                )
            }
        }
        return house
    }

    @Test func `a page is as long as was asked for, and each has one record`() throws {
        let house = try house()
        func pages(_ limit: String) throws -> [[JSONValue]] {
            var pages: [[JSONValue]] = []
            var after = ""
            repeat {
                let page = house.manage(
                    "GET", "/v1/people/walker/track?at-least=\(house.service.log.head)\(limit)\(after)")
                pages.append(page.items)
                after = page["next"]?.string.map { "&after=\($0)" } ?? ""
            } while !after.isEmpty
            return pages
        }
        // Fewer rows than one read, as many, more, all, and none.
        for (limit, counts) in [
            (700, [700, 700, 700, 400]), (1000, [1000, 1000, 500]), (1250, [1250, 1250, 0]), (2400, [2400, 100]),
            (2500, [2500, 0]), (Int(ReadEndpoints.fixesPerPage), [2500]),
        ] {
            let before = house.service.log.head
            let told = try pages("&limit=\(limit)")
            #expect(told.map(\.count) == counts)
            #expect(try house.events(after: before).count == counts.count)
            let items = told.flatMap { $0 }
            let times = items.compactMap { $0["timestamp"]?.int }
            #expect(times == times.first.map { Array($0..<$0 + Int64(Self.fixes)) })
            #expect(items.map { $0["device"]?.string } == (0..<Self.fixes).map { Self.devices[$0 % 2] })
        }
        #expect(try pages("").count == 1)
        let tooMany = "/v1/people/walker/track?limit=\(ReadEndpoints.fixesPerPage + 1)"
        #expect(house.send("GET", tooMany, as: house.operatorToken).status == 400)
    }
}
