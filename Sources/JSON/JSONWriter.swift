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

    /// As ``key(_:)-(String)``, for a name in the code, which needs no escape: its bytes are copied and not looked at.
    package mutating func key(_ name: StaticString) {
        precondition(isInObject && !hasKey, "A key belongs into an object, before a value.")
        appendPiece(
            UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount),
            before: needsComma ? UInt8(ascii: ",") : nil, after: UInt8(ascii: ":"))
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

    /// Appends `units` of 10^-`places` without zeros at the end of a fraction.
    private mutating func appendDecimal(_ units: UInt64, places: Int, negative: Bool) {
        // 2⁶⁴ has 20 digits; they come out last first.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 22) { text in
            var first = text.count
            func put(_ byte: UInt8) {
                first -= 1
                text[first] = byte
            }
            var (rest, places) = (units, places)
            while places > 0, rest % 10 == 0 { (rest, places) = (rest / 10, places - 1) }
            if places > 0 {
                for _ in 0..<places {
                    put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                    rest /= 10
                }
                put(UInt8(ascii: "."))
            }
            repeat {
                put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            } while rest != 0
            if negative { put(UInt8(ascii: "-")) }
            // A slice would be appended byte after byte.
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[first...]))
        }
    }

    /// A text is put together beside and appended in one piece when it is no longer than this and needs no escape.
    private static let shortText = 60

    private mutating func appendQuoted(_ string: String, before: UInt8? = nil, after: UInt8? = nil) {
        var string = string
        string.withUTF8 { utf8 in
            let isPlain = utf8.allSatisfy { !Self.isEscaped($0) }
            if isPlain, utf8.count <= Self.shortText { return appendPiece(utf8, before: before, after: after) }
            if let before { bytes.append(before) }
            bytes.append(UInt8(ascii: "\""))
            if isPlain {
                bytes.append(contentsOf: utf8)
            } else {
                for byte in utf8 {
                    if Self.isEscaped(byte) { appendEscape(byte) } else { bytes.append(byte) }
                }
            }
            bytes.append(UInt8(ascii: "\""))
            if let after { bytes.append(after) }
        }
    }

    /// Appends a text of at most ``shortText`` bytes that needs no escape.
    private mutating func appendPiece(_ utf8: UnsafeBufferPointer<UInt8>, before: UInt8?, after: UInt8?) {
        precondition(utf8.count <= Self.shortText, "A piece has at most \(Self.shortText) bytes.")
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.shortText + 4) { piece in
            var end = 0
            func put(_ byte: UInt8) {
                piece[end] = byte
                end += 1
            }
            if let before { put(before) }
            put(UInt8(ascii: "\""))
            _ = UnsafeMutableBufferPointer(rebasing: piece[end...]).update(from: utf8)
            end += utf8.count
            put(UInt8(ascii: "\""))
            if let after { put(after) }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: piece[..<end]))
        }
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
