package import Gazetteer
import Glibc
import JSON
package import Posting
package import Whereabouts

/// What `config.json` says. Every key is listed here; an unknown one is refused by name, secrets are given by path.
package struct ServiceConfiguration: Sendable {
    /// Apps whose phones are woken, and the APNs server and key for them.
    package struct Push: Sendable {
        package var host: String
        package var port: Int64
        /// PEM file of certificates to trust instead of the system's; for a stand-in.
        package var caFile: String?
        package var teamID: String
        package var keyID: String
        /// The `.p8` file.
        package var keyFile: String
        package var bundleIDs: [String]
        package var environment: PushEnvironment

        /// - Parameter host: nil for Apple's host of the environment.
        package init(
            host: String? = nil, port: Int64 = 443, caFile: String? = nil, teamID: String, keyID: String,
            keyFile: String, bundleIDs: [String], environment: PushEnvironment = .production
        ) {
            self.host = host ?? environment.appleHost
            (self.port, self.caFile, self.teamID, self.keyID) = (port, caFile, teamID, keyID)
            (self.keyFile, self.bundleIDs, self.environment) = (keyFile, bundleIDs, environment)
        }
    }

    /// Where to listen: `HOST:PORT`.
    package var listen = "127.0.0.1:8080"
    /// How apps reach the service from outside; only for the set-up lines that `device add` prints.
    package var publicURL: String?
    /// The country by whose view contested land is shown; by who governs it if nil.
    package var worldview: CountryCode?
    /// One for each team, key, environment and server; none when nobody is to be woken.
    package var push: [Push] = []
    /// The pages of other origins whose scripts browsers let read answers, as `https://app.example`.
    package var allowedOrigins: Set<String> = []
    /// For a device whose OwnTracks app encrypts what it sends, the file that holds the app's pass phrase.
    package var ownTracksKeys: [Handle: String] = [:]
    /// Where OwnTracks' apps publish in mode MQTT; `nil` when nowhere.
    package var mqtt: Broker?

    /// Where webhooks may post to; `nil` when nowhere.
    package var webhooks: Webhooks?

    package init() {}

    /// Whom persons may have told of themselves, and how far a target may lie in.
    package struct Webhooks: Sendable {
        package var targets: [Origin]
        /// Whether a target may stand for an address of a private network.
        package var allowsPrivateAddresses = false
        /// PEM file of certificates to trust instead of the system's.
        package var caFile: String?

        package init(targets: [Origin]) { self.targets = targets }
    }

    /// An MQTT broker that the service is a client of.
    package struct Broker: Sendable {
        package var host: String
        package var port: Int64 = 8883
        package var user: String?
        package var passwordFile: String?
        /// Whether TLS is spoken.
        package var isEncrypted = true
        /// PEM file of certificates to trust instead of the system's.
        package var caFile: String?

        package init(host: String) { self.host = host }
    }

    package enum ReadError: Error, Sendable, CustomStringConvertible {
        case unreadable(String)
        case notJSON(String)
        case unknownKey(String, in: String)
        case badValue(String, String)

        package var description: String {
            switch self {
            case .unreadable(let file): "\(file) cannot be read."
            case .notJSON(let why): "config.json is not JSON: \(why)"
            case .unknownKey(let key, let place):
                "config.json has a key \"\(key)\" in \(place) that does not exist; see the README."
            case .badValue(let key, let wanted): "config.json: \"\(key)\" must be \(wanted)."
            }
        }
    }

    /// The configuration of a data directory; the defaults when there is no file.
    package static func read(_ file: String) throws(ReadError) -> ServiceConfiguration {
        guard access(file, F_OK) == 0 else { return ServiceConfiguration() }
        guard let bytes = DataDirectory.read(file, atMost: 1 << 20) else { throw .unreadable(file) }
        return try parse(bytes)
    }

    package static func parse(_ bytes: [UInt8]) throws(ReadError) -> ServiceConfiguration {
        let document: JSONDocument
        do throws(JSONError) { document = try JSONDocument.parse(bytes) } catch { throw .notJSON("\(error)") }
        guard let members = document.root.members else { throw .notJSON("an object is expected.") }
        var configuration = ServiceConfiguration()
        for (key, value) in members {
            switch key {
            case "listen": configuration.listen = try text(value, key)
            case "publicURL": configuration.publicURL = value.isNull ? nil : try text(value, key)
            case "worldview":
                guard let country = CountryCode(try text(value, key)) else {
                    throw .badValue(key, "a country's two letters in ISO 3166-1, such as \"IN\"")
                }
                configuration.worldview = country
            case "push": configuration.push = value.isNull ? [] : try pushes(value)
            case "allowedOrigins": configuration.allowedOrigins = value.isNull ? [] : try origins(value, key)
            case "mqtt": configuration.mqtt = value.isNull ? nil : try broker(value)
            case "webhooks": configuration.webhooks = value.isNull ? nil : try webhooks(value)
            case "ownTracksKeys": configuration.ownTracksKeys = value.isNull ? [:] : try files(value, key)
            default: throw .unknownKey(key, in: "the top level")
            }
        }
        return configuration
    }

    private static func webhooks(_ value: JSONValue) throws(ReadError) -> Webhooks {
        guard let members = value.members else { throw .badValue("webhooks", "an object") }
        var webhooks = Webhooks(targets: [])
        for (key, value) in members {
            switch key {
            case "targets":
                guard let items = value.array else { throw .badValue(key, "a list of texts") }
                for item in items { webhooks.targets.append(try target(try text(item, key))) }
            case "privateAddresses":
                guard let flag = value.bool else { throw .badValue(key, "true or false") }
                webhooks.allowsPrivateAddresses = flag
            case "caFile": webhooks.caFile = try text(value, key)
            default: throw .unknownKey(key, in: "\"webhooks\"")
            }
        }
        guard !webhooks.targets.isEmpty else { throw .badValue("targets", "a list with at least one target") }
        return webhooks
    }

    private static func target(_ text: String) throws(ReadError) -> Origin {
        guard let origin = Origin(text) else {
            throw .badValue("targets", "a list of origins such as \"https://example.org\"")
        }
        guard origin.isEncrypted || origin.isLoopback else {
            throw .badValue("targets", "origins of https; http is for \"http://localhost:PORT\" alone")
        }
        return origin
    }

    private static func broker(_ value: JSONValue) throws(ReadError) -> Broker {
        guard let members = value.members else { throw .badValue("mqtt", "an object") }
        var broker = Broker(host: "")
        for (key, value) in members {
            switch key {
            case "host": broker.host = try text(value, key)
            case "port": broker.port = try port(value)
            case "user": broker.user = try text(value, key)
            case "passwordFile": broker.passwordFile = try text(value, key)
            case "caFile": broker.caFile = try text(value, key)
            case "tls":
                guard let flag = value.bool else { throw .badValue(key, "true or false") }
                broker.isEncrypted = flag
            default: throw .unknownKey(key, in: "\"mqtt\"")
            }
        }
        guard !broker.host.isEmpty else { throw .badValue("host", "given for a broker to be found") }
        return broker
    }

    private static func origins(_ value: JSONValue, _ key: String) throws(ReadError) -> Set<String> {
        guard let items = value.array, items.allSatisfy({ $0.string.map(CrossOrigin.isOrigin) ?? false }) else {
            throw .badValue(key, "a list of origins such as \"https://app.example\", in lower case and without a path")
        }
        return Set(items.compactMap(\.string))
    }

    private static func port(_ value: JSONValue) throws(ReadError) -> Int64 {
        guard let port = value.int, (1...65_535).contains(port) else {
            throw .badValue("port", "a number from 1 to 65535")
        }
        return port
    }

    /// An object of devices and paths.
    private static func files(_ value: JSONValue, _ key: String) throws(ReadError) -> [Handle: String] {
        guard let members = value.members else { throw .badValue(key, "an object of devices and files") }
        var files: [Handle: String] = [:]
        for (name, path) in members {
            guard let device = Handle(name) else { throw .badValue(key, "an object whose keys are names of devices") }
            files[device] = try text(path, key)
        }
        return files
    }

    /// One object, or a list of them. An app stands in one of them for each environment.
    private static func pushes(_ value: JSONValue) throws(ReadError) -> [Push] {
        var pushes: [Push] = []
        for item in value.array.map(Array.init) ?? [value] {
            let push = try push(item)
            for other in pushes {
                for bundleID in push.bundleIDs
                where other.environment == push.environment && other.bundleIDs.contains(bundleID) {
                    throw .badValue("bundleIDs", "free of \(bundleID) in all but one part of \"push\"")
                }
                // APNs counts renewals of a team's key: two files would be two signers that know nothing of each other.
                if (other.teamID, other.keyID) == (push.teamID, push.keyID), other.keyFile != push.keyFile {
                    throw .badValue("keyFile", "the same wherever \"keyID\" is \(push.keyID)")
                }
            }
            pushes.append(push)
        }
        return pushes
    }

    private static func push(_ value: JSONValue) throws(ReadError) -> Push {
        guard let members = value.members else { throw .badValue("push", "an object or a list of objects") }
        var host: String?
        var push = Push(teamID: "", keyID: "", keyFile: "", bundleIDs: [])
        for (key, value) in members {
            switch key {
            case "host": host = try text(value, key)
            case "port": push.port = try port(value)
            case "caFile": push.caFile = value.isNull ? nil : try text(value, key)
            case "teamID": push.teamID = try text(value, key)
            case "keyID": push.keyID = try text(value, key)
            case "keyFile": push.keyFile = try text(value, key)
            case "environment":
                switch try text(value, key) {
                case PushEnvironment.production.word: push.environment = .production
                case PushEnvironment.development.word: push.environment = .development
                default: throw .badValue(key, "\"production\" or \"development\"")
                }
            case "bundleIDs":
                guard let items = value.array else { throw .badValue(key, "a list of texts") }
                for item in items { push.bundleIDs.append(try text(item, key)) }
            default: throw .unknownKey(key, in: "\"push\"")
            }
        }
        push.host = host ?? push.environment.appleHost
        for (key, value) in [("teamID", push.teamID), ("keyID", push.keyID), ("keyFile", push.keyFile)]
        where value.isEmpty {
            throw .badValue(key, "given for pushes to be sent")
        }
        guard !push.bundleIDs.isEmpty else { throw .badValue("bundleIDs", "a list with at least one bundle id") }
        return push
    }

    private static func text(_ value: JSONValue, _ key: String) throws(ReadError) -> String {
        guard let text = value.string, !text.isEmpty else { throw .badValue(key, "a text") }
        return text
    }
}
