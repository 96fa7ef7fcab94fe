/// Why a JSON text was refused: one sentence, never its content.
package enum JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is nothing, or nothing but white space.
    case empty
    /// The text begins with U+FEFF, which RFC 8259 section 8.1 forbids to send.
    case byteOrderMark
    /// More than 32 objects and arrays are one in another.
    case tooDeep
    /// The bytes are not UTF-8 from this offset on.
    case invalidUTF8(atByte: Int)
    /// A string is not closed, holds a control character or a wrong escape, or escapes half of a surrogate pair.
    case invalidString
    /// A number breaks the grammar, is beyond the range of `Double`, or is an integer beyond −2⁶³ … 2⁶⁴ − 1.
    case invalidNumber
    /// An object has the same key twice, after escapes are resolved.
    case duplicateKey
    /// There are more bytes than can be parsed at once (512 MiB).
    case tooLarge
    /// The text breaks the grammar in another way: a bracket, comma, colon or value is missing, wrong or too much.
    case malformed

    /// One sentence for the sender, without any of the content.
    package var description: String {
        switch self {
        case .empty: "The JSON text is empty."
        case .byteOrderMark: "The JSON text begins with a byte order mark at byte 0."
        case .tooDeep: "The JSON text has more than 32 objects and arrays one in another."
        case .invalidUTF8(let offset): "The JSON text is not UTF-8 at byte \(offset)."
        case .invalidString: "A string in the JSON text is not closed or holds what is not allowed in one."
        case .invalidNumber: "A number in the JSON text is malformed or out of range."
        case .duplicateKey: "An object in the JSON text has the same key twice."
        case .tooLarge: "The JSON text is too large to be parsed at once."
        case .malformed: "The JSON text is malformed."
        }
    }
}
