/// A country as ISO 3166-1 alpha-2 names it, such as `AT`; `XK` is Kosovo.
package struct CountryCode: Hashable, Sendable, CustomStringConvertible {
    private let first, second: UInt8

    /// nil unless `text` is two capital letters A to Z.
    package init?(_ text: some StringProtocol) {
        let letters = Array(text.utf8)
        guard letters.count == 2 else { return nil }
        self.init(first: letters[0], second: letters[1])
    }

    /// The two letters as a tiling stores them, the first in the low byte; nil for anything else.
    init?(stored: UInt16) {
        self.init(first: UInt8(truncatingIfNeeded: stored), second: UInt8(truncatingIfNeeded: stored >> 8))
    }

    static let antarctica = CountryCode("AQ")

    /// Below ``most``, another for every country.
    var index: Int { Int(first - UInt8(ascii: "A")) * 26 + Int(second - UInt8(ascii: "A")) }
    static let most = 26 * 26

    /// The two letters as a tiling stores them.
    var stored: UInt16 { UInt16(first) | UInt16(second) << 8 }

    private init?(first: UInt8, second: UInt8) {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        guard letters.contains(first), letters.contains(second) else { return nil }
        self.first = first
        self.second = second
    }

    package var description: String { String(decoding: [first, second], as: UTF8.self) }
}
