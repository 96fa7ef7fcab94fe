import Projections
import SQLite
import Whereabouts

/// The fixes that follow the first one of a block, as bytes: the column `following` of `fix`.
///
/// Each fix is written against its reference: the last fix of the same device in the block, or the fix before it if the
/// device has none. It begins with a byte of ``Marks``, and then has:
/// - the time after the fix before it, in milliseconds;
/// - the difference of its number to that of the fix before it;
/// - the device's number, if it is not that of the fix before it;
/// - latitude and longitude: differences in 10⁻⁷ degrees, or eight bytes each as Swift encodes a `Double`, the least
///   significant first, if either is not a whole number of them;
/// - the accuracy: none, as the reference, a whole number of hundredths of a meter, or eight bytes;
/// - the receipt minus the device's time in milliseconds, if it is known;
/// - the details: none, as the reference, those bytes that differ from a reference of the same length (a bit for each
///   byte, the first byte is the least significant bit, and then the bytes), or a length and the bytes.
///
/// Numbers are LEB128 varints; a difference that may be negative is written in zigzag order (0, −1, 1, −2 …). Differences
/// are modulo 2⁶⁴, so every value comes back.
///
/// For example, a second fix of a phone ten seconds later, some meters away, equal in accuracy and details, received after the
/// same time in the next event: `54 90 4E 02 BE 15 BE 15 D0 0F`, ten bytes in place of about sixty.
struct FixPacking {
    /// What a fix has, and in which form.
    struct Marks: OptionSet {
        let rawValue: UInt8
        static let otherDevice = Marks(rawValue: 0x01)
        static let degreesAsDoubles = Marks(rawValue: 0x02)
        // Two bits say which of three forms the accuracy has, and two which the details have; without them, there are none.
        static let sameAccuracy = Marks(rawValue: 0x04)
        static let accuracyInHundredths = Marks(rawValue: 0x08)
        static let accuracyAsDouble: Marks = [.sameAccuracy, .accuracyInHundredths]
        static let sameDetails = Marks(rawValue: 0x10)
        static let changedDetails = Marks(rawValue: 0x20)
        static let details: Marks = [.sameDetails, .changedDetails]
        static let receipt = Marks(rawValue: 0x40)
        static let unknown = Marks(rawValue: 0x80)
    }

    /// The last fix of each device, the last of all at the end. A person has few devices.
    private var references: [FixRow]
    /// The bytes so far.
    private(set) var bytes: [UInt8] = []
    /// The fixes so far, the first one of the block among them.
    private(set) var count = 1

    /// About the bytes that it takes.
    var memory: Int { bytes.capacity + references.reduce(0) { $0 + $1.memory } }

    /// The last fix.
    var last: FixRow? { references.last }

    /// A block that begins with this fix.
    init(after first: FixRow) {
        references = [first]
        bytes.reserveCapacity(FixBlocks.bytesMax + 128)
    }

    /// A block as it was read.
    ///
    /// - Parameters:
    ///   - bytes: Those of the fixes after the first.
    ///   - fixes: All, at least one.
    init(_ bytes: [UInt8], of fixes: [FixRow]) {
        (references, self.bytes, count) = ([], bytes, fixes.count)
        for fix in fixes.reversed() where !references.contains(where: { $0.device == fix.device }) {
            references.append(fix)
        }
        references.reverse()
    }

    /// Writes the next fix, which must be of the same person.
    mutating func append(_ row: FixRow) {
        // By index: a copy of a fix would retain its details.
        let before = references.count - 1
        let known = references.lastIndex { $0.device == row.device }
        let reference = known ?? before
        var marks: Marks = []
        let marksAt = bytes.count
        bytes.append(0)
        let elapsed = row.columns.timestamp.milliseconds &- references[before].columns.timestamp.milliseconds
        bytes.append(varint: UInt64(bitPattern: elapsed))
        bytes.append(zigzag: row.number &- references[before].number)
        if row.device != references[before].device {
            marks.insert(.otherDevice)
            bytes.append(zigzag: row.device.rawValue)
        }
        if let latitude = row.columns.latitude.whole, let longitude = row.columns.longitude.whole {
            bytes.append(zigzag: latitude &- (references[reference].columns.latitude.whole ?? 0))
            bytes.append(zigzag: longitude &- (references[reference].columns.longitude.whole ?? 0))
        } else {
            marks.insert(.degreesAsDoubles)
            double(row.columns.latitude.value)
            double(row.columns.longitude.value)
        }
        marks.formUnion(
            append(row.columns.horizontalAccuracy, after: references[reference].columns.horizontalAccuracy))
        if let after = row.receivedAfter {
            marks.insert(.receipt)
            bytes.append(zigzag: after)
        }
        marks.formUnion(append(row.columns.details, after: references[reference].columns.details))
        bytes[marksAt] = marks.rawValue
        count += 1
        references.take(row, known)
    }

    private mutating func append(_ accuracy: Double?, after reference: Double?) -> Marks {
        guard let accuracy else { return [] }
        if accuracy == reference { return .sameAccuracy }
        if let hundredths = UInt32(exactly: (accuracy * 100).rounded()), Double(hundredths) / 100 == accuracy {
            bytes.append(varint: UInt64(hundredths))
            return .accuracyInHundredths
        }
        double(accuracy)
        return .accuracyAsDouble
    }

