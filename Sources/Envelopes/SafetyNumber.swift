import Cryptography

/// Sixty digits that two people compare by voice or side by side, to check that the server gave each of them the identity key
/// of the other person, and not a key of its own.
///
/// They are twelve groups of five: group *i* is bytes 5*i* to 5*i* + 4 of
/// `SHA-512("whereabouts/1 safety number" ‖ lower key ‖ higher key)`, as a big-endian number, modulo 100,000. Both
/// people see the same digits, because the keys are in order. For example
/// `41803 07716 …`. To find another key with the same digits takes about 2¹⁹⁹ tries.
package enum SafetyNumber {
    /// The twelve groups of digits for two identity keys (Ed25519, 32 bytes each).
    ///
    /// - Returns: `nil` for a key of another length, or if both are the same: a person has no safety number with
    ///   themselves.
    package static func groups(of key: [UInt8], and other: [UInt8]) -> [String]? {
        guard key.count == 32, other.count == 32, key != other else { return nil }
        let (low, high) = key.lexicographicallyPrecedes(other) ? (key, other) : (other, key)
        let hash = sha512(Array("whereabouts/1 safety number".utf8) + low + high)
        return (0..<12).map { group in
            let value = hash[5 * group..<5 * group + 5].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            let digits = String(value % 100_000)
            return String(repeating: "0", count: 5 - digits.count) + digits
        }
    }
}
