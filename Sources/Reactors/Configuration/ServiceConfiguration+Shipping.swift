import JSON

// In `config.json`, one of the two:
//
//     "shipping": {"directory": "/mnt/nas/whereabouts"}
//     "shipping": {"command": ["/usr/bin/rclone", "rcat", "remote:bucket/{name}"]}

extension ServiceConfiguration {
    /// Where the events are shipped to as they come.
    package enum Shipping: Sendable, Equatable {
        /// An existing directory, by its absolute path.
        case directory(String)
        /// The absolute path of a program, and its arguments. `{name}` in an argument stands for the name of the file that
        /// the program gets on its standard input.
        case command([String])
    }

    /// The most words of a command, and the most bytes of all.
    private static let wordsMax = 64
    private static let commandBytesMax = 8192

    /// The one target.
    static func shipping(_ value: JSONValue) throws(ReadError) -> Shipping {
        guard let members = value.members else { throw .badValue("shipping", "an object") }
        var shipping: Shipping?
        for (key, value) in members {
            guard shipping == nil else { throw .badValue("shipping", "either a \"directory\" or a \"command\"") }
            switch key {
            case "directory":
                let path = try text(value, key)
                guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                    throw .badValue(key, "an absolute path, for example \"/mnt/nas/whereabouts\"")
                }
                shipping = .directory(path)
            case "command": shipping = .command(try command(value))
            default: throw .unknownKey(key, in: "\"shipping\"")
            }
        }
        guard let shipping else { throw .badValue("shipping", "either a \"directory\" or a \"command\"") }
        return shipping
    }

    private static func command(_ value: JSONValue) throws(ReadError) -> [String] {
        let items = value.array.map(Array.init) ?? []
        let words = items.compactMap(\.string)
        guard words.count == items.count, (1...wordsMax).contains(words.count), words[0].hasPrefix("/"),
            words.dropFirst().contains(where: { $0.contains("{name}") }),
            words.allSatisfy({ !$0.utf8.contains(0) }), words.reduce(0, { $0 + $1.utf8.count }) <= commandBytesMax
        else {
            throw .badValue(
                "command",
                "a list of texts, first the absolute path of a program, one of the others with {name}, for example [\"/usr/bin/rclone\", \"rcat\", \"remote:bucket/{name}\"]"
            )
        }
        return words
    }
}
