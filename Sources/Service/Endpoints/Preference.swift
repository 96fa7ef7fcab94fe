/// One part of a header that lists what is wanted (RFC 9110, section 12.4.2), such as `de-AT;q=0.8`.
struct Preference {
    /// Longer lists are no client's.
    private static let partsMax = 32

    let name: String
    /// How much it is liked, 0 to 1; 0 is not at all.
    let quality: Double

    /// nil unless it is a name with no weight or one of 0 to 1.
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

    /// The parts of a header in their order; what is none is passed over.
    static func list(_ header: String) -> [Preference] {
        header.split(separator: ",").prefix(partsMax).compactMap { Preference($0) }
    }

    /// The names that are wanted at all, `*` not among them, the most liked first; of equals the first.
    static func preferred(_ header: String) -> [String] {
        list(header).enumerated()
            .filter { $0.element.quality > 0 && $0.element.name != "*" }
            .sorted { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }
            .map(\.element.name)
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: SubSequence {
        let start = firstIndex { $0 != " " } ?? endIndex
        let rest = self[start...]
        let end = rest.lastIndex { $0 != " " }.map(rest.index(after:)) ?? start
        return rest[start..<end]
    }
}
