/// Writes one JSON text (RFC 8259) without white space, byte after byte.
///
/// A misplaced call (a value without its key, an end without its beginning) is a bug and stops the process. Up to 63
/// containers may be one in another.
package struct JSONWriter: Sendable {
    /// The bytes written so far; a complete text once every container has been ended.
    package private(set) var bytes: [UInt8] = []

    /// One bit for each open container, the innermost lowest: 1 for an object.
    private var objects: UInt64 = 0
    private var depth = 0
    /// Whether the next element or key is preceded by another in its container.
    private var needsComma = false
    private var hasKey = false

    private var isInObject: Bool { depth > 0 && objects & 1 == 1 }

    /// Starts an empty text.
    ///
    /// - Parameter capacity: bytes to make room for; more is made as needed.
    package init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Begins an object; members follow, each with its key.
    package mutating func beginObject() {
        begin(UInt8(ascii: "{"), bit: 1)
    }

    /// Ends the innermost container, an object.
    package mutating func endObject() {
        precondition(isInObject && !hasKey, "There is no object to end here.")
        end(UInt8(ascii: "}"))
    }

    /// Begins an array; elements follow.
    package mutating func beginArray() {
        begin(UInt8(ascii: "["), bit: 0)
    }

    /// Ends the innermost container, an array.
    package mutating func endArray() {
        precondition(depth > 0 && !isInObject, "There is no array to end here.")
        end(UInt8(ascii: "]"))
    }

    /// Begins a member; its value must follow. That no key comes twice is the caller's care.
    package mutating func key(_ key: String) {
        precondition(isInObject && !hasKey, "A key belongs into an object, before a value.")
        appendQuoted(key, before: needsComma ? UInt8(ascii: ",") : nil, after: UInt8(ascii: ":"))
        hasKey = true
    }

    /// As ``key(_:)-(String)``, for a name in the code that needs no escape. Its bytes are not looked at.
    package mutating func key(_ name: StaticString) {
        precondition(isInObject && !hasKey, "A key belongs into an object, before a value.")
        appendPiece(
            name.utf8Start, name.utf8CodeUnitCount, before: needsComma ? UInt8(ascii: ",") : nil,
            after: UInt8(ascii: ":"))
        hasKey = true
    }

    /// Writes a string. Quote, backslash and control characters are escaped, all other characters are written as UTF-8.
    package mutating func value(_ string: String) {
        beforeValue()
        appendQuoted(string)
    }

    /// Writes an integer in full, of any size; readers that keep all numbers as `Double` round beyond ±2⁵³.
    package mutating func value(_ integer: Int64) {
        beforeValue()
        appendDecimal(integer.magnitude, places: 0, negative: integer < 0)
    }

    /// Writes an integer in full.
    package mutating func value(_ integer: Int) {
        value(Int64(integer))
    }

    /// Writes the shortest decimal that reads back as the same number, whole numbers without `.0`. The sign of a
    /// negative zero is kept (`-0.0`). Numbers of 2⁵⁴ and more, or below 0.0001, have an exponent.
    ///
    /// - Precondition: the number is finite; JSON has no NaN and no infinities.
    package mutating func value(_ number: Double) {
        precondition(number.isFinite, "JSON has no NaN and no infinities.")
        beforeValue()
        let magnitude = number.magnitude
        let shifted = (magnitude * 1e7).rounded()
        if magnitude < 0x1p53, number == number.rounded(.towardZero), !(number == 0 && number.sign == .minus) {
            appendDecimal(UInt64(magnitude), places: 0, negative: number < 0)
        } else if shifted < 1e15, shifted >= 1e3, shifted / 1e7 == magnitude {
            // Receivers' values have at most seven decimals. A decimal of no more than fifteen digits is the shortest
            // of all that read back as the same number, and its digits come out of an integer faster.
            appendDecimal(UInt64(shifted), places: 7, negative: number < 0)
        } else {
            bytes.append(contentsOf: number.description.utf8)
        }
    }

    /// Writes `true` or `false`.
    package mutating func value(_ bool: Bool) {
        beforeValue()
        bytes.append(contentsOf: bool ? "true".utf8 : "false".utf8)
    }

    /// Writes `null`.
    package mutating func null() {
        beforeValue()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a time as seconds with at most 3 decimals, exactly: 1732147200120 becomes `1732147200.12`.
    ///
    /// - Parameter milliseconds: since 1970-01-01 UTC, negative before.
    package mutating func unixSeconds(milliseconds: Int64) {
        beforeValue()
        // By integer arithmetic: a Double would be exact only as long as its shortest form is printed.
        appendDecimal(milliseconds.magnitude, places: 3, negative: milliseconds < 0)
    }

    /// Writes a value that is JSON already. That it is well-formed is the caller's care.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        beforeValue()
        bytes.append(contentsOf: json)
    }

    private mutating func begin(_ bracket: UInt8, bit: UInt64) {
        precondition(depth < 63, "At most 63 containers may be one in another.")
        beforeValue()
        bytes.append(bracket)
        objects = objects << 1 | bit
        depth += 1
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        objects >>= 1
        depth -= 1
        needsComma = true
    }

    private mutating func beforeValue() {
        precondition(hasKey == isInObject && (depth > 0 || bytes.isEmpty), "A value has no place here.")
        if needsComma && !hasKey { bytes.append(UInt8(ascii: ",")) }
        hasKey = false
        needsComma = true
    }

    /// The numbers from 0 to 99 with two digits each.
    private static let pairs: StaticString = """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    /// Appends `units` of 10^-`places` without zeros at the end of a fraction.
    private mutating func appendDecimal(_ units: UInt64, places: Int, negative: Bool) {
        // 2⁶⁴ has 20 digits, with a sign and a point; they come out last first.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
            var (rest, places) = (units, places)
            while places > 0, rest % 10 == 0 { (rest, places) = (rest / 10, places - 1) }
            let pairs = Self.pairs.utf8Start
            var first = text.count
            // A fraction has a digit before its point.
            let fewest = places + 1
            while rest >= 10 || text.count - first < fewest {
                let pair = Int(rest % 100) * 2
                rest /= 100
                text[first - 1] = pairs[pair + 1]
                text[first - 2] = pairs[pair]
                first -= 2
            }
            if rest > 0 {
                first -= 1
                text[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
            } else if text.count - first > fewest, text[first] == UInt8(ascii: "0") {
                first += 1
            }
            if places > 0 {
                // The digits before the point make room for it.
                first -= 1
                let point = text.count - places - 1
                for index in first..<point { text[index] = text[index + 1] }
                text[point] = UInt8(ascii: ".")
            }
            if negative {
                first -= 1
                text[first] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[first...]))
        }
    }

    /// A text is put together beside and appended in one piece when it is no longer than this and needs no escape.
    private static let shortText = 60

    private mutating func appendQuoted(_ string: String, before: UInt8? = nil, after: UInt8? = nil) {
        // Without a copy of the string, which costs as much as a short one.
        let done: Void? = string.utf8.withContiguousStorageIfAvailable {
            appendQuoted($0, before: before, after: after)
        }
        guard done == nil else { return }
        var string = string
        string.withUTF8 { appendQuoted($0, before: before, after: after) }
    }

    private mutating func appendQuoted(_ utf8: UnsafeBufferPointer<UInt8>, before: UInt8?, after: UInt8?) {
        if utf8.count <= Self.shortText, let start = utf8.baseAddress, !Self.needsEscape(start, utf8.count) {
            return appendPiece(start, utf8.count, before: before, after: after)
        }
        if let before { bytes.append(before) }
        bytes.append(UInt8(ascii: "\""))
        if utf8.allSatisfy({ !Self.isEscaped($0) }) {
            bytes.append(contentsOf: utf8)
        } else {
            for byte in utf8 {
                if Self.isEscaped(byte) { appendEscape(byte) } else { bytes.append(byte) }
            }
        }
        bytes.append(UInt8(ascii: "\""))
        if let after { bytes.append(after) }
    }

    /// Appends a text of at most ``shortText`` bytes that needs no escape.
    private mutating func appendPiece(_ start: UnsafeRawPointer, _ count: Int, before: UInt8?, after: UInt8?) {
        precondition(count <= Self.shortText, "The text is too long to be put together beside.")
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.shortText + 4) { piece in
            var end = 0
            func put(_ byte: UInt8) {
                piece[end] = byte
                end += 1
            }
            if let before { put(before) }
            put(UInt8(ascii: "\""))
            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(piece)[end...])
                .copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
            end += count
            put(UInt8(ascii: "\""))
            if let after { put(after) }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: piece[..<end]))
        }
    }

    /// Whether one of the bytes is to be escaped. Looks at eight bytes at once.
    private static func needsEscape(_ start: UnsafeRawPointer, _ count: Int) -> Bool {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        var index = 0
        while index + 8 <= count {
            let word = start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
            let slashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            // The top bit of a byte is set if the byte is below 0x20, or 0 where it was a quote or a backslash. After such a byte
            // a borrow can set one more.
            let found = (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
            if found & tops != 0 { return true }
            index += 8
        }
        while index < count {
            if isEscaped(start.load(fromByteOffset: index, as: UInt8.self)) { return true }
            index += 1
        }
        return false
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(_ byte: UInt8) {
        let escape: StaticString =
            switch byte {
            case UInt8(ascii: "\""): "\\\""
            case UInt8(ascii: "\\"): "\\\\"
            case 0x08: "\\b"
            case 0x09: "\\t"
            case 0x0A: "\\n"
            case 0x0C: "\\f"
            case 0x0D: "\\r"
            default: byte < 0x10 ? "\\u000" : "\\u001"
            }
        escape.withUTF8Buffer { bytes.append(contentsOf: $0) }
        if escape.utf8CodeUnitCount == 5 {
            let digit = byte & 0x0F
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
