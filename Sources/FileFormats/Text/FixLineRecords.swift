import Whereabouts
import WireFormats

/// JSON lines, each with a fix; see `FixLines`.
final class FixLineRecords: RecordReader {
    private var lines: FixLines

    init(_ choices: FileChoices) { lines = FixLines(now: choices.now) }

    var passedOver: PassedOver { PassedOver() }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        records += lines.feed(bytes).map(record)
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        records += lines.finish().map(record)
    }

    private func record(_ item: FixLines.Item) -> FileRecord {
        var record = FileRecord(item.report, place: item.lineNumber, user: item.user)
        record.device = item.device
        return record
    }
}
