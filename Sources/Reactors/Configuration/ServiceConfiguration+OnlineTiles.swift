import JSON
package import Posting

extension ServiceConfiguration {
    /// A server of map pictures.
    package struct OnlineTiles: Sendable {
        /// The address of a picture, with `{z}`, `{x}` and `{y}` once each in its path or query.
        package let address: String
        /// The origin of the address.
        package let origin: Origin
        /// Whose map it is, 1 to 200 characters.
        package let attribution: String
        /// The greatest zoom that the server has.
        package let maxZoom: Int64
    }

    private static let longestAddress = 500
    private static let longestAttribution = 200
    private static let addressRule =
        "an https address with {z}, {x} and {y} in its path, for example \"https://tile.example.org/{z}/{x}/{y}.png\""

    /// The members of `onlineTiles`: `address` and `attribution` are required.
    static func onlineTiles(_ value: JSONValue) throws(ReadError) -> OnlineTiles {
        guard let members = value.members else { throw .badValue("onlineTiles", "an object") }
        var (address, attribution): (String?, String?)
        var maxZoom: Int64 = 19
        for (key, value) in members {
            switch key {
            case "address": address = try text(value, key)
            case "attribution":
                let given = try text(value, key)
                guard given.unicodeScalars.count <= longestAttribution else {
                    throw .badValue(key, "a text of at most \(longestAttribution) characters")
                }
                attribution = given
            case "maxZoom":
                guard let zoom = value.int, (1...22).contains(zoom) else {
                    throw .badValue(key, "a number from 1 to 22")
                }
                maxZoom = zoom
            default: throw .unknownKey(key, in: "\"onlineTiles\"")
            }
        }
        guard let address, let origin = origin(ofTiles: address) else { throw .badValue("address", addressRule) }
        guard let attribution else {
            throw .badValue("attribution", "given: the text that the licence of the map wants shown")
        }
        return OnlineTiles(address: address, origin: origin, attribution: attribution, maxZoom: maxZoom)
    }

    /// The origin of an address; `nil` if the address is not allowed. Without a placeholder in the host, all pictures come
    /// from one origin.
    private static func origin(ofTiles address: String) -> Origin? {
        guard address.utf8.count <= longestAddress, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        for name in ["{z}", "{x}", "{y}"]
        where address.split(separator: name, omittingEmptySubsequences: false).count != 2 {
            return nil
        }
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, address.filter({ "{}".contains($0) }).count == 6,
            let origin = Origin(parts[..<3].joined(separator: "/")), origin.isEncrypted || origin.isLoopback,
            // It becomes a part of a header of the page.
            origin.host.utf8.allSatisfy({ byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-.:[]".utf8.contains(byte)
            })
        else { return nil }
        return origin
    }
}