    private mutating func append(_ details: [UInt8]?, after reference: [UInt8]?) -> Marks {
        guard let details else { return [] }
        guard let reference, reference.count == details.count else {
            bytes.append(varint: UInt64(details.count))
            bytes.append(contentsOf: details)
            return .details
        }
        if details == reference { return .sameDetails }
        let changesAt = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: (details.count + 7) / 8))
        for index in details.indices where details[index] != reference[index] {
            bytes[changesAt + index / 8] |= 1 << UInt8(index % 8)
            bytes.append(details[index])
        }
        return .changedDetails
    }

    private mutating func double(_ value: Double) {
        var bits = value.bitPattern
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
        }
    }
}

extension [FixRow] {
    /// Makes a fix the last one, in place of the device's earlier fix at `known`.
    fileprivate mutating func take(_ row: FixRow, _ known: Int?) {
        if let known, known == count - 1 { return self[known] = row }
        if let known { remove(at: known) }
        append(row)
    }
}

/// Reads what ``FixPacking`` wrote.
///
/// Has a pointer to the bytes, so it must not outlive them.
struct FixUnpacking {
    private typealias Marks = FixPacking.Marks

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var references: [FixRow]

    /// - Parameters:
    ///   - bytes: The column `following`; empty without further fixes.
    ///   - first: The fix in the other columns of the row.
    init(_ bytes: UnsafeRawBufferPointer, after first: FixRow) { (self.bytes, references) = (bytes, [first]) }

    /// All fixes of a block, as ``next()``.
    static func all(_ bytes: UnsafeRawBufferPointer, after first: FixRow) throws(SQLiteError) -> [FixRow] {
        var fixes = [first]
        var rest = FixUnpacking(bytes, after: first)
        while let fix = try rest.next() { fixes.append(fix) }
        return fixes
    }

    /// The next fix; `nil` after the last one.
    ///
    /// - Throws: A damaged projection for bytes that no packing writes. Degrees out of range are found where a
    ///   coordinate is made.
    mutating func next() throws(SQLiteError) -> FixRow? {
        if offset == bytes.count { return nil }
        let marks = Marks(rawValue: try byte())
        if marks.contains(.unknown) { throw .damagedProjection }
        // By index, as in the packing.
        let before = references.count - 1
        let time = references[before].columns.timestamp.milliseconds &+ Int64(bitPattern: try unsigned())
        let number = references[before].number &+ (try signed())
        let device = marks.contains(.otherDevice) ? DeviceID(rawValue: try signed()) : references[before].device
        let known = references.lastIndex { $0.device == device }
        let reference = known ?? before
        let latitude, longitude: FixColumns.Degrees
        if marks.contains(.degreesAsDoubles) {
            latitude = FixColumns.Degrees(try double())
            longitude = FixColumns.Degrees(try double())
        } else {
            latitude = FixColumns.Degrees(
                whole: (references[reference].columns.latitude.whole ?? 0) &+ (try signed()))
            longitude = FixColumns.Degrees(
                whole: (references[reference].columns.longitude.whole ?? 0) &+ (try signed()))
        }
        let accuracy = try accuracy(marks, references[reference].columns.horizontalAccuracy)
        let receivedAfter = marks.contains(.receipt) ? try signed() : nil
        let row = FixRow(
            person: references[before].person, device: device,
            columns: FixColumns(
                timestamp: Timestamp(milliseconds: time), latitude: latitude, longitude: longitude,
                horizontalAccuracy: accuracy, details: try details(marks, references[reference].columns.details)),
            number: number, receivedAfter: receivedAfter)
        references.take(row, known)
        return row
    }

    private mutating func accuracy(_ marks: Marks, _ reference: Double?) throws(SQLiteError) -> Double? {
        switch marks.intersection(.accuracyAsDouble) {
        case .sameAccuracy: return reference
        case .accuracyInHundredths: return Double(try unsigned()) / 100
        case .accuracyAsDouble: return try double()
        default: return nil
        }
    }

    private mutating func details(_ marks: Marks, _ reference: [UInt8]?) throws(SQLiteError) -> [UInt8]? {
        switch marks.intersection(.details) {
        case .sameDetails: return reference
        case .changedDetails:
            guard var details = reference else { throw .damagedProjection }
            let changes = try take((details.count + 7) / 8)
            for index in details.indices where changes[index / 8] >> UInt8(index % 8) & 1 == 1 {
                details[index] = try byte()
            }
            return details
        case .details:
            guard let count = Int(exactly: try unsigned()) else { throw .damagedProjection }
            return [UInt8](try take(count))
        default: return nil
        }
    }

    private mutating func take(_ count: Int) throws(SQLiteError) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - offset else { throw .damagedProjection }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    private mutating func byte() throws(SQLiteError) -> UInt8 {
        guard offset < bytes.count else { throw .damagedProjection }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func unsigned() throws(SQLiteError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw .damagedProjection }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    private mutating func signed() throws(SQLiteError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    private mutating func double() throws(SQLiteError) -> Double {
        let eight = try take(8)
        return Double(bitPattern: UInt64(littleEndian: eight.loadUnaligned(as: UInt64.self)))
    }
}
