import Gazetteer
import Glibc
import Log

/// Writes a supplement: first the sections to separate files, because their lengths are known only at the end, then all
/// of them after a header. `Supplement.swift` specifies the bytes.
///
/// The same rows give the same bytes, in whatever order they were read.
struct SupplementWriter {
    /// The most strings remembered. A string that recurs after that is written again.
    private static let stringsMax = 1 << 16

    private let staging: SupplementStaging
    private var streets, houses, points, codes, towns, spots, named, strings: SectionFile
    private var offsets: [String: UInt32] = [:]

    /// - Parameter folder: The folder for the sections; its path ends with a slash.
    init(_ staging: SupplementStaging, folder: String) throws(ToolError) {
        self.staging = staging
        streets = try SectionFile(path: folder + "streets", stride: 20)
        houses = try SectionFile(path: folder + "houses", stride: 12)
        points = try SectionFile(path: folder + "points", stride: 12)
        codes = try SectionFile(path: folder + "codes", stride: 32)
        towns = try SectionFile(path: folder + "towns", stride: 4)
        spots = try SectionFile(path: folder + "spots", stride: 36)
        named = try SectionFile(path: folder + "named", stride: 4)
        strings = try SectionFile(path: folder + "strings", stride: 1)
    }

    /// Writes the file under a temporary name, and renames it once it is durable.
    mutating func write(
        to path: String, attribution: String, licence: String, fold: StreetFold, progress: (String) -> Void
    ) throws(ToolError) {
        try strings.append(0 as UInt16)
        let (attributionOffset, licenceOffset) = (try offset(of: attribution), try offset(of: licence))
        progress("sorting streets")
        try writeStreets()
        progress("sorting addresses")
        try staging.eachPoint { latitude, longitude, house throws(ToolError) in
            try points.append(UInt32(bitPattern: Int32(latitude)))
            try points.append(UInt32(bitPattern: Int32(longitude)))
            try points.append(UInt32(house))
        }
        progress("sorting postal codes")
        try writePostalCodes()
        progress("sorting places")
        try writeSpots()
        progress("writing")
        let (characters, latin) = (fold.characters, fold.latin)
        let sections = [streets, houses, points, codes, towns, spots, named, strings]
        let counts = [characters.count, latin.count] + sections.map(\.byteCount)
        let byteCount = counts.reduce(64) { ($0 + 63) / 64 * 64 + $1 }
        let temporary = path + ".new"
        var file = try SectionFile(path: temporary, stride: 1)
        for byte in Supplement.magic.utf8 { try file.append(byte) }
        for number in [Supplement.version, try streets.count()] { try file.append(number) }
        try file.append(UInt64(byteCount))
        for number in [
            try houses.count(), try codes.count(), try strings.count(), attributionOffset, licenceOffset,
            UInt32(characters.count / 4), UInt32(latin.count), try spots.count(), 0, 0,
        ] { try file.append(number) }
        for table in [characters, latin] {
            try file.align()
            try file.append(contentsOf: table[...])
        }
        for section in sections {
            try file.align()
            try file.append(fileOf: section)
        }
        try file.finish()
        guard file.byteCount == byteCount else { preconditionFailure("The header says how long the file is.") }
        guard rename(temporary, path) == 0 else {
            throw .data("\(path) cannot be renamed: \(lastSystemError()).")
        }
        DataDirectory.syncFolder(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".")
    }

    private mutating func writeStreets() throws(ToolError) {
        var last: StagedAddress?
        try staging.eachAddress { address throws(ToolError) in
            let isSameStreet =
                last.map {
                    $0.key == address.key && $0.street == address.street && $0.locality == address.locality
                        && $0.postalCode == address.postalCode
                } ?? false
            if !isSameStreet {
                for text in [address.key, address.street, address.locality, address.postalCode] {
                    try streets.append(try offset(of: text))
                }
                try streets.append(try houses.count())
            }
            last = address
            try staging.add(point: Int(try houses.count()), of: address)
            try houses.append(UInt32(bitPattern: Int32(address.latitude)))
            try houses.append(UInt32(bitPattern: Int32(address.longitude)))
            try houses.append(try offset(of: address.number))
        }
    }

