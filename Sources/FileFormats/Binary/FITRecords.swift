import Whereabouts
import WireFormats

// A FIT file (Garmin, "Flexible and Interoperable Data Transfer Protocol"), or several, one after the other:
//
//     size(1)=12|14 protocol(1) profile(2) dataSize(4) ".FIT" [crc(2)]        the header; numbers little-endian
//     record…                                                                 dataSize bytes
//     crc(2)                                                                  over header and data
//
// The first byte of a record is its kind:
//
//     1 t t o o o o o    data of the local type tt, with a compressed time stamp: 5 bits of offset
//     0 1 d 0 t t t t    definition of the local type tttt; with fields of developers if d is 1
//     0 0 0 0 t t t t    data of the local type tttt
//
//     definition: reserved(1) architecture(1) global(2) count(1) [number(1) size(1) baseType(1)]×count
//                 [count(1) [number(1) size(1) developer(1)]×count]
//
// Architecture 0 is little-endian, 1 big-endian. Data are the fields of the definition, without gaps.

/// The positions in a FIT file: messages `record` (20) and `gps_metadata` (160).
///
/// Everything after an unreadable place in a file is lost; the positions before it are kept. A wrong checksum is noted.
final class FITRecords: RecordReader {
    private let choices: FileChoices
    private var buffer: [UInt8] = []
    private var start = 0
    private var phase = Phase.header
    /// The bytes of the present file's data that are left.
    private var dataLeft = 0
    private var checksum = FITChecksum()
    private var definitions = [FITDefinition?](repeating: nil, count: 16)
    /// The last full time stamp, in FIT's seconds.
    private var lastTime: UInt32?
    private var messages = 0
    private var files = 0
    private(set) var passedOver = PassedOver()

    private enum Phase { case header, data, checksum }

