import Geodesy
import TestSupport
import Testing
import Whereabouts

@testable import FileFormats

/// 2030-01-01T00:00:00Z: later than every fix in these tests.
let now = Timestamp(milliseconds: 1_893_456_000_000)

/// Everything that a file gave.
struct Found {
    var records: [FileRecord] = []
    var summary = FileSummary()
    var fault: FormatFault?

    var fixes: [Fix] { records.compactMap { if case .fix(let fix, _) = $0.content { fix } else { nil } } }
    var visits: [VisitReport] {
        records.compactMap { if case .visit(let visit, _) = $0.content { visit } else { nil } }
    }
    var untimed: Int { records.count { if case .untimed = $0.content { true } else { false } } }
    var rejected: [RejectionReason] {
        records.compactMap { if case .rejected(let reason) = $0.content { reason } else { nil } }
    }
}

/// Reads a file in pieces.
func read(
    _ bytes: [UInt8], zone: LocalZone? = nil, format: FileFormat? = nil, pieceBytes: Int = 1000,
    after position: FilePosition? = nil
) -> Found {
    var rest = bytes[...]
    let reading = FileReading(FileChoices(now: now, zone: zone, format: format), after: position) {
        defer { rest = rest.dropFirst(pieceBytes) }
        return Array(rest.prefix(pieceBytes))
    }
    var found = Found()
    do throws(FormatFault) {
        while let records = try reading.next() { found.records += records }
    } catch { found.fault = error }
    found.summary = reading.summary
    return found
}

func read(_ text: String, zone: LocalZone? = nil, format: FileFormat? = nil) -> Found {
    read(Array(text.utf8), zone: zone, format: format)
}

extension Repository {
    static let noFixtures: Comment = "WHEREABOUTS_FIXTURES names no folder with recorded files."

    /// A file that a real client recorded.
    static func recorded(_ name: String) throws -> [UInt8] { try contents(ofFile: "\(#require(fixtures))/\(name)") }
}
