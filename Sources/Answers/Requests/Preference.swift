/// One part of a header that lists preferences (RFC 9110, section 12.4.2), for example `de-AT;q=0.8`.
package struct Preference {
    /// The parts of a header that are read. No real client sends more.
    private static let partsMax = 32

    /// The part before the first semicolon, for example `de-AT` or `gzip`. Its case is the header's.
    package let name: String
    /// The weight, from 0 (not acceptable) to 1.
    package let quality: Double

    /// `nil` unless the text is a name with no weight, or with one from 0 to 1.
    private init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ";").map { $0.trimmingSpaces }
        guard let name = parts.first, !name.isEmpty else { return nil }
        self.name = String(name)
        guard let weight = parts.dropFirst().first(where: { $0.hasPrefix("q=") }) else {
            quality = 1
            return
        }
        guard let value = Double(weight.dropFirst(2)), (0...1).contains(value) else { return nil }
        quality = value
    }

    /// The parts of a header in their order; malformed ones are skipped.
    package static func list(_ header: String) -> [Preference] {
        header.split(separator: ",").prefix(partsMax).compactMap { Preference($0) }
    }

    /// The acceptable names, without `*`, by descending weight; equal ones in the order of the header.
    package static func preferred(_ header: String) -> [String] {
        list(header).enumerated()
            .filter { $0.element.quality > 0 && $0.element.name != "*" }
            .sorted { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }
            .map(\.element.name)
    }
}

extension StringProtocol {
    /// The text without spaces at both ends.
    fileprivate var trimmingSpaces: SubSequence {
        let start = firstIndex { $0 != " " } ?? endIndex
        let rest = self[start...]
        let end = rest.lastIndex { $0 != " " }.map(rest.index(after:)) ?? start
        return rest[start..<end]
    }
}
