import Whereabouts
import WireFormats

/// The rows of a CSV file whose first line names the columns:
///
///     time,latitude,longitude,altitude,accuracy,speed,course
///     2026-01-01T08:00:00Z,48.2083,16.373,171,5,1.4,90
///
/// Cells are separated by commas, semicolons, tabs or bars; with semicolons and tabs, numbers may have decimal commas.
/// A row with a start and an end is a visit. Traccar's reports have speeds in knots.
final class CSVRecords: RecordReader {
    private let choices: FileChoices
    private var parser: CSVParser
    private let heads: CSVHeads
    private var hasHead = false
    /// The lines before the head, for example a comment.
    private let linesBeforeHead: Int
    private(set) var passedOver = PassedOver()

    init(_ choices: FileChoices, prefix: [UInt8]) throws(FormatFault) {
        self.choices = choices
        let text = prefix.dropFirst(prefix.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        let lines = text.split(maxSplits: 24, omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
            .prefix(24).map { String(decoding: $0, as: UTF8.self) }
        var found: (heads: CSVHeads, before: Int)?
        // A comment, or an empty line, may come before the head.
        for before in 0..<min(4, lines.count) where found == nil {
            let rest = Array(lines[before...])
            guard let delimiter = CSVHeads.delimiter(rest),
                let heads = CSVHeads(CSVHeads.cells(rest[0], delimiter), delimiter: delimiter)
            else { continue }
            found = (heads, lines[..<before].count { !$0.isEmpty })
        }
        guard let found else { throw .noHead }
        (heads, linesBeforeHead) = (found.heads, found.before)
        parser = CSVParser(delimiter: found.heads.delimiter)
    }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var rows: [CSVParser.Row] = []
        parser.read(bytes) { rows.append($0) }
        try take(rows, &records)
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        var rows: [CSVParser.Row] = []
        parser.finish { rows.append($0) }
        try take(rows, &records)
    }

    private var rowsSeen = 0

    private func take(_ rows: [CSVParser.Row], _ records: inout [FileRecord]) throws(FormatFault) {
        for row in rows {
            rowsSeen += 1
            guard rowsSeen > linesBeforeHead + 1 else { continue }
            guard !row.isCut else {
                records.append(FileRecord(place: row.line, content: .rejected(.tooLarge)))
                continue
            }
            try take(row, &records)
        }
    }

    private func take(_ row: CSVParser.Row, _ records: inout [FileRecord]) throws(FormatFault) {
        guard !text(.latitude, row).isEmpty || !text(.longitude, row).isEmpty else {
            passedOver.add(.linesWithoutPlace)
            return
        }
        if ["false", "0", "no"].contains(text(.valid, row).lowercased()) {
            passedOver.add(.invalidPositions)
            return
        }
        let latitude = degrees(.latitude, row), longitude = degrees(.longitude, row)
        if heads.index[.start] != nil, heads.index[.end] != nil, heads.index[.time] == nil {
            // "Visit" or "Place" in Google's tables; an activity has one place and two times.
            if text(.kind, row).lowercased().hasPrefix("activity") {
                passedOver.add(.activitiesWithoutPlace)
                return
            }
            var draft = VisitDraft()
            (draft.latitude, draft.longitude) = (latitude, longitude)
            draft.arrival = try choices.moment(of: FileTime(text(.start, row)), .csv, place: row.line)
            draft.departure = try choices.moment(of: FileTime(text(.end, row)), .csv, place: row.line)
            records.append(FileRecord(place: row.line, content: draft.content(now: choices.now)))
            return
        }
        var draft = FixDraft()
        (draft.latitude, draft.longitude) = (latitude, longitude)
        draft.time = try choices.moment(of: time(row), .csv, place: row.line)
        draft.horizontalAccuracy = number(.accuracy, row)
        draft.verticalAccuracy = number(.verticalAccuracy, row)
        draft.altitude = number(.altitude, row)
        draft.speed = number(.speed, row).flatMap(Sentinel.nonNegative)
        draft.speedAccuracy = number(.speedAccuracy, row).flatMap(Sentinel.nonNegative)
        draft.courseAccuracy = number(.courseAccuracy, row).flatMap(Sentinel.nonNegative)
        draft.floor = number(.floor, row).flatMap(Int64.init(exactly:))
        draft.course = number(.course, row).flatMap(Sentinel.course)
        draft.batteryLevel = number(.battery, row).map { $0 > 1 ? $0 / 100 : $0 }
            .flatMap { (0...1).contains($0) ? $0 : nil }
        records.append(FileRecord(draft, place: row.line, now: choices.now))
    }

    /// The time, or the date and the time of day in two columns.
    private func time(_ row: CSVParser.Row) -> FileTime {
        let time = text(.time, row).isEmpty ? text(.start, row) : text(.time, row)
        let date = text(.date, row)
        let utc = heads.isUTC
        if date.isEmpty { return FileTime(time, utc: utc) }
        if time.isEmpty { return FileTime(date, utc: utc) }
        let whole = FileTime(time, utc: utc)
        return whole == .unreadable ? FileTime("\(date) \(time)", utc: utc) : whole
    }

    private func text(_ column: CSVHeads.Column, _ row: CSVParser.Row) -> String {
        guard let index = heads.index[column], index < row.cells.count else { return "" }
        var bytes = Array(row.cells[index].utf8.drop(while: DecimalText.isWhiteSpace))
        while let last = bytes.last, DecimalText.isWhiteSpace(last) { bytes.removeLast() }
        // A guard against formulas.
        if bytes.first == UInt8(ascii: "'") { bytes.removeFirst() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func number(_ column: CSVHeads.Column, _ row: CSVParser.Row) -> Double? {
        let cell = text(column, row)
        return number(in: Array(cell.utf8)).map { $0 * (heads.factor[column] ?? 1) }
    }

    private func number(in cell: [UInt8]) -> Double? {
        guard cell.count <= 64, !cell.isEmpty else { return nil }
        var bytes = cell
        // A decimal comma, where commas do not separate.
        if heads.delimiter != UInt8(ascii: ","), !bytes.contains(UInt8(ascii: ".")),
            bytes.count(where: { $0 == UInt8(ascii: ",") }) == 1
        {
            bytes = bytes.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
        }
        return DecimalText.parse(bytes)
    }

    /// Degrees, also `52.5N` and `13.4W`; NaN for any other text.
    private func degrees(_ column: CSVHeads.Column, _ row: CSVParser.Row) -> Double {
        if let number = number(column, row) { return number }
        let cell = text(column, row)
        guard let side = cell.utf8.last.map({ $0 & 0xDF }), let sign = Self.sides[side],
            let number = number(in: Array(cell.utf8.dropLast())), number >= 0
        else { return .nan }
        return number * sign
    }

    private static let sides: [UInt8: Double] = [
        UInt8(ascii: "N"): 1, UInt8(ascii: "E"): 1, UInt8(ascii: "S"): -1, UInt8(ascii: "W"): -1,
    ]
}
