import Geodesy

/// Writes fields whose values are numbers into room that is there already: see ``FieldWriter/numbers(atMost:_:)``.
struct NumberFields {
    /// A key below 24, and a head with eight bytes.
    static let mostBytesOfOne = 10

    /// Whether ``double(_:_:)`` may write a count of hundredths.
    var usesHundredths = false
    fileprivate var cursor: CBORCursor
    fileprivate var count = 0

    /// A map of fields with numbers alone, at most 23 and `most` of them.
    static func map(atMost most: Int, _ write: (inout NumberFields) -> Void) -> [UInt8] {
        // Written elsewhere first, because an array keeps the room that it was made with.
        let size = most * mostBytesOfOne
        return withUnsafeTemporaryAllocation(byteCount: 1 + size + CBORCursor.writtenOver, alignment: 1) { room in
            guard let start = room.baseAddress else { preconditionFailure("There is room, so there is an address.") }
            let written = CBORCursor.written(at: start + 1, atMost: size) { cursor in
                var fields = NumberFields(cursor: cursor)
                write(&fields)
                cursor = fields.cursor
                room[0] = 0xA0 | UInt8(fields.count)
            }
            return Array(unsafeUninitializedCapacity: 1 + written) { bytes, count in
                count = 1 + written
                UnsafeMutableRawBufferPointer(bytes).copyMemory(from: UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
        }
    }

    private mutating func key(_ key: Int64) {
        cursor.integer(key)
        count += 1
    }

    mutating func integer(_ number: Int64, _ value: Int64?) {
        guard let value else { return }
        key(number)
        cursor.integer(value)
    }

    mutating func timestamp(_ number: Int64, _ value: Timestamp?) { integer(number, value?.milliseconds) }

    mutating func bool(_ number: Int64, _ value: Bool?) {
        guard let value else { return }
        key(number)
        cursor.bool(value)
    }

    /// A whole number below 2³¹ is stored as an integer, which is shorter, another as the shortest float. With
    /// ``usesHundredths``, one with at most two decimals is stored as an array of one integer, its hundredths, if that is
    /// shorter than the float.
    mutating func double(_ number: Int64, _ value: Double?) {
        guard let value else { return }
        key(number)
        if abs(value) < 2_147_483_648, let whole = Int64(exactly: value), whole != 0 || value.sign == .plus {
            cursor.integer(whole)
        } else if usesHundredths, let hundredths = CBORCursor.hundredths(value) {
            cursor.array(1)
            cursor.integer(hundredths)
        } else {
            cursor.float(value)
        }
    }

    mutating func degrees(_ number: Int64, _ value: Double) {
        key(number)
        cursor.degrees(value)
    }
}

extension CBORCursor {
    /// Degrees with at most seven decimals, as receivers give them, are stored as an integer of 10⁻⁷ degrees (a head
    /// and four bytes instead of eight), other values as the float. Both give back exactly the same double.
    fileprivate mutating func degrees(_ value: Double) {
        let scaled = (value * 1e7).rounded()
        if let whole = Int64(exactly: scaled), Double(whole) / 1e7 == value, whole != 0 || value.sign == .plus {
            integer(whole)
        } else {
            float(value)
        }
    }

    /// The hundredths of a number that has at most two decimals; `nil` if a float of it takes no more bytes than an array
    /// of them.
    fileprivate static func hundredths(_ value: Double) -> Int64? {
        let scaled = (value * 100).rounded()
        // Up to here the array has at most four bytes, and a float of 16 bits three.
        guard abs(scaled) <= 65_535, scaled != 0, scaled / 100 == value else { return nil }
        let single = Float(value)
        return Double(single) == value && halfBits(single) != nil ? nil : Int64(scaled)
    }
}

/// Writes a CBOR map with small integer keys. Absent optionals are left out. The caller gives keys in ascending order.
/// One writer can write several maps one after the other (``begin()``, ``end()``), into the same bytes.
package struct FieldWriter {
    private var writer: CBORWriter
    /// The place of the map that is being written, and the number of its fields.
    private var start = 0
    private var count = 0

    /// Begins a map.
    ///
    /// - Parameter capacity: The expected bytes, so that usual maps are written without growing.
    init(capacity: Int = 0) {
        writer = CBORWriter(capacity: capacity)
        begin()
    }

    /// The finished map, if it is the only one.
    consuming func finish() -> [UInt8] {
        _ = end()
        return writer.finish()
    }

    /// Begins a map behind those that have ended.
    mutating func begin() {
        (start, count) = (writer.count, 0)
        writer.map(0)
    }

    /// Ends the map, and returns its place.
    mutating func end() -> Range<Int> {
        precondition(count < 24, "A field map has at most 23 fields.")
        writer.replace(at: start, by: 0xA0 | UInt8(count))
        return start..<writer.count
    }

    /// Removes all maps. The next one must be begun.
    mutating func reset() { writer.reset() }

    /// Lends the bytes of a map that has ended.
    func withBytes<R>(in range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        writer.withBytes(in: range, body)
    }

    /// Writes fields with numbers together: the room is made once, not for each of them.
    ///
    /// - Parameter most: The most fields that `write` writes.
    mutating func numbers(atMost most: Int, _ write: (inout NumberFields) -> Void) {
        var written = 0
        writer.items(atMost: most * NumberFields.mostBytesOfOne) { cursor in
            var fields = NumberFields(cursor: cursor)
            write(&fields)
            (cursor, written) = (fields.cursor, fields.count)
        }
        count += written
    }

    private mutating func key(_ key: Int64) {
        writer.integer(key)
        count += 1
    }

    mutating func integer(_ number: Int64, _ value: Int64?) { numbers(atMost: 1) { $0.integer(number, value) } }

    mutating func timestamp(_ number: Int64, _ value: Timestamp?) { integer(number, value?.milliseconds) }

    mutating func bool(_ number: Int64, _ value: Bool?) { numbers(atMost: 1) { $0.bool(number, value) } }

    mutating func double(_ number: Int64, _ value: Double?) { numbers(atMost: 1) { $0.double(number, value) } }

    mutating func degrees(_ number: Int64, _ value: Double) { numbers(atMost: 1) { $0.degrees(number, value) } }

    mutating func degrees(_ number: Int64, _ values: [Double]) {
        key(number)
        writer.array(values.count)
        for value in values { writer.items(atMost: 9) { $0.degrees(value) } }
    }

    mutating func text(_ number: Int64, _ value: String?) {
        guard let value else { return }
        key(number)
        writer.text(value)
    }

    mutating func bytes(_ number: Int64, _ value: [UInt8]?) {
        guard let value else { return }
        key(number)
        writer.byteString(value)
    }

    /// An empty list is left out.
    mutating func integers(_ number: Int64, _ values: [Int64]) {
        guard !values.isEmpty else { return }
        key(number)
        writer.array(values.count)
        for value in values { writer.integer(value) }
    }

    mutating func identifier(_ number: Int64, _ value: Identifier128?) { bytes(number, value?.bytes) }
}

/// Reads maps of ``FieldWriter``. A key that the caller does not read is an error, so that no field is lost unnoticed.
package struct FieldReader {
    private var reader: CBORReader
    private var left: Int
    /// The key of the next field; the greatest number at the end.
    private(set) var nextKey: Int64 = -1
    private let integers: ClosedRange<Int64>
    /// Whether ``double(_:)`` reads a count of hundredths.
    var readsHundredths = false

    /// Integers within 2⁵³ of 0: 1000 times one (seconds to milliseconds) and the difference of two fit in 64 bits.
    static let computable = -(Int64(1) << 53)...(Int64(1) << 53)

    /// - Parameter integers: An integer outside this range is refused as ``CBORError/unexpected``.
    package init(
        _ bytes: UnsafeRawBufferPointer, integers: ClosedRange<Int64> = .min ... .max
    ) throws(CBORError) {
        self.integers = integers
        reader = CBORReader(bytes)
        left = try reader.map()
        try advance()
    }

    private mutating func advance() throws(CBORError) {
        guard left > 0 else {
            nextKey = .max
            return
        }
        left -= 1
        let previous = nextKey
        nextKey = try reader.smallInteger()
        guard nextKey > previous else { throw .notDeterministic }
    }

    private mutating func field<T>(
        _ number: Int64, _ read: (inout CBORReader) throws(CBORError) -> T
    ) throws(CBORError) -> T? {
        guard nextKey == number else { return nil }
        let value = try read(&reader)
        try advance()
        return value
    }

    /// Throws unless every field was read.
    func end() throws(CBORError) {
        guard nextKey == .max else { throw .unexpected }
        try reader.end()
    }

    mutating func integer(_ number: Int64) throws(CBORError) -> Int64? {
        let range = integers
        return try field(number) { (reader) throws(CBORError) in try Self.integer(&reader, in: range) }
    }

    private static func integer(_ reader: inout CBORReader, in range: ClosedRange<Int64>) throws(CBORError) -> Int64 {
        let value = try reader.integer()
        guard range.contains(value) else { throw .unexpected }
        return value
    }

    mutating func bool(_ number: Int64) throws(CBORError) -> Bool? {
        try field(number) { (reader) throws(CBORError) in try reader.bool() }
    }

    /// `true` if the field is present; it must then be true.
    mutating func mark(_ number: Int64) throws(CBORError) -> Bool {
        let value = try bool(number)
        guard value != false else { throw .unexpected }
        return value ?? false
    }

    mutating func text(_ number: Int64) throws(CBORError) -> String? {
        try field(number) { (reader) throws(CBORError) in try reader.text() }
    }

    mutating func bytes(_ number: Int64) throws(CBORError) -> [UInt8]? {
        try field(number) { (reader) throws(CBORError) in Array(try reader.byteString()) }
    }

    mutating func integers(_ number: Int64) throws(CBORError) -> [Int64] {
        let range = integers
        return try field(number) { (reader) throws(CBORError) in
            var values: [Int64] = []
            for _ in 0..<(try reader.array()) { values.append(try Self.integer(&reader, in: range)) }
            return values
        } ?? []
    }

    mutating func double(_ number: Int64) throws(CBORError) -> Double? {
        let readsHundredths = readsHundredths
        return try field(number) { (reader) throws(CBORError) in
            switch try reader.peekMajorType() {
            case 7: return try reader.float()
            case 4 where readsHundredths:
                guard try reader.array() == 1 else { throw .unexpected }
                return Double(try reader.integer()) / 100
            default: return Double(try reader.integer())
            }
        }
    }

    mutating func degrees(_ number: Int64) throws(CBORError) -> Double? {
        try field(number) { (reader) throws(CBORError) in
            try reader.peekMajorType() == 7 ? try reader.float() : Double(try reader.integer()) / 1e7
        }
    }

    mutating func degreesList(_ number: Int64) throws(CBORError) -> [Double]? {
        try field(number) { (reader) throws(CBORError) in
            var values: [Double] = []
            for _ in 0..<(try reader.array()) {
                values.append(try reader.peekMajorType() == 7 ? try reader.float() : Double(try reader.integer()) / 1e7)
            }
            return values
        }
    }

    mutating func timestamp(_ number: Int64) throws(CBORError) -> Timestamp? {
        try integer(number).map(Timestamp.init(milliseconds:))
    }

    mutating func identifier(_ number: Int64) throws(CBORError) -> Identifier128? {
        try field(number) { (reader) throws(CBORError) in
            guard let value = Identifier128(bytes: try reader.byteString()) else { throw .unexpected }
            return value
        }
    }

    mutating func hash(_ number: Int64) throws(CBORError) -> Hash256? {
        try field(number) { (reader) throws(CBORError) in
            guard let value = Hash256(bytes: try reader.byteString()) else { throw .unexpected }
            return value
        }
    }

    mutating func coordinate(latitude: Int64, longitude: Int64) throws(CBORError) -> Coordinate {
        guard let latitude = try degrees(latitude), let longitude = try degrees(longitude),
            let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
        else { throw .unexpected }
        return coordinate
    }
}

/// The value of a field that every stored form has.
func require<T>(_ value: T?) throws(CBORError) -> T {
    guard let value else { throw .unexpected }
    return value
}
