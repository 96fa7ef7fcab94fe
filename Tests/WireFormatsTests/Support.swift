import Geodesy
import Glibc
import JSON
import Testing
import Whereabouts

@testable import WireFormats

/// 2030-01-01T00:00:00Z: later than every fix in these tests.
let now = Timestamp(milliseconds: 1_893_456_000_000)

extension Report {
    /// The fix; a test that asks for one and gets something else fails with the reason.
    var fix: Fix? {
        if case .fix(let fix, _) = self { fix } else { nil }
    }
}

extension [Report] {
    /// Without the parts of the body that are rejected.
    var withoutTexts: [Report] {
        map { if case .rejected(let reason, _) = $0 { .rejected(reason) } else { $0 } }
    }
}

func only(_ reports: [Report]) throws -> Report {
    try #require(reports.count == 1)
    return reports[0]
}

func json(_ text: String) throws -> JSONValue {
    try JSONDocument.parse(Array(text.utf8)).root
}

/// Reads a whole GPX text in pieces of `pieceBytes`.
func readGPX(_ bytes: [UInt8], pieceBytes: Int = .max) throws -> (points: [GPXPoint], counts: GPXCounts) {
    var reader = GPXReader()
    var rest = bytes[...]
    while !rest.isEmpty {
        try reader.feed(rest.prefix(pieceBytes))
        rest = rest.dropFirst(pieceBytes)
    }
    try reader.finish()
    return (reader.takePoints(), reader.counts)
}

/// Files recorded by real clients, which are not part of this repository: the folder `WHEREABOUTS_FIXTURES` names, else
/// `shared/fixtures` beside the repository.
enum RealFiles {
    static let folder: String? = {
        if let named = getenv("WHEREABOUTS_FIXTURES") { return String(cString: named) }
        guard let file = realpath(#filePath, nil) else { return nil }
        defer { free(file) }
        let root = String(cString: file).split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let folder = "\(root)/../shared/fixtures"
        return access("\(folder)/expected.json", R_OK) == 0 ? folder : nil
    }()

    static let gpx = ["korita-zbevnica.gpx", "cerknicko-jezero.gpx", "garmin-connect-run.gpx", "elgolfo1.gpx"]

    static func bytes(_ name: String) throws -> [UInt8] {
        try contents(ofFile: "\(#require(folder))/\(name)")
    }
}

func contents(ofFile path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"), "\(path) cannot be opened.")
    defer { fclose(file) }
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&part, 1, part.count, file), count > 0 { all += part[..<count] }
    return all
}

/// SplitMix64 (Steele, Lea and Flood 2014, DOI 10.1145/2714064.2660195): the same numbers on every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
