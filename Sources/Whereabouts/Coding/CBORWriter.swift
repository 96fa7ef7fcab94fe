/// Writes CBOR in the core deterministic encoding of RFC 8949, section 4.2.1: shortest heads, shortest floats that keep
/// the value, definite lengths. The caller writes map keys in ascending order (integers, here always below 24).
///
/// Nothing here is generic: a loop over a generic collection of bytes is ten times slower across a module border. Cost:
/// a few nanoseconds per item. The bytes are in one array, which ``reset()`` makes reusable.
package struct CBORWriter: Sendable {
    /// The bytes written so far, and room for more: an item is stored at once, and not appended byte after byte.
    private var storage: [UInt8]
    /// The number of bytes written so far.
    package private(set) var count = 0

    /// An empty writer.
    package init() { storage = [] }

    /// A writer with capacity for this many bytes.
    package init(capacity: Int) { storage = [UInt8](repeating: 0, count: capacity) }

    /// A copy of the bytes written so far.
    package var bytes: [UInt8] { Array(storage[..<count]) }

    /// The bytes written. Takes them out of the writer, without a copy.
    package consuming func finish() -> [UInt8] {
        storage.removeLast(storage.count - count)
        return storage
    }

    /// Lends the bytes written so far.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Lends some of the bytes written so far.
    package func withBytes<R>(in range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        withBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The capacity that ``reset()`` keeps. Beyond it an unusual amount would hold its memory for ever.
    private static let keptBytes = 1 << 20

    /// Removes all bytes and keeps a capacity of up to a mebibyte.
    package mutating func reset() {
        count = 0
        if storage.count > Self.keptBytes { storage = [] }
    }

    /// Replaces the byte at an index, for a head whose count is known only at the end.
    mutating func replace(at index: Int, by byte: UInt8) { storage[index] = byte }

    /// An integer of major type 0 or 1.
    package mutating func integer(_ value: Int64) {
        value >= 0 ? head(0, UInt64(value)) : head(1, UInt64(bitPattern: ~value))
    }

    /// An integer of major type 0, up to 2⁶⁴ − 1.
    package mutating func unsigned(_ value: UInt64) { head(0, value) }

    /// The integer −1 − `value`, down to −2⁶⁴.
    package mutating func negative(_ value: UInt64) { head(1, value) }

    /// A byte string.
    package mutating func byteString(_ value: [UInt8]) {
        head(2, UInt64(value.count))
        raw(value)
    }

    /// A byte string, copied from the buffer.
    package mutating func byteString(_ value: UnsafeRawBufferPointer) {
        head(2, UInt64(value.count))
        raw(value)
    }

    /// A byte string of `count` bytes, which `fill` writes.
    package mutating func byteString(count length: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        head(2, UInt64(length))
        makeRoom(length)
        storage.withUnsafeMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[count..<count + length])) }
        count += length
    }

    /// The head of a byte string of `count` bytes; `raw(_:)` with that many bytes must follow.
    package mutating func byteStringHead(_ count: Int) { head(2, UInt64(count)) }

    /// A text string.
    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            head(3, UInt64(utf8.count))
            raw(UnsafeRawBufferPointer(utf8))
        }
    }

    /// The head of an array; `count` items must follow.
    package mutating func array(_ count: Int) { head(4, UInt64(count)) }

    /// The head of a map; `count` pairs must follow, keys ascending.
    package mutating func map(_ count: Int) { head(5, UInt64(count)) }

    /// A tag; the tagged item must follow.
    package mutating func tag(_ value: UInt64) { head(6, value) }

    /// A Boolean.
    package mutating func bool(_ value: Bool) { put(value ? 0xF5 : 0xF4) }

    /// Null.
    package mutating func null() { put(0xF6) }

    /// A simple value (RFC 8949, section 3.3) other than false, true, null and undefined.
    package mutating func simple(_ value: UInt8) {
        if value >= 24 { put(0xF8) }
        put(value >= 24 ? value : 0xE0 | value)
    }

    /// A float in the shortest of 16, 32 and 64 bits that keeps the value; every NaN becomes the one of 0xF97E00.
    package mutating func float(_ value: Double) {
        items(atMost: 9) { $0.float(value) }
    }

    /// Bytes that are CBOR already, or the content of a byte string whose head was written.
    package mutating func raw(_ value: [UInt8]) { value.withUnsafeBytes { raw($0) } }

    /// Bytes that are CBOR already, or the content of a byte string whose head was written.
    package mutating func raw(_ value: UnsafeRawBufferPointer) {
        makeRoom(value.count)
        storage.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[count...]).copyMemory(from: value) }
        count += value.count
    }

    /// Writes items of at most `bytes` bytes together: the room is made once, not for each of them.
    ///
    /// - Precondition: `write` writes no more than that.
    package mutating func items(atMost bytes: Int, _ write: (inout CBORCursor) -> Void) {
        makeRoom(bytes + CBORCursor.writtenOver)
        storage.withUnsafeMutableBytes { storage in
            guard let start = storage.baseAddress else { preconditionFailure("There is room, so there is an address.") }
            count += CBORCursor.written(at: start + count, atMost: bytes, write)
        }
    }

    private mutating func head(_ major: UInt8, _ value: UInt64) {
        items(atMost: 9) { $0.head(major, value) }
    }

    private mutating func put(_ byte: UInt8) {
        makeRoom(1)
        storage[count] = byte
        count += 1
    }

    private mutating func makeRoom(_ more: Int) {
        if storage.count - count < more { grow(more) }
    }

    @inline(never) private mutating func grow(_ more: Int) {
        // An array of the same type is copied at once, another collection byte after byte.
        storage.append(contentsOf: [UInt8](repeating: 0, count: max(more, storage.count, 64)))
    }
}
