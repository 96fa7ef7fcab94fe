import Glibc

/// A place that a test has planted, in the forms in which a program could write it.
struct PlantedPlace {
    /// Degrees.
    let latitude, longitude: Double

    static func encodings(_ degrees: Double) -> [String: [UInt8]] {
        func bytes<Number>(_ number: Number) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
        let scaled = Int32(exactly: (degrees * 1e7).rounded()) ?? 0
        let micro = Int32(exactly: (degrees * 1e6).rounded()) ?? 0
        return [
            "double, little end first": bytes(degrees.bitPattern.littleEndian),
            "double, big end first": bytes(degrees.bitPattern.bigEndian),
            "float, little end first": bytes(Float(degrees).bitPattern.littleEndian),
            "float, big end first": bytes(Float(degrees).bitPattern.bigEndian),
            "10⁻⁷ degrees, little end first": bytes(scaled.littleEndian),
            "10⁻⁷ degrees, big end first": bytes(scaled.bigEndian),
            "10⁻⁷ degrees in 64 bits": bytes(Int64(scaled).bigEndian),
            "10⁻⁶ degrees, little end first": bytes(micro.littleEndian),
            "10⁻⁶ degrees, big end first": bytes(micro.bigEndian),
            "decimal text": Array("\(degrees)".utf8), "decimal text of seven digits": Array("\(scaled)".utf8),
        ]
    }

    /// In many megabytes, four given bytes are there by chance. They count if those of the other coordinate are as near.
    private static let nearBytes = 128

    /// The encodings of the place that are among some bytes, each with the coordinate that was found.
    func found(in bytes: UnsafeRawBufferPointer) -> [String] {
        let (north, east) = (Self.encodings(latitude), Self.encodings(longitude))
        return north.keys.sorted().flatMap { name -> [String] in
            guard let first = north[name], let second = east[name] else { return [] }
            let (norths, easts) = (Self.offsets(of: first, in: bytes), Self.offsets(of: second, in: bytes))
            if first.count > 4 {
                return (norths.isEmpty ? [] : ["latitude: \(name)"]) + (easts.isEmpty ? [] : ["longitude: \(name)"])
            }
            let isThere = norths.contains { here in easts.contains { abs($0 - here) <= Self.nearBytes } }
            return isThere ? ["both: \(name)"] : []
        }
    }

    /// As ``found(in:)``.
    func found(in bytes: [UInt8]) -> [String] { bytes.withUnsafeBytes { found(in: $0) } }

    /// Where the pattern is, at most a thousand times.
    private static func offsets(of pattern: [UInt8], in bytes: UnsafeRawBufferPointer) -> [Int] {
        var found: [Int] = []
        // A byte that is not zero: most of a memory is.
        let anchor = pattern.lastIndex { $0 != 0 } ?? 0
        var next = anchor
        while found.count < 1000, next < bytes.count, let base = bytes.baseAddress,
            let hit = memchr(base + next, Int32(pattern[anchor]), bytes.count - next)
        {
            let at = UnsafeRawPointer(hit) - base
            let start = at - anchor
            if start + pattern.count <= bytes.count, memcmp(base + start, pattern, pattern.count) == 0 {
                found.append(start)
            }
            next = at + 1
        }
        return found
    }
}
