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
    /// A key of the code that is not written yet: it is put together with its value, and both appended in one piece.
    private var waitingKey: StaticString?

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
        var key = key
        key.withUTF8 { utf8 in
            let hasComma = needsComma
            if Self.isShort(utf8) {
                appendPiece(atMost: utf8.count + 4) { piece in
                    if hasComma { piece.put(UInt8(ascii: ",")) }
                    piece.quoted(utf8)
                    piece.put(UInt8(ascii: ":"))
                }
            } else {
                if hasComma { bytes.append(UInt8(ascii: ",")) }
                appendQuoted(utf8)
                bytes.append(UInt8(ascii: ":"))
            }
        }
        hasKey = true
    }

    /// As ``key(_:)-(String)``, for a name in the code, which needs no escape: its bytes are copied and not looked at.
    package mutating func key(_ name: StaticString) {
        precondition(isInObject && !hasKey, "A key belongs into an object, before a value.")
        precondition(name.utf8CodeUnitCount <= Self.shortText, "A key has at most \(Self.shortText) bytes.")
        waitingKey = name
        hasKey = true
    }

    /// Writes a string. Quote, backslash and control characters are escaped, all other characters are written as UTF-8.
    package mutating func value(_ string: String) {
        var string = string
        string.withUTF8 { utf8 in
            if Self.isShort(utf8) {
                append(atMost: utf8.count + 2) { $0.quoted(utf8) }
            } else {
                beforeValue()
                appendQuoted(utf8)
            }
        }
    }

    /// Writes an integer in full, of any size; readers that keep all numbers as `Double` round beyond ±2⁵³.
    package mutating func value(_ integer: Int64) {
        appendDecimal(integer.magnitude, 0, places: 0, negative: integer < 0)
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
        let magnitude = number.magnitude
        guard magnitude < 0x1p53 else { return raw(number.description.utf8) }
        // By conversions to integers: to round is a call of the C library.
        let whole = Int64(magnitude)
        let shifted = Int64(magnitude < 1e8 ? magnitude * 1e7 + 0.5 : 0)
        if Double(whole) == magnitude, !(number == 0 && number.sign == .minus) {
            appendDecimal(UInt64(whole), 0, places: 0, negative: number < 0)
        } else if shifted >= 1000, Double(shifted) / 1e7 == magnitude {
            // Receivers' values have at most seven decimals. A decimal of no more than fifteen digits is the shortest
            // of all that read back as the same number, and its digits come out of an integer faster.
            let (whole, fraction) = UInt64(shifted).quotientAndRemainder(dividingBy: 10_000_000)
            appendDecimal(whole, fraction, places: 7, negative: number < 0)
        } else {
            raw(number.description.utf8)
        }
    }

    /// Writes `true` or `false`.
    package mutating func value(_ bool: Bool) {
        append(atMost: 5) { $0.text(bool ? "true" : "false") }
    }

    /// Writes `null`.
    package mutating func null() {
        append(atMost: 4) { $0.text("null") }
    }

    /// Writes a time as seconds with at most 3 decimals, exactly: 1732147200120 becomes `1732147200.12`.
    ///
    /// - Parameter milliseconds: since 1970-01-01 UTC, negative before.
    package mutating func unixSeconds(milliseconds: Int64) {
        // By integer arithmetic: a Double would be exact only as long as its shortest form is printed.
        let (seconds, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        appendDecimal(seconds, rest, places: 3, negative: milliseconds < 0)
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

    /// Writes what comes before a value that is written piece after piece.
    private mutating func beforeValue() { append(atMost: 0) { _ in } }

    /// Appends a comma if one is due, the key that waits, and what `write` writes, in one piece.
    ///
    /// - Parameter most: The most bytes that `write` writes.
    @inline(__always)
    private mutating func append(atMost most: Int, _ write: (inout Piece) -> Void) {
        precondition(hasKey == isInObject && (depth > 0 || bytes.isEmpty), "A value has no place here.")
        let (hasComma, key) = (needsComma && (!hasKey || waitingKey != nil), waitingKey)
        appendPiece(atMost: most + Self.shortText + 4) { piece in
            if hasComma { piece.put(UInt8(ascii: ",")) }
            if let key {
                piece.quoted(UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
                piece.put(UInt8(ascii: ":"))
            }
            write(&piece)
        }
        (waitingKey, hasKey, needsComma) = (nil, false, true)
    }

    /// Appends the bytes that `write` writes, `most` of them at most, where they stay.
    @inline(__always)
    private mutating func appendPiece(atMost most: Int, _ write: (inout Piece) -> Void) {
        bytes.append(addingCapacity: most) { span in
            span.withUnsafeMutableBufferPointer { room, count in
                guard let start = room.baseAddress else { return }
                var piece = Piece(start)
                write(&piece)
                count = piece.count
            }
        }
    }

    /// Bytes that are put together behind those that are there already.
    private struct Piece {
        private let room: UnsafeMutablePointer<UInt8>
        private(set) var count = 0

        init(_ room: UnsafeMutablePointer<UInt8>) { self.room = room }

        mutating func put(_ byte: UInt8) {
            room[count] = byte
            count &+= 1
        }

        mutating func copy(_ text: UnsafeBufferPointer<UInt8>) {
            guard let start = text.baseAddress else { return }
            (room + count).initialize(from: start, count: text.count)
            count &+= text.count
        }

        mutating func text(_ text: StaticString) {
            copy(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        }

        /// A text that needs no escape.
        mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) {
            put(UInt8(ascii: "\""))
            copy(text)
            put(UInt8(ascii: "\""))
        }

        /// The digits of a number.
        mutating func digits(_ number: UInt64) {
            var (length, power) = (1, UInt64(10))
            // 10¹⁹ is the greatest power of ten in 64 bits.
            while number >= power, length < 20 { (length, power) = (length &+ 1, power &* 10) }
            digits(number, count: length)
        }

        /// A number in so many digits.
        private mutating func digits(_ number: UInt64, count length: Int) {
            var (rest, index) = (number, count &+ length)
            while index > count {
                index &-= 1
                let tenth = rest / 10
                room[index] = UInt8(truncatingIfNeeded: rest &- tenth &* 10) | UInt8(ascii: "0")
                rest = tenth
            }
            count &+= length
        }

        /// A point and the digits of a fraction, up to the last that is not 0; nothing for 0.
        mutating func fraction(_ number: UInt64, places: Int) {
            if number == 0 { return }
            put(UInt8(ascii: "."))
            digits(number, count: places)
            while room[count &- 1] == UInt8(ascii: "0") { count &-= 1 }
        }
    }

    /// Appends a whole number and a fraction in units of 10^-`places`, without zeros at its end.
    private mutating func appendDecimal(_ whole: UInt64, _ fraction: UInt64, places: Int, negative: Bool) {
        // 2⁶⁴ has 20 digits; a sign, a point and the places.
        append(atMost: 22 + places) { piece in
            if negative { piece.put(UInt8(ascii: "-")) }
            piece.digits(whole)
            piece.fraction(fraction, places: places)
        }
    }

    /// A key or text is appended in one piece when it is no longer than this and needs no escape.
    private static let shortText = 60

    private static func isShort(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        utf8.count <= shortText && isPlain(utf8)
    }

    private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool { utf8.allSatisfy { !isEscaped($0) } }

    private mutating func appendQuoted(_ utf8: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if Self.isPlain(utf8) {
            bytes.append(contentsOf: utf8)
        } else {
            for byte in utf8 {
                if Self.isEscaped(byte) { appendEscape(byte) } else { bytes.append(byte) }
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
