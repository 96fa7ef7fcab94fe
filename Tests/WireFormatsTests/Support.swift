import Geodesy
import Glibc
import JSON
import TestSupport
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

extension Repository {
    static let recordedGPX = ["korita-zbevnica.gpx", "cerknicko-jezero.gpx", "garmin-connect-run.gpx", "elgolfo1.gpx"]

    /// A file that a real client recorded.
    static func recorded(_ name: String) throws -> [UInt8] { try contents(ofFile: "\(#require(fixtures))/\(name)") }
}
