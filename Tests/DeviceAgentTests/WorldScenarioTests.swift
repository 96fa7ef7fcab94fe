import Foundation
import JSON
import LocationSharingApp
import Testing

@testable import DeviceAgent

/// Invalid scenarios; each is refused with one sentence.
@Suite struct WorldScenarioTests {
    private func read(_ text: String) throws -> WorldScenario {
        try WorldScenario(
            try JSONDocument.parse(Array(text.utf8)).root, directory: "/nowhere", now: Date(timeIntervalSince1970: 0))
    }

    /// A phone with more members.
    private static func phone(_ more: String) -> String { #"{"phones":[{"person":"p","home":[48,16]\#(more)}]}"# }

    @Test func `what is left out has its default`() throws {
        let scenario = try read(Self.phone(""))
        #expect(scenario.start == Date(timeIntervalSince1970: 86_400) && scenario.hours == 24)
        #expect(scenario.phones[0].reports == .frugal && scenario.phones[0].user == nil)
    }

    @Test(arguments: [
        ("[]", "The scenario must be a JSON object."),
        ("{}", "phones must be a list of 1 to 10000 phones."),
        (#"{"phones":[]}"#, "phones must be a list of 1 to 10000 phones."),
        (#"{"phones":{}}"#, "The scenario: phones must be a list."),
        (#"{"persons":[]}"#, "The scenario has an unknown key: persons."),
        (#"{"hours":0}"#, "The scenario: hours must be a number from 0.01 to 744.0."),
        (#"{"hours":1e300}"#, "The scenario: hours must be a number from 0.01 to 744.0."),
        (#"{"seed":-1}"#, "The scenario: seed must be a number from 0.0 to 9000000000000000.0."),
        (#"{"start":"tomorrow"}"#, "start must be a time like 2027-01-04T00:00:00Z, from 1990 to 2099."),
        (#"{"start":"0004-01-01T00:00:00Z"}"#, "start must be a time like 2027-01-04T00:00:00Z, from 1990 to 2099."),
        (#"{"network":{"lossPercent":101}}"#, "network: lossPercent must be a number from 0.0 to 100.0."),
        (#"{"phones":[{"home":[48,16]}]}"#, "Phone 1 needs person, a text."),
        (
            #"{"phones":[{"person":"P","home":[48,16]}]}"#,
            """
            Phone 1: person must be of lower-case letters, digits, dots, hyphens and underscores, begin with a letter or \
            digit and, with -phone added, have at most 63 of them.
            """
        ),
        (#"{"phones":[{"person":"p"}]}"#, "Phone 1 needs track, a text."),
        (
            #"{"phones":[{"person":"p","track":"way.gpx"}]}"#,
            "/nowhere/way.gpx cannot be read: No such file or directory."
        ),
        (
            #"{"phones":[{"person":"p","track":"way.gpx","regions":[]}]}"#,
            "regions of phone 1 is about a home, which a track does not have."
        ),
        (
            #"{"phones":[{"person":"p","home":[48,16]},{"person":"p","home":[48,16]}]}"#,
            "There are two phones of p: a person has one."
        ),
        (phone(#","count":10001"#), "Phone 1: count must be a number from 1.0 to 10000.0."),
        (
            phone(#","count":10000,"everySeconds":1"#),
            "The phones would have 864000000 fixes, above 20000000: raise everySeconds, or lower hours or count."
        ),
        (
            #"{"phones":[{"person":"p","home":[91,16]}]}"#,
            "home of phone 1 must be [latitude, longitude], without a track."
        ),
        (
            #"{"phones":[{"person":"p","home":[1e9,16]}]}"#,
            "Phone 1: home must be two numbers, neither above 180.0."
        ),
        (phone(#","profile":"iOS7""#), "profile of phone 1 must be iOS18: older systems have no location pushes."),
        (phone(#","agenda":{}"#), "Phone 1: agenda must be a list."),
        (phone(#","agenda":[{}]"#), "A step of phone 1 must have staySeconds, outageSeconds or moveMeters."),
        (
            phone(#","agenda":[{"moveMeters":[1]}]"#),
            "A step of phone 1: moveMeters must be two numbers, neither above 1000000.0."
        ),
        (
            phone(#","agenda":[{"moveMeters":[1,1],"metersPerSecond":0}]"#),
            "A step of phone 1: metersPerSecond must be a number from 0.1 to 300.0."
        ),
        (
            phone(#","user":[{"prompt":"always","choice":"maybe"}]"#),
            "An answer of user 1 has a prompt or choice that does not exist."
        ),
        (
            phone(#","user":[{"prompt":"always","choice":"always","precise":1}]"#),
            "precise of an answer of user 1 must be true or false."
        ),
        (phone(#","beacons":[{"id":"b","uuid":"1","atMeters":[0,0]}]"#), "uuid of a beacon of phone 1 must be a UUID."),
        (
            phone(#","regions":[{"id":"a"},{"id":"a"}]"#),
            "Phone 1 monitors at most 20 regions and beacons, each of its own id."
        ),
        (
            #"{"phones":[{"person":"p","home":[48,16]}],"askers":[{"person":"q","asks":"r"}]}"#,
            "Asker 1 asks r, which no phones are of."
        ),
        (
            #"{"phones":[{"person":"p","count":2,"home":[48,16]}],"askers":[{"person":"p","asks":"p"}]}"#,
            "Asker 1 must be one person; those of p are p-1 and so on."
        ),
        (
            #"{"phones":[{"person":"p","home":[48,16]}],"askers":[{"person":"q","asks":"p","expect":["ok"]}]}"#,
            "expect of asker 1 must be a list of answered, answeredFromLastKnown and noAnswer."
        ),
    ])
    func `what cannot be played is refused in one sentence`(scenario: String, sentence: String) {
        #expect(throws: ScenarioError(sentence)) { try read(scenario) }
    }
}
