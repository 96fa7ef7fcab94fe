import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// The reports of Core Location other than fixes: kept as events, shown by them, and separate from the derived data.
@Suite struct SightingStoryTests {
    private static let body = """
        {"reports":[
         {"type":"heading","timestamp":1777881500,"magneticHeading":277.5},
         {"type":"beacon","timestamp":1777881501,"uuid":"00010203-0405-0607-0809-0A0B0C0D0E0F","major":1,"minor":2,
          "proximity":2,"rssi":-59},
         {"type":"visit","timestamp":1777881502,"latitude":48.25,"longitude":16.5,"horizontalAccuracy":12,
          "arrival":1777870000},
         {"type":"crossing","timestamp":1777881503,"region":"home","crossing":"exit"}]}
        """

    @Test func `headings, beacons, visits and crossings are recorded once and shown by events`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("walker-phone", of: "walker")
        let answer = house.send("POST", "/v1/reports", as: key, Self.body)
        #expect(answer.status == 200 && answer["new"]?.int == 4, "\(answer.text)")
        // The same message again, because its answer was lost: same reply, no event.
        let head = house.service.log.head
        let again = house.send("POST", "/v1/reports", as: key, Self.body)
        #expect(again["duplicate"]?.int == 4 && house.service.log.head == head)
        try house.restart()
        #expect(house.send("POST", "/v1/reports", as: key, Self.body)["duplicate"]?.int == 4)

        let shown = house.manage("GET", "/v1/events?limit=100").text
        for part in [
            #""kind":"HeadingReported""#, #""kind":"BeaconSighted""#, #""kind":"VisitReported""#,
            #""kind":"CrossingReported""#, #""magneticHeading":277.5"#, #""rssi":-59"#, #""arrival":1777870000"#,
            #""crossing":"exit""#,
        ] {
            #expect(shown.contains(part), "\(part)")
        }
        // The device's own visit is evidence for one here.
        #expect(house.manage("GET", "/v1/people/walker/visits").items.map { $0["arrival"]?.int } == [1_777_870_000])
    }

    @Test func `an erased person's sightings cannot be read any more`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("walker-phone", of: "walker")
        #expect(house.send("POST", "/v1/reports", as: key, Self.body).status == 200)
        house.manage("DELETE", "/v1/people/walker")
        let sightings = try house.events().compactMap { event -> Part<Sighting>? in
            if case .sightingReported(_, _, let part) = event.event { part } else { nil }
        }
        #expect(sightings.count == 4 && sightings.allSatisfy { $0 == .erased })
    }
}
