/// Why bytes are not CBOR in the deterministic encoding of RFC 8949, section 4.2.1.
package enum CBORError: Error, Equatable, Sendable {
    /// The bytes end inside an item.
    case truncated
    /// Bytes follow the item that should be the last.
    case trailing
    /// Well formed, but longer than necessary, of indefinite length, with unsorted or repeated keys, or with a reserved
    /// head.
    case notDeterministic
    /// A text string is not UTF-8.
    case notUTF8
    /// The item has another type than the reader asked for.
    case unexpected
    /// Arrays and maps nest deeper than ``CBORReader/maximumDepth``.
    case tooDeep
}

/// Reads CBOR item by item and refuses every encoding that is not deterministic, so that decoding and encoding gives
/// the same bytes.
///
/// A reader has a pointer into the caller's buffer, so it must not outlive the closure that lent the bytes.
package struct CBORReader {
    /// The deepest nesting of arrays and maps.
    package static let maximumDepth = 32

    private let base: UnsafeRawBufferPointer
    private let size: Int
    /// Offset of the next unread byte.
    package private(set) var offset = 0

    /// A reader at the beginning of the bytes.
    package init(_ bytes: UnsafeRawBufferPointer) { (base, size) = (bytes, bytes.count) }

    /// Whether every byte has been read.
    package var isAtEnd: Bool { offset == size }

    /// Throws unless every byte was read.
    package func end() throws(CBORError) {
        if !isAtEnd { throw .trailing }
    }

    /// A signed integer.
    package mutating func integer() throws(CBORError) -> Int64 {
        let (major, value) = try head()
        guard value <= UInt64(Int64.max) else { throw .unexpected }
        switch major {
        case 0: return Int64(value)
        case 1: return ~Int64(value)
        default: throw .unexpected
        }
    }

    /// As ``integer()``, faster for an integer from 0 to 23, which is one byte: the key of a field.
    @inline(__always)
    mutating func smallInteger() throws(CBORError) -> Int64 {
        guard offset < size, base[offset] < 24 else { return try integer() }
        defer { offset += 1 }
        return Int64(base[offset])
    }

    /// An unsigned integer.
    package mutating func unsigned() throws(CBORError) -> UInt64 { try head(expecting: 0) }

    /// The bytes of a byte string, valid as long as the buffer.
    package mutating func byteString() throws(CBORError) -> UnsafeRawBufferPointer {
        try take(head(expecting: 2))
    }

    /// A text string.
    package mutating func text() throws(CBORError) -> String {
        let bytes = try take(head(expecting: 3))
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    /// The head of an array; the number of its items, which follow.
    package mutating func array() throws(CBORError) -> Int { try count(head(expecting: 4)) }

    /// The head of a map; the number of its pairs, which follow.
    package mutating func map() throws(CBORError) -> Int { try count(head(expecting: 5)) }

    /// A Boolean.
    package mutating func bool() throws(CBORError) -> Bool {
        switch try byte() {
        case 0xF4: false
        case 0xF5: true
        default: throw .unexpected
        }
    }

    /// A float of any width, which must be the shortest that keeps the value.
    package mutating func float() throws(CBORError) -> Double {
        switch try byte() {
        case 0xF9:
            let bits = try bits(UInt16.self)
            let value = Self.double(half: bits)
            // Of all NaN bit patterns, this one is the shortest and canonical.
            if value.isNaN, bits != 0x7E00 { throw .notDeterministic }
            return value
        case 0xFA:
            let value = Float(bitPattern: try bits(UInt32.self))
            if value.isNaN || CBORCursor.halfBits(value) != nil { throw .notDeterministic }
            return Double(value)
        case 0xFB:
            let value = Double(bitPattern: try bits(UInt64.self))
            if value.isNaN || Double(Float(value)) == value { throw .notDeterministic }
            return value
        default: throw .unexpected
        }
    }

    /// The major type of the next item (RFC 8949 §3.1), without reading it.
    package func peekMajorType() throws(CBORError) -> UInt8 {
        guard offset < size else { throw .truncated }
        return base[offset] >> 5
    }

    /// Whether the next item is null; reads it if so.
    package mutating func readNull() throws(CBORError) -> Bool {
        guard offset < size else { throw .truncated }
        if base[offset] == 0xF6 {
            offset += 1
            return true
        }
        return false
    }

    /// Skips one item of any type, and returns its bytes, which are valid as long as the buffer.
    @discardableResult
    package mutating func skip() throws(CBORError) -> UnsafeRawBufferPointer {
        let start = offset
        try skip(depth: 0)
        return UnsafeRawBufferPointer(rebasing: base[start..<offset])
    }

    /// One item of any type as a tree, for tools and tests. Events are read field by field.
    package mutating func value() throws(CBORError) -> CBORValue { try value(depth: 0) }

    /// As ``value(depth:)``, with the same checks, but without making the tree.
    private mutating func skip(depth: Int) throws(CBORError) {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        let initial = try peekInitialByte()
        if initial >> 5 == 7 {
            _ = try simpleOrFloat(initial)
            return
        }
        let (major, argument) = try head()
        switch major {
        case 0, 1: break
        case 2: _ = try take(argument)
        case 3: guard String(validating: try take(argument), as: UTF8.self) != nil else { throw .notUTF8 }
        case 4: for _ in 0..<(try count(argument)) { try skip(depth: depth + 1) }
        case 5:
            var previous: Range<Int>?
            for _ in 0..<(try count(argument)) {
                let start = offset
                if offset < size, base[offset] < 24 { offset += 1 } else { try skip(depth: depth + 1) }
                try checkOrder(of: start..<offset, after: &previous)
                try skip(depth: depth + 1)
            }
        default: try skip(depth: depth + 1)
        }
    }

    private mutating func value(depth: Int) throws(CBORError) -> CBORValue {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        let initial = try peekInitialByte()
        if initial >> 5 == 7 { return try simpleOrFloat(initial) }
        let (major, argument) = try head()
        switch major {
        case 0: return .unsigned(argument)
        case 1: return .negative(argument)
        case 2: return .bytes(Array(try take(argument)))
        case 3:
            guard let text = String(validating: try take(argument), as: UTF8.self) else { throw .notUTF8 }
            return .text(text)
        case 4:
            var items: [CBORValue] = []
            for _ in 0..<(try count(argument)) { items.append(try value(depth: depth + 1)) }
            return .array(items)
        case 5:
            var pairs: [CBORValue.Pair] = []
            var previous: Range<Int>?
            for _ in 0..<(try count(argument)) {
                let start = offset
                let key = try value(depth: depth + 1)
                try checkOrder(of: start..<offset, after: &previous)
                pairs.append(.init(key: key, value: try value(depth: depth + 1)))
            }
            return .map(pairs)
        default: return .tagged(argument, try value(depth: depth + 1))
        }
    }

    /// Throws unless the bytes of a map's key come after those of the key before.
    private func checkOrder(of key: Range<Int>, after previous: inout Range<Int>?) throws(CBORError) {
        if let previous {
            let isAfter =
                previous.count == 1 && key.count == 1
                ? base[previous.lowerBound] < base[key.lowerBound]
                : base[previous].lexicographicallyPrecedes(base[key])
            guard isAfter else { throw .notDeterministic }
        }
        previous = key
    }

    private mutating func simpleOrFloat(_ initial: UInt8) throws(CBORError) -> CBORValue {
        switch initial {
        case 0xE0...0xF7:
            offset += 1
            return .simple(initial & 0x1F)
        case 0xF8:
            offset += 1
            let value = try byte()
            guard value >= 32 else { throw .notDeterministic }
            return .simple(value)
        case 0xF9, 0xFA, 0xFB: return .float(try float())
        default: throw .notDeterministic
        }
    }

    private func peekInitialByte() throws(CBORError) -> UInt8 {
        guard offset < size else { throw .truncated }
        return base[offset]
    }

    private mutating func head(expecting major: UInt8) throws(CBORError) -> UInt64 {
        let (found, value) = try head()
        guard found == major else { throw .unexpected }
        return value
    }

    @inline(__always)
    private mutating func head() throws(CBORError) -> (major: UInt8, argument: UInt64) {
        let initial = try byte()
        let low = initial & 0x1F
        return (initial >> 5, low < 24 ? UInt64(low) : try argument(low))
    }

    /// The argument in the one, two, four or eight bytes that follow an initial byte whose lowest five bits are `low`.
    private mutating func argument(_ low: UInt8) throws(CBORError) -> UInt64 {
        guard low < 28 else { throw .notDeterministic }
        let width = 1 << Int(low - 24)
        guard size - offset >= width else { throw .truncated }
        let value: UInt64
        let least: UInt64
        switch low {
        case 24: (value, least) = (UInt64(base[offset]), 24)
        case 25: (value, least) = (UInt64(bigEndian(UInt16.self)), 0x100)
        case 26: (value, least) = (UInt64(bigEndian(UInt32.self)), 0x1_0000)
        default: (value, least) = (bigEndian(UInt64.self), 0x1_0000_0000)
        }
        guard value >= least else { throw .notDeterministic }
        offset += width
        return value
    }

    /// A count of items, bounded by the bytes left, so that a wrong head cannot cause a large allocation.
    private func count(_ value: UInt64) throws(CBORError) -> Int {
        guard value <= UInt64(size - offset) else { throw .truncated }
        return Int(value)
    }

    private mutating func take(_ length: UInt64) throws(CBORError) -> UnsafeRawBufferPointer {
        guard length <= UInt64(size - offset) else { throw .truncated }
        defer { offset += Int(length) }
        return UnsafeRawBufferPointer(start: base.baseAddress.map { $0 + offset }, count: Int(length))
    }

    @inline(__always)
    private mutating func byte() throws(CBORError) -> UInt8 {
        guard offset < size else { throw .truncated }
        defer { offset += 1 }
        return base[offset]
    }

    /// The next bytes as a number. The caller has checked that they are there.
    @inline(__always)
    private func bigEndian<I: FixedWidthInteger>(_: I.Type) -> I {
        I(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: I.self))
    }

    /// Reads the bits of a float.
    @inline(__always)
    private mutating func bits<I: FixedWidthInteger>(_: I.Type) throws(CBORError) -> I {
        guard size - offset >= MemoryLayout<I>.size else { throw .truncated }
        defer { offset += MemoryLayout<I>.size }
        return bigEndian(I.self)
    }

    private static func double(half: UInt16) -> Double {
        let sign = UInt64(half & 0x8000) << 48
        let exponent = UInt64(half >> 10) & 0x1F
        let fraction = UInt64(half & 0x3FF)
        switch exponent {
        case 0: return (sign == 0 ? 0x1p-24 : -0x1p-24) * Double(fraction)
        case 31: return fraction == 0 ? (sign == 0 ? .infinity : -.infinity) : .nan
        // The exponent of 0 is 15 in a half and 1023 in a double.
        default: return Double(bitPattern: sign | (exponent + 1008) << 52 | fraction << 42)
        }
    }
}

