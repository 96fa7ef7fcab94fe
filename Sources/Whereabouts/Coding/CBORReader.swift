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
    /// Offset of the next unread byte.
    package private(set) var offset = 0

    /// A reader at the beginning of the bytes.
    package init(_ bytes: UnsafeRawBufferPointer) { base = bytes }

    /// Whether every byte has been read.
    package var isAtEnd: Bool { offset == base.count }

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
            let bits = try bigEndian(UInt16.self)
            let value = Self.double(half: bits)
            // Of all NaN bit patterns, this one is the shortest and canonical.
            if value.isNaN, bits != 0x7E00 { throw .notDeterministic }
            return value
        case 0xFA:
            let value = Float(bitPattern: try bigEndian(UInt32.self))
            if value.isNaN || CBORWriter.halfBits(value) != nil { throw .notDeterministic }
            return Double(value)
        case 0xFB:
            let value = Double(bitPattern: try bigEndian(UInt64.self))
            if value.isNaN || Double(Float(value)) == value { throw .notDeterministic }
            return value
        default: throw .unexpected
        }
    }

    /// The major type of the next item (RFC 8949 §3.1), without reading it.
    package func peekMajorType() throws(CBORError) -> UInt8 {
        guard offset < base.count else { throw .truncated }
        return base[offset] >> 5
    }

    /// Whether the next item is null; reads it if so.
    package mutating func readNull() throws(CBORError) -> Bool {
        guard offset < base.count else { throw .truncated }
        if base[offset] == 0xF6 {
            offset += 1
            return true
        }
        return false
    }

    /// Skips one item of any type.
    package mutating func skip() throws(CBORError) { try skip(depth: 0) }

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
                try skip(depth: depth + 1)
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
        if let previous, !base[previous].lexicographicallyPrecedes(base[key]) { throw .notDeterministic }
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
        guard offset < base.count else { throw .truncated }
        return base[offset]
    }

    private mutating func head(expecting major: UInt8) throws(CBORError) -> UInt64 {
        let (found, value) = try head()
        guard found == major else { throw .unexpected }
        return value
    }

    private mutating func head() throws(CBORError) -> (major: UInt8, argument: UInt64) {
        let initial = try byte()
        let major = initial >> 5
        let value: UInt64
        let least: UInt64
        switch initial & 0x1F {
        case let small where small < 24: return (major, UInt64(small))
        case 24: (value, least) = (UInt64(try byte()), 24)
        case 25: (value, least) = (UInt64(try bigEndian(UInt16.self)), 0x100)
        case 26: (value, least) = (UInt64(try bigEndian(UInt32.self)), 0x1_0000)
        case 27: (value, least) = (try bigEndian(UInt64.self), 0x1_0000_0000)
        default: throw .notDeterministic
        }
        guard value >= least else { throw .notDeterministic }
        return (major, value)
    }

    /// A count of items, bounded by the bytes left, so that a wrong head cannot cause a large allocation.
    private func count(_ value: UInt64) throws(CBORError) -> Int {
        guard value <= UInt64(base.count - offset) else { throw .truncated }
        return Int(value)
    }

    private mutating func take(_ count: UInt64) throws(CBORError) -> UnsafeRawBufferPointer {
        guard count <= UInt64(base.count - offset) else { throw .truncated }
        defer { offset += Int(count) }
        return UnsafeRawBufferPointer(rebasing: base[offset..<(offset + Int(count))])
    }

    private mutating func byte() throws(CBORError) -> UInt8 {
        guard offset < base.count else { throw .truncated }
        defer { offset += 1 }
        return base[offset]
    }

    private mutating func bigEndian<I: FixedWidthInteger>(_: I.Type) throws(CBORError) -> I {
        guard base.count - offset >= MemoryLayout<I>.size else { throw .truncated }
        defer { offset += MemoryLayout<I>.size }
        return I(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: I.self))
    }

    private static func double(half: UInt16) -> Double {
        let sign: Double = half & 0x8000 == 0 ? 1 : -1
        let exponent = Int(half >> 10) & 0x1F
        let fraction = Double(half & 0x3FF)
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * (1 + fraction * 0x1p-10) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
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
