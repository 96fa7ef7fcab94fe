internal import JSON
package import LocationPush
package import LocationSharingApp
internal import Whereabouts

/// A scenario that `whereabouts simulate` plays in real time: a service, a push stand-in and the phones between them.
///
///     {"service": "http://127.0.0.1:8080", "pushStandIn": "127.0.0.1:2197",
///      "devices": [{"device": "walker-phone", "reportingKeyFile": "walker-phone.key", "bundleID": "org.example.app",
///                   "environment": "development", "track": "evening.gpx", "at": "end"}]}
///
/// Paths are relative to the scenario's folder. The reporting key is in the scenario (`reportingKey`) or in a file
/// (`reportingKeyFile`). `at` is where on its track the phone is: `"end"` (the default) or seconds after the first
/// point. Instead of a track, `gpsd` names the address of a gpsd with a real receiver, for example `"127.0.0.1:2947"`.
/// `reports` lists the unasked reports of the phone (`visits`, `significantChanges`, `regions`, `updates`, `headings`,
/// `beacons`); without it, the phone only answers queries. `keys` names the file that `whereabouts key add` made, for a phone
/// that seals its fixes. `gazetteer`, beside the devices, names a file of places, for the cities in sealed answers. `environment` is `development` by default. An unknown key is
/// refused.
package struct Scenario: Sendable, Equatable {
    /// The most phones in one scenario; each has its own thread.
    package static let devicesMax = 64

    /// The service's address, `http://HOST:PORT`.
    package let service: String
    /// Where the stand-in's courier listens.
    package let pushStandIn: HostAndPort
    package let devices: [Device]
    /// The path of a file of places, for the cities in sealed answers; `nil` for square degrees.
    package let gazetteer: String?

    /// One phone.
    package struct Device: Sendable, Equatable {
        /// Its handle.
        package let device: String
        package let reportingKey: ReportingKey
        package let bundleID: String
        package let environment: LocationPush.PushEnvironment
        package let source: Source
        package let reports: LocationReporter.Interests
        /// The path of the owner's keys, for a phone that seals its fixes.
        package let keys: String?
    }

    /// Where a phone's fixes come from.
    package enum Source: Sendable, Equatable {
        /// The path of a file with a track, and the track point where the phone stays.
        case track(String, Standing)
        case gpsd(HostAndPort)
    }

    /// Which point of a track.
    package enum Standing: Sendable, Equatable {
        /// The last one of the file.
        case end
        /// The last one not later than this many seconds after the first.
        case after(seconds: Double)
    }

    /// Where a reporting key is.
    package enum ReportingKey: Sendable, Equatable {
        case key(String)
        case file(String)
    }

    /// Reads a scenario.
    ///
    /// - Parameter directory: the base of relative paths.
    /// - Throws: ``ScenarioError`` with the first thing wrong, in one sentence.
    package init(json: [UInt8], directory: String) throws(ScenarioError) {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument.parse(json).root
        } catch {
            throw ScenarioError(error.description)
        }
        let members = try ScenarioMembers(
            root, named: "The scenario", known: ["service", "pushStandIn", "devices", "gazetteer"])
        service = try members.text("service")
        let courier = try members.text("pushStandIn")
        guard let pushStandIn = HostAndPort(courier) else {
            throw ScenarioError("pushStandIn must be HOST:PORT, as in 127.0.0.1:2197.")
        }
        self.pushStandIn = pushStandIn
        guard let devices = members["devices"]?.array,
            (1...Self.devicesMax).contains(devices.underestimatedCount)
        else {
            throw ScenarioError("devices must be an array of 1 to \(Self.devicesMax) objects.")
        }
        var read: [Device] = []
        for device in devices {
            read.append(try Device(device, number: read.count + 1, directory: directory))
        }
        self.devices = read
        gazetteer =
            members["gazetteer"] == nil ? nil : Self.path(try members.text("gazetteer"), below: directory)
    }

    /// A path of the scenario, seen from its folder.
    fileprivate static func path(_ text: String, below directory: String) -> String {
        text.hasPrefix("/") ? text : "\(directory)/\(text)"
    }
}

