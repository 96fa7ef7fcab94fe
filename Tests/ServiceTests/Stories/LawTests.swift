import Cryptography
import Geodesy
import JSON
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Projections
@testable import Service

/// The derived data depend only on the reports, not on the endpoints that received them.
@Suite struct LawTests {
    private static let batches = "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a05/batches"

    /// A service with one person, one device and a region, asked for its fingerprints in the end.
    private final class World {
        let house: ServiceUnderTest
        let phone: String

        init() throws {
            house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
            house.manage(
                "POST", "/v1/people/walker/regions",
                #"{"id":"home","circle":{"latitude":48.202,"longitude":16.348,"radiusMeters":150}}"#)
        }

        /// In one batch after the other, as an import brings them.
        func importing(_ fixes: [LawTests.Seen], by size: Int) {
            for start in stride(from: 0, to: fixes.count, by: size) {
                let members = fixes[start..<min(start + size, fixes.count)].map { $0.json(isImport: true) }
                let answer = house.manage(
                    "POST", LawTests.batches, #"{"device":"walker-phone","fixes":[\#(members.joined(separator: ","))]}"#
                )
                #expect(answer["rejected"]?.array?.underestimatedCount == 0)
            }
        }

        /// One by one as the phone sends them; the house's clock says when.
        func reporting(_ fixes: [LawTests.Seen]) {
            for fix in fixes {
                house.clock.set(Timestamp(milliseconds: fix.received * 1000))
                let answer = house.send("POST", "/v1/fixes", as: phone, fix.json(isImport: false))
                #expect(answer.status == 200)
            }
        }

        func derived() -> [Fingerprint?] {
            let settled = house.fingerprints()
            return [settled["current"], settled["timeline"]]
        }
    }

    struct Seen {
        let time, received: Int64
        let latitude, longitude, accuracy: Double

        func json(isImport: Bool) -> String {
            let receipt = isImport ? #","receivedAt":\#(received)"# : ""
            return
                #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":\#(longitude),"horizontalAccuracy":\#(accuracy)\#(receipt)}"#
        }
    }

    /// Home, work and back with gaps, scatter and a few minutes of silence; each received two seconds later.
    private static func day() -> [Seen] {
        var dice = SplitMix(11)
        var time = HouseClock.standing.seconds - 12 * 3600
        var fixes: [Seen] = []
        func see(_ latitude: Double, _ longitude: Double, every seconds: Int64) {
            fixes.append(
                Seen(
                    time: time, received: time + 2,
                    latitude: latitude + Double(Int.random(in: -9...9, using: &dice)) * 1e-5,
                    longitude: longitude + Double(Int.random(in: -9...9, using: &dice)) * 1e-5,
                    accuracy: Double(Int.random(in: 4...40, using: &dice))))
            time += seconds
        }
        for leg in 0..<3 {
            let here = leg % 2 == 0 ? (48.202, 16.348) : (48.214, 16.372)
            let there = leg % 2 == 0 ? (48.214, 16.372) : (48.202, 16.348)
            for _ in 0..<40 { see(here.0, here.1, every: dice.chance(0.1) ? 700 : 120) }
            for step in 1..<20 {
                let share = Double(step) / 20
                see(here.0 + (there.0 - here.0) * share, here.1 + (there.1 - here.1) * share, every: 30)
            }
        }
        return fixes
    }

    @Test func `shuffled, doubled, trickled, batched and refolded reports come to the same`() throws {
        let day = Self.day()
        var dice = SplitMix(12)
        let reference = try World()
        reference.importing(day, by: 1000)
        let expected = reference.derived()
        #expect(!expected.contains(nil))

        for time in 1...10 {
            let shuffled = try World()
            shuffled.importing(day.shuffled(using: &dice), by: 1000)
            #expect(shuffled.derived() == expected, "shuffled the \(time)th time")
        }

        let doubled = try World()
        doubled.importing((day + day).shuffled(using: &dice), by: 60)
        #expect(doubled.derived() == expected, "doubled")
        #expect(doubled.house.service.log.head == reference.house.service.log.head)

        let trickled = try World()
        trickled.importing(day, by: 1)
        #expect(trickled.derived() == expected, "trickled")

        let live = try World()
        live.reporting(day)
        #expect(live.derived() == expected, "live")

        let late = try World()
        // Every fifth fix comes an hour late, in the order of receipt; the import says when it was received.
        late.importing(day.enumerated().filter { $0.offset % 5 != 0 }.map(\.element), by: 7)
        late.importing(day.enumerated().filter { $0.offset % 5 == 0 }.map(\.element), by: 3)
        #expect(late.derived() == expected, "late")

        for world in [reference, live, late] {
            world.house.manage("POST", "/v1/projections/timeline/rebuild")
            while world.house.service.host.status.contains(where: \.isLoading) {
                _ = world.house.service.log.waitForHead(after: world.house.service.log.head, milliseconds: 5)
            }
            #expect(world.house.manage("GET", "/v1/projections/timeline/diff")["equal"]?.bool == true)
            #expect(world.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
        }
    }

    @Test func `the same report again has the same reply and no event`() throws {
        let world = try World()
        let day = Self.day()
        world.importing(day, by: 1000)
        _ = world.house.settled()
        let head = world.house.service.log.head
        let members = day.map { $0.json(isImport: true) }.joined(separator: ",")
        let again = world.house.manage("POST", Self.batches, #"{"device":"walker-phone","fixes":[\#(members)]}"#)
        #expect(again["new"]?.int == 0)
        #expect(again["duplicate"]?.int == Int64(day.count))
        #expect(world.house.service.log.head == head)
    }
}
