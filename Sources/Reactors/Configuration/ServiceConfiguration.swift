import Answers
package import Gazetteer
import Glibc
package import JSON
import Log
package import Posting
package import Whereabouts

/// The settings in `config.json`. Every key is listed here. An unknown key is refused by name, and secrets are given as
/// paths.
package struct ServiceConfiguration: Sendable {
    /// Apps whose phones the service wakes, with their APNs server and key.
    package struct Push: Sendable {
        /// The APNs server.
        package var host: String
        /// The port of the server; 443, or 2197 for APNs through a firewall.
        package var port: Int64
        /// A PEM file of certificates to trust instead of the system's, for a stand-in of APNs.
        package var caFile: String?
        /// Apple's id of the team, ten characters.
        package var teamID: String
        /// Apple's id of the key, ten characters.
        package var keyID: String
        /// The path of the `.p8` file.
        package var keyFile: String
        /// The bundle ids of the apps.
        package var bundleIDs: [String]
        /// Apple's environment; each device token belongs to one.
        package var environment: PushEnvironment

        /// - Parameter host: `nil` for Apple's host of the environment.
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
    /// The address of the service for apps, used only in the set-up lines that `device add` prints.
    package var publicURL: String?
    /// The country whose view of contested borders is shown; `nil` shows who governs.
    package var worldview: CountryCode?
    /// One for each team, key, environment and server; empty if no phones are woken.
    package var push: [Push] = []
    /// The origins of web pages whose scripts may read answers in a browser, for example `https://app.example`.
    package var allowedOrigins: Set<String> = []
    /// The pass phrase files of devices whose OwnTracks app encrypts its messages.
    package var ownTracksKeys: [Handle: String] = [:]
    /// The broker to which OwnTracks apps publish in MQTT mode; `nil` without one.
    package var mqtt: Broker?

    /// Whether the people and tracks here are made up, which the page then says.
    package var isDemo = false

    /// The targets to which webhooks may post; `nil` turns webhooks off.
    package var webhooks: Webhooks?

    /// The relay that takes mails of notices; `nil` turns them off.
    package var mail: Mail?

    /// The machines that cosign the checkpoints of persons' logs; empty if none is asked.
    package var witnesses: [Witness] = []

    /// The server of map pictures that readers of the page may choose; `nil` for none.
    package var onlineTiles: OnlineTiles?

    /// Where events are shipped to as they come; `nil` for nowhere.
    package var shipping: Shipping?

    /// The database that has the log; `nil` if the log is a file of the data directory.
    package var database: Database?

    /// The part that the process has in a house with shards; `nil` in a house with one log.
    package var sharding: Sharding?

    /// The defaults.
    package init() {}

    /// The allowed targets of webhooks.
    package struct Webhooks: Sendable {
        /// The origins to which webhooks may post.
        package var targets: [Origin]
        /// Whether a target's name may resolve to an address of a private network.
        package var allowsPrivateAddresses = false
        /// A PEM file of certificates to trust instead of the system's.
        package var caFile: String?

        /// Allows the targets, without addresses of private networks.
        package init(targets: [Origin]) { self.targets = targets }
    }

    /// An MQTT broker to which the service connects as a client.
    package struct Broker: Sendable {
        /// The broker's host name or address.
        package var host: String
        /// The broker's port.
        package var port: Int64 = 8883
        /// The user name for the broker; `nil` connects without.
        package var user: String?
        /// The path of the file with the password.
        package var passwordFile: String?
        /// Whether to use TLS.
        package var isEncrypted = true
        /// A PEM file of certificates to trust instead of the system's.
        package var caFile: String?
        /// Home Assistant's discovery prefix, under which persons may have trackers; `nil` allows none.
        package var discoveryPrefix: String?

        /// A broker at the standard port for TLS.
        package init(host: String) { self.host = host }
    }

    /// Why `config.json` cannot be used.
    package enum ReadError: Error, Sendable, CustomStringConvertible {
        /// The file exists but cannot be read.
        case unreadable(String)
        /// The file is not a JSON object; the text says why.
        case notJSON(String)
        /// A key that no setting has, and the object that it is in.
        case unknownKey(String, in: String)
        /// A key whose value is not allowed, and the rule for it.
        case badValue(String, String)

        /// One sentence that names the key and the rule.
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

    /// Reads the configuration of a data directory; the defaults if the file does not exist.
    package static func read(_ file: String) throws(ReadError) -> ServiceConfiguration {
        guard access(file, F_OK) == 0 else { return ServiceConfiguration() }
        guard let bytes = DataDirectory.read(file, atMost: 1 << 20) else { throw .unreadable(file) }
        return try parse(bytes)
    }

    /// Reads a configuration. Every value is checked, but no file that it names is opened.
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
                    throw .badValue(key, "a country's two letters in ISO 3166-1, for example \"IN\"")
                }
                configuration.worldview = country
            case "demo":
                guard let isDemo = value.bool else { throw .badValue(key, "true or false") }
                configuration.isDemo = isDemo
            case "push": configuration.push = value.isNull ? [] : try pushes(value)
            case "allowedOrigins": configuration.allowedOrigins = value.isNull ? [] : try origins(value, key)
            case "mqtt": configuration.mqtt = value.isNull ? nil : try broker(value)
            case "webhooks": configuration.webhooks = value.isNull ? nil : try webhooks(value)
            case "mail": configuration.mail = value.isNull ? nil : try mail(value)
            case "witnesses": configuration.witnesses = value.isNull ? [] : try witnesses(value)
            case "onlineTiles": configuration.onlineTiles = value.isNull ? nil : try onlineTiles(value)
            case "shipping": configuration.shipping = value.isNull ? nil : try shipping(value)
            case "log": configuration.database = value.isNull ? nil : try database(value)
            case "shards": configuration.sharding = value.isNull ? nil : try shards(value, configuration.sharding)
            case "shard": configuration.sharding = value.isNull ? nil : try shard(value, configuration.sharding)
            case "ownTracksKeys": configuration.ownTracksKeys = value.isNull ? [:] : try files(value, key)
            default: throw .unknownKey(key, in: "the top level")
            }
        }
        try checkSharding(configuration)
        return configuration
    }

    /// The targets of webhooks, at least one.
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

    /// An origin with https, or with http on this machine.
    private static func target(_ text: String) throws(ReadError) -> Origin {
        guard let origin = Origin(text) else {
            throw .badValue("targets", "a list of origins, for example \"https://example.org\"")
        }
        guard origin.isEncrypted || origin.isLoopback else {
            throw .badValue("targets", "origins with https; http is allowed only for \"http://localhost:PORT\"")
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
            case "homeAssistant":
                let prefix = try text(value, key)
                guard prefix.utf8.count <= 64, prefix.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                    !prefix.contains(where: { "+#$".contains($0) }), !prefix.hasPrefix("/"), !prefix.hasSuffix("/")
                else { throw .badValue(key, "Home Assistant's discovery prefix, usually \"homeassistant\"") }
                broker.discoveryPrefix = prefix
            default: throw .unknownKey(key, in: "\"mqtt\"")
            }
        }
        guard !broker.host.isEmpty else { throw .badValue("host", "the broker's host name or address") }
        return broker
    }

    private static func origins(_ value: JSONValue, _ key: String) throws(ReadError) -> Set<String> {
        guard let items = value.array, items.allSatisfy({ $0.string.map(CrossOrigin.isOrigin) ?? false }) else {
            throw .badValue(
                key, "a list of origins, for example \"https://app.example\", in lower case and without a path")
        }
        return Set(items.compactMap(\.string))
    }

    static func port(_ value: JSONValue) throws(ReadError) -> Int64 {
        guard let port = value.int, (1...65_535).contains(port) else {
            throw .badValue("port", "a number from 1 to 65535")
        }
        return port
    }

    /// An object whose keys are devices and whose values are paths.
    private static func files(_ value: JSONValue, _ key: String) throws(ReadError) -> [Handle: String] {
        guard let members = value.members else { throw .badValue(key, "an object of devices and files") }
        var files: [Handle: String] = [:]
        for (name, path) in members {
            guard let device = Handle(name) else { throw .badValue(key, "an object whose keys are names of devices") }
            files[device] = try text(path, key)
        }
        return files
    }

    /// One object, or a list with one object for each environment of an app.
    private static func pushes(_ value: JSONValue) throws(ReadError) -> [Push] {
        var pushes: [Push] = []
        for item in value.array.map(Array.init) ?? [value] {
            let push = try push(item)
            for other in pushes {
                for bundleID in push.bundleIDs
                where other.environment == push.environment && other.bundleIDs.contains(bundleID) {
                    throw .badValue("bundleIDs", "free of \(bundleID) in all but one part of \"push\"")
                }
                // APNs counts renewals by team and key: two files would be two signers that do not know of each other.
                if (other.teamID, other.keyID) == (push.teamID, push.keyID), other.keyFile != push.keyFile {
                    throw .badValue("keyFile", "the same wherever \"keyID\" is \(push.keyID)")
                }
            }
            pushes.append(push)
        }
        return pushes
    }

    /// One object of `push`. Team, key and at least one bundle id are required.
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

    /// A text that is not empty.
    package static func text(_ value: JSONValue, _ key: String) throws(ReadError) -> String {
        guard let text = value.string, !text.isEmpty else { throw .badValue(key, "a text that is not empty") }
        return text
    }
}