    init(_ choices: FileChoices) { self.choices = choices }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
        while try step(into: &records) {}
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        let isWhole = phase == .header && start == buffer.count && files > 0
        guard isWhole else { throw .truncated(.fit) }
    }

    /// Takes the next header, record or checksum; `false` if it is not complete yet.
    private func step(into records: inout [FileRecord]) throws(FormatFault) -> Bool {
        switch phase {
        case .header: return try takeHeader()
        case .data:
            guard dataLeft > 0 else {
                phase = .checksum
                return true
            }
            return try takeRecord(into: &records)
        case .checksum:
            guard buffer.count - start >= 2 else { return false }
            let stored = UInt16(buffer[start]) | UInt16(buffer[start + 1]) << 8
            if stored != checksum.value { passedOver.note("The checksum is wrong; the file was read nevertheless.") }
            start += 2
            phase = .header
            return true
        }
    }

    private func takeHeader() throws(FormatFault) -> Bool {
        guard start < buffer.count else { return false }
        let size = Int(buffer[start])
        guard size >= 12, size <= 64 else { throw malformed("there is no header where one should be") }
        guard buffer.count - start >= size else { return false }
        guard buffer[(start + 8)..<(start + 12)].elementsEqual(".FIT".utf8) else {
            throw malformed("there is no header where one should be")
        }
        dataLeft = (0..<4).reduce(0) { $0 | Int(buffer[start + 4 + $1]) << (8 * $1) }
        checksum = FITChecksum()
        checksum.add(buffer[start..<(start + size)])
        start += size
        files += 1
        // Definitions and times do not reach from one file to the next.
        definitions = Array(repeating: nil, count: 16)
        lastTime = nil
        phase = .data
        return true
    }

    private func malformed(_ what: String) -> FormatFault {
        .malformed(.fit, "\(what), after \(messages) messages; those were read.")
    }

    private func takeRecord(into records: inout [FileRecord]) throws(FormatFault) -> Bool {
        let available = min(buffer.count - start, dataLeft)
        guard available > 0 else { return false }
        let head = buffer[start]
        if head & 0xC0 == 0x40 {
            guard let (definition, size) = try definition(head, available) else { return try isShort(available) }
            definitions[Int(head & 0x0F)] = definition
            pass(size)
            return true
        }
        let isCompressed = head & 0x80 != 0
        let type = Int(isCompressed ? head >> 5 & 0x03 : head & 0x0F)
        guard let definition = definitions[type] else { throw malformed("a message has no definition") }
        guard available >= 1 + definition.size else { return try isShort(available) }
        if isCompressed, let last = lastTime {
            let offset = UInt32(head & 0x1F)
            let time = (last & ~0x1F) &+ offset &+ (offset < last & 0x1F ? 0x20 : 0)
            lastTime = time
        }
        let data = buffer[(start + 1)..<(start + 1 + definition.size)]
        messages += 1
        if let place = definition.time, let time = definition.unsigned(place, data) { lastTime = time }
        take(definition, data, isTimed: isCompressed || definition.time != nil, into: &records)
        pass(1 + definition.size)
        return true
    }

    /// More bytes may come, but not beyond the data of this file.
    private func isShort(_ available: Int) throws(FormatFault) -> Bool {
        guard available < dataLeft else { throw malformed("a message is longer than its file") }
        return false
    }

    private func pass(_ count: Int) {
        checksum.add(buffer[start..<(start + count)])
        start += count
        dataLeft -= count
    }

    private func definition(_ head: UInt8, _ available: Int) throws(FormatFault) -> (FITDefinition, Int)? {
        guard available >= 6 else { return nil }
        let count = Int(buffer[start + 5])
        var size = 6 + 3 * count
        guard available >= size else { return nil }
        var developerBytes = 0
        if head & 0x20 != 0 {
            guard available >= size + 1 else { return nil }
            let developers = Int(buffer[start + size])
            guard available >= size + 1 + 3 * developers else { return nil }
            for field in 0..<developers { developerBytes += Int(buffer[start + size + 1 + 3 * field + 1]) }
            size += 1 + 3 * developers
        }
        let architecture = buffer[start + 2]
        guard architecture <= 1 else { throw malformed("a definition has an unknown byte order") }
        let fields = buffer[(start + 6)..<(start + 6 + 3 * count)]
        return (
            FITDefinition(
                isBigEndian: architecture == 1, buffer[start + 3], buffer[start + 4], fields, developerBytes), size
        )
    }

    private func take(
        _ definition: FITDefinition, _ data: ArraySlice<UInt8>, isTimed: Bool, into records: inout [FileRecord]
    ) {
        guard let kind = definition.kind else { return }
        func number(_ field: UInt8) -> Double? { definition.number(field, data) }
        let fields = kind.fields
        guard let latitude = number(fields.latitude), let longitude = number(fields.longitude) else {
            if kind == .record { passedOver.add(.pointsWithoutPlace) }
            return
        }
        var draft = FixDraft()
        // 2³¹ semicircles are 180 degrees.
        (draft.latitude, draft.longitude) = (latitude * (180 / 0x1p31), longitude * (180 / 0x1p31))
        draft.altitude = (number(fields.enhancedAltitude) ?? number(fields.altitude)).map { $0 / 5 - 500 }
        draft.speed = (number(fields.enhancedSpeed) ?? number(fields.speed)).map { $0 / 1000 }
        draft.horizontalAccuracy = fields.accuracy.flatMap(number)
        draft.course = fields.heading.flatMap(number).flatMap { Sentinel.course($0 / 100) }
        draft.time = .missing
        if isTimed, let lastTime {
            var seconds = lastTime
            if seconds < Self.leastDate, let utc = fields.utc.flatMap(number).flatMap(UInt32.init(exactly:)) {
                seconds = utc
            }
            if seconds < Self.leastDate {
                passedOver.add(.pointsPowerOn)
            } else {
                let milliseconds = fields.milliseconds.flatMap(number) ?? 0
                draft.time = .at(
                    Timestamp(milliseconds: (Int64(seconds) + Self.epochSeconds) * 1000 + Int64(milliseconds)))
            }
        }
        records.append(FileRecord(draft, place: messages, now: choices.now))
    }

    /// 1989-12-31T00:00:00Z.
    private static let epochSeconds: Int64 = 631_065_600
    /// Smaller times count from when the device was switched on.
    private static let leastDate: UInt32 = 0x1000_0000
}

