import Geodesy
import JSON
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct SightingJSONTests {
    static let now = Timestamp(milliseconds: 1_767_225_700_000)

    private func read(_ members: String) -> [Report] {
        ReportJSON.reports(from: Array(#"{"reports":[{"timestamp":1767225600.5,\#(members)}]}"#.utf8), now: Self.now)
    }

    @Test(arguments: [
        #""type":"heading","magneticHeading":277.5,"trueHeading":282.7,"headingAccuracy":5"#,
        #""type":"heading","magneticHeading":0"#,
        #""type":"beacon","uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f","major":1,"minor":65535,"proximity":2,"accuracy":1.5,"rssi":-59"#,
        #""type":"visit","latitude":48.25,"longitude":16.5,"horizontalAccuracy":12,"arrival":1767220000,"departure":1767225500.25"#,
        #""type":"visit","latitude":-48.25,"longitude":-16.5"#, #""type":"crossing","region":"home","crossing":"exit""#,
    ])
    func `a sighting that is read and written says the same`(members: String) throws {
        guard case .sighting(let sighting) = try #require(read(members).first) else {
            Issue.record("It is not taken for a sighting.")
            return
        }
        var writer = JSONWriter()
        writer.beginObject()
        ReportJSON.writeMembers(of: sighting, into: &writer)
        writer.endObject()
        let said = String(decoding: writer.bytes, as: UTF8.self)
        // The same members as in the message, whose time comes last here.
        #expect(said == "{\(members),\"timestamp\":1767225600.5}")
    }

    @Test func `what Core Location marks with a negative number is not known`() throws {
        let report = read(#""type":"heading","magneticHeading":277.5,"trueHeading":-1,"headingAccuracy":-1"#).first
        guard case .sighting(.heading(let heading)) = report else {
            Issue.record("It is not taken for a heading.")
            return
        }
        #expect(heading.trueHeading == nil && heading.headingAccuracy == nil)
    }

    @Test(arguments: [
        (#""type":"heading""#, RejectionReason.missingField), (#""type":"heading","magneticHeading":-1"#, .badValue),
        (#""type":"heading","magneticHeading":361"#, .badValue), (#""type":"beacon","uuid":"x""#, .missingField),
        (#""type":"beacon","uuid":"x","major":1,"minor":1,"proximity":1,"rssi":-59"#, .badValue),
        (
            #""type":"beacon","uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f","major":65536,"minor":1,"proximity":1,"rssi":-59"#,
            .badValue
        ),
        (#""type":"visit","latitude":48"#, .missingField),
        (#""type":"visit","latitude":91,"longitude":0"#, .badCoordinate),
        (#""type":"visit","latitude":48,"longitude":0,"arrival":"noon""#, .badTimestamp),
        (#""type":"crossing","region":"home""#, .missingField),
        (#""type":"crossing","region":"home","crossing":"near""#, .badValue),
        (#""type":"crossing","region":"","crossing":"enter""#, .badValue), (#""type":"steps""#, .unknownType),
    ])
    func `what is missing or impossible is told`(members: String, reason: RejectionReason) {
        #expect(read(members) == [.rejected(reason)])
    }
}
