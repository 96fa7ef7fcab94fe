import Cryptography
import Glibc
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Log
@testable import Reactors
@testable import Service

/// Trackers of Home Assistant, with a real broker between the service and its readers.
@Suite(.enabled(if: RunningBroker.program != nil, "mosquitto is not installed"))
struct TrackerStoryTests {
    private struct Scene {
        let broker: RunningBroker
        let house: ServiceUnderTest
        let walker, phone: String

        init() throws {
            broker = try RunningBroker()
            let port = Int64(broker.port)
            house = try ServiceUnderTest {
                var mqtt = ServiceConfiguration.Broker(host: "127.0.0.1")
                (mqtt.port, mqtt.isEncrypted, mqtt.discoveryPrefix) = (port, false, "homeassistant")
                $0.mqtt = mqtt
            }
            walker = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
            house.manage(
                "POST", "/v1/people/walker/regions",
                #"{"id":"Home","circle":{"latitude":48.2,"longitude":16.35,"radiusMeters":200}}"#)
            house.manage(
                "POST", "/v1/people/walker/regions",
                #"{"id":"garden","circle":{"latitude":48.2,"longitude":16.3512,"radiusMeters":50}}"#)
        }

        func add() throws -> Int64 {
            let added = house.send("POST", "/v1/people/walker/webhooks", as: walker, #"{"kind":"homeAssistant"}"#)
            #expect(added.status == 201 && added["secret"] == nil, "\(added.text)")
            return try #require(house.number(added["id"], .webhook, of: "walker"))
        }

        func report(_ longitude: Double, battery: Double? = nil) {
            house.clock.advance(seconds: 90)
            let level = battery.map { #","batteryLevel":\#($0)"# } ?? ""
            let sent = house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"fixes":[{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":\#(longitude),"#
                    + #""horizontalAccuracy":7\#(level)}]}"#)
            #expect(sent["new"]?.int == 1, "\(sent.text)")
        }

        /// Waits until the broker's retained messages are as expected.
        func until(_ isGood: ([String: String]) throws -> Bool) throws -> [String: String] {
            try eventually("other retained messages", pauseMilliseconds: 50) {
                let found = try broker.retained()
                return try isGood(found) ? found : nil
            }
        }

        func state(_ zone: String) throws -> [String: String] {
            try until { $0.contains { $0.key.hasSuffix("/state") && $0.value == zone } }
        }
    }

    @Test func `Home Assistant finds the tracker with its region and battery, each publication on record first`() throws
    {
        let scene = try Scene()
        _ = try scene.add()
        scene.report(16.35, battery: 0.874)
        let home = try scene.state("home")
        #expect(home.count == 5, "\(home.keys)")
        func config(_ kind: String) throws -> JSONValue {
            let text = try #require(
                home.first { $0.key.hasPrefix("homeassistant/\(kind)/") && $0.key.hasSuffix("/config") }?.value)
            return try JSONDocument.parse(Array(text.utf8)).root
        }
        let tracker = try config("device_tracker")
        #expect(tracker["source_type"]?.string == "gps" && tracker["device"]?["name"]?.string == "walker")
        let stateTopic = try #require(tracker["state_topic"]?.string)
        #expect(home[stateTopic] == "home")
        let attributesTopic = try #require(tracker["json_attributes_topic"]?.string)
        let text = try #require(home[attributesTopic])
        let attributes = try JSONDocument.parse(Array(text.utf8)).root
        #expect(attributes["latitude"]?.double == 48.2 && attributes["longitude"]?.double == 16.35)
        #expect(attributes["gps_accuracy"]?.double == 7 && attributes["battery_level"]?.int == 87)
        let battery = try config("sensor")
        #expect(battery["device_class"]?.string == "battery" && battery["unit_of_measurement"]?.string == "%")
        #expect(battery["state_topic"]?.string == tracker["json_attributes_topic"]?.string)
        func identifiers(_ config: JSONValue) -> [String] {
            config["device"]?["identifiers"]?.array?.compactMap(\.string) ?? []
        }
        #expect(identifiers(battery) == identifiers(tracker) && identifiers(tracker).count == 1)
        #expect(battery["unique_id"]?.string != tracker["unique_id"]?.string)
        // The inner region counts; outside all it is Home Assistant's word.
        scene.report(16.3512)
        _ = try scene.state("garden")
        scene.report(16.4)
        let away = try scene.state("not_home")
        #expect(away.keys.sorted() == home.keys.sorted())
        // Every content that left is on record as a read of the location by the person's own token.
        let reads = try scene.house.events().compactMap { recorded -> [UInt8]? in
            guard case .locationRead(let read) = recorded.event, read.question == .location else { return nil }
            #expect(read.verdict == .own)
            return read.content.content?.answerHash?.bytes
        }
        #expect(reads.count == 3)
        for messages in [home, away] {
            let shown = try #require(messages.first { $0.key.hasSuffix("/attributes") }?.value)
            #expect(reads.contains(SHA256().hash(Array(shown.utf8)).bytes))
        }
    }

    @Test func `a test comes to Home Assistant as an event, and is delivered when the broker has handed it back`()
        throws
    {
        let scene = try Scene()
        let id = try scene.add()
        func test() -> Answer {
            scene.house.send("POST", "/v1/people/walker/webhooks/\(id)/test", as: scene.walker)
        }
        func outcome() -> String? {
            scene.house.manage("GET", "/v1/people/walker/webhooks").items.first?["testOutcome"]?.string
        }
        let early = test()
        #expect(early.status == 422 && early.text.contains("until a device has reported"), "\(early.text)")
        scene.report(16.35)
        let home = try scene.state("home")
        let text = try #require(
            home.first { $0.key.hasPrefix("homeassistant/event/") && $0.key.hasSuffix("/config") }?.value)
        let config = try JSONDocument.parse(Array(text.utf8)).root
        #expect(config["event_types"]?.array?.compactMap(\.string) == ["test"])
        #expect(config["state_topic"]?.string?.hasSuffix("/test") == true)
        #expect(test().status == 200)
        try eventually("the test is delivered") { outcome() == "delivered" }
        // On record before it left, and not retained.
        let hash = SHA256().hash(Array(#"{"event_type":"test"}"#.utf8)).bytes
        let isOnRecord = try scene.house.events().contains { recorded in
            guard case .locationRead(let read) = recorded.event else { return false }
            return read.question == .live && read.content.content?.answerHash?.bytes == hash
        }
        #expect(isOnRecord)
        #expect(try !scene.broker.retained().contains { $0.key.hasSuffix("/test") })
        scene.house.send("POST", "/v1/people/walker/pauses", as: scene.walker, "{}")
        let paused = test()
        #expect(paused.status == 422 && paused.text.contains("paused"), "\(paused.text)")
    }

    @Test func `a pause, the end of the webhook or its token, and an erasure clear what the broker retains`() throws {
        let scene = try Scene()
        func gone() throws { #expect(try scene.until { $0.isEmpty }.isEmpty) }
        let id = try scene.add()
        scene.report(16.35)
        _ = try scene.state("home")
        scene.house.send("POST", "/v1/people/walker/pauses", as: scene.walker, "{}")
        try gone()
        // What the phone reports in the pause is never shown, also not when the pause has ended.
        scene.report(16.4)
        scene.house.clock.advance(seconds: 10)
        scene.house.send("DELETE", "/v1/people/walker/pauses", as: scene.walker)
        // Two looks of the publisher.
        usleep(1_200_000)
        #expect(try scene.broker.retained().isEmpty)
        scene.report(16.41)
        _ = try scene.state("not_home")
        scene.house.send("DELETE", "/v1/people/walker/webhooks/\(id)", as: scene.walker)
        try gone()
        let token = try scene.house.token(of: "walker", scopes: #"["query","audit","manage"]"#)
        let added = scene.house.send("POST", "/v1/people/walker/webhooks", as: token, #"{"kind":"homeAssistant"}"#)
        #expect(added.status == 201)
        _ = try scene.state("not_home")
        let tokens = scene.house.manage("GET", "/v1/people/walker/tokens").items.compactMap { $0["id"]?.int }
        scene.house.manage("DELETE", "/v1/tokens/\(tokens.max() ?? 0)")
        try gone()
        _ = try scene.add()
        _ = try scene.state("not_home")
        scene.house.manage("DELETE", "/v1/people/walker")
        try gone()
    }

    @Test func `a withdrawn location does not stay at the broker`() throws {
        let scene = try Scene()
        _ = try scene.add()
        scene.report(16.35)
        _ = try scene.state("home")
        scene.report(16.4)
        _ = try scene.state("not_home")
        let newest = try #require(
            try scene.house.events().last { if case .fixReported = $0.event { true } else { false } })
        let withdrawn = scene.house.send(
            "DELETE", "/v1/people/walker/track/\(newest.number)?reason=wrong%20clock", as: scene.walker)
        #expect(withdrawn.status == 200, "\(withdrawn.text)")
        #expect(try scene.until { $0.isEmpty }.isEmpty)
    }

    @Test func `a tracker that ended while the service was off is cleared, those of others stay`() throws {
        let scene = try Scene()
        let topics = TrackerTopics(prefix: "homeassistant", log: scene.house.service.log.id)
        let old = topics.name(of: WebhookID(rawValue: 999))
        _ = try scene.add()
        scene.report(16.35)
        let own = try scene.state("home")
        let foreign = "homeassistant/device_tracker/whereabouts_00000000/\(old)/config"
        try scene.house.restart {
            try scene.broker.publish(
                (topics.configurations(old) + [topics.state(old), topics.attributes(old), foreign]).map {
                    RunningBroker.Message(topic: $0, payload: "{}", isRetained: true)
                })
        }
        let left = try scene.until { $0.count == own.count + 1 }
        #expect(Set(left.keys) == Set(own.keys).union([foreign]))
    }
}
