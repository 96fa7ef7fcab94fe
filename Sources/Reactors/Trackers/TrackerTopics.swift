import Cryptography
import Geodesy
import JSON
import Whereabouts

/// The topics and configurations by which Home Assistant finds a person's tracker at the broker
/// (home-assistant.io/integrations/mqtt, "MQTT Discovery"). For example:
///
///     homeassistant/device_tracker/whereabouts_1f0a22c9/5d0c41b7a3e2/config   {"name":null,"state_topic":…}
///     homeassistant/sensor/whereabouts_1f0a22c9/5d0c41b7a3e2/config           {"name":"Battery",…}
///     homeassistant/event/whereabouts_1f0a22c9/5d0c41b7a3e2/config            {"name":"Test",…}
///     whereabouts/1f0a22c9/5d0c41b7a3e2/state                                 home
///     whereabouts/1f0a22c9/5d0c41b7a3e2/attributes                            {"latitude":48.2,…}
///     whereabouts/1f0a22c9/5d0c41b7a3e2/test                                  {"event_type":"test"}
///
/// A topic names neither the person nor the service, so clients that can list topics but not read them learn nothing.
struct TrackerTopics {
    /// Home Assistant's discovery prefix, usually `homeassistant`.
    let prefix: String
    /// Names the log, so that several services can share a broker.
    let house: String
    private let log: Identifier128

    /// The length of a tracker's name, in characters; 48 bits tell a thousand webhooks apart.
    private static let nameCharacters = 12

    init(prefix: String, log: Identifier128) {
        (self.prefix, self.log) = (prefix, log)
        house = String(Self.digest("house", log, 0).prefix(8))
    }

    private static func digest(_ word: String, _ log: Identifier128, _ number: Int64) -> String {
        Hex.encode(SHA256().hash(Array("\(word) \(log) \(number)".utf8)).bytes)
    }

    /// The name of a webhook's tracker.
    func name(of webhook: WebhookID) -> String {
        String(Self.digest("tracker", log, webhook.rawValue).prefix(Self.nameCharacters))
    }

    /// The filter of all configurations of this log's trackers.
    var filter: String { "\(prefix)/+/whereabouts_\(house)/+/config" }

    /// The filter of the test messages of this log's trackers.
    var testFilter: String { "whereabouts/\(house)/+/test" }

    /// The topic of test messages. The broker does not retain them.
    func test(_ name: String) -> String { "whereabouts/\(house)/\(name)/test" }

    /// Whether a topic is one of ``testFilter``.
    func isTest(_ topic: String) -> Bool { topic.hasPrefix("whereabouts/\(house)/") && topic.hasSuffix("/test") }

    /// An event of Home Assistant, which shows when it came.
    static let testPayload = Array(#"{"event_type":"test"}"#.utf8)

    /// The tracker whose configuration has this topic; `nil` for any other topic.
    func name(inTopic topic: String) -> String? {
        let parts = topic.split(separator: "/", omittingEmptySubsequences: false)
        let prefixes = prefix.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == prefixes.count + 4, parts.starts(with: prefixes) else { return nil }
        let rest = parts.dropFirst(prefixes.count).map(String.init)
        let isName =
            rest[2].utf8.count == Self.nameCharacters
            && rest[2].utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return rest[1] == "whereabouts_\(house)" && rest[3] == "config" && isName ? rest[2] : nil
    }

    /// The topic of the state: the region, or `not_home`.
    func state(_ name: String) -> String { "whereabouts/\(house)/\(name)/state" }

    /// The topic of the attributes.
    func attributes(_ name: String) -> String { "whereabouts/\(house)/\(name)/attributes" }

    /// The kinds of the entities.
    private static let components = ["device_tracker", "sensor", "event"]

    /// The topics of the configurations, the tracker's first. As long as the broker retains one of them, the tracker is
    /// known; they are therefore published first and cleared last.
    func configurations(_ name: String) -> [String] {
        Self.components.map { "\(prefix)/\($0)/whereabouts_\(house)/\(name)/config" }
    }

    /// The payloads of ``configurations(_:)``.
    func payloads(_ name: String, of person: Handle) -> [[UInt8]] {
        Self.components.map { component in
            var writer = JSONWriter()
            writer.beginObject()
            let id = "whereabouts_\(house)_\(name)"
            switch component {
            case "device_tracker":
                // With a null name, the entity has the name of its device.
                writer.key("name")
                writer.null()
                writer.field("unique_id", "\(id)_tracker")
                writer.field("state_topic", state(name))
                writer.field("json_attributes_topic", attributes(name))
                writer.field("source_type", "gps")
            case "sensor":
                writer.field("name", "Battery")
                writer.field("unique_id", "\(id)_battery")
                writer.field("state_topic", attributes(name))
                writer.field("value_template", "{{ value_json.battery_level | default(none) }}")
                writer.field("device_class", "battery")
                writer.field("state_class", "measurement")
                writer.field("unit_of_measurement", "%")
                writer.field("entity_category", "diagnostic")
            default:
                writer.field("name", "Test")
                writer.field("unique_id", "\(id)_test")
                writer.field("state_topic", test(name))
                writer.array("event_types") { $0.value("test") }
                writer.field("entity_category", "diagnostic")
            }
            writer.object("device") { device in
                device.array("identifiers") { $0.value(id) }
                device.field("name", person.text)
                device.field("manufacturer", "Whereabouts")
            }
            writer.object("origin") { $0.field("name", "Whereabouts") }
            writer.endObject()
            return writer.bytes
        }
    }
}

/// The content of a tracker: the newest fix, and the person's region at that place.
struct TrackerState: Hashable {
    /// The state of Home Assistant outside all regions.
    static let away = "not_home"
    /// The state of Home Assistant at home.
    static let home = "home"

    /// `home`, ``away`` or the name of the region. A region named home in any capitals is Home Assistant's home.
    let zone: String
    /// The attributes as JSON, with Home Assistant's names. These bytes are recorded.
    let attributes: [UInt8]

    /// - Parameters:
    ///   - regions: the person's regions. If several contain the fix, the one with the nearest edge counts: the
    ///     innermost if one is inside another.
    init(_ fix: Fix, in regions: [Region]) {
        var nearest: (name: String, meters: Double)?
        for region in regions where region.area.contains(fix.coordinate) {
            let meters = -region.area.signedDistanceMeters(to: fix.coordinate)
            if nearest.map({ meters < $0.meters }) ?? true { nearest = (region.identifier, meters) }
        }
        let name = nearest?.name
        zone = name.map { $0.lowercased() == Self.home ? Self.home : $0 } ?? Self.away
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("latitude", fix.coordinate.latitude)
        writer.field("longitude", fix.coordinate.longitude)
        writer.field("gps_accuracy", fix.horizontalAccuracy)
        writer.field("battery_level", fix.batteryLevel.map { Int64(($0 * 100).rounded()) })
        writer.field("zone", zone)
        writer.field("at", milliseconds: fix.timestamp.milliseconds)
        writer.endObject()
        attributes = writer.bytes
    }
}
