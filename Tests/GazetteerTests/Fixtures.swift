import Geodesy
import Glibc

@testable import Gazetteer

/// The repository's own folders, found from this file.
enum Repository {
    static let root = String(#filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" })
    static let gazetteerPath = "\(root)/data/places.gazetteer"
    static let zonesPath = "\(root)/data/zones.gazetteer"
    static let manifestPath = "\(root)/data/manifest.json"
}

func bytes(of path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw Missing(what: path) }
    defer { fclose(file) }
    return bytes(from: file)
}

func bytes(from file: UnsafeMutablePointer<FILE>) -> [UInt8] {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&part, 1, part.count, file), count > 0 { all += part[..<count] }
    return all
}

struct Missing: Error {
    let what: String
}

/// A file of its own in the folder for temporary files, removed when it goes.
final class TemporaryFile {
    let path: String

    init(_ content: [UInt8]) throws {
        var name = Array("/tmp/gazetteer-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Missing(what: "a temporary file") }
        path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        defer { close(descriptor) }
        var written = 0
        while written < content.count {
            let count = content[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Missing(what: "room for a temporary file") }
            written += count
        }
    }

    deinit { unlink(path) }
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers in every run.
struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// Uniform on the sphere.
    mutating func coordinate() throws -> Coordinate {
        try Coordinate(
            latitude: asin(Double.random(in: -1...1, using: &self)) * 180 / .pi,
            longitude: Double.random(in: -180...180, using: &self))
    }
}
