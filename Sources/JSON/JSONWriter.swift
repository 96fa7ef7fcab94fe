/// Writes one JSON text (RFC 8259) without white space, byte after byte.
///
/// A misplaced call (a value without its key, an end without its beginning) is a bug and stops the process. Up to 63
/// containers may be one in another.
package struct JSONWriter: Sendable {
    /// What has been written so far; a complete text when every container has been ended.
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
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        appendEscaped(key)
        bytes.append(UInt8(ascii: ":"))
        hasKey = true
    }

    /// Writes a string. Quote, backslash and control characters are escaped, all else stands as UTF-8.
    package mutating func value(_ string: String) {
        beforeValue()
        appendEscaped(string)
    }

    /// Writes an integer in full, of any size; readers that keep all numbers as `Double` round beyond ±2⁵³.
    package mutating func value(_ integer: Int64) {
        beforeValue()
        appendDigits(of: integer.magnitude, negative: integer < 0)
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
        // Whole numbers up to 2⁵³ are exact and faster as integers.
        if number.magnitude < 0x1p53, number == number.rounded(.towardZero) && !(number == 0 && number.sign == .minus) {
            appendDigits(of: UInt64(number.magnitude), negative: number < 0)
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
        appendDigits(of: milliseconds.magnitude / 1000, negative: milliseconds < 0)
        var rest = milliseconds.magnitude % 1000
        guard rest != 0 else { return }
        bytes.append(UInt8(ascii: "."))
        var unit: UInt64 = 100
        while rest != 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(rest / unit))
            rest %= unit
            unit /= 10
        }
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

    private mutating func appendDigits(of magnitude: UInt64, negative: Bool) {
        if negative { bytes.append(UInt8(ascii: "-")) }
        // 2⁶⁴ has 20 digits; they come out last first.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = magnitude
            var first = digits.count
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest != 0
            bytes.append(contentsOf: digits[first...])
        }
    }

    private mutating func appendEscaped(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { utf8 in
            if utf8.allSatisfy({ !Self.isEscaped($0) }) {
                bytes.append(contentsOf: utf8)
            } else {
                for byte in utf8 {
                    if Self.isEscaped(byte) { appendEscape(byte) } else { bytes.append(byte) }
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
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