/// The messages with positions, and the numbers of their fields.
enum FITKind {
    case record, metadata

    struct Fields {
        let latitude, longitude, altitude, enhancedAltitude, speed, enhancedSpeed: UInt8
        var accuracy, heading, milliseconds, utc: UInt8?
    }

    var fields: Fields {
        switch self {
        case .record:
            Fields(
                latitude: 0, longitude: 1, altitude: 2, enhancedAltitude: 78, speed: 6, enhancedSpeed: 73, accuracy: 31)
        case .metadata:
            Fields(
                latitude: 1, longitude: 2, altitude: 3, enhancedAltitude: 3, speed: 4, enhancedSpeed: 4, heading: 5,
                milliseconds: 0, utc: 6)
        }
    }
}

/// The layout of a message.
struct FITDefinition {
    private let isBigEndian: Bool
    let kind: FITKind?
    /// The bytes of the data.
    let size: Int
    /// The place of the time stamp, field 253.
    private(set) var time: Field?
    private var fields: [UInt8: Field] = [:]

    struct Field {
        let offset: Int
        let size: Int
        let baseType: UInt8
    }

    init(
        isBigEndian: Bool, _ first: UInt8, _ second: UInt8, _ list: ArraySlice<UInt8>, _ developerBytes: Int
    ) {
        self.isBigEndian = isBigEndian
        let global = isBigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
        kind =
            switch global {
            case 20: .record
            case 160: .metadata
            default: nil
            }
        var offset = 0
        var index = list.startIndex
        while index < list.endIndex {
            let field = Field(offset: offset, size: Int(list[index + 1]), baseType: list[index + 2])
            if list[index] == 253 { time = field }
            if kind != nil { fields[list[index]] = field }
            offset += field.size
            index += 3
        }
        size = offset + developerBytes
    }

    /// A value of 4 bytes; `nil` if it is invalid.
    func unsigned(_ field: Field, _ data: ArraySlice<UInt8>) -> UInt32? {
        guard field.size == 4 else { return nil }
        let value = UInt32(truncatingIfNeeded: bits(field, data))
        return value == .max ? nil : value
    }

    /// The value of a field as its base type says; `nil` if there is none, it is invalid, or its size is not that of
    /// one value.
    func number(_ number: UInt8, _ data: ArraySlice<UInt8>) -> Double? {
        guard let field = fields[number] else { return nil }
        let bits = bits(field, data)
        // The highest bit of a base type marks those with a byte order.
        switch (field.baseType & 0x1F, field.size) {
        case (0, 1), (2, 1): return bits == 0xFF ? nil : Double(bits)
        case (1, 1): return bits == 0x7F ? nil : Double(Int8(truncatingIfNeeded: bits))
        case (3, 2): return bits == 0x7FFF ? nil : Double(Int16(truncatingIfNeeded: bits))
        case (4, 2): return bits == 0xFFFF ? nil : Double(bits)
        case (5, 4): return bits == 0x7FFF_FFFF ? nil : Double(Int32(truncatingIfNeeded: bits))
        case (6, 4): return bits == 0xFFFF_FFFF ? nil : Double(bits)
        default: return nil
        }
    }

    private func bits(_ field: Field, _ data: ArraySlice<UInt8>) -> UInt64 {
        guard field.size <= 8 else { return 0 }
        let first = data.startIndex + field.offset
        let bytes = data[first..<(first + field.size)]
        return isBigEndian
            ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The checksum of FIT: CRC-16/ARC, polynomial 0xA001 reflected.
struct FITChecksum {
    private(set) var value: UInt16 = 0

    private static let table: [UInt16] = (0..<256).map { byte in
        var value = UInt16(byte)
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xA001 : value >> 1 }
        return value
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var value = value
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes { value = value >> 8 ^ table[Int((value ^ UInt16(byte)) & 0xFF)] }
        }
        self.value = value
    }
}
