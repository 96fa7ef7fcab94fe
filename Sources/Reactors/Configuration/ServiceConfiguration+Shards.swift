import JSON
package import Posting
package import Whereabouts

// In `config.json` of the directory of a house with shards:
//
//     "shards": {"addresses": {"1": "https://one.example", "2": "https://two.example"}, "keyFile": "/etc/whereabouts/shards.key"}
//
// and of shard 1:
//
//     "shard": {"number": 1, "directory": "https://where.example", "keyFile": "/etc/whereabouts/shards.key"}
//
// The file of the key is the same everywhere: 64 hexadecimal digits. Each process has its own kek.

extension ServiceConfiguration {
    /// The part of a process in a house with shards.
    package enum Sharding: Sendable, Equatable {
        /// It decides about people, devices and tokens, and passes requests on to the shards at these addresses.
        case directory(shards: [ShardNumber: Origin], SharedKey, witnessSeconds: Int64)
        /// It has the logs of some people, and follows the directory at this address.
        case shard(ShardNumber, directory: Origin, SharedKey)

        /// The shards of a directory, in the order of their numbers; none otherwise.
        package var shards: [ShardNumber] {
            if case .directory(let shards, _, _) = self { shards.keys.sorted() } else { [] }
        }
    }

    /// The secret that the processes of a house with shards share.
    package struct SharedKey: Sendable, Equatable {
        /// The path of a file with 64 hexadecimal digits.
        package let file: String
        /// A PEM file of certificates to trust instead of the system's.
        package let caFile: String?

        package init(file: String, caFile: String? = nil) { (self.file, self.caFile) = (file, caFile) }
    }

    /// How often the directory records the sizes of the shards' logs.
    private static let witnessSeconds: ClosedRange<Int64> = 1...86_400
    package static let usualWitnessSeconds: Int64 = 60

    /// Both would make the process a directory and a shard.
    private static func refuseSecond(_ other: Sharding?) throws(ReadError) {
        if other != nil { throw .badValue("shards", "left out where there is \"shard\": a process is one of the two") }
    }

    static func shards(_ value: JSONValue, _ other: Sharding?) throws(ReadError) -> Sharding {
        try refuseSecond(other)
        guard let members = value.members else { throw .badValue("shards", "an object") }
        var shards: [ShardNumber: Origin] = [:]
        var key: (file: String?, caFile: String?) = (nil, nil)
        var seconds = usualWitnessSeconds
        for (name, value) in members {
            switch name {
            case "addresses":
                guard let addresses = value.members else { throw .badValue(name, "an object of numbers and addresses") }
                for (number, address) in addresses {
                    guard let shard = Int64(number).flatMap({ ShardNumber(rawValue: $0) }),
                        "\(shard.rawValue)" == number
                    else { throw .badValue(name, "an object whose keys are numbers from 1 to 255, for example \"1\"") }
                    let origin = try origin(address, name)
                    guard !shards.values.contains(origin) else {
                        throw .badValue(name, "a different address for each shard")
                    }
                    shards[shard] = origin
                }
            case "keyFile": key.file = try text(value, name)
            case "caFile": key.caFile = value.isNull ? nil : try text(value, name)
            case "witnessSeconds":
                guard let number = value.int, witnessSeconds.contains(number) else {
                    throw .badValue(name, "a number of seconds from 1 to 86400")
                }
                seconds = number
            default: throw .unknownKey(name, in: "\"shards\"")
            }
        }
        guard !shards.isEmpty else { throw .badValue("addresses", "given in \"shards\", with at least one shard") }
        return .directory(shards: shards, try sharedKey(key, in: "shards"), witnessSeconds: seconds)
    }

    static func shard(_ value: JSONValue, _ other: Sharding?) throws(ReadError) -> Sharding {
        try refuseSecond(other)
        guard let members = value.members else { throw .badValue("shard", "an object") }
        var number: ShardNumber?
        var directory: Origin?
        var key: (file: String?, caFile: String?) = (nil, nil)
        for (name, value) in members {
            switch name {
            case "number":
                guard let given = value.int.flatMap({ ShardNumber(rawValue: $0) }) else {
                    throw .badValue(name, "a number from 1 to 255")
                }
                number = given
            case "directory": directory = try origin(value, name)
            case "keyFile": key.file = try text(value, name)
            case "caFile": key.caFile = value.isNull ? nil : try text(value, name)
            default: throw .unknownKey(name, in: "\"shard\"")
            }
        }
        guard let number else { throw .badValue("number", "given in \"shard\"") }
        guard let directory else { throw .badValue("directory", "given in \"shard\", as the address of the directory") }
        return .shard(number, directory: directory, try sharedKey(key, in: "shard"))
    }

    private static func sharedKey(
        _ given: (file: String?, caFile: String?), in place: String
    ) throws(ReadError) -> SharedKey {
        guard let file = given.file else {
            throw .badValue("keyFile", "given in \"\(place)\", as the path of a file with 64 hexadecimal digits")
        }
        return SharedKey(file: file, caFile: given.caFile)
    }

    private static func origin(_ value: JSONValue, _ key: String) throws(ReadError) -> Origin {
        let address = try text(value, key)
        guard let origin = Origin(address.last == "/" ? String(address.dropLast()) : address) else {
            throw .badValue(key, "an address without a path, for example \"https://one.example\"")
        }
        guard origin.isEncrypted || origin.isLoopback else {
            throw .badValue(key, "an address with https; http is allowed only for this machine")
        }
        return origin
    }

    /// Refuses what a house with shards cannot do.
    static func checkSharding(_ configuration: ServiceConfiguration) throws(ReadError) {
        guard configuration.sharding != nil else { return }
        if configuration.mqtt != nil {
            throw .badValue("mqtt", "left out in a house with shards, whose devices report over HTTP only")
        }
        if configuration.database?.writers.isEmpty == false {
            throw .badValue("writers", "left out in a house with shards, which has no readers")
        }
    }
}