/// Any CBOR item as a tree.
package indirect enum CBORValue: Equatable, Sendable {
    /// One key and its value.
    package struct Pair: Equatable, Sendable {
        /// The key, and the value under it.
        package let key, value: CBORValue

        package init(key: CBORValue, value: CBORValue) { (self.key, self.value) = (key, value) }
    }
    case unsigned(UInt64)
    /// The integer −1 − value; this form includes −2⁶⁴.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([Pair])
    case tagged(UInt64, CBORValue)
    /// 20 false, 21 true, 22 null, 23 undefined, others unassigned.
    case simple(UInt8)
    case float(Double)

    /// Writes the item, with the pairs of a map in their order.
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .unsigned(let value): writer.unsigned(value)
        case .negative(let value): writer.negative(value)
        case .bytes(let value): writer.byteString(value)
        case .text(let value): writer.text(value)
        case .array(let items):
            writer.array(items.count)
            for item in items { item.write(to: &writer) }
        case .map(let pairs):
            writer.map(pairs.count)
            for pair in pairs {
                pair.key.write(to: &writer)
                pair.value.write(to: &writer)
            }
        case .tagged(let tag, let item):
            writer.tag(tag)
            item.write(to: &writer)
        case .simple(let value): writer.simple(value)
        case .float(let value): writer.float(value)
        }
    }
}
