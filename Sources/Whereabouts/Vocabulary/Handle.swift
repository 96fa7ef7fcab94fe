/// The name of a person or device: `[a-z0-9][a-z0-9._-]{0,62}`, for example `anna` or `anna.phone`.
package struct Handle: Hashable, Sendable, Comparable {
    /// The handle as it is written.
    package let text: String

    /// `nil` unless `text` has this form. Upper case is not folded, so that a name has one spelling.
    package init?(_ text: some StringProtocol) {
        // Other modules pass slices; a generic loop over their bytes would cost ten times the rest.
        let text = String(text)
        guard (1...63).contains(text.utf8.count) else { return nil }
        var isFirst = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): isFirst = false
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): if isFirst { return nil }
            default: return nil
            }
        }
        self.text = text
    }

    package static func < (a: Handle, b: Handle) -> Bool { a.text < b.text }
}