extension Scenario.Device {
    fileprivate init(_ value: JSONValue, number: Int, directory: String) throws(ScenarioError) {
        let members = try ScenarioMembers(
            value, named: "Device \(number)",
            known: [
                "device", "reportingKey", "reportingKeyFile", "bundleID", "environment", "track", "at", "gpsd",
                "reports", "keys",
            ])
        func path(_ text: String) -> String { Scenario.path(text, below: directory) }

        device = try members.text("device")
        switch (members["reportingKey"], members["reportingKeyFile"]) {
        case (.some, nil): reportingKey = .key(try members.text("reportingKey"))
        case (nil, .some): reportingKey = .file(path(try members.text("reportingKeyFile")))
        default: throw ScenarioError("Device \(number) needs reportingKey or reportingKeyFile, and not both.")
        }
        bundleID = try members.text("bundleID")
        let word = members["environment"] == nil ? "development" : try members.text("environment")
        guard let environment = LocationPush.PushEnvironment(rawValue: word) else {
            throw ScenarioError("environment of device \(number) must be development or production.")
        }
        self.environment = environment
        reports = try members.reports(number) ?? []
        keys = members["keys"] == nil ? nil : path(try members.text("keys"))
        if members["gpsd"] != nil {
            guard members["track"] == nil, let address = HostAndPort(try members.text("gpsd")) else {
                throw ScenarioError("gpsd of device \(number) must be HOST:PORT, and stands in place of a track.")
            }
            source = .gpsd(address)
            return
        }
        let track = path(try members.text("track"))
        let standing: Scenario.Standing
        if let at = members["at"] {
            if at.string == "end" {
                standing = .end
            } else if let seconds = at.double, seconds >= 0 {
                standing = .after(seconds: seconds)
            } else {
                throw ScenarioError("at of device \(number) must be \"end\" or seconds after the track's first point.")
            }
        } else {
            standing = .end
        }
        source = .track(track, standing)
    }
}

/// The members of one object of a scenario, all of known names.
struct ScenarioMembers {
    private let object: JSONValue
    private let name: String

    init(_ object: JSONValue, named name: String, known: Set<String>) throws(ScenarioError) {
        guard let members = object.members else { throw ScenarioError("\(name) must be a JSON object.") }
        for (key, _) in members where !known.contains(key) {
            throw ScenarioError("\(name) has an unknown key: \(key).")
        }
        self.object = object
        self.name = name
    }

    subscript(_ key: String) -> JSONValue? { object[key] }

    /// A number within bounds; `standard` when it is left out.
    func number(_ key: String, in range: ClosedRange<Double>, or standard: Double) throws(ScenarioError) -> Double {
        guard let value = object[key] else { return standard }
        guard let number = value.double, range.contains(number) else {
            throw ScenarioError("\(name): \(key) must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// The interests that `reports` names; `nil` if it is absent.
    func reports(_ number: Int) throws(ScenarioError) -> LocationReporter.Interests? {
        guard let list = object["reports"] else { return nil }
        let known: [String: LocationReporter.Interests] = [
            "visits": .visits, "significantChanges": .significantChanges, "regions": .regions, "updates": .updates,
            "headings": .headings, "beacons": .beacons,
        ]
        let named = list.array.map { $0.map { $0.string.flatMap { known[$0] } } } ?? [nil]
        guard !named.contains(nil) else {
            throw ScenarioError(
                """
                reports of device \(number) must be a list of visits, significantChanges, regions, updates, headings and \
                beacons.
                """)
        }
        return named.reduce(into: []) { $0.formUnion($1 ?? []) }
    }

    /// The elements of an array; none when it is left out.
    func list(_ key: String) throws(ScenarioError) -> [JSONValue] {
        guard let value = object[key] else { return [] }
        guard let elements = value.array else { throw ScenarioError("\(name): \(key) must be a list.") }
        return Array(elements)
    }

    /// A pair of numbers, neither larger than so much.
    func pair(_ key: String, upTo limit: Double) throws(ScenarioError) -> (Double, Double) {
        let numbers = object[key]?.array.map { $0.map { $0.double ?? .nan } } ?? []
        guard numbers.count == 2, numbers.allSatisfy({ abs($0) <= limit }) else {
            throw ScenarioError("\(name): \(key) must be two numbers, neither above \(limit).")
        }
        return (numbers[0], numbers[1])
    }

    /// A person's handle, to which others may still be added: so long that with `suffix` it is one, too.
    func handle(_ key: String, suffix: String = "") throws(ScenarioError) -> String {
        let text = try text(key)
        guard Handle(text + suffix) != nil else {
            throw ScenarioError(
                """
                \(name): \(key) must be of lower-case letters, digits, dots, hyphens and underscores, begin with a letter or \
                digit and, with \(suffix.isEmpty ? "nothing" : suffix) added, have at most 63 of them.
                """)
        }
        return text
    }

    func text(_ key: String) throws(ScenarioError) -> String {
        guard let text = object[key]?.string, !text.isEmpty else {
            throw ScenarioError("\(name) needs \(key), a text.")
        }
        return text
    }
}

/// Why a scenario cannot be played: one sentence, with names and paths and never a place or a key.
package struct ScenarioError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
