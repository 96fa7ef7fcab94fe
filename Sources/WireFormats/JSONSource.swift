import JSON

/// A parsed JSON value with its bytes, so that members without a field can be kept verbatim.
///
/// `JSONDocument` has checked the text; here it is only traversed, without recursion.
struct JSONSource {
    let value: JSONValue
    /// The value as written, without surrounding white space.
    let text: ArraySlice<UInt8>

    init(parsing bytes: ArraySlice<UInt8>) throws(JSONError) {
        value = try bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) in try JSONDocument.parse(buffer).root }
        }.get()
        var walk = JSONWalk(bytes)
        text = bytes[walk.value()]
    }

    private init(value: JSONValue, text: ArraySlice<UInt8>) {
        (self.value, self.text) = (value, text)
    }

    /// One member of an object.
    struct Member {
        let key: String
        let source: JSONSource
        /// Key and value as written, with the bytes between them.
        let text: ArraySlice<UInt8>
        var value: JSONValue { source.value }
    }

    /// The members in their order; `nil` if the value is not an object.
    var members: [Member]? {
        guard let members = value.members else { return nil }
        var walk = JSONWalk(text)
        return members.map { key, value in
            walk.nextItem()
            let keyPlace = walk.value()
            walk.nextItem()
            let place = walk.value()
            return Member(
                key: key, source: JSONSource(value: value, text: text[place]),
                text: text[keyPlace.lowerBound..<place.upperBound])
        }
    }

    /// The elements in their order; `nil` if the value is not an array.
    var elements: [JSONSource]? {
        guard let elements = value.array else { return nil }
        var walk = JSONWalk(text)
        return elements.map { element in
            walk.nextItem()
            return JSONSource(value: element, text: text[walk.value()])
        }
    }
}

/// A traversal of well-formed JSON.
private struct JSONWalk {
    private let bytes: ArraySlice<UInt8>
    private var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    /// Skips the one bracket, comma or colon before an item.
    mutating func nextItem() {
        passWhiteSpace()
        index += 1
    }

    /// Skips one value and returns its range.
    mutating func value() -> Range<Int> {
        passWhiteSpace()
        let start = index
        var depth = 0
        repeat {
            switch bytes[index] {
            case UInt8(ascii: "\""): passString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                index += 1
            default:
                if depth > 0 { index += 1 } else { passScalar() }
            }
        } while depth > 0
        return start..<index
    }

    private mutating func passString() {
        index += 1
        while bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
        index += 1
    }

    private mutating func passScalar() {
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D: return
            default: index += 1
            }
        }
    }

    private mutating func passWhiteSpace() {
        while DecimalText.isWhiteSpace(bytes[index]) { index += 1 }
    }
}
