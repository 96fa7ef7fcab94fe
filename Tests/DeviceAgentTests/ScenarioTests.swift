import LocationPush
import LocationSharingApp
import Testing

@testable import DeviceAgent

@Suite struct ScenarioTests {
    static let device = """
        {"device":"walker-phone","reportingKeyFile":"keys/walker","bundleID":"org.example.app",
         "environment":"production","track":"/tracks/evening.gpx","at":90}
        """

    func read(_ devices: String, more: String = "") throws -> Scenario {
        let json = """
            {"service":"http://127.0.0.1:8080","pushStandIn":"127.0.0.1:2197","devices":[\(devices)]\(more)}
            """
        return try Scenario(json: Array(json.utf8), directory: "/demo")
    }

    @Test func `a scenario names paths relative to itself, and places on a track in seconds`() throws {
        let scenario = try read(Self.device)
        #expect(scenario.service == "http://127.0.0.1:8080")
        #expect(scenario.pushStandIn == HostAndPort("127.0.0.1:2197"))
        let device = try #require(scenario.devices.first)
        #expect(device.reportingKey == .file("/demo/keys/walker"))
        #expect(device.environment == .production)
        #expect(device.source == .track("/tracks/evening.gpx", .after(seconds: 90)))
        #expect(device.reports.isEmpty)
    }

    @Test func `what is left out is the development environment and the end of the track`() throws {
        let device = try #require(
            try read(#"{"device":"d","reportingKey":"wd_k","bundleID":"b","track":"t.gpx"}"#).devices.first)
        #expect(device.environment == .development)
        #expect(device.source == .track("/demo/t.gpx", .end))
        #expect(device.reportingKey == .key("wd_k"))
    }

    @Test(arguments: [
        (
            #"{"device":"d","reportingKey":"k","bundleID":"b","track":"t","colour":1}"#,
            "Device 1 has an unknown key: colour."
        ),
        (
            #"{"device":"d","bundleID":"b","track":"t"}"#,
            "Device 1 needs reportingKey or reportingKeyFile, and not both."
        ),
        (
            #"{"device":"d","reportingKey":"k","reportingKeyFile":"f","bundleID":"b","track":"t"}"#,
            "Device 1 needs reportingKey or reportingKeyFile, and not both."
        ),
        (#"{"device":"d","reportingKey":"k","bundleID":"b"}"#, "Device 1 needs track, a text."),
        (#"7"#, "Device 1 must be a JSON object."),
        (
            #"{"device":"d","reportingKey":"k","bundleID":"b","track":"t","at":"start"}"#,
            "at of device 1 must be \"end\" or seconds after the track's first point."
        ),
        (
            #"{"device":"d","reportingKey":"k","bundleID":"b","track":"t","environment":"test"}"#,
            "environment of device 1 must be development or production."
        ),
        (
            #"{"device":"d","reportingKey":"k","bundleID":"b","track":"t","gpsd":"127.0.0.1:2947"}"#,
            "gpsd of device 1 must be HOST:PORT, and stands in place of a track."
        ),
        (
            #"{"device":"d","reportingKey":"k","bundleID":"b","track":"t","reports":["steps"]}"#,
            """
            reports of device 1 must be a list of visits, significantChanges, regions, updates, headings and beacons.
            """
        ),
        ("", "devices must be an array of 1 to 64 objects."),
    ])
    func `a wrong device is refused in one sentence`(device: String, sentence: String) {
        #expect(throws: ScenarioError(sentence)) { try read(device) }
    }

    @Test func `a real receiver takes the place of a track, and a phone may report by itself`() throws {
        let device = try #require(
            try read(
                #"{"device":"d","reportingKey":"k","bundleID":"b","gpsd":"127.0.0.1:2947","reports":["updates"]}"#
            ).devices.first)
        #expect(try device.source == .gpsd(#require(HostAndPort("127.0.0.1:2947"))))
        #expect(device.reports == .updates)
    }

    @Test func `an unknown key is refused by its name`() {
        #expect(throws: ScenarioError("The scenario has an unknown key: port.")) {
            try read(Self.device, more: #","port":1"#)
        }
    }

    @Test(arguments: ["127.0.0.1", ":80", "127.0.0.1:70000", "::1:80", "host:"])
    func `an address needs a host and a port`(text: String) {
        #expect(HostAndPort(text) == nil)
    }

    @Test func `an IPv6 address stands in brackets`() {
        #expect(HostAndPort("[::1]:80")?.host == "::1")
        #expect(HostAndPort("[::1]:80")?.description == "[::1]:80")
    }
}
