/// One part of an `Accept-Language` header (RFC 9110, section 12.5.4), such as `de-AT;q=0.8`.
struct LanguageRange {
    /// Longer lists are no person's.
    private static let rangesMax = 32

    private let tag: String
    /// How much it is liked, 0 to 1; 0 is not at all.
    private let quality: Double

    /// nil unless it is a tag with no weight or one of 0 to 1.
    private init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ";").map { $0.trimmingSpaces }
        guard let tag = parts.first, !tag.isEmpty, tag != "*" else { return nil }
        self.tag = String(tag)
        guard parts.count > 1 else {
            quality = 1
            return
        }
        guard parts.count == 2, parts[1].hasPrefix("q="), let value = Double(parts[1].dropFirst(2)),
            (0...1).contains(value)
        else { return nil }
        quality = value
    }

    /// The tags of a header that are wanted at all, the most liked first; of equals the first. What is no range is
    /// passed over.
    static func preferred(_ header: String) -> [String] {
        header.split(separator: ",").prefix(rangesMax).compactMap { LanguageRange($0) }.enumerated()
            .filter { $0.element.quality > 0 }
            .sorted { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }
            .map(\.element.tag)
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
