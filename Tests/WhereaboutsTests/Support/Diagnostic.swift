import Whereabouts

extension CBORValue {
    /// The item in the diagnostic notation of RFC 8949 §8, as Appendix A writes it.
    var diagnostic: String {
        switch self {
        case .unsigned(let value): "\(value)"
        // −1 − value without the overflow at −2⁶⁴.
        case .negative(let value): value == .max ? "-18446744073709551616" : "-\(value + 1)"
        case .bytes(let bytes): "h'\(hex(bytes))'"
        case .text(let text):
            "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
        case .array(let items): "[" + items.map(\.diagnostic).joined(separator: ", ") + "]"
        case .map(let pairs):
            "{" + pairs.map { "\($0.key.diagnostic): \($0.value.diagnostic)" }.joined(separator: ", ") + "}"
        case .tagged(let tag, let item): "\(tag)(\(item.diagnostic))"
        case .simple(20): "false"
        case .simple(21): "true"
        case .simple(22): "null"
        case .simple(23): "undefined"
        case .simple(let value): "simple(\(value))"
        case .float(let value):
            value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
        }
    }
}
