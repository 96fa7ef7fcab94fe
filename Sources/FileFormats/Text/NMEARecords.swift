import Whereabouts
import WireFormats

/// The fixes of a log of NMEA 0183 sentences; see `NMEALines`. In files, a checksum may be missing.
final class NMEARecords: RecordReader {
    private let choices: FileChoices
    private var lines = NMEALines(requiresChecksum: false)
    private var count = 0

    init(_ choices: FileChoices) { self.choices = choices }

    /// Whether most of the first lines are sentences.
    static func isOne(_ lines: [String]) -> Bool {
        let marks = ["RMC,", "GGA,", "GLL,", "GSA,", "GSV,", "VTG,", "ZDA,", "GST,", "TXT,"]
        let sentences = lines.count { line in
            guard let start = line.firstIndex(of: "$") else { return false }
            let body = line[start...].dropFirst()
            return body.count > 6 && marks.contains { body.dropFirst(2).hasPrefix($0) }
        }
        return sentences > 0 && sentences * 2 > lines.count
    }

    var passedOver: PassedOver {
        var passed = PassedOver()
        passed.set(.damagedSentences, lines.counts.damaged)
        return passed
    }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        take(lines.feed(bytes), &records)
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        take(lines.finish(), &records)
    }

    private func take(_ fixes: [Fix], _ records: inout [FileRecord]) {
        for fix in fixes {
            count += 1
            let latest = choices.now.adding(seconds: Limits.futureRejectedSeconds)
            let content: FileRecord.Content =
                fix.timestamp < Limits.oldestFix
                ? .rejected(.badTimestamp) : fix.timestamp > latest ? .rejected(.inTheFuture) : .fix(fix, user: nil)
            records.append(FileRecord(place: count, content: content))
        }
    }
}