    private mutating func writePostalCodes() throws(ToolError) {
        try staging.eachPostalCode { row throws(ToolError) in
            try staging.add(town: row.townKey, code: Int(try codes.count()))
            for text in [row.key, row.code, row.townKey, row.town] { try codes.append(try offset(of: text)) }
            try codes.append(UInt32(bitPattern: Int32(row.latitude)))
            try codes.append(UInt32(bitPattern: Int32(row.longitude)))
            for letter in row.country.utf8 { try codes.append(letter) }
            try codes.append(UInt16(row.accuracy))
            try codes.append(0 as UInt32)
        }
        try staging.eachTown { code throws(ToolError) in try towns.append(UInt32(code)) }
    }

    private mutating func writeSpots() throws(ToolError) {
        try staging.eachSpot { spot throws(ToolError) in
            try staging.add(named: Int(try spots.count()), of: spot)
            for text in [spot.key, spot.name, spot.division] { try spots.append(try offset(of: text)) }
            try spots.append(UInt32(spot.geonameID))
            try spots.append(UInt32(spot.population))
            try spots.append(UInt32(bitPattern: Int32(spot.latitude)))
            try spots.append(UInt32(bitPattern: Int32(spot.longitude)))
            try spots.append(UInt16(spot.kind))
            for letter in spot.country.utf8 { try spots.append(letter) }
            try spots.append(0 as UInt32)
        }
        try staging.eachNamed { spot throws(ToolError) in try named.append(UInt32(spot)) }
    }

    /// The offset of a text among the strings; it is added if it is not remembered.
    private mutating func offset(of text: String) throws(ToolError) -> UInt32 {
        if text.isEmpty { return 0 }
        if let known = offsets[text] { return known }
        if offsets.count == Self.stringsMax { offsets = [:] }
        let offset = try strings.count()
        let utf8 = Array(text.utf8.prefix(Int(UInt16.max)))
        try strings.append(UInt16(utf8.count))
        try strings.append(contentsOf: utf8[...])
        offsets[text] = offset
        return offset
    }
}

/// A file that is written from the beginning to the end, in few long writes.
private struct SectionFile {
    private static let bufferBytes = 256 << 10

    private let path: String
    private let stride: Int
    private let descriptor: OpenFile
    private var buffer: [UInt8] = []
    private(set) var byteCount = 0

    /// Closes the file with its last user.
    private final class OpenFile: Sendable {
        let number: Int32
        init(_ number: Int32) { self.number = number }
        deinit { close(number) }
    }

    init(path: String, stride: Int) throws(ToolError) {
        let opened = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw .data("\(path) cannot be written: \(lastSystemError()).") }
        (self.path, self.stride, descriptor) = (path, stride, OpenFile(opened))
    }

    /// The number of entries.
    ///
    /// - Throws: If there are more than the header can count.
    func count() throws(ToolError) -> UInt32 {
        guard let count = UInt32(exactly: byteCount / stride) else {
            throw .data(
                "The files have more data than one supplement can have; import them in parts, each under its own --name."
            )
        }
        return count
    }

    mutating func append<Integer: FixedWidthInteger>(_ value: Integer) throws(ToolError) {
        withUnsafeBytes(of: value.littleEndian) { buffer.append(contentsOf: $0) }
        byteCount += MemoryLayout<Integer>.size
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    mutating func append(contentsOf bytes: ArraySlice<UInt8>) throws(ToolError) {
        buffer += bytes
        byteCount += bytes.count
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// Zeros up to the next multiple of 64.
    mutating func align() throws(ToolError) {
        try append(contentsOf: [UInt8](repeating: 0, count: (64 - byteCount % 64) % 64)[...])
    }

    /// Appends the content of another file.
    mutating func append(fileOf other: SectionFile) throws(ToolError) {
        var other = other
        try other.flush()
        var at = 0
        var part = [UInt8](repeating: 0, count: Self.bufferBytes)
        while at < other.byteCount {
            let count = part.withUnsafeMutableBytes {
                pread(other.descriptor.number, $0.baseAddress, $0.count, off_t(at))
            }
            guard count > 0 else { throw .data("\(other.path) cannot be read back: \(lastSystemError()).") }
            try append(contentsOf: part[..<count])
            at += count
        }
    }

    /// Returns when all bytes are durable.
    mutating func finish() throws(ToolError) {
        try flush()
        guard fsync(descriptor.number) == 0 else {
            throw .data("\(path) cannot be made durable: \(lastSystemError()).")
        }
    }

    private mutating func flush() throws(ToolError) {
        var written = 0
        while written < buffer.count {
            let count = buffer[written...].withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .data("\(path) cannot be written: \(lastSystemError()).") }
            written += count
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
